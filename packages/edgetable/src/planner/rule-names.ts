import { rules } from "./rules.ts";
import { walkRules } from "./walk/walk-rules.ts";

const names = (all: readonly { readonly name: string }[]): readonly string[] => all.map(({ name }) => name);

/** What rewrites a read, by its name. */
export const readRuleNames: readonly string[] = names(rules);

/** What rewrites a walk; and that a search for paths grows its smaller side, which is decided while it runs. */
export const walkRuleNames: readonly string[] = [...names(walkRules), "smaller-side"];

/** Every rule that can be switched off. */
export const ruleNames: readonly string[] = [...readRuleNames, ...walkRuleNames];
