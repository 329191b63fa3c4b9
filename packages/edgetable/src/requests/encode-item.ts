import { EdgetableError, isEdgetableError } from "../errors/edgetable-error.ts";
import { hasKey, keyBytes, renderTemplate, sameValue } from "../keys/template.ts";
import { type Catalog, isHalfEntry, keyAttributes, type KindMatch, type Shape, otherPlace, filledRow } from "../schema/catalog.ts";
import { refuseStoredNames } from "../schema/check-values.ts";
import type { CopyFact, DerivedFact } from "../schema/facts.ts";
import { SYSTEM_ATTRIBUTES, VERSION } from "../schema/system-items.ts";
import type { AttributeValue, Item, Key } from "../transport/operations.ts";
import { shown } from "../util/check-options.ts";
import { defined } from "../util/invariant.ts";
import { jsonText } from "../util/json-text.ts";
import { isNumber, own, type Row, valueAt } from "../util/row.ts";
import { encodeDate, encodeValue, keyValue } from "./attribute-value.ts";
import { checkNewForm, oldValue } from "./former-fields.ts";

// "Partition key length 1 to 2048 bytes, sort key 1 to 1024 bytes", ServiceQuotas.
const PARTITION_KEY_BYTES = 2048;
const SORT_KEY_BYTES = 1024;

// An attribute may be the sort key of the table and the partition key of an index: the smaller limit holds.
const limitOf = ({ index, indexes }: Catalog, attribute: string): number =>
  [index, ...indexes].some(({ sortKeys }) => sortKeys.includes(attribute)) ? SORT_KEY_BYTES : PARTITION_KEY_BYTES;

/**
 * Gives the text of a key attribute back.
 *
 * @throws {keys.tooLong}
 */
export const checkLength = <Text extends string | null | undefined>(catalog: Catalog, attribute: string, text: Text): Text => {
  // A UTF-16 unit takes at most three bytes in UTF-8: short texts need no count.
  if (!text || text.length * 3 <= SORT_KEY_BYTES) return text;
  const [bytes, limit] = [keyBytes(text), limitOf(catalog, attribute)];
  if (bytes <= limit) return text;
  const message = `The key attribute "${attribute}" would be ${bytes} bytes; DynamoDB allows ${limit}. Shorten the values in it.`;
  throw new EdgetableError("keys.tooLong", message, { details: { attribute, bytes, limit } });
};

/**
 * The text of one computed attribute of a row, whose length is yet to be checked; null where the attribute holds its field's null.
 *
 * @throws {keys.incomplete} when a field that it needs is missing and the attribute is not declared sparse.
 */
export const keyText = (shape: Shape, attribute: string, given: Row): string | null | undefined => {
  const template = shape.keys[attribute];
  if (!template) return undefined;
  const row = shape.fills.length > 0 ? filledRow(shape.fills, given) : given;
  if (!hasKey(template, row)) return undefined;
  const text = renderTemplate(template, row);
  if (text === undefined) {
    if (template.verbatim && valueAt(row, template.fields[0]!) === null) return null;
    if (shape.sparse.includes(attribute)) return undefined;
    const absent = template.fields.filter((field) => (valueAt(row, field) ?? null) === null);
    const needed = absent.filter((field) => !template.optional.includes(field));
    // A key may end at an optional field, but not before its first character.
    const missing = needed.length === 0 ? absent : needed;
    throw new EdgetableError(
      "keys.incomplete",
      `"${shape.definition}" needs ${missing.map((field) => `"${field}"`).join(" and ")} to fill "${attribute}" (${template.source}). Give ${missing.length === 1 ? "it" : "them"}. Items may lack it only in an index whose entry is sparse.`,
      { details: { attribute, template: template.source, missing, row } },
    );
  }
  return text;
};

/** The derived attributes of a shape's rows, of which each is at these paths or holds them. */
const derivedAt = ({ facts }: Catalog, { kind, definition }: Shape, paths: readonly string[]): readonly (DerivedFact | CopyFact)[] => {
  const derived = [
    ...facts.copies.filter(({ onto }) => onto.kind === kind && onto.name === definition),
    ...(kind === "node" ? facts.aggregates.filter(({ node }) => node === definition) : []),
    ...(kind === "edge" ? facts.summaries.filter(({ edge }) => edge === definition) : []),
  ];
  return derived.filter(({ attribute }) => paths.some((path) => path === attribute || path.startsWith(`${attribute}.`)));
};

