import { readTemplate, sameValue, type Template, templateMatches } from "../keys/template.ts";
import type { Catalog } from "../schema/catalog.ts";
import type { Shape } from "../schema/shape.ts";
import type { Item } from "../transport/operations.ts";
import { valueAt } from "../util/value-at.ts";

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
  const partition = shape.keys[partitionKey];
  const sort = shape.keys[sortKey];
  if (!partition || !sort) return true;
  const shared = sharedFields(partition, sort);
  if (shared.length === 0) return true;
  const first = readTemplate(partition, textOf(item, partitionKey) ?? "") ?? {};
  const second = readTemplate(sort, textOf(item, sortKey) ?? "") ?? {};
  return shared.every((field) => !(field in first) || !(field in second) || sameValue(first[field], second[field]));
};

/** Whether an item is of the shape: by its type attribute and by the form of its table key. */
export const isOfShape = (catalog: Catalog, shape: Shape, item: Item): boolean => {
  if (catalog.typeAttribute !== undefined) {
    const type = textOf(item, catalog.typeAttribute);
    if (type !== undefined && type !== shape.typeValue) return false;
  }
  for (const attribute of [catalog.index.partitionKey, catalog.index.sortKey]) {
    const template = shape.keys[attribute];
    const text = textOf(item, attribute);
    if (template && (text === undefined || !templateMatches(template, text))) return false;
  }
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
