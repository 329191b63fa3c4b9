import type { Condition } from "../../ir/condition.ts";
import type { LogicalPlan } from "../../ir/logical-plan.ts";
import type { Catalog } from "../../schema/catalog.ts";
import type { Shape } from "../../schema/shape.ts";
import { inShape } from "../access-path.ts";
import { shapeSets } from "../choose-path.ts";
import { searchShapes } from "../search-path.ts";
import { bottomUp, type Rule } from "./rule.ts";

// A filter expression may not name a key of what is queried, and a carried field has no other attribute.
const hasOwnAttribute = (shape: Shape, path: string): boolean => {
  const own = inShape(shape, path);
  if (own.startsWith("from.") || own.startsWith("to.") || shape.carried.includes(own)) return false;
  return !shape.dates.includes(own) && (shape.holds === undefined || shape.holds.includes(own));
};

const shapesOf = (catalog: Catalog, plan: LogicalPlan): readonly Shape[] | undefined => {
  if (plan.kind === "parts") return catalog.parts[plan.part] ? [catalog.parts[plan.part]!.shape] : [];
  if (plan.kind === "search") return searchShapes(catalog, plan);
  if (plan.kind !== "expand") return undefined;
  const entry = catalog.edges[plan.edge];
  return entry ? shapeSets(entry, plan).flat() : [];
};

const takes = (shapes: readonly Shape[], condition: Condition): boolean =>
  condition.operator !== "in" && shapes.every((shape) => hasOwnAttribute(shape, condition.path));

/** Lets DynamoDB pass over items by their own attributes, so that they are read but not sent. */
export const filterOnServer: Rule = {
  name: "filter-on-server",
  rewrite: (catalog, plan) =>
    bottomUp(plan, (node) => {
      if (node.kind !== "filter") return node;
      const input = node.input;
      const shapes = shapesOf(catalog, input);
      if (!shapes || (input.kind !== "expand" && input.kind !== "parts" && input.kind !== "search")) return node;
      const taken = node.conditions.filter((condition) => takes(shapes, condition));
      const left = node.conditions.filter((condition) => !taken.includes(condition));
      const pushed: LogicalPlan = { ...input, filter: [...input.filter, ...taken] };
      return left.length === 0 ? pushed : { kind: "filter", input: pushed, conditions: left };
    }),
};
