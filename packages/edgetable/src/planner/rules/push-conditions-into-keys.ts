import { keepsOrder, type FieldFormat, type Template } from "../../keys/template.ts";
import { RANGES, type Condition } from "../../ir/condition.ts";
import type { Expand, Filter, LogicalPlan, Parts } from "../../ir/logical-plan.ts";
import type { Catalog } from "../../schema/catalog.ts";
import type { Shape } from "../../schema/shape.ts";
import { anchorPaths, choosePath, shapeSets } from "../choose-path.ts";
import { fixedBy, inShape } from "../access-path.ts";
import { partIndex } from "../part-path.ts";
import { bottomUp, type Rule } from "./rule.ts";

interface Place {
  readonly template: Template;
  readonly format: FieldFormat;
}

const placeOf = (shape: Shape, path: string): Place | undefined => {
  const own = inShape(shape, path);
  for (const template of Object.values(shape.keys)) {
    for (const part of template.parts) if (part.kind === "field" && part.path === own) return { template, format: part.format };
  }
  return undefined;
};

const isKeyed = (shapes: readonly Shape[], path: string): boolean => shapes.every((shape) => placeOf(shape, path) !== undefined);

/** Whether the field's place in a key can be ranged over. A prefix of a value is a prefix of its key text only for text. */
export const canRange = (shapes: readonly Shape[], condition: Condition): boolean =>
  shapes.every((shape) => {
    const kind = placeOf(shape, condition.path)?.format.kind;
    if (kind === undefined || kind === "plain" || kind === "shard") return false;
    return condition.operator !== "beginsWith" || kind === "text" || kind === "either";
  });

const isLast = ({ parts }: Template, path: string): boolean => {
  const last = parts.at(-1);
  return last?.kind === "field" && last.path === path;
};

/**
 * Whether a range of a sort key is exactly the range of values. Where an adopted layout's keys sort
 * otherwise, or end with the value so that "less than" has no greatest text below it, the key's range is a
 * little too wide, and the condition is checked once more in memory.
 */
const isExact = (shapes: readonly Shape[], { path, operator }: Condition, sortKey: string | undefined): boolean =>
  shapes.every((shape) => {
    const own = inShape(shape, path);
    const template = shape.keys[sortKey ?? ""];
    const field = template?.parts.find((part) => part.kind === "field" && part.path === own);
    if (!template || field?.kind !== "field" || field.format.kind === "either") return false;
    // Right above a number lies no other either.
    const open = operator === "lt" || (operator === "gt" && template.type === "N");
    return keepsOrder(template, own) && !(open && isLast(template, own));
  });

/** The conditions of a sort key's range that it takes exactly. Beside another bound, a prefix ends at the least text above it, which may be a key. */
export const exactRanges = (shapes: readonly Shape[], range: readonly Condition[], sortKey: string | undefined): readonly Condition[] =>
  range.filter((condition) => isExact(shapes, condition, sortKey) && (condition.operator !== "beginsWith" || range.length === 1));

const keyed = (shapes: readonly Shape[], conditions: readonly Condition[]): readonly Condition[] => {
  const seen = new Set<string>();
  return conditions.filter(({ operator, path }) => {
    if (operator !== "eq" || seen.has(path) || !isKeyed(shapes, path)) return false;
    seen.add(path);
    return true;
  });
};

const withoutFilter = (input: LogicalPlan, conditions: readonly Condition[]): LogicalPlan =>
  conditions.length === 0 ? input : { kind: "filter", input, conditions };

const pushExpand = (catalog: Catalog, filter: Filter, expand: Expand): LogicalPlan => {
  const entry = catalog.edges[expand.edge];
  const shapes = entry ? shapeSets(entry, expand).flat() : [];
  // The node that was asked about stands in the key: a condition on that end may only say no.
  const near = anchorPaths(expand);
  const equalities = keyed(
    shapes,
    filter.conditions.filter(({ path }) => !near.includes(path)),
  );
  const ranges = filter.conditions.filter((condition) => RANGES.has(condition.operator) && canRange(shapes, condition));
  const rangePaths = new Set(ranges.map((condition) => condition.path));
  const fixed: Expand = { ...expand, known: [...expand.known, ...equalities.map(({ path, slot }) => ({ path, slot }))] };
  const path = choosePath(catalog, fixed, rangePaths);
  const told = fixedBy(path);
  const used = (condition: Condition): boolean => path.shapes.every((shape) => told.has(inShape(shape, condition.path)));
  const next = path.prefix?.next?.path;
  const range = ranges.filter((condition) => path.shapes.every((shape) => inShape(shape, condition.path) === next));
  const taken = new Set<Condition>([...equalities.filter(used), ...exactRanges(shapes, range, path.index.sortKey)]);
  const known = fixed.known.filter((field) => ![...equalities].some((condition) => condition.path === field.path && !taken.has(condition)));
  return withoutFilter(
    { ...fixed, known, range: [...expand.range, ...range] },
    filter.conditions.filter((condition) => !taken.has(condition)),
  );
};

const pushParts = (catalog: Catalog, filter: Filter, parts: Parts): LogicalPlan => {
  const entry = catalog.parts[parts.part];
  const sortKey = entry && partIndex(catalog, entry).sortKey;
  const sort = entry?.shape.keys[sortKey ?? ""];
  if (!entry || !sort) return filter;
  const { shape } = entry;
  const equalities = keyed([shape], filter.conditions).filter((condition) => sort.fields.includes(condition.path));
  const known = new Set(equalities.map((condition) => condition.path));
  const next = sort.fields.find(
    (field) =>
      !known.has(field) && !parts.known.some((one) => one.path === field) && !catalog.nodes[shape.from ?? ""]?.idFields.includes(field),
  );
  const usable = equalities.filter((condition) => next === undefined || sort.fields.indexOf(condition.path) < sort.fields.indexOf(next));
  const range = filter.conditions.filter(
    (condition) => RANGES.has(condition.operator) && condition.path === next && canRange([shape], condition),
  );
  const taken = new Set<Condition>([...usable, ...exactRanges([shape], range, sortKey)]);
  return withoutFilter(
    { ...parts, known: [...parts.known, ...usable.map(({ path, slot }) => ({ path, slot }))], range },
    filter.conditions.filter((condition) => !taken.has(condition)),
  );
};

/** Turns conditions on fields of a key into that key's condition, so that only matching items are read. */
export const pushConditionsIntoKeys: Rule = {
  name: "push-conditions-into-keys",
  rewrite: (catalog, plan) =>
    bottomUp(plan, (node) => {
      if (node.kind !== "filter") return node;
      if (node.input.kind === "expand") return pushExpand(catalog, node, node.input);
      return node.input.kind === "parts" ? pushParts(catalog, node, node.input) : node;
    }),
};
