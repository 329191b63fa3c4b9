import { EdgetableError } from "../errors/edgetable-error.ts";
import { type Condition, pathsOf } from "../ir/condition.ts";
import type { AccessStep } from "../ir/physical-plan.ts";
import { placesOf, VERSION } from "../requests/encode-item.ts";
import { idPaths, projectedAttributes, type Catalog, type Shape } from "../schema/catalog.ts";
import { defined } from "../util/invariant.ts";
import { inShape } from "./access-path.ts";

/** True if a field can be read, from its own attribute or from a computed attribute that contains it. */
export const isProjected = (shape: Shape, field: string, projected: ReadonlySet<string>): boolean => {
  const places = placesOf(shape, field);
  if (places.length > 0) return places.every((attribute) => projected.has(attribute));
  return [...shape.sources, ...shape.spares].some(
    ({ attribute, template }) => projected.has(attribute) && template.carried.includes(field),
  );
};

/** The first attribute that only the other copy of the edge has. With `sides`, the two copies store different attributes. */
export const lackingOnCopy = (shape: Shape, paths: readonly string[]): string | undefined => {
  if (shape.role === "reference" || shape.copied === undefined) return undefined;
  const stored = [...shape.copied, ...shape.carried, ...(shape.version ? [VERSION] : [])];
  return paths.find((path) => !path.includes(".") && !stored.includes(path));
};

/** @throws {plan.unsupported} if only the other copy of the edge has one of the attributes */
export const checkOnCopy = (shape: Shape, paths: readonly string[]): void => {
  const lacking = lackingOnCopy(shape, paths);
  if (lacking === undefined) return;
  const [near, other, side] = shape.role === "mirror" ? [shape.to, "source", "to"] : [shape.from, "target", "from"];
  throw new EdgetableError(
    "plan.unsupported",
    `"${lacking}" of "${shape.definition}" is only in the copy at the edge's ${other}, and this read uses the copy at "${near}". Name it in sides.${side}, or ask from the other end.`,
    { details: { edge: shape.definition, path: lacking } },
  );
};

/** Fields of a row's id that the table's key does not contain. */
const uncarriedIds = (catalog: Catalog, shape: Shape): readonly string[] => {
  const folded = idPaths(catalog, shape).filter((path) => inShape(shape, path) in shape.folded);
  return [...shape.unkeyed, ...folded].map((path) => inShape(shape, path));
};

/**
 * True if the projected attributes identify an item's row and the ends of an edge. Otherwise an item of the index cannot be read as
 * a row.
 */
export const tellsIds = (catalog: Catalog, shape: Shape, projected: ReadonlySet<string>): boolean =>
  uncarriedIds(catalog, shape).every((field) => isProjected(shape, field, projected)) &&
  shape.match.every(({ attribute }) => projected.has(attribute));

/**
 * Checks that an index projects the attributes that a step needs. Other attributes would look as if the items lacked them.
 *
 * @param conditions the conditions that are checked in memory
 * @throws {plan.unsupported} if a step reads a copy of an edge that lacks an attribute
 * @throws {plan.noIndex} if a step needs an attribute that its index does not project, or edges whose ends it does not project
 */
export const checkProjected = (catalog: Catalog, step: AccessStep, conditions: readonly Condition[]): void => {
  const checked = pathsOf(conditions);
  const read = step.kind === "query" ? [...pathsOf(step.filter), ...(step.select ?? [])] : [];
  for (const id of step.shapes) checkOnCopy(defined(catalog.shapesById[id], id), [...checked, ...read]);
  const index = step.kind === "query" && catalog.indexes.find(({ name }) => name === step.index);
  const projected = index ? projectedAttributes(catalog, index) : undefined;
  if (!index || !projected || step.kind !== "query") return;
  const asked = [...checked, ...read];
  for (const id of step.shapes) {
    const shape = defined(catalog.shapesById[id], id);
    const own = asked.filter((path) => !path.includes(".")).map((path) => inShape(shape, path));
    const lacking = [...own, ...uncarriedIds(catalog, shape)].find((field) => !isProjected(shape, field, projected));
    if (lacking === undefined) continue;
    throw new EdgetableError(
      "plan.noIndex",
      `The index "${index.name}" finds "${shape.definition}", but its projection leaves "${lacking}" out. Name that in the projection, or ask another index: using(…).`,
      { details: { definition: shape.definition, asked, index: index.name } },
    );
  }
};
