import type { Call } from "../executor/call.ts";
import type { ReadExplanation } from "./explanation.ts";

/** A read that has not been made yet. */
export type Read<T> = Call<T, ReadExplanation>;

/** An edge with the node at its far end; undefined if that node has no item. */
export interface Entry<Edge, Node> {
  readonly edge: Edge;
  readonly node: Node | undefined;
}

/** What a page may contain, by the value of the option `of`. */
export interface PageItems<Edge, Node, Id> {
  readonly edges: Edge;
  readonly nodes: Node;
  readonly entries: Entry<Edge, Node>;
  readonly ids: Id;
}

/** One page. An absent cursor means that there is nothing on that side. A cursor that is present may lead to an empty page. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly next: string | undefined;
  readonly previous: string | undefined;
  /**
   * Why the page is short although there may be more rows: it reached its budget of requests or units, or the deadline (`time`).
   * `next` continues from there. Undefined for a full page and for the last one.
   */
  readonly stopped: "requests" | "units" | "time" | undefined;
}

/** What a page may use to find its rows, including filtered ones. Reading the nodes at the ends of edges is not part of it. */
export interface PageBudget {
  /** Attempts of requests, 1 to 1,000,000,000, and at least as many as the page reads partitions. A page never sends more. */
  readonly requests?: number | undefined;
  /** Read units, 1 to 1,000,000,000. When they are used up, no further request begins; each partition is read once in any case. */
  readonly units?: number | undefined;
}

/** Which page of neighbours. */
export interface PageOptions<Of extends string> {
  /** Rows of the page, 1 to 10,000. @default 20 */
  readonly limit?: number | undefined;
  /** `next` or `previous` of an earlier page of the same query. */
  readonly cursor?: string | undefined;
  /**
   * What the page may use to find its rows. When it is used up, or at the deadline, the page is short and `stopped` says so.
   * @default only the call's deadline
   */
  readonly budget?: PageBudget | undefined;
  /** What the page contains. @default "edges" */
  readonly of?: Of | undefined;
}

/** Which page of neighbours, with some of the nodes' attributes. */
export interface SelectPage<Of extends string, Field> extends PageOptions<Of> {
  readonly of: Of;
  /**
   * Sends only these attributes of the nodes, one or more, and the version where a node type keeps one; whole items are read and
   * paid for. A cursor continues with any selection. @default all
   */
  readonly select: readonly Field[];
}

/** How edges or parts are counted. */
export interface CountOptions {
  /**
   * Which derived attribute of the node may replace counting: `"transaction"`, one that transactions keep; `"any"`; or `"none"`. An
   * attribute kept by stream is usually a second behind, and one kept by batch as old as its job's last run. Kept counts include
   * expired edges until DynamoDB deletes them. With an adopted layout, no attribute kept by transaction is used, because other
   * programs may write to the table.
   *
   * @default "transaction"
   */
  readonly kept?: "transaction" | "any" | "none" | undefined;
}

/** A page of a search. */
export interface SearchPageOptions {
  /** Rows of the page, 1 to 10,000. @default 20 */
  readonly limit?: number | undefined;
  /** `next` or `previous` of an earlier page of the same search. */
  readonly cursor?: string | undefined;
  /**
   * What the page may use to find its rows. When it is used up, or at the deadline, the page is short and `stopped` says so.
   * @default only the call's deadline
   */
  readonly budget?: PageBudget | undefined;
}

/** A row with the selected attributes, or the whole row. */
export type Fetched<Row, Field> = [Field] extends [never] ? Row : Pick<Row, keyof Row & (Field | "version")>;

/** Options of a read by key. */
export interface PointOptions {
  /** Strongly consistent: twice the units. @default false */
  readonly consistent?: boolean | undefined;
}

/** Options of a read by key of some attributes. */
export interface SelectOptions<Field> extends PointOptions {
  /**
   * Returns only these attributes, one or more, with the version if there is one, and the ends of an edge. The whole item is read
   * and paid for. @default all
   */
  readonly select?: readonly Field[] | undefined;
}

/** An edge with its ends and the selected attributes, or the whole edge. */
export type FetchedEdge<Edge, Field> = [Field] extends [never] ? Edge : Pick<Edge, keyof Edge & (Field | "from" | "to" | "version")>;

/** Options of a read of neighbours. */
export interface HydrateOptions<Given> {
  /** Attributes that the neighbours' keys need in addition to their ids, if they are the same for all neighbours. */
  readonly given?: Given | undefined;
}

/** Options of a read of some attributes of neighbours. */
export interface SelectNodes<Given, Field> extends HydrateOptions<Partial<Given>> {
  /**
   * Sends only these attributes of the neighbours, one or more, and the version where a node type keeps one; whole items are read
   * and paid for. @default all
   */
  readonly select: readonly Field[];
}

/** Options of a read of the nodes at the ends of found edges. */
export interface SelectEnds<Field> {
  /**
   * Sends only these attributes of the nodes, one or more, and the version where a node type keeps one; whole items are read and
   * paid for. @default all
   */
  readonly select?: readonly Field[] | undefined;
}
