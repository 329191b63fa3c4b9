import type { ItemsAnswer, WireItem } from "@edgetable/studio";
import type { AnyGraph, Catalog, Item, Transport } from "edgetable";
import { describeItem } from "edgetable/check";
import { usageError } from "../failure.ts";
import type { Row } from "../output/json.ts";
import { sendPatiently } from "../send-patiently.ts";

/** Where to read items, and how many. */
export interface StoredPage {
  /** Undefined for the table itself. */
  readonly index: string | undefined;
  /** The partition key's text, of several attributes a JSON list of their texts; undefined for every partition. */
  readonly partition: string | undefined;
  readonly cursor: string | undefined;
  /** Items to read in one request, 1 to 1,000. */
  readonly limit: number;
}

/** Requests that one page sends at most, if a filter leaves out most of what it reads. */
const MAX_REQUESTS = 8;
/** Two keys of the table, and four attributes of either key of an index. */
const MOST_KEYS = 10;

/** The text of a position in the table or an index. */
export const encodeCursor = (key: object): string => Buffer.from(JSON.stringify(key)).toString("base64url");

const isKeyValue = (value: unknown): boolean => {
  const entries = typeof value === "object" && value !== null ? Object.entries(value) : [];
  return entries.length === 1 && ["S", "N", "B"].includes(entries[0]?.[0] ?? "") && typeof entries[0]?.[1] === "string";
};

/** The position that a text says. @throws {cli.usage} for a text that is none */
export const decodeCursor = (text: string): Item => {
  try {
    const key: unknown = JSON.parse(Buffer.from(text, "base64url").toString("utf8"));
    if (typeof key === "object" && key !== null && Object.keys(key).length <= MOST_KEYS && Object.values(key).every(isKeyValue))
      return key as Item;
  } catch {
    // Reported below.
  }
  throw usageError("The cursor is not one that the studio gave. Load the view again.");
};

/** A key's text as DynamoDB's value: numbers are rare, and an adopted layout's templates know. */
export const keyOf = ({ shapes }: Catalog, attribute: string, text: string): Item[string] => {
  const isNumber = shapes.some(({ keys }) => keys[attribute]?.type === "N");
  return isNumber ? { N: text } : { S: text };
};

/** The name by which a view filters an item. */
const filterName = ({ kind, name }: WireItem): string => (kind === "system" || kind === "stray" ? `~${kind}` : name);

/** A stored item for the page. */
export const describeStored = (catalog: Catalog, item: Item): WireItem => {
  const { row: _, ...description } = describeItem(catalog, item);
  return { item, ...description };
};

/** The table itself, or an index by its name. @throws {cli.usage} for an unknown index */
export const indexOf = ({ index, indexes }: Catalog, name: string | undefined): Catalog["indexes"][number] | Catalog["index"] => {
  const found = name === undefined ? index : indexes.find((one) => one.name === name);
  if (!found) throw usageError(`There is no index "${name}".`);
  return found;
};

/** The texts of a partition's key attributes. @throws {cli.usage} if an index with several needs a list of them */
const partitionTexts = ({ partitionKeys }: ReturnType<typeof indexOf>, partition: string): readonly string[] => {
  if (partitionKeys.length === 1) return [partition];
  try {
    const texts: unknown = JSON.parse(partition);
    if (Array.isArray(texts) && texts.length === partitionKeys.length && texts.every((text) => typeof text === "string")) return texts;
  } catch {
    // Reported below.
  }
  throw usageError(`A partition of this index is a JSON list of ${partitionKeys.length} texts: ${partitionKeys.join(", ")}.`);
};

/** The key condition of one partition. */
const partitionCondition = (catalog: Catalog, index: ReturnType<typeof indexOf>, partition: string) => {
  const texts = partitionTexts(index, partition);
  const names = index.partitionKeys.map((attribute, at) => [`#p${at}`, attribute] as const);
  const values = index.partitionKeys.map((attribute, at) => [`:p${at}`, keyOf(catalog, attribute, texts[at]!)] as const);
  return {
    KeyConditionExpression: names.map(([name], at) => `${name} = :p${at}`).join(" AND "),
    ExpressionAttributeNames: Object.fromEntries(names),
    ExpressionAttributeValues: Object.fromEntries(values),
  };
};

