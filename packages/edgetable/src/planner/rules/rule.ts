import type { LogicalPlan } from "../../ir/logical-plan.ts";
import type { Catalog } from "../../schema/catalog.ts";

/** A rewriting of a logical plan that never changes its answer, only what it costs. */
export interface Rule {
  readonly name: string;
  rewrite(catalog: Catalog, plan: LogicalPlan): LogicalPlan;
}

/** Rebuilds a plan with its inputs rewritten first, then itself. */
export const bottomUp = (plan: LogicalPlan, rewrite: (plan: LogicalPlan) => LogicalPlan): LogicalPlan => {
  switch (plan.kind) {
    case "filter":
    case "hydrate":
    case "count":
      return rewrite({ ...plan, input: bottomUp(plan.input, rewrite) });
    case "union":
    case "merge":
      return rewrite({ ...plan, inputs: plan.inputs.map((input) => bottomUp(input, rewrite)) });
    default:
      return rewrite(plan);
  }
};
