import {
  type BatchGetItemInput,
  type BatchGetItemOutput,
  type GetItemInput,
  type GetItemOutput,
  type Item,
  type Key,
  type KeysAndAttributes,
  type QueryInput,
  type QueryOutput,
  type SendOptions,
  type TransactWriteItem,
  type Transport,
  isEdgetableError,
} from "edgetable";
import { holds, parseCondition, parseProjection, taggedValue, usedPlaceholders } from "./expression.ts";
import type { Call, Injection, LagBound } from "./fault-options.ts";
import { hashText, mixSeeds, seededRandom } from "./random.ts";
import {
  type IndexShape,
  type Positions,
  type TableShape,
  type TableShapes,
  cursorAt,
  keyNames,
  keyOf,
  keyText,
  positionsOf,
} from "./table-shape.ts";
import type { Images, Unseen, WriteHistory } from "./write-history.ts";

/** Everything that reading the past needs. */
export interface Past {
  readonly inner: Transport;
  readonly shapes: TableShapes;
  readonly history: WriteHistory;
  readonly now: () => number;
}

/** One read of the past. */
export interface Look {
  readonly unseen: Unseen;
  readonly options: SendOptions;
}

/** The writes that a lagging read does not see yet. */
export const unseenBy = (lag: Injection & { readonly amount: number }, bound: LagBound | undefined, now: number): Unseen => {
  const amountFor = (key: string): number => {
    if (bound?.torn !== true) return lag.amount;
    const share = seededRandom(mixSeeds(lag.draw, hashText(key)))();
    return bound.milliseconds === undefined ? Math.floor(share * (lag.amount + 1)) : share * lag.amount;
  };
  if (bound?.milliseconds !== undefined) return ({ at }, key) => at > now - amountFor(key);
  return ({ ordinal }, key, newest) => ordinal > newest - amountFor(key);
};

// BatchGetItem: 100 keys, ServiceQuotas.
const keysPerRequest = 100;
// Bounds the page for engines that read more than they return.
const itemsPerPage = 2_000;

/** Reads items by key, consistently. Missing items are left out. */
const readPresent = async (inner: Transport, table: string, keys: readonly Key[]): Promise<readonly Item[]> => {
  const items: Item[] = [];
  let left = keys;
  while (left.length > 0) {
    const RequestItems: BatchGetItemInput["RequestItems"] = { [table]: { Keys: left.slice(0, keysPerRequest), ConsistentRead: true } };
    const answer = await inner.send("BatchGetItem", { RequestItems });
    items.push(...(answer.Responses?.[table] ?? []));
    left = [...(answer.UnprocessedKeys?.[table]?.Keys ?? []), ...left.slice(keysPerRequest)];
  }
  return items;
};

/** A query's key condition alone: no filter, projection, page or direction. */
export const bareQuery = (input: QueryInput): QueryInput => ({
  TableName: input.TableName,
  KeyConditionExpression: input.KeyConditionExpression,
  ...usedPlaceholders([input.KeyConditionExpression], input),
  ...(input.IndexName === undefined ? { ConsistentRead: true } : { IndexName: input.IndexName }),
});

/** Reads all items that meet the key condition, in ascending order. */
const readCollection = async (inner: Transport, input: QueryInput): Promise<readonly Item[]> => {
  const items: Item[] = [];
  let start: Key | undefined;
  do {
    const page: QueryInput = { ...bareQuery(input), Limit: itemsPerPage, ...(start && { ExclusiveStartKey: start }) };
    const answer: QueryOutput = await inner.send("Query", page);
    items.push(...(answer.Items ?? []));
    start = answer.LastEvaluatedKey;
  } while (start);
  return items;
};

/** An item that a request writes: its key, or the item that holds it. */
interface Target {
  readonly table: string;
  readonly key: Item;
}

const transactTargets = (item: TransactWriteItem): readonly Target[] => {
  if ("Put" in item) return [{ table: item.Put.TableName, key: item.Put.Item }];
  if ("Update" in item) return [{ table: item.Update.TableName, key: item.Update.Key }];
  return "Delete" in item ? [{ table: item.Delete.TableName, key: item.Delete.Key }] : [];
};

const targetsOf = ({ operation, input }: Call): readonly Target[] => {
  switch (operation) {
    case "PutItem":
      return [{ table: input.TableName, key: input.Item }];
    case "UpdateItem":
    case "DeleteItem":
      return [{ table: input.TableName, key: input.Key }];
    case "BatchWriteItem":
      return Object.entries(input.RequestItems).flatMap(([table, requests]) =>
        requests.map((request) => ({ table, key: "PutRequest" in request ? request.PutRequest.Item : request.DeleteRequest.Key })),
      );
    case "TransactWriteItems":
      return input.TransactItems.flatMap(transactTargets);
    default:
      return [];
  }
};

interface Written {
  readonly shape: TableShape;
  readonly keys: ReadonlyMap<string, Item>;
}

