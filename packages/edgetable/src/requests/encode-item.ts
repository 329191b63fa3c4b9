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

// An attribute may be the sort key of the table and the partition key of an index; the smaller limit applies.
const limitOf = ({ index, indexes }: Catalog, attribute: string): number =>
  [index, ...indexes].some(({ sortKeys }) => sortKeys.includes(attribute)) ? SORT_KEY_BYTES : PARTITION_KEY_BYTES;

/**
 * Checks the length of a key attribute's text, and returns the text.
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
 * The text of one computed attribute of a row, without a check of its length; null if the attribute is its field's null.
 *
 * @throws {keys.incomplete} if a needed field is missing and the attribute is not declared sparse
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

/** The derived attributes of a shape's rows that are at these paths or contain them. */
const derivedAt = ({ facts }: Catalog, { kind, definition }: Shape, paths: readonly string[]): readonly (DerivedFact | CopyFact)[] => {
  const derived = [
    ...facts.copies.filter(({ onto }) => onto.kind === kind && onto.name === definition),
    ...(kind === "node" ? facts.aggregates.filter(({ node }) => node === definition) : []),
    ...(kind === "edge" ? facts.summaries.filter(({ edge }) => edge === definition) : []),
  ];
  return derived.filter(({ attribute }) => paths.some((path) => path === attribute || path.startsWith(`${attribute}.`)));
};

/** The derived attribute that causes the error, so that the row has no such key; undefined if the error has another reason. */
const unfitFact = (catalog: Catalog, shape: Shape, attribute: string, error: unknown): DerivedFact | CopyFact | undefined => {
  const template = own(shape.keys, attribute);
  if (!template || !isEdgetableError(error) || keyAttributes(catalog.index).includes(attribute)) return undefined;
  const { field, missing = template.fields } = error.details;
  return derivedAt(catalog, shape, field === undefined ? (missing as readonly string[]) : [field as string])[0];
};

/**
 * True if an index entry is left out because a derived value does not fit its key. The stream processor cannot refuse the value,
 * and a writer of the row did not set it. A transaction can refuse it, so it omits only entries that are declared sparse.
 *
 * @param error why there is no such key
 */
export const isLeftOut = (catalog: Catalog, shape: Shape, attribute: string, error: unknown): boolean => {
  const fact = unfitFact(catalog, shape, attribute, error);
  if (!fact) return false;
  return fact.freshness === "stream" || ("beyond" in fact && fact.beyond === "job") || shape.sparse.includes(attribute);
};

/** The longest beginning of a text, in whole characters, of at most this many bytes. */
const cutText = (text: string, bytes: number): string =>
  new TextDecoder("utf-8", { ignoreBOM: true }).decode(new TextEncoder().encode(text).subarray(0, bytes), { stream: true });

/**
 * A key with shortened derived texts that fits the limit. Only in Edgetable's own layout, which does not read fields from index
 * keys. Without the key, an edge would have no place in its order and no read of neighbours would find it. An empty text sorts
 * before all others. Of several texts, the longest is cut. A condition on such a text goes by `query/widen-conditions.ts`.
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
 * One computed attribute of a row; undefined if it is left out.
 *
 * @throws the errors of {@link keyText} and {@link checkLength}, unless a derived value does not fit
 */
export const keyAttribute = (catalog: Catalog, shape: Shape, attribute: string, row: Row): AttributeValue | undefined => {
  let text: string | null | undefined;
  try {
    text = checkLength(catalog, attribute, keyText(shape, attribute, row));
  } catch (error) {
    // A missing value is not a value that does not fit: the entry has to be declared sparse.
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

/** The table key of a row; undefined if a needed field is missing. */
export const keyIfComplete = (catalog: Catalog, shape: Shape, row: Row): Key | undefined => {
  const { partitionKey, sortKey } = catalog.index;
  const partition = completeValue(catalog, shape, partitionKey, row);
  if (partition === undefined) return undefined;
  if (sortKey === undefined) return keyOfValues(catalog, partition, undefined);
  const sort = completeValue(catalog, shape, sortKey, row);
  return sort && keyOfValues(catalog, partition, sort);
};

/** The table key of an encoded item. */
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

/** True if an attribute satisfies the `match` of a kind. */
export const fitsMatch = ({ values, beginsWith, exists }: KindMatch, value: unknown): boolean => {
  // Null is a value, as in DynamoDB's conditions.
  const isThere = value !== undefined;
  if (exists !== undefined) return exists === isThere;
  if (values) return values.some((one) => sameValue(one, value));
  return typeof value === "string" && value.startsWith(beginsWith ?? "");
};

/**
 * Refuses a row, or changes of one, that would make its item another kind.
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

/** True if a row has a computed attribute, or may lack it according to the model. */
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
// The end of the year 9999, in seconds. From April 1978 on, times in milliseconds are greater.
const LATEST = 253_402_300_799;

/** @throws {request.unsupportedValue} for values that DynamoDB's TTL ignores: texts, milliseconds, fractions */
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
 * A field's value as its item stores it: like {@link encodeField}, but in the form that the model writes.
 *
 * @throws {migrate.notConvertible}
 */
export const storeField = (shape: Shape, field: string, value: unknown): AttributeValue => {
  const former = shape.former?.[field];
  if (!former) return encodeField(shape, field, value);
  if (former.stored === "old") return encodeField(shape, field, oldValue(shape, field, value));
  return checkNewForm(shape, field, encodeField(shape, field, value));
};

/** The field's own attribute in the item; undefined if computed attributes contain it. */
export const attributeOf = (shape: Shape, field: string): string | undefined =>
  shape.carried.includes(field) ? undefined : (shape.stored[field] ?? field);

/** The attributes that contain a field unchanged: its own attribute, and keys that are numbers. */
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

/** Attributes that no field of a row may set. `checkModel` only checks the names that the schema lists. */
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

/** True if a row of a shape cannot have this field, because Edgetable sets the attribute of that name. */
export const isFilled = (catalog: Catalog, shape: Shape, field: string): boolean =>
  takenBy(catalog, shape).has(field) && attributeOf(shape, field) === field;

/**
 * Returns the attribute into which a shape's field is written; undefined if computed attributes contain it.
 *
 * @throws {schema.unknownAttribute} for an attribute that Edgetable sets, or in which another field is stored. A schema may accept
 * unknown names, and such a row could replace another item or bypass the schema.
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
 * Refuses a row that would lose a field, because only computed attributes contain it and these are left out for lack of other
 * fields.
 *
 * @param written returns true if a computed attribute is written
 * @throws {keys.incomplete}
 */
export const checkCarried = ({ definition, sources, spares, fills }: Shape, row: Row, written: (attribute: string) => boolean): void => {
  const lacks = (field: string): boolean => (valueAt(row, field) ?? null) === null;
  // Filled fields follow from other fields.
  const isKept = (field: string): boolean =>
    fills.some((one) => one.field === field) ||
    [...sources, ...spares].some((one) => one.template.carried.includes(field) && written(one.attribute));
  for (const { attribute, template } of sources) {
    const lost = written(attribute) ? undefined : template.carried.find((field) => !lacks(field) && !isKept(field));
    const missing = template.fields.filter(lacks);
    // A derived value that does not fit can be computed again.
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
 * @throws {keys.incomplete} instead of writing a partial key or losing a field that only a key contains
 * @throws {schema.unknownAttribute} instead of writing an attribute that Edgetable sets
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
