/** What an aggregate computes. */
export type AggregateOperation = "count" | "sum" | "min" | "max" | "average" | "distinct";

export const OPERATIONS: readonly AggregateOperation[] = ["count", "sum", "min", "max", "average", "distinct"];

/** True for operations that add up: a transaction can keep them, and they need no memos. */
export const isAdditive = (operation: AggregateOperation): boolean =>
  operation === "count" || operation === "sum" || operation === "average";

/** True for operations whose value over no rows is 0; the others have none. */
export const startsAtZero = (operation: AggregateOperation): boolean =>
  operation === "count" || operation === "sum" || operation === "distinct";

/**
 * When a derived attribute follows its sources. `transaction`: in the write's own transaction. `stream`: by the stream
 * processor, usually within a second. `batch`: by a scheduled batch job.
 */
export type Freshness = "transaction" | "stream" | "batch";

/** The freshest first. */
export const FRESHNESS: readonly Freshness[] = ["transaction", "stream", "batch"];

/** `immutable`: the source cannot change. `transaction`, `stream`: as for {@link Freshness}. */
export type CopyFreshness = "immutable" | "transaction" | "stream";

/**
 * What an aggregate ranges over. Of a node: the edges of a type that reach (`in`) or leave (`out`) it, or its `parts` of one
 * kind. Of an edge: the edges of another type between the same two nodes, `along` it, `against` it, or `between` them in
 * either direction.
 */
export type AggregateSource = OneOf<"in" | "out" | "parts" | "along" | "against" | "between">;

type OneOf<Place extends string, All extends string = Place> = Place extends string
  ? { readonly [Name in Place]: string } & { readonly [Other in Exclude<All, Place>]?: never }
  : never;

/** Where an edge lies that is summarized on another one: the direction from source to target, the other one, or either. */
export type SummaryDirection = "along" | "against" | "between";

/** The edge type that a derived attribute of an edge ranges over, and in which direction; undefined where it says neither. */
export const summarized = ({ along, against, between }: AggregateSource): readonly [SummaryDirection, string] | undefined => {
  if (along !== undefined) return ["along", along];
  if (against !== undefined) return ["against", against];
  return between === undefined ? undefined : ["between", between];
};

/** The settings of every aggregate. */
export type AggregateOptions = AggregateSource & {
  /** Conditions on the attributes of the edge or part: only those that meet all of them count. @default all */
  readonly where?: Readonly<Record<string, unknown>>;
  /** @default "transaction" for `count`, `sum` and `average` of a node, else "stream" */
  readonly freshness?: Freshness;
  /** With freshness "stream", the bound of its staleness: see {@link CopySettings.within}. @default none */
  readonly within?: number;
};

/** The settings of an aggregate that transactions can keep. */
export interface CounterOptions {
  /**
   * Of freshness `transaction`, over edges: counters over which the edges' transactions are spread, 2 to 64, so that writers of
   * a hot node do not wait for each other. The attribute in the node's row is then the sum as it was last rolled up: by the
   * stream processor, or by `rollUpCounters`. @default one counter, in the node's own item
   */
  readonly shards?: number;
}

/** The settings of an aggregate over the values of one attribute. */
export type ValueOptions = AggregateOptions & {
  /** The attribute of the edge or part, or one that is copied onto it. */
  readonly of: string;
};

/** An attribute that Edgetable computes and keeps true: of a node from its edges or parts, of an edge from other edges between its ends. */
export interface DerivedAttribute<out Value = unknown> {
  readonly kind: "derived";
  readonly operation: AggregateOperation;
  readonly source: AggregateSource;
  readonly of: string | undefined;
  readonly where: Readonly<Record<string, unknown>> | undefined;
  readonly freshness: Freshness;
  /** Counters over which its edges are spread; undefined: the node's own item counts. */
  readonly shards: number | undefined;
  readonly within?: number | undefined;
  /** For the types alone. */
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

/** The exact decimal sum of a number over a node's edges or parts; those without the attribute add nothing. */
export const sum = (options: ValueOptions & CounterOptions): DerivedAttribute<number> => derived("sum", options);

/** The mean of a number over those edges or parts that have it, other values left out; undefined where none has. */
export const average = (options: ValueOptions & CounterOptions): DerivedAttribute<number | undefined> => derived("average", options);

/** The least value of an attribute: a number, text or Date; undefined where there is none. Kept by the stream or in batch. */
export const min = <Value = number>(options: ValueOptions): DerivedAttribute<NoInfer<Value> | undefined> => derived("min", options);

/** The greatest value of an attribute: a number, text or Date; undefined where there is none. Kept by the stream or in batch. */
export const max = <Value = number>(options: ValueOptions): DerivedAttribute<NoInfer<Value> | undefined> => derived("max", options);

/**
 * How many different neighbours the edges lead to; with `of`, how many different values an attribute has. Kept by the stream
 * or in batch.
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
   * With freshness "stream", the bound of its staleness: seconds after a change within which the stream has to bring it up to
   * date, 1 to 86,400. The processor reports each time that it took longer (`onStale`). @default none
   */
  readonly within?: number;
  /**
   * Of freshness `transaction`: what happens to a change of the source with 100 copies or more, which no transaction holds.
   * `refuse`: it is refused with the number. `job`: the source changes, and a resumable job changes its copies after it.
   * @default "refuse"
   */
  readonly beyond?: "refuse" | "job";
}

/** Attributes of a node that are copied: a list of names, or by the copy's name the node's attribute. */
export type CopyList = readonly string[] | Readonly<Record<string, string | CopySettings>>;

/** Attributes of the nodes at an edge's ends that are copied onto the edge. */
export interface EdgeCopyLists {
  readonly from?: CopyList;
  readonly to?: CopyList;
}
