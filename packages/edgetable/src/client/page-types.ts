import type { Call } from "../executor/call.ts";
import type { ReadExplanation } from "./explanation.ts";

/** A read that has not been made yet. */
export type Read<T> = Call<T, ReadExplanation>;

/** An edge with the node at its far end, undefined when that node has no item. */
export interface Entry<Edge, Node> {
  readonly edge: Edge;
  readonly node: Node | undefined;
}

/** What a page may hold, by the word that asks for it. */
export interface PageItems<Edge, Node, Id> {
  readonly edges: Edge;
  readonly nodes: Node;
  readonly entries: Entry<Edge, Node>;
  readonly ids: Id;
}

/** One page. A cursor that is absent means there is nothing on that side; one that is there may lead to an empty page. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly next: string | undefined;
  readonly previous: string | undefined;
  /**
   * Why the page is short though there may be more rows: its budget of requests or units, or the deadline (`time`)
   * ended it. `next` goes on from there. Undefined for a page that is full, or the last.
   */
  readonly stopped: "requests" | "units" | "time" | undefined;
}

/** What a page may take to find its rows, filters included; the nodes at the ends of edges are read beyond it. */
export interface PageBudget {
  /** Attempts of requests, 1 to 1,000,000,000, and no fewer than the partitions that the page reads. Never one more. */
  readonly requests?: number | undefined;
  /** Read units, 1 to 1,000,000,000. No request is begun beyond them; each partition is read once in any case. */
  readonly units?: number | undefined;
}

/** Which page of neighbours. */
export interface PageOptions<Of extends string> {
  /** Rows of the page, 1 to 10,000. @default 20 */
  readonly limit?: number | undefined;
  /** `next` or `previous` of an earlier page of the same query. */
  readonly cursor?: string | undefined;
  /** What the page may take to find its rows. At its end, as at the deadline, the page is short and says so. @default the call's deadline alone */
  readonly budget?: PageBudget | undefined;
  /** What the page holds. @default "edges" */
  readonly of?: Of | undefined;
}

/** Which page of neighbours, with some of the nodes' attributes. */
export interface SelectPage<Of extends string, Field> extends PageOptions<Of> {
  readonly of: Of;
  /**
   * Sends only these attributes of the nodes, one or more, and the version where a node type keeps one; read, and paid for, are
   * whole items. A cursor continues with any selection. @default all
   */
  readonly select: readonly Field[];
}

/** How edges or parts are counted. */
export interface CountOptions {
  /**
   * Which derived attribute of the node may stand for counting: one that each transaction keeps, `"any"` that the model has
   * (one of the stream is usually a second behind, one of a batch job as old as its last run, and edges that have expired
   * count until DynamoDB removes them), or `"none"`. A table with a layout of its own has none that transactions keep,
   * because other programs may write to it.
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
  /** What the page may take to find its rows. At its end, as at the deadline, the page is short and says so. @default the call's deadline alone */
  readonly budget?: PageBudget | undefined;
}

/** A row with the selected attributes, or all of it. */
export type Fetched<Row, Field> = [Field] extends [never] ? Row : Pick<Row, keyof Row & (Field | "version")>;

/** How something is read by its key. */
export interface PointOptions {
  /** Strongly consistent: twice the units. @default false */
  readonly consistent?: boolean | undefined;
}

/** How something is read by its key, in part. */
export interface SelectOptions<Field> extends PointOptions {
  /**
   * Sends only these attributes, one or more, the version where there is one, and of edges their ends; read, and paid for, is
   * the whole item. @default all
   */
  readonly select?: readonly Field[] | undefined;
}

/** An edge with its ends and the selected attributes, or all of it. */
export type FetchedEdge<Edge, Field> = [Field] extends [never] ? Edge : Pick<Edge, keyof Edge & (Field | "from" | "to" | "version")>;

/** How neighbours are read beside their edges. */
export interface HydrateOptions<Given> {
  /** Attributes that the neighbour's key needs beside its id, where they are the same for all. */
  readonly given?: Given | undefined;
}

/** How neighbours are read in part. */
export interface SelectNodes<Given, Field> extends HydrateOptions<Partial<Given>> {
  /**
   * Sends only these attributes of the neighbours, one or more, and the version where a node type keeps one; read, and paid
   * for, are whole items. @default all
   */
  readonly select: readonly Field[];
}

/** How the nodes at the ends of found edges are read. */
export interface SelectEnds<Field> {
  /**
   * Sends only these attributes of the nodes, one or more, and the version where a node type keeps one; read, and paid for, are
   * whole items. @default all
   */
  readonly select?: readonly Field[] | undefined;
}
