import type { Expand } from "../../ir/logical-plan.ts";
import type { Catalog } from "../../schema/catalog.ts";
import { choosePath } from "../choose-path.ts";
import { bottomUp, type Rule } from "./rule.ts";

const isEmbedded = (catalog: Catalog, expand: Expand): boolean => {
  if (expand.direction !== "in" || catalog.edges[expand.edge]?.definition.stored !== "reference") return false;
  return choosePath(catalog, expand, new Set()).index.projection === "ALL";
};

/** Takes the neighbour from the item at hand where the edge lives inside its node's own item. */
export const useEmbeddedNode: Rule = {
  name: "use-embedded-node",
  rewrite: (catalog, plan) =>
    bottomUp(plan, (node) => {
      if (node.kind !== "hydrate" || node.consistent) return node;
      const base = node.input.kind === "filter" ? node.input.input : node.input;
      return base.kind === "expand" && isEmbedded(catalog, base) ? { ...node, embedded: true } : node;
    }),
};
