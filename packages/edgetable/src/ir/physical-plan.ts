import type { Template } from "../keys/template.ts";
import type { Freshness } from "../schema/derived.ts";
import type { Price } from "./capacity.ts";
import type { Condition } from "./condition.ts";
import type { KnownField } from "./logical-plan.ts";

/** How a sort key is restricted; templates are cut to the parts that the call can fill. */
export type SortCondition =
  | { readonly kind: "equals"; readonly template: Template }
  | { readonly kind: "prefix"; readonly template: Template }
  /** From the first key that begins with `template` to the last one that begins with `last`: several types of edges. */
  | { readonly kind: "span"; readonly template: Template; readonly last: Template }
  | {
      readonly kind: "range";
      /** What precedes the compared field; may have no parts. */
      readonly template: Template;
      readonly path: string;
      /** The whole template, which knows how the compared field is written. */
      readonly whole: Template;
      /** Whether more of the key follows the compared field. */
      readonly followed: boolean;
      readonly bounds: readonly Condition[];
    };

/** Point reads of whole ids: GetItem for one, BatchGetItem in chunks of 100 for several. */
export interface GetStep {
  readonly kind: "get";
  readonly shapes: readonly string[];
  readonly many: boolean;
  readonly consistent: boolean;
  /** The fields to read; undefined for all. */
  readonly select?: readonly string[] | undefined;
}

/** The point read of a unique value's marker, which names the node to read. */
export interface MarkerStep {
  readonly kind: "marker";
  readonly node: string;
  readonly attribute: string;
  readonly consistent: boolean;
}

/** A way that was not taken. */
export interface Alternative extends Price {
  /** The index; undefined for the table. */
  readonly index: string | undefined;
}

/** A key attribute and the template of its only value. */
export interface KeyEquality {
  readonly attribute: string;
  readonly template: Template;
}

/** One Query, or as many pages of it as the call needs. */
export interface QueryStep {
  readonly kind: "query";
  readonly index: string | undefined;
  readonly partitionKey: string;
  readonly partition: Template;
  /**
   * Present when the partition's shard is not known, or may be one of several: the step is then a Query of
   * each partition, merged in the order of the sort key, and within one sort key of the partitions. `unknown`
   * are the fields that would say which. `only` are the shards that the call lists.
   */
  readonly scatter?: { readonly unknown: readonly string[]; readonly only?: readonly number[] | undefined };
  /** Further attributes of an index's keys that have one value each, where a key consists of several. */
  readonly equal?: readonly KeyEquality[];
  readonly sortKey: string | undefined;
  readonly sort: SortCondition | undefined;
  readonly known: readonly KnownField[];
  readonly filter: readonly Condition[];
  readonly forward: boolean;
  readonly consistent: boolean;
  /** Shapes that the call wants; other items in the range are passed over. */
  readonly shapes: readonly string[];
  /** Whether other items may lie in the range. */
  readonly discards: boolean;
  readonly select: readonly string[] | undefined;
  /** Attributes to ask for and no others, where a walk needs no more than an edge's end. */
  readonly attributes?: readonly string[] | undefined;
  readonly counts: boolean;
  /** Of a read of one row by its id: the fields in which a row that is found has to be the one that is asked for. */
  readonly identity?: readonly string[] | undefined;
  /** The rows that the key condition is expected to find, and the bytes of one: for predictions. */
  readonly expect: { readonly rows: number; readonly bytes: number };
  /** Other ways to the same rows, which are predicted to cost at least as much, the cheapest first. */
  readonly alternatives?: readonly Alternative[];
}

/** Rows passed over in memory: conditions that no key and no filter expression could take. */
export interface FilterStep {
  readonly kind: "filter";
  readonly conditions: readonly Condition[];
}

/** The far nodes of the edges so far: BatchGetItem in chunks of 100, each node once. */
export interface HydrateStep {
  readonly kind: "hydrate";
  /** Of each source's edges, the end that is wanted. */
  readonly ends: readonly ("from" | "to")[];
  /** Node types that may be at the far end. */
  readonly nodes: readonly string[];
  /** `batchGet` where the node's key follows from its id; `query` (one each) where it does not; `none` where the item at hand is the node. */
  readonly by: "batchGet" | "query" | "none";
  readonly consistent: boolean;
  /** The fields to read; undefined for all. */
  readonly select?: readonly string[] | undefined;
}

/** Derived attributes of one node whose sum is the number of rows: read instead of them, where they are complete. */
export interface KeptStep {
  readonly kind: "kept";
  readonly node: string;
  readonly attributes: readonly string[];
  /** Those whose sum is that of an attribute over the rows, where it is wanted. Empty if no row has it. */
  readonly sums?: readonly string[];
  /** The least fresh of them. */
  readonly freshness: Freshness;
}

export interface CountStep {
  readonly kind: "count";
  /** Takes the number from a node's item. If that is not possible, the sources are counted. */
  readonly kept?: KeptStep;
}

export type AccessStep = GetStep | QueryStep;

/**
 * How a read is done, in words of the table: what `explain` shows is what runs. `sources` are read one
 * after the other unless they are merged; the rest applies to all their rows.
 */
export interface ReadPlan {
  readonly kind: "read";
  /** Read first: it names the row that the sources read. */
  readonly marker?: MarkerStep;
  readonly sources: readonly AccessStep[];
  /** True when the sources' rows come in one order, that of the index they share. */
  readonly merged?: boolean;
  readonly filter: FilterStep | undefined;
  readonly hydrate: HydrateStep | undefined;
  readonly count: CountStep | undefined;
  /** The end of each source's edges where the call started. */
  readonly near: readonly ("from" | "to")[];
  readonly consistency: "strong" | "eventual";
}
