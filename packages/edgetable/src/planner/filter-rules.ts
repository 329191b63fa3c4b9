import { type Condition, pathsOf, RANGES } from "../ir/condition.ts";
import { presentIn } from "../ir/holds.ts";
import type { Expand, Filter, LogicalPlan, Parts } from "../ir/logical-plan.ts";
import { isOneWay, keepsOrder, type FieldFormat } from "../keys/template.ts";
import { type Catalog, kindShapes, type Shape } from "../schema/catalog.ts";
import { defined } from "../util/invariant.ts";
import { fixesField, inShape, rangesOver, takesField } from "./access-path.ts";
import { anchorPaths, choosePath, type Leaf, type Planning, rememberChoice, type Rule, searchingOf, shapeSets } from "./choose-path.ts";
import { bottomUp, isLeaf } from "./rules.ts";

/** The shapes whose items a leaf of the plan asks for. */
const shapesOf = (catalog: Catalog, leaf: Leaf): readonly Shape[] => {
  if (leaf.kind === "search") return kindShapes(catalog, leaf);
  if (leaf.kind === "parts") return [defined(catalog.parts[leaf.part], "part").shape];
  return shapeSets(defined(catalog.edges[leaf.edge], "edge"), leaf).flat();
};

/** The formats in which a shape's keys, or one of them, write a field. */
const formatsOf = (shape: Shape, path: string, attributes = Object.keys(shape.keys)): readonly FieldFormat[] => {
  const own = inShape(shape, path);
  const formats: FieldFormat[] = [];
  for (const attribute of attributes)
    for (const part of shape.keys[attribute]?.parts ?? []) if (part.kind === "field" && part.path === own) formats.push(part.format);
  return formats;
};

/**
 * True if the keys can hold a range of the field. A prefix of a value is a prefix of its key text only for texts. A key that
 * contains the field in several forms is sorted by the first one.
 *
 * @param attribute the key attribute to consider; by default any
 */
export const canRange = (shapes: readonly Shape[], { operator, path }: Condition, attribute?: string): boolean => {
  if (operator === "or" || operator === "not" || !RANGES.has(operator)) return false;
  const takes = (format: FieldFormat): boolean => {
    const { kind } = format;
    const isText =
      kind === "text" || kind === "digits" || kind === "letters" || kind === "either" || (isOneWay(format) && kind !== "shard");
    return operator === "beginsWith" ? isText : kind !== "plain" && !isOneWay(format);
  };
  return shapes.every((shape) =>
    attribute === undefined ? formatsOf(shape, path).some(takes) : formatsOf(shape, path, [attribute]).slice(0, 1).some(takes),
  );
};

/**
 * The conditions that a range of a sort key decides exactly, so that they need no check in memory. The key's range is slightly too
 * wide in three cases: an adopted layout's keys sort differently; a key ends with the value, so that "less than" has no greatest
 * text below it; or a prefix has another bound beside it, because it then ends at the least text above it, which may itself be a
 * key.
 */
export const exactRanges = (shapes: readonly Shape[], range: readonly Condition[], sortKey: string | undefined): readonly Condition[] =>
  range.filter(({ path, operator }) => {
    if (operator === "beginsWith" && range.length > 1) return false;
    return shapes.every((shape) => {
      const own = inShape(shape, path);
      const template = shape.keys[sortKey ?? ""];
      const field = template?.parts.find((part) => part.kind === "field" && part.path === own);
      if (!template || field?.kind !== "field" || field.format.kind === "either") return false;
      // Numbers have no next greater number either.
      const isOpen = operator === "lt" || (operator === "gt" && template.type === "N");
      return keepsOrder(template, own) && !(isOpen && template.parts.at(-1) === field);
    });
  });

export const filtered = (input: LogicalPlan, conditions: readonly Condition[]): LogicalPlan =>
  conditions.length === 0 ? input : { kind: "filter", input, conditions };

