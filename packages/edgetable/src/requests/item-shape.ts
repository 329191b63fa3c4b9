import { sameValue, type Template, templateMatches } from "../keys/template.ts";
import type { Catalog } from "../schema/catalog.ts";
import type { Shape } from "../schema/shape.ts";
import type { Item } from "../transport/operations.ts";
import { readKey } from "./key-value.ts";
import { valueAt } from "../util/value-at.ts";
import { kindMark } from "../schema/rivals.ts";

const textOf = (item: Item, attribute: string): string | undefined => {
  const value = item[attribute];
  return value && "S" in value ? value.S : undefined;
};

// Asked of every item that is read, and the same for all of a shape.
const shared = new WeakMap<Template, { readonly with: Template; readonly fields: readonly string[] }>();

const sharedFields = (partition: Template, sort: Template): readonly string[] => {
  let known = shared.get(sort);
  if (known?.with !== partition)
    shared.set(sort, (known = { with: partition, fields: sort.fields.filter((field) => partition.fields.includes(field)) }));
  return known.fields;
};

// A node under its own id holds that id in both keys; an edge's item may differ from it in nothing else.
const keysAgree = (catalog: Catalog, shape: Shape, item: Item): boolean => {
  const { partitionKey, sortKey } = catalog.index;
  if (sortKey === undefined) return true;
  const partition = shape.keys[partitionKey];
  const sort = shape.keys[sortKey];
  if (!partition || !sort) return true;
  const shared = sharedFields(partition, sort);
  if (shared.length === 0) return true;
  const first = readKey(partition, item[partitionKey]) ?? {};
  const second = readKey(sort, item[sortKey]) ?? {};
  return shared.every((field) => !(field in first) || !(field in second) || sameValue(first[field], second[field]));
};

const hasForm = (shape: Shape, attribute: string, item: Item): boolean => {
  const template = shape.keys[attribute];
  if (!template) return true;
  const value = item[attribute];
  if (value === undefined || template.type === "N") return value !== undefined && "N" in value;
  return "S" in value && templateMatches(template, value.S);
};

/** Whether an item is of the shape: by its type attribute and by the form of its table key. */
export const isOfShape = (catalog: Catalog, shape: Shape, item: Item): boolean => {
  if (catalog.typeAttribute !== undefined) {
    const type = textOf(item, catalog.typeAttribute);
    if (type !== undefined && type !== shape.typeValue) return false;
  }
  const mark = kindMark(catalog, shape);
  if (mark?.kind === "lead" && textOf(item, mark.attribute)?.startsWith(mark.text) === false) return false;
  const { partitionKey, sortKey } = catalog.index;
  if (!hasForm(shape, partitionKey, item) || (sortKey !== undefined && !hasForm(shape, sortKey, item))) return false;
  return keysAgree(catalog, shape, item);
};

/**
 * Whether an edge's row leads anywhere: the item of a node whose reference is missing holds no such edge.
 */
export const refers = (shape: Shape, row: Readonly<Record<string, unknown>>): boolean =>
  shape.role !== "reference" || Object.keys(shape.alias ?? {}).every((path) => !path.startsWith("to.") || valueAt(row, path) !== undefined);

/** The shape of an item among the given ones, or undefined when it is none of them. */
export const shapeOf = (catalog: Catalog, shapes: readonly Shape[], item: Item): Shape | undefined => {
  for (const shape of shapes) if (isOfShape(catalog, shape, item)) return shape;
  return undefined;
};
