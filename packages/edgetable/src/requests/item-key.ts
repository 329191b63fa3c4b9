import { EdgetableError } from "../errors/edgetable-error.ts";
import { keyBytes, renderTemplate } from "../keys/template.ts";
import type { Catalog } from "../schema/catalog.ts";
import type { Shape } from "../schema/shape.ts";
import type { AttributeValue, Item, Key } from "../transport/operations.ts";
import { defined } from "../util/invariant.ts";
import type { Row } from "../util/row.ts";
import { keyValue } from "./key-value.ts";

// "Partition key length 1 to 2048 bytes, sort key 1 to 1024 bytes", ServiceQuotas.
const PARTITION_KEY_BYTES = 2048;
const SORT_KEY_BYTES = 1024;

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
  const message = `The key attribute "${attribute}" would be ${bytes} bytes; DynamoDB allows ${limit}. Shorten the values in it.`;
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

/**
 * One computed attribute of a row; undefined where it is left out.
 *
 * @throws what {@link keyText} and {@link checkLength} throw
 */
export const keyAttribute = (catalog: Catalog, shape: Shape, attribute: string, row: Row): AttributeValue | undefined => {
  const text = checkLength(catalog, attribute, keyText(shape, attribute, row));
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
