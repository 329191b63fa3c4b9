import { rules } from "./rules.ts";

// Names of rules are listed here so that a connection checks `rulesOff` without loading the rules.
const FILTER_RULES = ["push-conditions-into-keys", "push-conditions-into-search", "filter-on-server"];

/** Names of the rules that rewrite a read. */
export const readRuleNames: readonly string[] = [...FILTER_RULES, ...rules.map(({ name }) => name)];

/** Names of the rules that rewrite a walk. */
const WALK_RULES = [
  "dedupe-early",
  "drop-dedupe",
  "hydrate-late",
  "project-ends",
  "check-ends-by-get",
  "use-kept-counts",
  "join-types",
] as const;

export type WalkRuleName = (typeof WALK_RULES)[number];

/** The same, and that a search for paths grows its smaller side, which is decided while it runs. */
export const walkRuleNames: readonly string[] = [...WALK_RULES, "smaller-side"];

/** Every rule that can be switched off. */
export const ruleNames: readonly string[] = [...readRuleNames, ...walkRuleNames];
