import type { WalkRule } from "./rule.ts";

/** Nodes are read only where a filter needs them, or where they are given. */
export const hydrateLate: WalkRule = {
  name: "hydrate-late",
  rewrite: (_, walk) => ({ ...walk, steps: walk.steps.filter((step) => step.kind !== "hydrate") }),
};
