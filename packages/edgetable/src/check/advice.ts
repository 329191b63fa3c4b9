import type { Catalog } from "../schema/catalog.ts";

/** The laws of the design that advice refers to, by number and name. */
export const LAWS = {
  keys: "1 Keys",
  indexKeys: "2 Index keys never go stale",
  noScan: "4 No Scan",
  batch: "5 Nothing is lost in a batch",
  budgets: "8 Budgets are hard",
  truth: "10 No hidden copies of the truth",
} as const;

export type Law = (typeof LAWS)[keyof typeof LAWS];

/** What may be better about a model that works. */
export interface Advice {
  /** The rule that speaks, such as `hotIndexPartition`. */
  readonly rule: string;
  readonly law: Law;
  /** The node, edge, part, index or pattern that it is about. */
  readonly definition: string;
  readonly message: string;
  /** What to do about it. */
  readonly mend: string;
  /** `error` breaks a law, `warning` will hurt at scale or mislead, `note` is a price worth knowing. */
  readonly severity: "error" | "warning" | "note";
}

/** A named access pattern with its plan, as `explainPatterns` gives it. */
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
      /** A walk has none: its hops have their own. */
      readonly sources?: readonly { readonly kind: string; readonly index?: string | undefined }[];
      readonly hydrate?: { readonly nodes: readonly string[]; readonly by: string } | undefined;
    };
  };
}

/** One rule: what it has to say of a model and its patterns. Pure. */
export type AdviceRule = (catalog: Catalog, patterns: readonly CheckedPattern[]) => readonly Advice[];
