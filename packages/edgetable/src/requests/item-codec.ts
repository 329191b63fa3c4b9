import { EdgetableError } from "../errors/edgetable-error.ts";
import { keyBytes, readTemplate, renderTemplate, sameValue, type Template, templateMatches } from "../keys/template.ts";
import type { Catalog } from "../schema/catalog.ts";
import type { Shape } from "../schema/shape.ts";
import { DELETING } from "../schema/system-items.ts";
import type { AttributeValue, Item, Key } from "../transport/operations.ts";
import { valueAt } from "../util/value-at.ts";
import { decodeValue, encodeDate, encodeValue } from "./attribute-value.ts";

export type Row = Readonly<Record<string, unknown>>;

// "Partition key length 1 to 2048 bytes, sort key 1 to 1024 bytes", ServiceQuotas.
const PARTITION_KEY_BYTES = 2048;
const SORT_KEY_BYTES = 1024;

/** Name of the attribute that counts an item's writes. */
export const VERSION = "version";

// An attribute may be the sort key of the table and the partition key of an index: the smaller limit holds.
const limitOf = (catalog: Catalog, attribute: string): number =>
  [catalog.index, ...catalog.indexes].some((index) => index.sortKey === attribute) ? SORT_KEY_BYTES : PARTITION_KEY_BYTES;

/**
 * Gives the text of a key attribute back.
 *
 * @throws {keys.tooLong}
 */
export const checkLength = <Text extends string | undefined>(catalog: Catalog, attribute: string, text: Text): Text => {
  // A UTF-16 unit takes at most three bytes in UTF-8: short texts need no count.
  if (text === undefined || text.length * 3 <= SORT_KEY_BYTES) return text;
  const bytes = keyBytes(text);
  const limit = limitOf(catalog, attribute);
  if (bytes <= limit) return text;
  const message = `The key attribute "${attribute}" would be ${bytes} bytes; DynamoDB allows ${limit}. Shorten the id.`;
  throw new EdgetableError("keys.tooLong", message, { details: { attribute, bytes, limit, text } });
};

/**
 * The text of one computed attribute of a row, whose length is yet to be checked.
 *
 * @throws {keys.incomplete} when a field that it needs is missing and the attribute is not declared sparse.
 */
export const keyText = (shape: Shape, attribute: string, row: Row): string | undefined => {
  const template = shape.keys[attribute];
  if (!template) return undefined;
  const text = renderTemplate(template, row);
  if (text === undefined) {
    if (shape.sparse.includes(attribute)) return undefined;
    throw new EdgetableError(
      "keys.incomplete",
      `"${shape.definition}" needs ${template.fields.map((field) => `"${field}"`).join(" and ")} to fill "${attribute}" (${template.source}). Give every one of them.`,
      { details: { attribute, template: template.source, row } },
    );
  }
  return text;
};

// Assigned, not written as a literal with computed names, which V8 makes in its slow runtime.
const keyOfValues = ({ index }: Catalog, partition: AttributeValue, sort: AttributeValue | undefined): Key => {
  const key: Record<string, AttributeValue> = {};
  key[index.partitionKey] = partition;
  if (index.sortKey !== undefined && sort !== undefined) key[index.sortKey] = sort;
  return key;
};

/** The table key of a row. */
export const keyOf = (catalog: Catalog, shape: Shape, row: Row): Key => {
  const { partitionKey, sortKey } = catalog.index;
  const partition = checkLength(catalog, partitionKey, keyText(shape, partitionKey, row) ?? "");
  if (sortKey === undefined) return keyOfValues(catalog, { S: partition }, undefined);
  return keyOfValues(catalog, { S: partition }, { S: checkLength(catalog, sortKey, keyText(shape, sortKey, row) ?? "") });
};

/** The table key of a row where every field that it needs is there, else undefined. */
export const keyIfComplete = (catalog: Catalog, shape: Shape, row: Row): Key | undefined => {
  const { partitionKey, sortKey } = catalog.index;
  const partition = checkLength(catalog, partitionKey, completeText(shape, partitionKey, row));
  if (partition === undefined) return undefined;
  if (sortKey === undefined) return keyOfValues(catalog, { S: partition }, undefined);
  const sort = checkLength(catalog, sortKey, completeText(shape, sortKey, row));
  return sort === undefined ? undefined : keyOfValues(catalog, { S: partition }, { S: sort });
};