/** Tables and keys to be written. The engine will refuse incomplete keys. */
const writtenBy = async (past: Past, call: Call): Promise<readonly Written[]> => {
  const targets = targetsOf(call);
  const tables = [...new Set(targets.map(({ table }) => table))];
  const written = tables.map(async (table): Promise<Written> => {
    const shape = await past.shapes.of(table);
    const keys = targets.flatMap((target) => {
      const key = target.table === table ? keyOf(shape, target.key) : undefined;
      return key ? [[keyText(shape, key), key] as const] : [];
    });
    return { shape, keys: new Map(keys) };
  });
  return Promise.all(written);
};

const imagesBefore = async (past: Past, { shape, keys }: Written): Promise<readonly [string, Images]> => {
  const items = await readPresent(past.inner, shape.name, [...keys.values()]);
  const present = new Map(items.map((item) => [keyText(shape, item), item]));
  return [shape.name, new Map([...keys.keys()].map((key) => [key, present.get(key)]))];
};

// The engine will refuse to write what it refuses to read, such as a key of a wrong type.
const unlessRefused = async <T>(work: Promise<readonly T[]>): Promise<readonly T[]> => {
  try {
    return await work;
  } catch (error) {
    if (isEdgetableError(error) && !error.retryable) return [];
    throw error;
  }
};

const recorded = async <T>(past: Past, written: readonly Written[], run: () => Promise<T>): Promise<T> => {
  const before = await unlessRefused(Promise.all(written.map((table) => imagesBefore(past, table))));
  const writes = before.map(([table, images]) => past.history.begin(table, images));
  const settle = (outcome: "done" | "refused"): void => {
    for (const end of writes) end(outcome, past.now());
  };
  try {
    const output = await run();
    settle("done");
    return output;
  } catch (error) {
    settle(isEdgetableError(error) && error.details["ambiguous"] !== true ? "refused" : "done");
    throw error;
  }
};

/** Runs a write and records its items as they were before it. */
export const recordedWrite = async <T>(past: Past, call: Call, run: () => Promise<T>): Promise<T> => {
  const written = await unlessRefused(writtenBy(past, call));
  const names = written.flatMap(({ shape, keys }) => [...keys.keys()].map((key) => `${shape.name} ${key}`));
  const unlock = await past.history.lock(names);
  try {
    return await recorded(past, written, run);
  } finally {
    unlock();
  }
};

// A Query reads at most 1 MB a page (ServiceQuotas). An item's JSON is never smaller than the item.
const pageBytes = 2 ** 20;

const fittingPage = (items: readonly Item[], limit: number): readonly Item[] => {
  const page: Item[] = [];
  let bytes = 0;
  for (const item of items) {
    if (page.length >= limit || bytes >= pageBytes) break;
    page.push(item);
    bytes += Buffer.byteLength(JSON.stringify(item));
  }
  return page;
};

const passing = (input: QueryInput, items: readonly Item[]): readonly Item[] => {
  if (input.FilterExpression === undefined) return items;
  const { FilterExpression: text, ExpressionAttributeNames: names = {}, ExpressionAttributeValues: values = {} } = input;
  const filter = parseCondition({ text, names, values });
  return items.filter((item) => holds(filter, item));
};

const projected = (input: QueryInput, items: readonly Item[]): readonly Item[] =>
  input.ProjectionExpression === undefined
    ? items
    : items.map(parseProjection(input.ProjectionExpression, input.ExpressionAttributeNames ?? {}));

/** One page of a query over a collection, as the service would answer it. */
const pageOf = (collection: readonly Item[], input: QueryInput, positions: Positions): QueryOutput => {
  const { ExclusiveStartKey: start, Limit: limit = Infinity } = input;
  const direction = input.ScanIndexForward === false ? -1 : 1;
  const ordered = direction === 1 ? collection : collection.toReversed();
  const ahead = start ? ordered.filter((item) => positions.compare(item, start) * direction > 0) : ordered;
  const scanned = fittingPage(ahead, limit);
  const last = scanned.at(-1);
  const kept = passing(input, scanned);
  // A page that ends by its Limit has a cursor even if nothing follows.
  const ended = scanned.length === ahead.length && scanned.length < limit;
  return {
    ...(input.Select === "COUNT" ? {} : { Items: projected(input, kept) }),
    Count: kept.length,
    ScannedCount: scanned.length,
    ...(last && !ended && { LastEvaluatedKey: cursorAt(positions, last) }),
  };
};

/** An answer, and whether it shows the past. */
export interface PastAnswer<T> {
  readonly output: T;
  readonly lagged: boolean;
}

const inIndex = (table: TableShape, index: IndexShape, item: Item): boolean =>
  keyNames(index).every((name) => {
    const value = item[name];
    return value !== undefined && taggedValue(value)[0] === table.types.get(name);
  });

/** Replaces items that were written since by their earlier state. */
const patched = (
  present: readonly Item[],
  images: Images,
  place: { input: QueryInput; table: TableShape; index: IndexShape | undefined },
): readonly Item[] => {
  const { input, table, index } = place;
  const { KeyConditionExpression: text, ExpressionAttributeNames: names = {}, ExpressionAttributeValues: values = {} } = input;
  const condition = parseCondition({ text, names, values });
  const unchanged = present.filter((item) => !images.has(keyText(table, keyOf(table, item) ?? {})));
  const restored = [...images.values()].filter(
    (item): item is Item => item !== undefined && (!index || inIndex(table, index, item)) && holds(condition, item),
  );
  const kept = index?.projected;
  if (!kept) return [...unchanged, ...restored];
  return [...unchanged, ...restored.map((item) => Object.fromEntries(Object.entries(item).filter(([name]) => kept.has(name))))];
};