/** The derived attribute because of which a row has no such key; undefined if the error has another reason. */
const unfitFact = (catalog: Catalog, shape: Shape, attribute: string, error: unknown): DerivedFact | CopyFact | undefined => {
  const template = own(shape.keys, attribute);
  if (!template || !isEdgetableError(error) || keyAttributes(catalog.index).includes(attribute)) return undefined;
  const { field, missing = template.fields } = error.details;
  return derivedAt(catalog, shape, field === undefined ? (missing as readonly string[]) : [field as string])[0];
};

/**
 * True if an index entry is left out because a derived value does not fit its key. The stream cannot refuse the value, and a
 * writer of the row did not give it. A transaction can: it leaves out only what is declared sparse.
 *
 * @param error why there is no such key
 */
export const isLeftOut = (catalog: Catalog, shape: Shape, attribute: string, error: unknown): boolean => {
  const fact = unfitFact(catalog, shape, attribute, error);
  if (!fact) return false;
  return fact.freshness === "stream" || ("beyond" in fact && fact.beyond === "job") || shape.sparse.includes(attribute);
};

/** The beginning of a text that takes at most so many bytes, of whole characters. */
const cutText = (text: string, bytes: number): string =>
  new TextDecoder("utf-8", { ignoreBOM: true }).decode(new TextEncoder().encode(text).subarray(0, bytes), { stream: true });

/**
 * A key with as much of its derived texts as fits, in Edgetable's own layout, which reads nothing from the keys of indexes: an
 * edge without a place in its order would be found by no neighbour. An empty text sorts before every other. Of several texts,
 * the longest is cut. A condition on such a text goes by `query/widen-conditions.ts`.
 */
const fittedText = (catalog: Catalog, shape: Shape, attribute: string, given: Row): string | undefined => {
  const template = { ...defined(shape.keys[attribute], "key"), loose: true };
  const row: Record<string, unknown> = { ...given };
  const names = derivedAt(catalog, shape, template.fields).flatMap((fact) =>
    typeof row[fact.attribute] === "string" ? fact.attribute : [],
  );
  const bytesOf = (name: string): number => keyBytes(row[name] as string);
  for (;;) {
    const text = defined(renderTemplate(template, row), "key");
    const excess = keyBytes(text) - limitOf(catalog, attribute);
    if (excess <= 0) return text;
    const [longest] = names.toSorted((a, b) => bytesOf(b) - bytesOf(a));
    if (longest === undefined || row[longest] === "") return undefined;
    row[longest] = cutText(row[longest] as string, bytesOf(longest) - Math.ceil(excess / names.length));
  }
};

/**
 * One computed attribute of a row; undefined where it is left out.
 *
 * @throws what {@link keyText} and {@link checkLength} throw, unless a derived value does not fit
 */
export const keyAttribute = (catalog: Catalog, shape: Shape, attribute: string, row: Row): AttributeValue | undefined => {
  let text: string | null | undefined;
  try {
    text = checkLength(catalog, attribute, keyText(shape, attribute, row));
  } catch (error) {
    // A value that is not there is no value that does not fit: the entry has to be declared sparse.
    if (isEdgetableError(error, "keys.incomplete")) throw error;
    const mayFit = isEdgetableError(error, "keys.empty") || isEdgetableError(error, "keys.tooLong");
    const fact = mayFit && catalog.escapes && !shape.sparse.includes(attribute) && unfitFact(catalog, shape, attribute, error);
    text = fact ? fittedText(catalog, shape, attribute, row) : undefined;
    if (text === undefined && !isLeftOut(catalog, shape, attribute, error)) throw error;
  }
  if (text === null) return { NULL: true };
  return text === undefined ? undefined : keyValue(shape.keys[attribute]!.type, text);
};

// Assigned, not written as a literal with computed names, which V8 makes in its slow runtime.
const keyOfValues = ({ index }: Catalog, partition: AttributeValue, sort: AttributeValue | undefined): Key => {
  const key: Record<string, AttributeValue> = {};
  key[index.partitionKey] = partition;
  if (index.sortKey !== undefined) key[index.sortKey] = defined(sort, "sort key");
  return key;
};

