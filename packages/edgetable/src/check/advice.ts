import type { Catalog } from "../schema/catalog.ts";

/** What advice is about, as shown beside its rule. */
export const CONCERNS = {
  keys: "key design",
  indexKeys: "index keys",
  noScan: "no Scan",
  batch: "throughput",
  budgets: "cost",
  truth: "stale copies",
} as const;

export type Concern = (typeof CONCERNS)[keyof typeof CONCERNS];

/** An improvement of a valid model. */
export interface Advice {
  /** The rule, such as `hotIndexPartition`. */
  readonly rule: string;
  /** The concern, such as `cost` or `key design`. */
  readonly concern: Concern;
  /** The node, edge, part, index or pattern concerned. */
  readonly definition: string;
  readonly message: string;
  /** What to do. */
  readonly mend: string;
  /** `error` must not ship; `warning` will hurt at scale or mislead; `note` is a price worth knowing. */
  readonly severity: "error" | "warning" | "note";
}

/** A named access pattern with its plan, from `explainPatterns`. */
export interface CheckedPattern {
  readonly name: string;
  readonly explanation: {
    readonly requests: readonly {
      readonly operation: string;
      readonly times?: number;
      readonly after?: string;
      /** The shards that the request goes to. */
      readonly partitions?: readonly string[];
    }[];
    readonly cost: { readonly requests: number };
    readonly plan?: {
      readonly kind: string;
      /** Undefined for a walk, whose hops have their own. */
      readonly sources?: readonly { readonly kind: string; readonly index?: string | undefined }[];
      readonly hydrate?: { readonly nodes: readonly string[]; readonly by: string } | undefined;
    };
  };
}

/** One rule: its advice on a model and its patterns. Pure. */
export type AdviceRule = (catalog: Catalog, patterns: readonly CheckedPattern[]) => readonly Advice[];