const pushIntoKeys = (planning: Planning, { conditions }: Filter, leaf: Expand | Parts): LogicalPlan => {
  const { catalog } = planning;
  const shapes = shapesOf(catalog, leaf);
  // The start node is in the key already, so a condition on that end can only exclude rows.
  const near = leaf.kind === "expand" ? anchorPaths(leaf) : (catalog.nodes[shapes[0]?.from ?? ""]?.idFields ?? []);
  const equalities = new Map<string, Condition>();
  for (const condition of conditions) {
    const { operator, path } = condition;
    if (operator !== "eq" || near.includes(path) || equalities.has(path)) continue;
    if (shapes.every((shape) => formatsOf(shape, path).length > 0)) equalities.set(path, condition);
  }
  const ranges = conditions.filter((condition) => canRange(shapes, condition));
  const implied = conditions.flatMap(({ implies = [] }) => implies);
  const fixed = {
    ...leaf,
    present: presentIn(conditions),
    ...(implied.length > 0 ? { implied } : {}),
    known: [...leaf.known, ...[...equalities.values()].map(({ path, slot }) => ({ path, slot }))],
  };
  const choice = choosePath(
    planning,
    fixed,
    ranges.map(({ path }) => path),
  );
  const { path } = choice;
  const range = ranges.filter((condition) => rangesOver(path, condition.path) && canRange(path.shapes, condition, path.index.sortKey));
  const taken = new Set(exactRanges(path.shapes, range, path.index.sortKey));
  for (const [field, condition] of equalities) if (fixesField(path, field)) taken.add(condition);
  const known = fixed.known.filter((field) => !equalities.has(field.path) || takesField(path, field.path));
  const pushed = { ...fixed, known, range: [...leaf.range, ...range] };
  // Another path might not take the conditions that this one takes.
  rememberChoice(planning, pushed, choice);
  return filtered(
    pushed,
    conditions.filter((condition) => !taken.has(condition)),
  );
};

/** Turns conditions on fields of a key into that key's condition, so that only matching items are read. */
const pushConditionsIntoKeys: Rule = {
  name: "push-conditions-into-keys",
  rewrite: (planning, plan) =>
    bottomUp(plan, (node) =>
      node.kind === "filter" && (node.input.kind === "expand" || node.input.kind === "parts")
        ? pushIntoKeys(planning, node, node.input)
        : node,
    ),
};

/** Turns conditions of a search into those of an index's keys, so that only matching items are read. */
const pushConditionsIntoSearch: Rule = {
  name: "push-conditions-into-search",
  rewrite: (planning, plan) =>
    bottomUp(
      bottomUp(plan, (node) => (node.kind === "merge" ? searchingOf(planning).onSharedIndex(planning, node) : node)),
      (node) =>
        node.kind === "filter" && node.input.kind === "search" ? searchingOf(planning).pushConditions(planning, node, node.input) : node,
    ),
};

/** True if an attribute of the item contains the field. A filter expression cannot use a key attribute of the queried table or index. */
const hasOwnAttribute = (shape: Shape, path: string): boolean => {
  const own = inShape(shape, path);
  if (own.startsWith("from.") || own.startsWith("to.") || shape.carried.includes(own)) return false;
  return !shape.dates.includes(own) && !shape.former?.[own] && (shape.copied === undefined || shape.copied.includes(own));
};

const asksIn = ({ operator, of = [] }: Condition): boolean => operator === "in" || of.some((conditions) => conditions.some(asksIn));

/** Lets DynamoDB filter items by their attributes: filtered items are read and paid for, but not sent. */
const filterOnServer: Rule = {
  name: "filter-on-server",
  rewrite: ({ catalog }, plan) =>
    bottomUp(plan, (node) => {
      if (node.kind !== "filter" || !isLeaf(node.input)) return node;
      const shapes = shapesOf(catalog, node.input);
      const taken: Condition[] = [];
      const left: Condition[] = [];
      for (const condition of node.conditions) {
        const isTaken = !asksIn(condition) && pathsOf([condition]).every((path) => shapes.every((shape) => hasOwnAttribute(shape, path)));
        (isTaken ? taken : left).push(condition);
      }
      return filtered({ ...node.input, filter: [...node.input.filter, ...taken] }, left);
    }),
};

/** The rules for plans with conditions, in the order in which they run. They run before all other rules. */
export const filterRules: readonly Rule[] = [pushConditionsIntoKeys, pushConditionsIntoSearch, filterOnServer];
