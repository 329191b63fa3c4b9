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

// Rows of several kinds keep saying of which they are; edges keep their ends.
type Selected<Row, Field, Several> = Several extends true
  ? Row extends Kinded<infer Kind, infer One>
    ? Kinded<Kind, Picked<One, Field>>
    : never
  : Picked<Row, Field>;
type Picked<Row, Field> = Pick<Row, keyof Row & Field>;

/**
 * Things found by their values in an index, not yet read; in the index's order. Builders are immutable,
 * the methods at the end of a chain return a call. It is read from an index, and so eventually
 * consistent. Over shards it is one Query for each, merged: pages are of exactly the size asked for.
 *
 * @throws {plan.unsupported} as a rejection, from a call with a list (`in`) whose values times shards are more than 1,000 partitions
 * @throws {plan.noIndex} as a rejection, from a call that no index serves, because there is no Scan; from `using`, if there is no such index
 * @throws {schema.unknownAttribute} from `where` and `select`, for a name that the kind does not have
 * @throws {plan.invalidOption} from `where` and `limit`, for an unknown comparison, or a number out of its range
 */
export interface Search<Row, Filter, Several = false, On extends WalkOn = NoWalk> extends AsyncIterable<Row> {
  /** Keeps the rows for which every condition holds; several calls add up. What no key takes is filtered after reading. */
  where(filter: Filter): Search<Row, Filter, Several, On>;
  /** Sends only the named attributes, and of edges their ends; read, and paid for, are whole items. */
  select<const Field extends keyof Filter & string>(
    ...fields: readonly Field[]
  ): Search<Selected<Row, Field, Several>, Filter, Several, On>;
  /** Reads in the opposite order. */
  reverse(): Search<Row, Filter, Several, On>;
  /** Reads no more than so many rows, 1 or more. */
  limit(most: number): Search<Row, Filter, Several, On>;
  /** Reads from the named index rather than from where it is cheapest; of a sparse index, what is in it. */
  using(index: string): Search<Row, Filter, Several, On>;
  /** Reads these shards of the index alone, by their numbers: one Query for each. @throws {plan.invalidOption} if there is no such shard */
  shards(...numbers: readonly number[]): Search<Row, Filter, Several, On>;
  /** The rows. One Query for each megabyte of each shard. */
  rows(): Read<readonly Row[]>;
  /** The first row in order, undefined when there is none. One Query for each shard. */
  first(): Read<Row | undefined>;
  /** How many rows there are. What `rows` costs; DynamoDB counts and sends no items, unless a condition is checked in memory. */
  count(): Read<number>;
  /**
   * The sum of an attribute over the rows, those without it adding nothing; another value than a number is refused; a bigint beyond 2^53. What `rows` costs, and
   * no more is sent than that attribute: a roll-up at whatever level of a hierarchy the conditions name.
   *
   * @throws {schema.unknownAttribute} for a name that the kind does not have
   * @throws {plan.noIndex} from the call, where the index does not hold the attribute
   */
  sum(attribute: NumericOf<Filter>): Read<number | bigint>;
  /**
   * A page with cursors of those beside it. One Query for each shard, more where a filter leaves a page short: then
   * each reads more items, at most four times as many as the page needs. The first page of a table leaves the secret of
   * its cursors there.
   *
   * @throws {plan.invalidOption} from the call, when its budget has no request for each shard
   * @throws {cursor.invalid} when the cursor is not of this search
   * @throws {cursor.outgrown} when the shards grew since, and the rows at the page's end can no longer be told apart
   */
  page(options?: SearchPageOptions): Read<Page<Row>>;
  /** What `rows` would send, without sending it. */
  explain(): Promise<ReadExplanation>;
  /** On along an edge from every row: a walk, whose budget pays for the search too. */
  readonly out: On["out"];
  readonly in: On["in"];
  readonly both: On["both"];
  /** These rows as the start of a walk, in the order of the search. */
  readonly walk: On["walk"];
}

/** How a walk goes on from the rows of a search. */
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
  /** The nodes that the edges start at, one for each edge. Missing ones are left out and named in the report. */
  sources<const Field extends NodeField<Source> = never>(options?: SelectEnds<Field>): Read<readonly AtEnd<Source, NoInfer<Field>>[]>;
  /** The nodes that the edges lead to, one for each edge. */
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

// Of a union, `keyof` has the common attributes alone.
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

/** What `find` gives: things of one kind, or of several, of which each says of which kind it is. */
type Found<N extends Nodes, E extends Edges, P extends Parts, Given> = Given extends readonly (infer Kind)[]
  ? Search<
      KindedRow<N, E, P, Kind>,
      Common<FoundRow<N, E, P, Kind>>,
      true,
      [Kind] extends [keyof Ends<N, P> & string] ? WalkFrom<Ends<N, P>, E, Kind> : NoWalk
    >
  : SearchOf<N, E, P, Given>;

/** Why things of a kind cannot be found. An editor would offer a sentence of its own among the kinds. */
type NotFindable<Known, Given> = Given extends readonly (infer Kind)[]
  ? readonly NotFindable<Known, Kind>[]
  : Given extends Known
    ? Advice<`No index finds "${Given & string}": declare one, such as indexes: { byName: { entries: { ${Given & string}: "name" } } }.`>
    : Advice<`There is no node, edge or part "${Given & string}".`>;

export type KindNames<N, E, P> = (keyof N | keyof E | keyof P) & string;

/** What an index may hold: its entries, and references, which lie in the items of their nodes. */
type Findable<N, E extends Edges, P, Indexed> =
  | Extract<KindNames<N, E, P>, Indexed>
  | (KindNames<N, E, P> & { [Name in keyof E]: E[Name]["~stored"] extends "reference" ? Name : never }[keyof E]);

/** `db.find`; `Indexed` are the kinds that an index holds. */
// oxlint-disable-next-line typescript/no-explicit-any -- whatever its indexes hold
export interface Find<N extends Nodes, E extends Edges, P extends Parts, Indexed extends string = any> {
  /**
   * Finds nodes, edges or parts of one kind by their values, or several kinds that share an index, in its one order and by
   * the attributes that all of them have.
   *
   * @throws {schema.unknownNode} when there is no such kind
   * @example
   * const page = await db.find("student").where({ name: { beginsWith: "John" } }).page({ limit: 20 });
   */
  <const Given extends KindNames<N, E, P> | readonly KindNames<N, E, P>[] | (string & {}) | readonly (string & {})[]>(
    kinds: Given extends Findable<N, E, P, Indexed> | readonly Findable<N, E, P, Indexed>[]
      ? Given
      : NotFindable<KindNames<N, E, P>, Given>,
  ): Found<N, E, P, Given>;
}
