import type { Expand } from "../../ir/logical-plan.ts";
import { VERSION } from "../../requests/encode-item.ts";
import { attributeNames } from "../../schema/attribute-names.ts";
import type { Catalog, NodeEntry } from "../../schema/catalog.ts";
import { heldBy } from "../../schema/held-by.ts";
import type { Index } from "../../schema/shape.ts";
import { defined } from "../../util/invariant.ts";
import { choosePath } from "../choose-path.ts";
import { isHeld } from "../held-attributes.ts";
import { bottomUp, type Rule } from "./rule.ts";

/** Whether the items of an index hold all of a node. */
const holdsNode = (catalog: Catalog, index: Index, { shape, definition }: NodeEntry): boolean => {
  const held = heldBy(catalog, index);
  if (!held) return true;
  const names = attributeNames(definition.schema);
  return names !== undefined && [...names, ...(shape.version ? [VERSION] : [])].every((field) => isHeld(shape, field, held));
};

const isEmbedded = (catalog: Catalog, expand: Expand): boolean => {
  if (expand.direction !== "in" || catalog.edges[expand.edge]?.definition.stored !== "reference") return false;
  // A Query that fetches some attributes alone does not fetch the node's.
  if (expand.select) return false;
  const { index, shapes } = choosePath(catalog, expand, new Set());
  return shapes.every((shape) => holdsNode(catalog, index, defined(catalog.nodes[shape.from ?? ""], "source")));
};

/** Takes the neighbour from the item at hand where the edge lives inside its node's own item, and the index holds all of it. */
export const useEmbeddedNode: Rule = {
  name: "use-embedded-node",
  rewrite: (catalog, plan) =>
    bottomUp(plan, (node) => {
      if (node.kind !== "hydrate" || node.consistent) return node;
      const base = node.input.kind === "filter" ? node.input.input : node.input;
      return base.kind === "expand" && isEmbedded(catalog, base) ? { ...node, embedded: true } : node;
    }),
};