/** The table key of a row. */
export const keyOf = (catalog: Catalog, shape: Shape, row: Row): Key => {
  const { partitionKey, sortKey } = catalog.index;
  const partition = defined(keyAttribute(catalog, shape, partitionKey, row), "partition key");
  return keyOfValues(catalog, partition, sortKey === undefined ? undefined : keyAttribute(catalog, shape, sortKey, row));
};

const completeValue = (catalog: Catalog, shape: Shape, attribute: string, row: Row): AttributeValue | undefined => {
  const template = defined(shape.keys[attribute], "key");
  const text = checkLength(catalog, attribute, renderTemplate(template, row));
  return text === undefined ? undefined : keyValue(template.type, text);
};

/** The table key of a row where every field that it needs is there, else undefined. */
export const keyIfComplete = (catalog: Catalog, shape: Shape, row: Row): Key | undefined => {
  const { partitionKey, sortKey } = catalog.index;
  const partition = completeValue(catalog, shape, partitionKey, row);
  if (partition === undefined) return undefined;
  if (sortKey === undefined) return keyOfValues(catalog, partition, undefined);
  const sort = completeValue(catalog, shape, sortKey, row);
  return sort && keyOfValues(catalog, partition, sort);
};

/** The table key that an encoded item holds. */
export const keyOfItem = ({ index }: Catalog, item: Item): Key => {
  const key: Record<string, AttributeValue> = {};
  key[index.partitionKey] = item[index.partitionKey]!;
  if (index.sortKey !== undefined) key[index.sortKey] = item[index.sortKey]!;
  return key;
};

export { VERSION };

/** Every computed attribute of a row, and its type attribute. */
export const computedAttributes = (
  catalog: Catalog,
  shape: Shape,
  row: Row,
  valueOf: typeof keyAttribute = keyAttribute,
): Record<string, AttributeValue> => {
  const item: Record<string, AttributeValue> = {};
  let lacks = false;
  for (const attribute in shape.keys) {
    const value = valueOf(catalog, shape, attribute, row);
    if (value === undefined) lacks = true;
    else item[attribute] = value;
  }
  if (lacks) {
    const halves = Object.keys(item).filter((attribute) => isHalfEntry(catalog, shape, attribute, (other) => !(other in item)));
    for (const attribute of halves) delete item[attribute];
  }
  if (catalog.typeAttribute !== undefined && shape.typeValue !== undefined)
    item[catalog.typeAttribute] = typeAttributeValue(catalog, shape.typeValue);
  return item;
};

/** A type as items store it. */
export const typeAttributeValue = ({ typeForm }: Catalog, type: string): AttributeValue =>
  typeForm === "SS" ? { SS: [type] } : { S: type };

/** Whether an attribute holds what the items of a kind hold there. */
export const fitsMatch = ({ values, beginsWith, exists }: KindMatch, value: unknown): boolean => {
  // Null is a value, as it is for the conditions of DynamoDB.
  const isThere = value !== undefined;
  if (exists !== undefined) return exists === isThere;
  if (values) return values.some((one) => sameValue(one, value));
  return typeof value === "string" && value.startsWith(beginsWith ?? "");
};

/**
 * Refuses a row, or changes of one, by which its item would be of another kind.
 *
 * @throws {schema.invalidValue}
 */
export const checkMatch = ({ match, definition }: Shape, row: Row, fields?: (field: string) => boolean): void => {
  for (const one of match) {
    if ((fields && !fields(one.field)) || fitsMatch(one, row[one.field])) continue;
    const { field, values, beginsWith, exists } = one;
    const rule = values
      ? `has to be ${values.map((value) => jsonText(value)).join(" or ")}`
      : exists === undefined
        ? `has to begin with ${jsonText(beginsWith)}`
        : exists
          ? "has to be there"
          : "must not be there";
    throw new EdgetableError(
      "schema.invalidValue",
      `"${field}" of "${definition}" ${rule}, and is ${shown(row[field])}: it tells the kind of the item (layout match).`,
      { details: { attribute: field, value: row[field] } },
    );
  }
};

/** Whether a row has a computed attribute, or lacks it as the model says. */
export const fitsKey = (...given: Parameters<typeof keyAttribute>): boolean => {
  try {
    keyAttribute(...given);
    return true;
  } catch (error) {
    if (isEdgetableError(error)) return false;
    throw error;
  }
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
    `"${field}" is the expiry time of "${shape.definition}", and ${shown(value)} is not one${seconds}. Give whole seconds since 1970, such as ${EXAMPLE}${dates}.`,
    { details: { path: field, value } },
  );
};

