import { EdgetableError } from "../errors/edgetable-error.ts";
import type { Catalog } from "../schema/catalog.ts";
import type { Shape } from "../schema/shape.ts";
import { DELETING } from "../schema/system-items.ts";
import type { AttributeValue, Item } from "../transport/operations.ts";
import { valueAt } from "../util/value-at.ts";
import { encodeDate, encodeValue } from "./attribute-value.ts";
import { checkLength, keyText } from "./item-key.ts";
import type { Row } from "../util/row.ts";

/** Name of the attribute that counts an item's writes. */
export const VERSION = "version";

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

const taken = new WeakMap<Shape, ReadonlySet<string>>();

/** Attributes that no field of a row may fill; what the model checks of the names that it knows. */
const takenBy = ({ index, indexes, shapes, typeAttribute = DELETING }: Catalog, shape: Shape): ReadonlySet<string> => {
  const known = taken.get(shape);
  if (known) return known;
  const ofIndexes = indexes.flatMap(({ partitionKey, sortKey }) => [partitionKey, sortKey ?? partitionKey]);
  const computed = ofIndexes.filter((attribute) => shapes.some(({ keys }) => attribute in keys));
  const own = [index.partitionKey, index.sortKey, typeAttribute, DELETING, "__proto__"];
  const all = new Set([...Object.keys(shape.keys), ...computed, ...own]);
  taken.set(shape, all);
  return all;
};

const refuse = (shape: Shape, field: string, attribute: string): never => {
  throw new EdgetableError(
    "schema.unknownAttribute",
    `"${field}" is no attribute of "${shape.definition}": Edgetable fills "${attribute}" itself. Leave it out, or give it another name.`,
    { details: { attribute: field } },
  );
};

/**
 * Gives the attribute into which a shape's field is written, undefined where computed attributes carry it.
 *
 * @throws {schema.unknownAttribute} for one that Edgetable fills: a schema may let names through that it does not
 * know, and a row with the key of another item would take that item's place.
 */
export const writtenBy = (catalog: Catalog, shape: Shape): ((field: string) => string | undefined) => {
  const filled = takenBy(catalog, shape);
  return (field) => {
    const attribute = attributeOf(shape, field);
    return attribute !== undefined && filled.has(attribute) ? refuse(shape, field, attribute) : attribute;
  };
};

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
 * @throws {schema.unknownAttribute} rather than writing what Edgetable fills.
 */
export const encodeItem = (catalog: Catalog, shape: Shape, row: Row): Item => {
  const item = computedAttributes(catalog, shape, row);
  const attributeFor = writtenBy(catalog, shape);
  if (shape.sparse.length > 0) checkCarried(shape, row, (attribute) => attribute in item);
  for (const field in row) {
    const value = row[field];
    if (value === undefined || isEnd(shape, field)) continue;
    if (shape.holds && !shape.holds.includes(field) && !(shape.version && field === VERSION)) continue;
    const attribute = attributeFor(field);
    if (attribute !== undefined) item[attribute] = encodeField(shape, field, value);
  }
  return item;
};
