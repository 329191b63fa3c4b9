import { EdgetableError } from "../errors/edgetable-error.ts";
import type { Catalog } from "../schema/catalog.ts";
import { isHalf } from "../schema/index-entries.ts";
import { keyAttributes, type Shape } from "../schema/shape.ts";
import { refuseStoredNames } from "../schema/stored-names.ts";
import { SYSTEM_ATTRIBUTES, VERSION } from "../schema/system-items.ts";
import type { AttributeValue, Item } from "../transport/operations.ts";
import { shown } from "../util/check-range.ts";
import { isNumber } from "../util/is-number.ts";
import { valueAt } from "../util/value-at.ts";
import { encodeDate, encodeValue } from "./attribute-value.ts";
import { keyAttribute } from "./item-key.ts";
import type { Row } from "../util/row.ts";

export { VERSION };

/** Every computed attribute of a row, and its type attribute. */
const computedAttributes = (catalog: Catalog, shape: Shape, row: Row): Record<string, AttributeValue> => {
  const item: Record<string, AttributeValue> = {};
  for (const attribute in shape.keys) {
    const value = keyAttribute(catalog, shape, attribute, row);
    if (value !== undefined) item[attribute] = value;
  }
  if (shape.sparse.length > 0) {
    const halves = Object.keys(item).filter((attribute) => isHalf(catalog, shape, attribute, (other) => !(other in item)));
    for (const attribute of halves) delete item[attribute];
  }
  if (catalog.typeAttribute !== undefined && shape.typeValue !== undefined) item[catalog.typeAttribute] = { S: shape.typeValue };
  return item;
};

const EXAMPLE = "Math.floor(Date.now() / 1000) + 3600";
// The end of the year 9999. A time in milliseconds is later from April 1978 on.
const LATEST = 253_402_300_799;

/** @throws {request.unsupportedValue} for what DynamoDB's TTL would pass over: text, milliseconds, fractions */
const encodeExpiry = (shape: Shape, field: string, value: unknown): AttributeValue => {
  const time = value instanceof Date && shape.dates.includes(field) ? Math.floor(value.getTime() / 1000) : value;
  if (isNumber(time) && Number.isInteger(Number(time)) && time >= 0 && time <= LATEST) return { N: String(time) };
  const seconds = isNumber(time) && time > LATEST ? `: it looks like milliseconds, so divide it by 1,000` : "";
  const dates = value instanceof Date ? ", or name the attribute in `dates` to give a Date" : "";
  throw new EdgetableError(
    "request.unsupportedValue",
    `"${field}" is when an item of "${shape.definition}" expires, and ${shown(value)} is no such time${seconds}. Give whole seconds since 1970, such as ${EXAMPLE}${dates}.`,
    { details: { path: field, value } },
  );
};

/** The stored form of one field that has an attribute of its own. */
export const encodeField = (shape: Shape, field: string, value: unknown): AttributeValue => {
  if (field === shape.ttl) return encodeExpiry(shape, field, value);
  return value instanceof Date && shape.dates.includes(field) ? encodeDate(value, field) : encodeValue(value, field);
};

const isEnd = (shape: Shape, field: string): boolean => shape.kind === "edge" && (field === "from" || field === "to");

/** The field's own attribute in the item, or undefined when computed attributes carry it. */
export const attributeOf = (shape: Shape, field: string): string | undefined =>
  shape.carried.includes(field) ? undefined : (shape.stored[field] ?? field);

const taken = new WeakMap<Shape, ReadonlySet<string>>();

/** Attributes that no field of a row may fill; what the model checks of the names that it knows. */
const takenBy = ({ index, indexes, shapes, typeAttribute }: Catalog, shape: Shape): ReadonlySet<string> => {
  const known = taken.get(shape);
  if (known) return known;
  const ofIndexes = indexes.flatMap(keyAttributes);
  const computed = ofIndexes.filter((attribute) => shapes.some(({ keys }) => attribute in keys));
  const own = [...keyAttributes(index), ...(typeAttribute === undefined ? [] : [typeAttribute]), ...SYSTEM_ATTRIBUTES, "__proto__"];
  const all = new Set([...Object.keys(shape.keys), ...computed, ...own]);
  taken.set(shape, all);
  return all;
};

/** Whether a row of a shape cannot be written with this field, because Edgetable fills the attribute of that name. */
export const isFilled = (catalog: Catalog, shape: Shape, field: string): boolean =>
  takenBy(catalog, shape).has(field) && attributeOf(shape, field) === field;

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
 * @throws {schema.unknownAttribute} for one that Edgetable fills, or under which another field is stored: a schema may
 * let names through that it does not know, and such a row would take another item's place or go past the schema.
 */
export const writtenBy = (catalog: Catalog, shape: Shape): ((field: string) => string | undefined) => {
  const filled = takenBy(catalog, shape);
  return (field) => {
    const attribute = attributeOf(shape, field);
    if (attribute === field) refuseStoredNames(shape, [field]);
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
  if (shape.sparse.length > 0) checkCarried(shape, row, (attribute) => Object.hasOwn(item, attribute));
  for (const field in row) {
    const value = row[field];
    if (value === undefined || isEnd(shape, field)) continue;
    if (shape.holds && !shape.holds.includes(field) && !(shape.version && field === VERSION)) continue;
    const attribute = attributeFor(field);
    if (attribute !== undefined) item[attribute] = encodeField(shape, field, value);
  }
  return item;
};