/** True if equal range keys are in the order that cursors here rely on. */
const inOrder = (items: readonly Item[], positions: Positions): boolean =>
  items.every((item, at) => at === 0 || positions.compare(items[at - 1] ?? item, item) < 0);

/**
 * A Query's answer from the past. The engine is asked too, for its errors and its consumed capacity.
 *
 * @throws {plan.unsupported} if the query has an expression that cannot be parsed here
 */
export const pastQuery = async (past: Past, input: QueryInput, look: Look): Promise<PastAnswer<QueryOutput>> => {
  const table = await past.shapes.of(input.TableName);
  const view = past.history.view(input.TableName, look.unseen);
  try {
    const now = await past.inner.send("Query", input, look.options);
    if (view.images.size === 0) return { output: now, lagged: false };
    const index = input.IndexName === undefined ? undefined : table.indexes.get(input.IndexName);
    const positions = positionsOf(table, index);
    const present = await readCollection(past.inner, input);
    if (!inOrder(present, positions)) return { output: now, lagged: false };
    const collection = patched(present, view.images, { input, table, index }).toSorted((a, b) => positions.compare(a, b));
    const page = pageOf(collection, input, positions);
    return { output: { ...page, ...(now.ConsumedCapacity && { ConsumedCapacity: now.ConsumedCapacity }) }, lagged: true };
  } finally {
    view.close();
  }
};

type Projected = Pick<KeysAndAttributes, "ProjectionExpression" | "ExpressionAttributeNames">;

const project = (how: Projected, item: Item): Item =>
  how.ProjectionExpression === undefined ? item : parseProjection(how.ProjectionExpression, how.ExpressionAttributeNames ?? {})(item);

const imagesOf = (past: Past, table: string, look: Look): Images => {
  const view = past.history.view(table, look.unseen);
  view.close();
  return view.images;
};

/** A GetItem's answer from the past. */
export const pastGet = async (past: Past, input: GetItemInput, look: Look): Promise<PastAnswer<GetItemOutput>> => {
  const shape = await past.shapes.of(input.TableName);
  const images = imagesOf(past, input.TableName, look);
  const now = await past.inner.send("GetItem", input, look.options);
  const key = keyText(shape, input.Key);
  if (!images.has(key)) return { output: now, lagged: false };
  const item = images.get(key);
  const { ConsumedCapacity: consumed } = now;
  return { output: { ...(item && { Item: project(input, item) }), ...(consumed && { ConsumedCapacity: consumed }) }, lagged: true };
};

interface TableKeys {
  readonly table: string;
  readonly present: readonly Key[];
  readonly past: readonly (Item | undefined)[];
}

const divide = async (past: Past, [table, asked]: readonly [string, KeysAndAttributes], look: Look): Promise<TableKeys> => {
  const shape = await past.shapes.of(table);
  const images = asked.ConsistentRead === true ? new Map<string, Item>() : imagesOf(past, table, look);
  const isPast = (key: Key): boolean => images.has(keyText(shape, key));
  return {
    table,
    present: asked.Keys.filter((key) => !isPast(key)),
    past: asked.Keys.filter(isPast).map((key) => images.get(keyText(shape, key))),
  };
};

const presentPart = (input: BatchGetItemInput, tables: readonly TableKeys[]): BatchGetItemInput["RequestItems"] => {
  const asked = tables.filter(({ present }) => present.length > 0);
  return Object.fromEntries(
    asked.map(({ table, present }) => [table, { ...(input.RequestItems[table] as KeysAndAttributes), Keys: present }]),
  );
};

/** A BatchGetItem's answer from the past. Tables that are read consistently show the present. */
export const pastBatchGet = async (past: Past, input: BatchGetItemInput, look: Look): Promise<PastAnswer<BatchGetItemOutput>> => {
  const tables = await Promise.all(Object.entries(input.RequestItems).map((entry) => divide(past, entry, look)));
  const now = await past.inner.send("BatchGetItem", input, look.options);
  if (tables.every((table) => table.past.length === 0)) return { output: now, lagged: false };
  const RequestItems = presentPart(input, tables);
  const rest: BatchGetItemOutput =
    Object.keys(RequestItems).length === 0 ? {} : await past.inner.send("BatchGetItem", { ...input, RequestItems }, look.options);
  const responses = tables.map(({ table, past: images }) => {
    const old = images.flatMap((item) => (item ? [project(input.RequestItems[table] ?? {}, item)] : []));
    return [table, [...(rest.Responses?.[table] ?? []), ...old]] as const;
  });
  const { ConsumedCapacity: consumed } = now;
  return { output: { ...rest, Responses: Object.fromEntries(responses), ...(consumed && { ConsumedCapacity: consumed }) }, lagged: true };
};
