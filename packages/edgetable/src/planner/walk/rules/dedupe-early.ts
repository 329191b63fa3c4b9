import type { LogicalWalk } from "../../../ir/walk-plan.ts";
import { mapHops, type WalkRule } from "./rule.ts";

const countsWays = ({ collect }: LogicalWalk): boolean => collect.kind === "count" || collect.kind === "groups" || collect.kind === "fold";

/** Where only distinct nodes matter from some step on, nobody counts in how many ways they were reached before it. */
export const dedupeEarly: WalkRule = {
  name: "dedupe-early",
  rewrite: (_, walk) => {
    if (walk.collect.kind === "paths") return walk;
    const last = countsWays(walk) ? walk.steps.findLastIndex((step) => step.kind === "dedupe") : walk.steps.length;
    return mapHops(walk, (hop, at) => (at < last ? { ...hop, counts: "nodes" } : hop));
  },
};
