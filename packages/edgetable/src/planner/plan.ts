import type { LogicalPlan } from "../ir/logical-plan.ts";
import type { ReadPlan } from "../ir/physical-plan.ts";
import type { Catalog } from "../schema/catalog.ts";
import { lower } from "./lower.ts";
import { rules } from "./rules/index.ts";
import { verify } from "./verify.ts";

const freezeDeep = <T>(value: T): T => {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const member of Object.values(value)) freezeDeep(member);
  return value;
};

/** Rewrites a logical plan by every rule that is not switched off; the plan is verified after each. */
const optimize = (catalog: Catalog, plan: LogicalPlan, off: ReadonlySet<string>): LogicalPlan => {
  let current = plan;
  for (const rule of rules) {
    if (off.has(rule.name)) continue;
    const next = rule.rewrite(catalog, current);
    verify(plan, next, rule.name);
    current = next;
  }
  return current;
};

/** The requests that answer a logical plan: pure, and frozen to the last member. */
export const planRead = (catalog: Catalog, plan: LogicalPlan, off: ReadonlySet<string> = new Set()): ReadPlan =>
  freezeDeep(lower(catalog, optimize(catalog, plan, off)));
