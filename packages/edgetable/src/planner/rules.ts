import type { Expand, LogicalPlan } from "../ir/logical-plan.ts";
import { VERSION } from "../requests/encode-item.ts";
import { projectedAttributes } from "../schema/catalog.ts";
import { attributesOf } from "../schema/facts.ts";
import { defined } from "../util/invariant.ts";
import { choosePath, type Leaf, type Planning, type Rule } from "./choose-path.ts";
import { isProjected } from "./projected-attributes.ts";

/** Rebuilds a plan with its inputs rewritten first, then itself. */
export const bottomUp = (plan: LogicalPlan, rewrite: (plan: LogicalPlan) => LogicalPlan): LogicalPlan => {
  switch (plan.kind) {
    case "filter":
    case "hydrate":
    case "count": {
      const input = bottomUp(plan.input, rewrite);
      return rewrite(input === plan.input ? plan : { ...plan, input });
    }
    case "union":
    case "merge":
      return rewrite({ ...plan, inputs: plan.inputs.map((input) => bottomUp(input, rewrite)) });
    default:
      return rewrite(plan);
  }
};

export const isLeaf = (plan: LogicalPlan): plan is Leaf => plan.kind === "expand" || plan.kind === "parts" || plan.kind === "search";

/**
 * Lets DynamoDB count, for the same units and without sending items, if it can check every condition. In an adopted table it cannot
 * tell which items the model knows, so it sends only the attributes that identify them. It cannot tell which edges lead to other
 * tenants either.
 */
const countOnServer: Rule = {
  name: "count-on-server",
  rewrite: ({ catalog }, plan) => {
    if (plan.kind !== "count" || !isLeaf(plan.input)) return plan;
    const isOfEdges = plan.input.kind === "expand" || (plan.input.kind === "search" && plan.input.of === "edge");
    return catalog.tenant && isOfEdges ? plan : { ...plan, server: true };
  },
};

/** True if the edges are part of their source nodes' items and the index projects these items completely. */
const isEmbedded = (planning: Planning, expand: Expand): boolean => {
  const { catalog } = planning;
  if (expand.direction !== "in" || catalog.edges[expand.edge]?.definition.stored !== "reference") return false;
  // A Query that fetches some attributes does not fetch the whole node.
  if (expand.select) return false;
  const { path } = choosePath(planning, expand);
  const projected = projectedAttributes(catalog, path.index);
  if (!projected) return true;
  return path.shapes.every(({ from }) => {
    const { shape, definition } = defined(catalog.nodes[from ?? ""], "source");
    const names = attributesOf(definition);
    return names !== undefined && [...names, ...(shape.version ? [VERSION] : [])].every((field) => isProjected(shape, field, projected));
  });
};

/** Takes the neighbour from the edge's item if the edge is part of its node's item and the index projects the whole item. */
const useEmbeddedNode: Rule = {
  name: "use-embedded-node",
  rewrite: (planning, plan) =>
    bottomUp(plan, (node) => {
      if (node.kind !== "hydrate" || node.consistent) return node;
      const base = node.input.kind === "filter" ? node.input.input : node.input;
      return base.kind === "expand" && isEmbedded(planning, base) ? { ...node, embedded: true } : node;
    }),
};

/** The rules of every plan, in the order in which they run. Each can be switched off by name without changing answers. */
export const rules: readonly Rule[] = [countOnServer, useEmbeddedNode];
