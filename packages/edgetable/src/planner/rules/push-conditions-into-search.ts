import type { Filter, LogicalPlan, Search } from "../../ir/logical-plan.ts";
import { RANGES, type Condition } from "../../ir/condition.ts";
import type { Catalog } from "../../schema/catalog.ts";
import { fixedBy, inShape } from "../access-path.ts";
import { onSharedIndex, searchPath } from "../search-path.ts";
import { canRange, exactRanges } from "./push-conditions-into-keys.ts";
import { bottomUp, type Rule } from "./rule.ts";

const push = (catalog: Catalog, filter: Filter, search: Search): LogicalPlan => {
  const path = searchPath(catalog, search);
  const fixed = fixedBy(path);
  const known = new Set(search.known.flatMap(({ slot, of }) => [slot, of ?? slot]));
  const isFixed = ({ path: field, slot }: Condition): boolean =>
    known.has(slot) && path.shapes.every((shape) => fixed.has(inShape(shape, field)));
  const range = filter.conditions.filter(
    (condition) =>
      RANGES.has(condition.operator) &&
      canRange(path.shapes, condition) &&
      path.shapes.every((shape) => inShape(shape, condition.path) === path.prefix?.next?.path),
  );
  const taken = new Set([...filter.conditions.filter(isFixed), ...exactRanges(path.shapes, range, path.index.sortKey)]);
  const conditions = filter.conditions.filter((condition) => !taken.has(condition));
  const pushed: Search = { ...search, range: [...search.range, ...range] };
  return conditions.length === 0 ? pushed : { kind: "filter", input: pushed, conditions };
};

/** Turns conditions of a search into those of an index's keys, so that only matching items are read. */
export const pushConditionsIntoSearch: Rule = {
  name: "push-conditions-into-search",
  rewrite: (catalog, plan) =>
    bottomUp(
      bottomUp(plan, (node) => (node.kind === "merge" ? onSharedIndex(catalog, node) : node)),
      (node) => (node.kind === "filter" && node.input.kind === "search" ? push(catalog, node, node.input) : node),
    ),
};
