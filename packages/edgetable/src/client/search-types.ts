import type { Where } from "../ir/condition.ts";
import type { ReadExplanation } from "./explanation.ts";
import type { AnyEdgeInGraph, Edges, EdgesInGraph, EndId, Kinded, Nodes, Parts } from "./graph-types.ts";
import type { Entry, Page, PageBudget, Read } from "./read-types.ts";

/** A page of a search. */
export interface SearchPageOptions {
  /** Rows of the page, 1 to 10,000. @default 20 */
  readonly limit?: number;
  /** `next` or `previous` of an earlier page of the same search. */
  readonly cursor?: string | undefined;
  /** What the page may take to find its rows. At its end, as at the deadline, the page is short and says so. @default the call's deadline alone */
  readonly budget?: PageBudget;
}

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
 * @throws {plan.invalidOption} from `where` and `limit`, for a comparison that there is none of, a number out of its range
 */
export interface Search<Row, Filter, Several = false> extends AsyncIterable<Row> {
  /** Keeps the rows for which every condition holds; several calls add up. What no key takes is filtered after reading. */
  where(filter: Filter): Search<Row, Filter, Several>;
  /** Sends only the named attributes, and of edges their ends; read, and paid for, are whole items. */
  select<const Field extends keyof Filter & string>(...fields: readonly Field[]): Search<Selected<Row, Field, Several>, Filter, Several>;
  /** Reads in the opposite order. */
  reverse(): Search<Row, Filter, Several>;
  /** Reads no more than so many rows, 1 or more. */
  limit(most: number): Search<Row, Filter, Several>;
  /** Reads from the named index rather than from where it is cheapest; of a sparse index, what is in it. */
  using(index: string): Search<Row, Filter, Several>;
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
  sum(attribute: keyof Filter & string): Read<number | bigint>;
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
}

/** Edges found by their values, and the nodes at their ends: the Queries, and one BatchGetItem for each 100 nodes. */
export interface EdgeSearch<Row, Filter, Source, Target> extends Search<Row, Filter> {
  where(filter: Filter): EdgeSearch<Row, Filter, Source, Target>;
  select<const Field extends keyof Filter & string>(
    ...fields: readonly Field[]
  ): EdgeSearch<Picked<Row, Field | "from" | "to">, Filter, Source, Target>;
  reverse(): EdgeSearch<Row, Filter, Source, Target>;
  limit(most: number): EdgeSearch<Row, Filter, Source, Target>;
  using(index: string): EdgeSearch<Row, Filter, Source, Target>;
  /** The nodes that the edges start at, one for each edge. Missing ones are left out and named in the report. */
  sources(): Read<readonly Source[]>;
  /** The nodes that the edges lead to, one for each edge. */
  targets(): Read<readonly Target[]>;
  /** Each edge with the node at one of its ends. */
  entries(end: "from"): Read<readonly Entry<Row, Source>[]>;
  entries(end: "to"): Read<readonly Entry<Row, Target>[]>;
}

type PartRow<N extends Nodes, P extends Parts, Kind extends keyof P> = P[Kind]["~types"]["row"] & EndId<N, P[Kind]["of"]>;

type FoundRow<N extends Nodes, E extends Edges, P extends Parts, Kind> = Kind extends keyof N
  ? N[Kind]["~types"]["row"]
  : Kind extends keyof E
    ? EdgesInGraph<N, E>[Kind]["edge"]
    : Kind extends keyof P
      ? PartRow<N, P, Kind>
      : never;

// Of a union, `keyof` has the common attributes alone.
type Common<Rows> = Where<Pick<Rows, keyof Rows>>;

type EdgeSearchOf<In extends AnyEdgeInGraph> = EdgeSearch<In["edge"], In["filter"], In["source"], In["target"]>;

type SearchOf<N extends Nodes, E extends Edges, P extends Parts, Kind> = Kind extends keyof E
  ? EdgeSearchOf<EdgesInGraph<N, E>[Kind]>
  : Search<FoundRow<N, E, P, Kind>, Where<FoundRow<N, E, P, Kind>>>;

type KindedRow<N extends Nodes, E extends Edges, P extends Parts, Kind> = Kind extends unknown
  ? Kinded<Kind, FoundRow<N, E, P, Kind>>
  : never;

/** `db.find`. */
export interface Find<N extends Nodes, E extends Edges, P extends Parts> {
  /**
   * Finds nodes, edges or parts of one kind by their values.
   *
   * @throws {schema.unknownNode} when there is no such kind
   * @example
   * const page = await db.find("student").where({ name: { beginsWith: "John" } }).page({ limit: 20 });
   */
  <Kind extends (keyof N | keyof E | keyof P) & string>(kind: Kind): SearchOf<N, E, P, Kind>;
  /** Finds several kinds that share an index, in its one order; by the attributes that all of them have. */
  <const Kind extends (keyof N | keyof E | keyof P) & string>(
    kinds: readonly Kind[],
  ): Search<KindedRow<N, E, P, Kind>, Common<FoundRow<N, E, P, Kind>>, true>;
}