const completeText = (shape: Shape, attribute: string, row: Row): string | undefined => {
  const template = shape.keys[attribute];
  return template ? renderTemplate(template, row) : "";
};

/** The table key that an encoded item holds. */
export const keyOfItem = (catalog: Catalog, item: Item): Key => {
  const { partitionKey, sortKey } = catalog.index;
  return keyOfValues(catalog, item[partitionKey]!, sortKey === undefined ? undefined : item[sortKey]!);
};

/** Every computed attribute of a row, and its type attribute. */
const computedAttributes = (catalog: Catalog, shape: Shape, row: Row): Record<string, AttributeValue> => {
  const item: Record<string, AttributeValue> = {};
  for (const attribute in shape.keys) {
    const text = checkLength(catalog, attribute, keyText(shape, attribute, row));
    if (text !== undefined) item[attribute] = { S: text };
  }
  if (catalog.typeAttribute !== undefined && shape.typeValue !== undefined) item[catalog.typeAttribute] = { S: shape.typeValue };
  return item;
};

/** The stored form of one field that has an attribute of its own. */
export const encodeField = (shape: Shape, field: string, value: unknown): AttributeValue =>
  value instanceof Date && shape.dates.includes(field) ? encodeDate(value, field) : encodeValue(value, field);

const isEnd = (shape: Shape, field: string): boolean => shape.kind === "edge" && (field === "from" || field === "to");

/** The field's own attribute in the item, or undefined when computed attributes carry it. */
export const attributeOf = (shape: Shape, field: string): string | undefined =>
  shape.carried.includes(field) ? undefined : (shape.stored[field] ?? field);

/**
 * Refuses a row of which a field would be lost: one that only a computed attribute carries which is
 * left out, because another of its fields is missing.
 *
 * @param written whether a computed attribute is written
 * @throws {keys.incomplete}
 */
export const checkCarried = (shape: Shape, row: Row, written: (attribute: string) => boolean): void => {
  for (const attribute of shape.sparse) {
    const template = shape.keys[attribute];
    if (!template || written(attribute)) continue;
    const isLost = (field: string): boolean =>
      shape.carried.includes(field) &&
      (valueAt(row, field) ?? null) !== null &&
      !shape.sources.some((source) => source.template.fields.includes(field) && written(source.attribute));
    const lost = template.fields.find(isLost);
    if (lost === undefined) continue;
    const missing = template.fields.filter((field) => (valueAt(row, field) ?? null) === null);
    throw new EdgetableError(
      "keys.incomplete",
      `"${lost}" of "${shape.definition}" is stored in "${attribute}" (${template.source}) alone, which cannot be filled without ${missing.map((field) => `"${field}"`).join(" and ")}. Give both or none.`,
      { details: { attribute, template: template.source, lost, missing } },
    );
  }
};

/**
 * The item of a row.
 *
 * @throws {keys.incomplete} rather than writing a partial key, or losing a field that only a key carries.
 */
export const encodeItem = (catalog: Catalog, shape: Shape, row: Row): Item => {
  const item = computedAttributes(catalog, shape, row);
  if (shape.sparse.length > 0) checkCarried(shape, row, (attribute) => attribute in item);
  for (const field in row) {
    const value = row[field];
    if (value === undefined || isEnd(shape, field)) continue;
    if (shape.holds && !shape.holds.includes(field) && !(shape.version && field === VERSION)) continue;
    const attribute = attributeOf(shape, field);
    if (attribute !== undefined) item[attribute] = encodeField(shape, field, value);
  }
  return item;
};

const place = (row: Record<string, unknown>, path: string, value: unknown): void => {
  const dot = path.indexOf(".");
  if (dot < 0) {
    row[path] = value;
    return;
  }
  const end = path.slice(0, dot);
  const nested = (row[end] ??= {}) as Record<string, unknown>;
  nested[path.slice(dot + 1)] = value;
};

