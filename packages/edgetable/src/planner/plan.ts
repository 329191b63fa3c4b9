import { EdgetableError } from "../errors/edgetable-error.ts";
import type { LogicalPlan } from "../ir/logical-plan.ts";
import type { ReadPlan } from "../ir/physical-plan.ts";
import type { Catalog } from "../schema/catalog.ts";
import { lower } from "./lower.ts";
import { rules } from "./rules.ts";

/** Every parameter slot that a plan looks at, as a sorted list without repeats. */
const slotsOf = (plan: LogicalPlan): readonly number[] => {
  const own = (): readonly number[] => {
    switch (plan.kind) {
      case "expand":
      case "parts":
      case "search":
        return [...plan.known.flatMap(({ slot, of }) => [slot, of ?? slot]), ...[...plan.range, ...plan.filter].map((one) => one.slot)];
      case "filter":
        return [...plan.conditions.map((condition) => condition.slot), ...slotsOf(plan.input)];
      case "hydrate":
      case "count":
        return slotsOf(plan.input);
      case "union":
      case "merge":
        return plan.inputs.flatMap(slotsOf);
      default:
        return [];
    }
  };
  return [...new Set(own())].toSorted((a, b) => a - b);
};

/**
 * What every rule must keep: no condition of the call may get lost and none may appear. A violation is
 * a defect of Edgetable and stops the call before any request is made.
 */
const verify = (before: LogicalPlan, after: LogicalPlan, rule: string): void => {
  const wanted = slotsOf(before).join(",");
  const kept = slotsOf(after).join(",");
  if (wanted === kept) return;
  throw new EdgetableError(
    "invariant",
    `the rule "${rule}" changed the conditions of a plan from [${wanted}] to [${kept}]: a defect of edgetable`,
    { details: { rule, before, after } },
  );
};

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
