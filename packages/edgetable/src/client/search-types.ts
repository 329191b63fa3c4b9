import type { Where } from "../ir/condition.ts";
import type { AnyPart } from "../schema/definition.ts";
import type { ReadExplanation } from "./explanation.ts";
import type {
  AnyEdgeInGraph,
  Edges,
  EdgesInGraph,
  EndId,
  Ends,
  FetchedNode,
  Kinded,
  Nodes,
  NumericOf,
  PartRow,
  Parts,
} from "./graph-types.ts";
import type { Entry, Page, Read, SearchPageOptions, SelectEnds } from "./page-types.ts";
import type { Walk } from "./walk-types.ts";
import type { Advice } from "./write-types.ts";

// Rows of several kinds keep the name of their kind, and edges keep their ends.
type Selected<Row, Field, Several> = Several extends true
  ? Row extends Kinded<infer Kind, infer One>
    ? Kinded<Kind, Picked<One, Field>>
    : never
  : Picked<Row, Field>;
type Picked<Row, Field> = Pick<Row, keyof Row & Field>;

/**
 * A search for nodes, edges or parts by their values, in the order of an index. Builders are immutable; the last method of a chain
 * returns a call. Searches read an index, so they are eventually consistent. A sharded index takes one Query for each shard; their
 * rows are merged, so a page has exactly the requested size.
 *
 * @throws {plan.unsupported} as a rejection, from a call with a list (`in`) whose values times shards are more than 1,000
 * partitions
 * @throws {plan.noIndex} as a rejection, from a call that no index serves, because a search never scans; from `using`, if there is
 * no such index
 * @throws {schema.unknownAttribute} from `where` and `select`, for an unknown name
 * @throws {plan.invalidOption} from `where` and `limit`, for an unknown comparison, or a number out of range
 */
export interface Search<Row, Filter, Several = false, On extends WalkOn = NoWalk> extends AsyncIterable<Row> {
  /** Keeps the rows for which every condition holds; several calls add up. Conditions that no key covers are checked after reading. */
  where(filter: Filter): Search<Row, Filter, Several, On>;
  /** Returns only the named attributes, and the ends of edges. Whole items are read and paid for. */
  select<const Field extends keyof Filter & string>(
    ...fields: readonly Field[]
  ): Search<Selected<Row, Field, Several>, Filter, Several, On>;
  /** Reads in the opposite order. */
  reverse(): Search<Row, Filter, Several, On>;
  /** Reads at most this many rows, 1 or more. */
  limit(most: number): Search<Row, Filter, Several, On>;
  /** Reads from the named index instead of the cheapest one. A sparse index finds only the items that it contains. */
  using(index: string): Search<Row, Filter, Several, On>;
  /** Reads only these shards of the index, by number: one Query for each. @throws {plan.invalidOption} if there is no such shard */
  shards(...numbers: readonly number[]): Search<Row, Filter, Several, On>;
  /** The rows. One Query for each megabyte of each shard. */
  rows(): Read<readonly Row[]>;
  /** The first row in order; undefined if there is none. One Query for each shard. */
  first(): Read<Row | undefined>;
  /** The number of rows. Costs what `rows` costs. DynamoDB counts and sends no items, unless a condition is checked in memory. */
  count(): Read<number>;
  /**
   * The sum of an attribute over the rows; a bigint beyond 2^53. Rows without the attribute add nothing, and a value that is not a
   * number is refused. Costs what `rows` costs; only the attribute is sent. With conditions on a level of a hierarchy, it is a
   * roll-up at that level.
   *
   * @throws {schema.unknownAttribute} for an unknown name
   * @throws {plan.noIndex} from the call, if the index does not contain the attribute
   */
  sum(attribute: NumericOf<Filter>): Read<number | bigint>;
  /**
   * A page with cursors to the pages beside it. One Query for each shard, more if a filter leaves the page short: then each reads
   * more items, at most four times as many as the page needs. The first page of a table stores the secret of its cursors there.
   *
   * @throws {plan.invalidOption} from the call, if its budget is less than one request for each shard
   * @throws {cursor.invalid} if the cursor belongs to another search
   * @throws {cursor.outgrown} if the shard count has grown since, and the rows at the page's end can no longer be distinguished
   */
  page(options?: SearchPageOptions): Read<Page<Row>>;
  /** What `rows` would send, without sending it. */
  explain(): Promise<ReadExplanation>;
  /** Continues along an edge from every row: a walk, whose budget includes the search. */
  readonly out: On["out"];
  readonly in: On["in"];
  readonly both: On["both"];
  /** These rows as the start of a walk, in the order of the search. */
  readonly walk: On["walk"];
}

/** The methods that continue a walk from the rows of a search. */
export interface WalkOn {
  readonly out: unknown;
  readonly in: unknown;
  readonly both: unknown;
  readonly walk: unknown;
}

type NodesOnly = "A walk starts at nodes, or at parts that edges lead to: search a node type or a part.";

/** Of edges. */
export interface NoWalk {
  readonly out: NodesOnly;
  readonly in: NodesOnly;
  readonly both: NodesOnly;
  readonly walk: NodesOnly;
}

/** Of nodes and parts. */
export interface WalkFrom<N extends Nodes, E extends Edges, At extends string> {
  readonly out: Walk<N, E, At, never>["out"];
  readonly in: Walk<N, E, At, never>["in"];
  readonly both: Walk<N, E, At, never>["both"];
  readonly walk: () => Walk<N, E, At, never>;
}

type NodeField<Node> = Node extends Kinded<unknown, infer Row> ? keyof Row & string : keyof Node & string;
type AtEnd<Node, Field> = [Field] extends [never] ? Node : FetchedNode<Node, Field>;

