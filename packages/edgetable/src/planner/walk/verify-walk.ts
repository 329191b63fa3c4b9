import { EdgetableError } from "../../errors/edgetable-error.ts";
import { givesEachOnce, type LogicalWalk } from "../../ir/walk-plan.ts";

// What a walk means: everything but how edges are read, counted and found. Reading a node changes nothing,
// and neither does counting it once where it is given once.
const meaning = (walk: LogicalWalk): string =>
  JSON.stringify([
    walk.node,
    walk.collect,
    walk.steps.flatMap((step): readonly object[] => {
      if (step.kind === "hydrate" || (step.kind === "dedupe" && givesEachOnce(walk))) return [];
      if (step.kind !== "hop") return [step];
      const { reads: _reads, counts: _counts, by: _by, ...rest } = step;
      return [rest];
    }),
  ]);

/**
 * What every rule must keep: the hops, their order and conditions, and what stands between them. A
 * violation is a defect of Edgetable and stops the walk before any request is made.
 */
export const verifyWalk = (before: LogicalWalk, after: LogicalWalk, rule: string): void => {
  if (meaning(before) === meaning(after)) return;
  throw new EdgetableError("invariant", `the rule "${rule}" changed what a walk means: a defect of edgetable`, {
    details: { rule, before, after },
  });
};
