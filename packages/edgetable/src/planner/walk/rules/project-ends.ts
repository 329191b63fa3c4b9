import { mapHops, type WalkRule } from "./rule.ts";

/** Where nobody asks for an edge's attributes, only where it leads is read and sent. */
export const projectEnds: WalkRule = {
  name: "project-ends",
  rewrite: (_, walk) => mapHops(walk, (hop) => ({ ...hop, reads: "ends" })),
};