const readSources = (shape: Shape, item: Item, row: Record<string, unknown>): void => {
  for (const { attribute, template } of shape.sources) {
    const value = item[attribute];
    if (value === undefined || !("S" in value)) continue;
    const fields = readTemplate(template, value.S);
    if (fields === undefined) {
      throw new EdgetableError("keys.unreadable", `"${attribute}" is "${value.S}", which is not of the form ${template.source}.`, {
        details: { attribute, text: value.S, template: template.source, shape: shape.id },
      });
    }
    placeAll(template, fields, row);
  }
};

// A template has its paths split already.
const placeAll = (template: Template, fields: Row, row: Record<string, unknown>): void => {
  for (const part of template.parts) {
    if (part.kind === "literal") continue;
    const value = fields[part.path];
    if (value === undefined) continue;
    const end = part.steps[0] ?? "";
    const name = part.steps[1];
    if (name === undefined) row[end] = value;
    else if (part.steps.length > 2) place(row, part.path, value);
    else ((row[end] ??= {}) as Record<string, unknown>)[name] = value;
  }
};

const reviveDates = (shape: Shape, row: Record<string, unknown>): void => {
  for (const field of shape.dates) {
    const value = row[field];
    if (typeof value === "string") row[field] = new Date(value);
  }
};

const aliased = (shape: Shape, own: Record<string, unknown>): Record<string, unknown> => {
  const row: Record<string, unknown> = { from: {}, to: {} };
  for (const path in shape.alias) place(row, path, own[shape.alias[path] as string]);
  const ends = new Set(Object.values(shape.alias ?? {}));
  const fields = shape.holds ?? Object.keys(own).filter((field) => !ends.has(field));
  for (const field of fields) if (own[field] !== undefined) row[field] = own[field];
  return row;
};

const typed = (shape: Shape, row: Record<string, unknown>): Record<string, unknown> => ({
  ...row,
  from: { type: shape.from, ...(row["from"] as object) },
  to: { type: shape.to, ...(row["to"] as object) },
});

type FieldNames = ReadonlyMap<string, string | undefined>;
const fieldNames = new WeakMap<Shape, { readonly catalog: Catalog; readonly names: FieldNames }>();

/** The fields of attributes that are called otherwise, and undefined for those that are no field. */
const fieldsOf = (catalog: Catalog, shape: Shape): FieldNames => {
  const known = fieldNames.get(shape);
  if (known?.catalog === catalog) return known.names;
  const names = new Map<string, string | undefined>(Object.entries(shape.fields));
  for (const attribute of [...Object.keys(shape.keys), catalog.typeAttribute, DELETING])
    if (attribute !== undefined) names.set(attribute, undefined);
  fieldNames.set(shape, { catalog, names });
  return names;
};

/** The node's row of an item, where the shape is a reference edge, else the shape's own row. */
export const decodeOwn = (catalog: Catalog, shape: Shape, item: Item): Record<string, unknown> => {
  const row: Record<string, unknown> = {};
  readSources(shape, item, row);
  const fields = fieldsOf(catalog, shape);
  for (const attribute in item) {
    const field = fields.has(attribute) ? fields.get(attribute) : attribute;
    if (field !== undefined) row[field] = decodeValue(item[attribute] as AttributeValue);
  }
  if (shape.dates.length > 0) reviveDates(shape, row);
  return row;
};

/** The row of an item: the inverse of {@link encodeItem}. */
export const decodeItem = (catalog: Catalog, shape: Shape, item: Item): Record<string, unknown> => {
  const own = decodeOwn(catalog, shape, item);
  const row = shape.role === "reference" ? aliased(shape, own) : own;
  return shape.several ? typed(shape, row) : row;
};

const textOf = (item: Item, attribute: string | undefined): string | undefined => {
  const value = attribute === undefined ? undefined : item[attribute];
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
  const sort = sortKey === undefined ? undefined : shape.keys[sortKey];
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
    const template = attribute === undefined ? undefined : shape.keys[attribute];
    const text = textOf(item, attribute);
    if (template && (text === undefined || !templateMatches(template, text))) return false;
  }
  return keysAgree(catalog, shape, item);
};

/** The shape of an item among the given ones, or undefined when it is none of them. */
export const shapeOf = (catalog: Catalog, shapes: readonly Shape[], item: Item): Shape | undefined => {
  for (const shape of shapes) if (isOfShape(catalog, shape, item)) return shape;
  return undefined;
};
