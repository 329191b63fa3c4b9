/** The operations of aggregates. */
export type AggregateOperation = "count" | "sum" | "min" | "max" | "average" | "distinct";

export const OPERATIONS: readonly AggregateOperation[] = ["count", "sum", "min", "max", "average", "distinct"];

/** True for additive operations: transactions can maintain them, and they need no memos. */
export const isAdditive = (operation: AggregateOperation): boolean =>
  operation === "count" || operation === "sum" || operation === "average";

/** True for operations whose value without rows is 0; the others then have no value. */
export const startsAtZero = (operation: AggregateOperation): boolean =>
  operation === "count" || operation === "sum" || operation === "distinct";

/**
 * When a derived attribute is updated after its sources change. `transaction`: in the write's own transaction. `stream`: by the
 * stream processor, usually within a second. `batch`: by a scheduled batch job.
 */
export type Freshness = "transaction" | "stream" | "batch";

/** The freshest one first. */
export const FRESHNESS: readonly Freshness[] = ["transaction", "stream", "batch"];

/** `immutable`: the source cannot change. `transaction`, `stream`: as for {@link Freshness}. */
export type CopyFreshness = "immutable" | "transaction" | "stream";

/**
 * What an aggregate ranges over. For a node: its incoming (`in`) or outgoing (`out`) edges of a type, or its `parts` of one kind.
 * For an edge: the edges of another type between the same two nodes, `along` it, `against` it, or `between` them in either
 * direction.
 */
export type AggregateSource = OneOf<"in" | "out" | "parts" | "along" | "against" | "between">;

type OneOf<Place extends string, All extends string = Place> = Place extends string
  ? { readonly [Name in Place]: string } & { readonly [Other in Exclude<All, Place>]?: never }
  : never;

/** The direction of the summarized edges relative to the edge: the same, the opposite, or either. */
export type SummaryDirection = "along" | "against" | "between";

/** The edge type that a derived attribute of an edge ranges over, with its direction; undefined for other sources. */
export const summarized = ({ along, against, between }: AggregateSource): readonly [SummaryDirection, string] | undefined => {
  if (along !== undefined) return ["along", along];
  if (against !== undefined) return ["against", against];
  return between === undefined ? undefined : ["between", between];
};

/** The settings of every aggregate. */
export type AggregateOptions = AggregateSource & {
  /** Conditions on the attributes of the edge or part. Only rows that satisfy all of them count. @default all */
  readonly where?: Readonly<Record<string, unknown>>;
  /** @default "transaction" for `count`, `sum` and `average` of a node, else "stream" */
  readonly freshness?: Freshness;
  /** For freshness "stream": the maximum staleness, see {@link CopySettings.within}. @default none */
  readonly within?: number;
};

/** The settings of an aggregate that transactions can keep. */
export interface CounterOptions {
  /**
   * For freshness `transaction`, over edges: number of counters, 2 to 64, over which the edges' transactions are spread, so that
   * writers of a hot node do not wait for each other. The attribute in the node's row is then the last sum that the stream
   * processor or `rollUpCounters` computed. @default one counter, in the node's own item
   */
  readonly shards?: number;
}

/** The settings of an aggregate over the values of one attribute. */
export type ValueOptions = AggregateOptions & {
  /** The attribute of the edge or part, or one that is copied onto it. */
  readonly of: string;
};

/**
 * An attribute that Edgetable computes and keeps up to date: for a node from its edges or parts, for an edge from other edges
 * between its ends.
 */
export interface DerivedAttribute<out Value = unknown> {
  readonly kind: "derived";
  readonly operation: AggregateOperation;
  readonly source: AggregateSource;
  readonly of: string | undefined;
  readonly where: Readonly<Record<string, unknown>> | undefined;
  readonly freshness: Freshness;
  /** Number of counters over which its edges are spread; undefined if the node's own item counts. */
  readonly shards: number | undefined;
  readonly within?: number | undefined;
  /** Exists only in types. */
  readonly "~value"?: Value;
}

const derived = (
  operation: AggregateOperation,
  { of, where, freshness, shards, within, ...source }: AggregateOptions & CounterOptions & { readonly of?: string },
) =>
  Object.freeze({
    kind: "derived",
    operation,
    source: source as AggregateSource,
    of,
    where,
    shards,
    freshness: freshness ?? (isAdditive(operation) && !summarized(source as AggregateSource) ? "transaction" : "stream"),
    within,
  } as const);

/**
 * The number of a node's edges or parts; on an edge, of the edges of another type between its ends.
 *
 * @example
 * const schema = z.object({ courseId: z.string() });
 * const course = node({ key: "COURSE#{courseId}", schema, derived: { students: count({ in: "enrolledIn" }) } });
 */
export const count = (options: AggregateOptions & CounterOptions): DerivedAttribute<number> => derived("count", options);

/** The exact decimal sum of a number over a node's edges or parts; edges and parts without the attribute add nothing. */
export const sum = (options: ValueOptions & CounterOptions): DerivedAttribute<number> => derived("sum", options);

/** The mean of a number over the edges or parts that have it; other values are ignored. Undefined if no edge or part has it. */
export const average = (options: ValueOptions & CounterOptions): DerivedAttribute<number | undefined> => derived("average", options);

/** The least value of an attribute: a number, text or Date; undefined if there is no value. Maintained by stream or in batch. */
export const min = <Value = number>(options: ValueOptions): DerivedAttribute<NoInfer<Value> | undefined> => derived("min", options);

/** The greatest value of an attribute: a number, text or Date; undefined if there is no value. Maintained by stream or in batch. */
export const max = <Value = number>(options: ValueOptions): DerivedAttribute<NoInfer<Value> | undefined> => derived("max", options);

/**
 * The number of distinct neighbours; with `of`, the number of distinct values of an attribute. Maintained by stream or in batch.
 */
export const distinct = (options: AggregateOptions & { readonly of?: string }): DerivedAttribute<number> => derived("distinct", options);

/** The derived attributes of a node or edge, by name. */
export type DerivedAttributes = Readonly<Record<string, DerivedAttribute>>;

/** One attribute that is copied: the node's attribute, and how fresh the copy is. */
export interface CopySettings {
  /** The node's attribute. */
  readonly of: string;
  /** @default "transaction" */
  readonly freshness?: CopyFreshness;
  /**
   * For freshness "stream": the maximum staleness in seconds, 1 to 86,400. The processor reports each update that took longer
   * (`onStale`). @default none
   */
  readonly within?: number;
  /**
   * For freshness `transaction`: what happens if the changed source has 100 copies or more, too many for a transaction. `refuse`:
   * the change is refused, with the number. `job`: the source changes, and a resumable job then changes its copies.
   * @default "refuse"
   */
  readonly beyond?: "refuse" | "job";
}

/** Attributes of a node that are copied: a list of names, or an object with the copies' names and the node's attribute for each. */
export type CopyList = readonly string[] | Readonly<Record<string, string | CopySettings>>;

/** Attributes of the nodes at an edge's ends that are copied onto the edge. */
export interface EdgeCopyLists {
  readonly from?: CopyList;
  readonly to?: CopyList;
}