/** Edges found by their values, and the nodes at their ends: the Queries, and one BatchGetItem for each 100 nodes. */
export interface EdgeSearch<Row, Filter, Source, Target> extends Search<Row, Filter> {
  where(filter: Filter): EdgeSearch<Row, Filter, Source, Target>;
  select<const Field extends keyof Filter & string>(
    ...fields: readonly Field[]
  ): EdgeSearch<Picked<Row, Field | "from" | "to">, Filter, Source, Target>;
  reverse(): EdgeSearch<Row, Filter, Source, Target>;
  limit(most: number): EdgeSearch<Row, Filter, Source, Target>;
  using(index: string): EdgeSearch<Row, Filter, Source, Target>;
  shards(...numbers: readonly number[]): EdgeSearch<Row, Filter, Source, Target>;
  /** The source of each edge. Missing nodes are left out, and the report names them. */
  sources<const Field extends NodeField<Source> = never>(options?: SelectEnds<Field>): Read<readonly AtEnd<Source, NoInfer<Field>>[]>;
  /** The target of each edge. */
  targets<const Field extends NodeField<Target> = never>(options?: SelectEnds<Field>): Read<readonly AtEnd<Target, NoInfer<Field>>[]>;
  /** Each edge with the node at one of its ends. */
  entries<const Field extends NodeField<Source> = never>(
    end: "from",
    options?: SelectEnds<Field>,
  ): Read<readonly Entry<Row, AtEnd<Source, NoInfer<Field>>>[]>;
  entries<const Field extends NodeField<Target> = never>(
    end: "to",
    options?: SelectEnds<Field>,
  ): Read<readonly Entry<Row, AtEnd<Target, NoInfer<Field>>>[]>;
}

type FoundPart<N extends Nodes, P extends AnyPart> = PartRow<N, P> & EndId<N, P["of"]>;
export type FoundRow<N extends Nodes, E extends Edges, P extends Parts, Kind> = Kind extends keyof N
  ? N[Kind]["~types"]["row"]
  : Kind extends keyof E
    ? EdgesInGraph<Ends<N, P>, E>[Kind]["edge"]
    : Kind extends keyof P
      ? FoundPart<N, P[Kind]>
      : never;

// `keyof` of a union has only the common attributes.
type Common<Rows> = Where<Pick<Rows, keyof Rows>>;

type EdgeSearchOf<In extends AnyEdgeInGraph> = EdgeSearch<In["edge"], In["filter"], In["source"], In["target"]>;

type SearchOf<N extends Nodes, E extends Edges, P extends Parts, Kind> = Kind extends keyof E
  ? EdgeSearchOf<EdgesInGraph<Ends<N, P>, E>[Kind]>
  : Search<
      FoundRow<N, E, P, Kind>,
      Where<FoundRow<N, E, P, Kind>>,
      false,
      Kind extends keyof Ends<N, P> & string ? WalkFrom<Ends<N, P>, E, Kind> : NoWalk
    >;

type KindedRow<N extends Nodes, E extends Edges, P extends Parts, Kind> = Kind extends unknown
  ? Kinded<Kind, FoundRow<N, E, P, Kind>>
  : never;

/** The result type of `find`: rows of one kind, or of several kinds, each with the name of its kind. */
type Found<N extends Nodes, E extends Edges, P extends Parts, Given> = Given extends readonly (infer Kind)[]
  ? Search<
      KindedRow<N, E, P, Kind>,
      Common<FoundRow<N, E, P, Kind>>,
      true,
      [Kind] extends [keyof Ends<N, P> & string] ? WalkFrom<Ends<N, P>, E, Kind> : NoWalk
    >
  : SearchOf<N, E, P, Given>;

/** The message that says why a kind cannot be searched. As a text of its own it would show up in an editor's completions. */
type NotFindable<Known, Given> = Given extends readonly (infer Kind)[]
  ? readonly NotFindable<Known, Kind>[]
  : Given extends Known
    ? Advice<`No index finds "${Given & string}": declare one, such as indexes: { byName: { entries: { ${Given & string}: "name" } } }.`>
    : Advice<`There is no node, edge or part "${Given & string}".`>;

export type KindNames<N, E, P> = (keyof N | keyof E | keyof P) & string;

/** The kinds that an index may contain: its entries, and references, which are stored in the items of their nodes. */
type Findable<N, E extends Edges, P, Indexed> =
  | Extract<KindNames<N, E, P>, Indexed>
  | (KindNames<N, E, P> & { [Name in keyof E]: E[Name]["~stored"] extends "reference" ? Name : never }[keyof E]);

/** `db.find`; `Indexed` are the kinds that an index contains. */
// oxlint-disable-next-line typescript/no-explicit-any -- whatever its indexes hold
export interface Find<N extends Nodes, E extends Edges, P extends Parts, Indexed extends string = any> {
  /**
   * Finds nodes, edges or parts of one kind by their values. Several kinds can be found together if they share an index, in its
   * order and by the attributes that they have in common.
   *
   * @throws {schema.unknownNode} if there is no such kind
   * @example
   * const page = await db.find("student").where({ name: { beginsWith: "John" } }).page({ limit: 20 });
   */
  <const Given extends KindNames<N, E, P> | readonly KindNames<N, E, P>[] | (string & {}) | readonly (string & {})[]>(
    kinds: Given extends Findable<N, E, P, Indexed> | readonly Findable<N, E, P, Indexed>[]
      ? Given
      : NotFindable<KindNames<N, E, P>, Given>,
  ): Found<N, E, P, Given>;
}
