import { type Condition, RANGES } from "../ir/condition.ts";
import type { Expand, Filter, LogicalPlan, Parts, Search } from "../ir/logical-plan.ts";
import { type FieldFormat, keepsOrder, type Template } from "../keys/template.ts";
import { VERSION } from "../requests/encode-item.ts";
import { attributeNames } from "../schema/standard-schema.ts";
import { type Catalog, type NodeEntry, heldBy, type Index, type Shape } from "../schema/catalog.ts";
import { defined } from "../util/invariant.ts";
import { fixedBy, inShape } from "./access-path.ts";
import { anchorPaths, choosePath, partIndex, shapeSets } from "./choose-path.ts";
import { isHeld } from "./held-attributes.ts";
import { onSharedIndex, searchPath, searchShapes } from "./search-path.ts";

/** A rewriting of a logical plan that never changes its answer, only what it costs. */
export interface Rule {
  readonly name: string;
  rewrite(catalog: Catalog, plan: LogicalPlan): LogicalPlan;
}

/** Rebuilds a plan with its inputs rewritten first, then itself. */
const bottomUp = (plan: LogicalPlan, rewrite: (plan: LogicalPlan) => LogicalPlan): LogicalPlan => {
  switch (plan.kind) {
    case "filter":
    case "hydrate":
    case "count":
      return rewrite({ ...plan, input: bottomUp(plan.input, rewrite) });
    case "union":
    case "merge":
      return rewrite({ ...plan, inputs: plan.inputs.map((input) => bottomUp(input, rewrite)) });
    default:
      return rewrite(plan);
  }
};

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
const canRange = (shapes: readonly Shape[], condition: Condition): boolean =>
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
const exactRanges = (shapes: readonly Shape[], range: readonly Condition[], sortKey: string | undefined): readonly Condition[] =>
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
const pushConditionsIntoKeys: Rule = {
  name: "push-conditions-into-keys",
  rewrite: (catalog, plan) =>
    bottomUp(plan, (node) => {
      if (node.kind !== "filter") return node;
      if (node.input.kind === "expand") return pushExpand(catalog, node, node.input);
      return node.input.kind === "parts" ? pushParts(catalog, node, node.input) : node;
    }),
};

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
const pushConditionsIntoSearch: Rule = {
  name: "push-conditions-into-search",
  rewrite: (catalog, plan) =>
    bottomUp(
      bottomUp(plan, (node) => (node.kind === "merge" ? onSharedIndex(catalog, node) : node)),
      (node) => (node.kind === "filter" && node.input.kind === "search" ? push(catalog, node, node.input) : node),
    ),
};

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
const filterOnServer: Rule = {
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

const COUNTED: ReadonlySet<string> = new Set(["expand", "parts", "search"]);

/**
 * Asks DynamoDB for the count alone where it can see every condition: the same units, no items sent. In an
 * adopted table it cannot see which items the model knows: there what tells them apart is sent, and no more.
 */
const countOnServer: Rule = {
  name: "count-on-server",
  rewrite: (_, plan) =>
    bottomUp(plan, (node) => (node.kind === "count" && COUNTED.has(node.input.kind) ? { ...node, server: true } : node)),
};

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
const useEmbeddedNode: Rule = {
  name: "use-embedded-node",
  rewrite: (catalog, plan) =>
    bottomUp(plan, (node) => {
      if (node.kind !== "hydrate" || node.consistent) return node;
      const base = node.input.kind === "filter" ? node.input.input : node.input;
      return base.kind === "expand" && isEmbedded(catalog, base) ? { ...node, embedded: true } : node;
    }),
};

/** Every rule, in the order in which they run. Each can be switched off by name; answers stay the same. */
export const rules: readonly Rule[] = [pushConditionsIntoKeys, pushConditionsIntoSearch, filterOnServer, countOnServer, useEmbeddedNode];