/** What every read needs. */
interface Reading {
  readonly graph: AnyGraph;
  readonly transport: Transport;
  readonly signal: AbortSignal;
}

/** What a page of stored items gave. */
export interface StoredAnswer<T> extends Omit<ItemsAnswer, "items"> {
  readonly taken: readonly T[];
}

/**
 * Reads stored items until half a page is taken or eight requests were sent. A Scan returns the items of a partition together, so
 * that they can be drawn as groups.
 *
 * @param take gives undefined for an item that is left out
 * @throws {cli.usage} for an unknown index or an invalid cursor
 */
export const readStored = async <T>(
  { graph: { catalog }, transport, signal }: Reading,
  request: StoredPage,
  take: (item: Item) => T | undefined,
): Promise<StoredAnswer<T>> => {
  const index = indexOf(catalog, request.index);
  const base = {
    TableName: catalog.table,
    ...(index.name === undefined ? {} : { IndexName: index.name }),
    Limit: request.limit,
    ReturnConsumedCapacity: "TOTAL" as const,
  };
  const taken: T[] = [];
  const cost = { requests: 0, readUnits: 0 };
  let scanned = 0;
  let start = request.cursor === undefined ? undefined : decodeCursor(request.cursor);
  do {
    const after = start === undefined ? {} : { ExclusiveStartKey: start };
    const answer =
      request.partition === undefined
        ? await sendPatiently(transport, "Scan", { ...base, ...after }, signal)
        : await sendPatiently(
            transport,
            "Query",
            {
              ...base,
              ...after,
              ...partitionCondition(catalog, index, request.partition),
            },
            signal,
          );
    cost.requests++;
    cost.readUnits += answer.ConsumedCapacity?.CapacityUnits ?? 0;
    for (const item of answer.Items ?? []) {
      scanned++;
      const one = take(item);
      if (one !== undefined) taken.push(one);
    }
    start = answer.LastEvaluatedKey;
  } while (start !== undefined && taken.length < request.limit / 2 && cost.requests < MAX_REQUESTS && !signal.aborted);
  return { taken, ...(start === undefined ? {} : { next: encodeCursor(start) }), scanned, cost };
};

/**
 * Reads items as they are stored, with what each is by the model.
 *
 * @param types names of types, `~system` for Edgetable's own items and `~stray` for items that the model does not know; empty for all
 * @throws {cli.usage} as {@link readStored}
 */
export const readItems = async (
  graph: AnyGraph,
  transport: Transport,
  { types, ...page }: StoredPage & { readonly types: readonly string[] },
  signal: AbortSignal,
): Promise<ItemsAnswer> => {
  const take = (item: Item): WireItem | undefined => {
    const described = describeStored(graph.catalog, item);
    return types.length === 0 || types.includes(filterName(described)) ? described : undefined;
  };
  const { taken, ...answer } = await readStored({ graph, transport, signal }, page, take);
  return { items: taken, ...answer };
};

/**
 * Reads one item by its key, with what it is by the model, and its row.
 *
 * @param key a JSON list with the texts of the partition key and, if the table has one, the sort key
 * @throws {cli.usage} if the key is not of that form
 */
export const readItem = async (
  { catalog }: AnyGraph,
  transport: Transport,
  key: string,
  signal: AbortSignal,
): Promise<{ readonly item?: WireItem; readonly row?: Row }> => {
  const names = [catalog.index.partitionKey, catalog.index.sortKey].filter((name) => name !== undefined);
  let texts: unknown;
  try {
    texts = JSON.parse(key);
  } catch {
    // Reported below.
  }
  const isKey = Array.isArray(texts) && texts.length === names.length && texts.every((text) => typeof text === "string");
  if (!isKey) throw usageError(`The key must be a JSON list of ${names.length === 1 ? "one text" : "two texts"}.`);
  const Key = Object.fromEntries(names.map((name, at) => [name, keyOf(catalog, name, (texts as readonly string[])[at] ?? "")]));
  const { Item: item } = await sendPatiently(transport, "GetItem", { TableName: catalog.table, Key }, signal);
  if (!item) return {};
  const { row, ...description } = describeItem(catalog, item);
  return { item: { item, ...description }, ...(row && { row }) };
};
