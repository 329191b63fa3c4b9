import { givesEachOnce } from "../../../ir/walk-plan.ts";
import type { WalkRule } from "./rule.ts";

/** Where each node is given once whatever the walk says, nobody keeps a second record of those that came. */
export const dropDedupe: WalkRule = {
  name: "drop-dedupe",
  rewrite: (_, walk) => (givesEachOnce(walk) ? { ...walk, steps: walk.steps.filter((step) => step.kind !== "dedupe") } : walk),
};
