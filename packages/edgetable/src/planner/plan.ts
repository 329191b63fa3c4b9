import { EdgetableError } from "../errors/edgetable-error.ts";
import type { LogicalPlan } from "../ir/logical-plan.ts";
import type { ReadPlan } from "../ir/physical-plan.ts";
import type { Catalog } from "../schema/catalog.ts";
import type { Planners, Planning } from "./choose-path.ts";
import { lower } from "./lower.ts";
import { rules } from "./rules.ts";

/** Collects all parameter slots of a plan. */
const addSlots = (plan: LogicalPlan, slots: Set<number>): Set<number> => {
  switch (plan.kind) {
    case "expand":
    case "parts":
    case "search":
      for (const { slot, of } of plan.known) slots.add(slot).add(of ?? slot);
      for (const { slot } of plan.range) slots.add(slot);
      for (const { slot } of plan.filter) slots.add(slot);
      return slots;
    case "filter":
      for (const { slot } of plan.conditions) slots.add(slot);
      return addSlots(plan.input, slots);
    case "hydrate":
    case "count":
      return addSlots(plan.input, slots);
    case "union":
    case "merge":
      for (const input of plan.inputs) addSlots(input, slots);
      return slots;
    default:
      return slots;
  }
};

/** True if two plans have the same conditions. Every rule must preserve them. */
const hasSameConditions = (before: LogicalPlan, after: LogicalPlan): boolean => {
  const wanted = addSlots(before, new Set());
  const kept = addSlots(after, new Set());
  return wanted.size === kept.size && [...wanted].every((slot) => kept.has(slot));
};

/**
 * Rewrites a logical plan by every rule that is not switched off, and verifies the result. If it lost or gained a
 * condition, the rules run again with a verification after each, so that the error names the rule.
 */
const optimize = (planning: Planning, plan: LogicalPlan, off: ReadonlySet<string>, verifiesEach = false): LogicalPlan => {
  let current = plan;
  for (const { name, rewrite } of planning.filtering ? [...planning.filtering, ...rules] : rules) {
    if (off.has(name)) continue;
    const next = rewrite(planning, current);
    if (verifiesEach && !hasSameConditions(plan, next)) {
      throw new EdgetableError("invariant", `the rule "${name}" changed the conditions of a plan: a defect of edgetable`, {
        details: { rule: name, before: plan, after: next },
      });
    }
    current = next;
  }
  return verifiesEach || hasSameConditions(plan, current) ? current : optimize(planning, plan, off, true);
};

/** Options of planning. */
export interface PlanOptions extends Planners {
  /** Names of rules that are switched off. */
  readonly off?: ReadonlySet<string>;
}

/** The logical plan of each read plan. Plans live as long as their connection. */
const asked = new WeakMap<ReadPlan, LogicalPlan>();

/** The logical plan from which a read was planned, before any rule; undefined for a plan that was not made by `planRead`. */
export const logicalPlanOf = (read: ReadPlan): LogicalPlan | undefined => asked.get(read);

const NONE: ReadonlySet<string> = new Set();

/** Plans the requests that answer a logical plan. Pure. The plan, its steps and the templates in them are frozen. */
export const planRead = (catalog: Catalog, plan: LogicalPlan, { off = NONE, ...planners }: PlanOptions = {}): ReadPlan => {
  const planning: Planning = { catalog, chosen: new Map(), ...planners };
  const read = lower(planning, optimize(planning, plan, off));
  for (const source of read.sources) Object.freeze(source);
  Object.freeze(read.sources);
  asked.set(read, plan);
  return Object.freeze(read);
};