/** The stored form of one field that has an attribute of its own. */
export const encodeField = (shape: Shape, field: string, value: unknown): AttributeValue => {
  if (field === shape.ttl) return encodeExpiry(shape, field, value);
  return value instanceof Date && shape.dates.includes(field) ? encodeDate(value, field) : encodeValue(value, field);
};

/**
 * A field's value as its item stores it: like {@link encodeField}, in the form that the model writes.
 *
 * @throws {migrate.notConvertible}
 */
export const storeField = (shape: Shape, field: string, value: unknown): AttributeValue => {
  const former = shape.former?.[field];
  if (!former) return encodeField(shape, field, value);
  if (former.stored === "old") return encodeField(shape, field, oldValue(shape, field, value));
  return checkNewForm(shape, field, encodeField(shape, field, value));
};

/** The field's own attribute in the item, or undefined when computed attributes carry it. */
export const attributeOf = (shape: Shape, field: string): string | undefined =>
  shape.carried.includes(field) ? undefined : (shape.stored[field] ?? field);

/** The attributes that hold a field as it is: its own one, and keys that are numbers. */
export const plainPlaces = (shape: Shape, field: string): readonly string[] => [
  attributeOf(shape, field) ?? field,
  ...Object.keys(shape.keys).filter((name) => {
    const { type, fields } = shape.keys[name]!;
    return type === "N" && fields[0] === field;
  }),
];

/** The attributes that may hold a field: its own one, and the one of another form. Empty when computed attributes carry it. */
export const placesOf = (shape: Shape, field: string): readonly string[] =>
  [attributeOf(shape, field), otherPlace(shape, field)].filter((attribute) => attribute !== undefined);

/** What an item holds for the fields of its row: a number with all its digits, where the row has a double. */
export const digitsIn =
  (shape: Shape, item: Item) =>
  (field: string): AttributeValue | undefined =>
    own(item, [...plainPlaces(shape, field), ...placesOf(shape, field)].find((attribute) => Object.hasOwn(item, attribute)) ?? "");

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
    if (attribute === undefined || !filled.has(attribute)) return attribute;
    throw new EdgetableError(
      "schema.unknownAttribute",
      `"${field}" is not an attribute of "${shape.definition}": Edgetable fills "${attribute}" itself. Leave it out, or give it another name.`,
      { details: { attribute: field } },
    );
  };
};

/**
 * Refuses a row of which a field would be lost: one that only computed attributes carry which are
 * left out, because other fields of theirs are missing.
 *
 * @param written whether a computed attribute is written
 * @throws {keys.incomplete}
 */
export const checkCarried = ({ definition, sources, spares, fills }: Shape, row: Row, written: (attribute: string) => boolean): void => {
  const lacks = (field: string): boolean => (valueAt(row, field) ?? null) === null;
  // What is filled follows from other fields.
  const isKept = (field: string): boolean =>
    fills.some((one) => one.field === field) ||
    [...sources, ...spares].some((one) => one.template.carried.includes(field) && written(one.attribute));
  for (const { attribute, template } of sources) {
    const lost = written(attribute) ? undefined : template.carried.find((field) => !lacks(field) && !isKept(field));
    const missing = template.fields.filter(lacks);
    // A derived value that does not fit: it can be computed again.
    if (lost === undefined || (missing.length === 0 && hasKey(template, row))) continue;
    throw new EdgetableError(
      "keys.incomplete",
      `"${lost}" of "${definition}" is read from "${attribute}" (${template.source}) alone, which cannot be filled without ${missing.map((field) => `"${field}"`).join(" and ")}. Give both or none, or let the layout repeat "${lost}" (verbatim).`,
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
  if (shape.match.length > 0) checkMatch(shape, row);
  if (shape.sparse.length > 0) checkCarried(shape, row, (attribute) => Object.hasOwn(item, attribute));
  for (const field in row) {
    const value = row[field];
    if (value === undefined || (shape.kind === "edge" && (field === "from" || field === "to"))) continue;
    if (shape.copied && !shape.copied.includes(field) && !(shape.version && field === VERSION)) continue;
    const attribute = attributeFor(field);
    if (attribute !== undefined) item[attribute] = storeField(shape, field, value);
  }
  return item;
};
