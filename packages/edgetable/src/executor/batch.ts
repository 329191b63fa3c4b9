import { EdgetableError, isEdgetableError } from "../errors/edgetable-error.ts";
import { BATCH_GET_KEYS } from "../ir/capacity.ts";
import { keyId } from "../ir/write-plan.ts";
import type { BatchItem, BatchPlan } from "../planner/writes/plan-write.ts";
import { encodeBatchWrite, inBatches, writeRequest } from "../requests/encode-write.ts";
import { encodeBatchGet } from "../requests/encode-read.ts";
import { keyOfItem } from "../requests/encode-item.ts";
import type { Catalog } from "../schema/catalog.ts";
import type { Item, Key, Operation, WriteRequest } from "../transport/operations.ts";
import { foreignAnswer, identity } from "./read-rows.ts";
import { backOff, type CallContext, type Session } from "./session.ts";

/** What a batch sent, and what its answer says of it. */
interface Unprocessed<Sent> {
  readonly operation: Operation;
  readonly sent: readonly Sent[];
  /** What the answer leaves unprocessed, by table. */
  readonly left: Readonly<Record<string, readonly unknown[]>>;
  /** The item or key that a part of the request holds; undefined where it is no such part. */
  readonly keyIn: (part: Sent) => Item | undefined;
}

/**
 * The parts of a batch that DynamoDB left unprocessed, as they were sent: nothing that an answer holds is sent back.
 *
 * @throws {execute.connection} when the answer names anything that was not sent
 */
const unprocessedOf = <Sent>(catalog: Catalog, { operation, sent, left, keyIn }: Unprocessed<Sent>): readonly Sent[] => {
  const again = new Set<Sent>();
  let byKey: Map<string, Sent> | undefined;
  for (const table in left) {
    for (const part of left[table] as readonly Sent[]) {
      byKey ??= new Map(sent.map((one) => [identity(catalog, keyIn(one) ?? {}), one]));
      const key = keyIn(part);
      const own = table === catalog.table && key ? byKey.get(identity(catalog, key)) : undefined;
      if (own === undefined) throw foreignAnswer(operation, "it leaves something unprocessed that was not sent");
      again.add(own);
    }
  }
  return [...again];
};

const PAUSES = { baseDelay: 25, maxDelay: 2000 };

/**
 * Law 5: sends what DynamoDB leaves unprocessed again, until the deadline. Pauses grow while nothing is processed.
 *
 * @param send gives the part that was left unprocessed
 * @returns what is still unprocessed at the deadline
 */
const sendRepeatedly = async <T>(
  { effects }: Session,
  all: readonly T[],
  context: CallContext,
  send: (parts: readonly T[]) => Promise<readonly T[]>,
): Promise<readonly T[]> => {
  let left = all;
  for (let idle = 0; ;) {
    const next = await send(left);
    if (next.length === 0) return next;
    idle = next.length < left.length ? 0 : idle + 1;
    left = next;
    if (!(await backOff(effects, PAUSES, idle, context))) return left;
  }
};

/** The items that one call asks for. */
export interface KeySet {
  readonly keys: readonly Key[];
  readonly consistent: boolean;
}

const readChunk = async (session: Session, { keys, consistent }: KeySet, context: CallContext): Promise<readonly Item[]> => {
  const { catalog } = session;
  const { table, index } = catalog;
  const items: Item[] = [];
  const left = await sendRepeatedly(session, keys, context, async (sent) => {
    const { Responses, UnprocessedKeys = {} } = await session.send("BatchGetItem", encodeBatchGet(table, sent, consistent), context);
    for (const item of Responses?.[table] ?? []) {
      // Callers find their items by key.
      if (item[index.partitionKey] === undefined || (index.sortKey !== undefined && item[index.sortKey] === undefined))
        throw foreignAnswer("BatchGetItem", "it has an item without the table's key");
      items.push(item);
    }
    const unread: Record<string, readonly Key[]> = {};
    for (const name in UnprocessedKeys) unread[name] = UnprocessedKeys[name]?.Keys ?? [];
    return unprocessedOf(catalog, { operation: "BatchGetItem", sent, left: unread, keyIn: (key) => key });
  });
  if (left.length === 0) return items;
  throw new EdgetableError(
    "execute.unprocessed",
    `BatchGetItem left ${left.length} of ${keys.length} keys unprocessed until the deadline. Try again, or give the table more capacity.`,
    { retryable: true, details: { keys: left } },
  );
};

/** Reads items by their keys, 100 a request, each key once. The answer is in no fixed order; absent items are left out. */
export const batchGet = async (session: Session, { keys, consistent }: KeySet, context: CallContext): Promise<readonly Item[]> => {
  const chunks: Promise<readonly Item[]>[] = [];
  for (let at = 0; at < keys.length; at += BATCH_GET_KEYS)
    chunks.push(readChunk(session, { keys: keys.slice(at, at + BATCH_GET_KEYS), consistent }, context));
  return (await Promise.all(chunks)).flat();
};

/** A put or deletion that was not made, and why. */
export interface Unwritten {
  readonly request: WriteRequest;
  readonly error: EdgetableError;
}

const keyIn = (request: Partial<Record<"PutRequest", { Item?: Item }> & Record<"DeleteRequest", { Key?: Key }>>): Item | undefined =>
  request.PutRequest?.Item ?? request.DeleteRequest?.Key;

/**
 * Makes up to 25 puts and deletions of different items, each alone, and repeats what DynamoDB leaves unprocessed until the
 * deadline. Gives back what was not made; never throws for a fault of the service.
 */
export const batchWrite = async (
  session: Session,
  requests: readonly WriteRequest[],
  context: CallContext,
): Promise<readonly Unwritten[]> => {
  const { catalog } = session;
  let pending = requests;
  try {
    pending = await sendRepeatedly(session, requests, context, async (sent) => {
      pending = sent;
      const { UnprocessedItems = {} } = await session.send("BatchWriteItem", encodeBatchWrite(catalog.table, sent), context);
      return (pending = unprocessedOf(catalog, { operation: "BatchWriteItem", sent, left: UnprocessedItems, keyIn }));
    });
  } catch (error) {
    if (!isEdgetableError(error)) throw error;
    if (error.code !== "execute.rejected" || pending.length === 1) return pending.map((request) => ({ request, error }));
    // One item that the service refuses fails its whole request: halve the request until that item is alone.
    const middle = Math.ceil(pending.length / 2);
    const halves = [pending.slice(0, middle), pending.slice(middle)];
    return (await Promise.all(halves.map((half) => batchWrite(session, half, context)))).flat();
  }
  if (pending.length === 0) return [];
  const error = new EdgetableError(
    "execute.unprocessed",
    `BatchWriteItem left ${pending.length} items unprocessed until the deadline. Try again, or give the table more capacity.`,
    { retryable: true, details: { items: pending.length } },
  );
  return pending.map((request) => ({ request, error }));
};

/** Makes any number of puts and deletions, 25 a request, as many requests at a time as the connection allows. */
export const batchWriteAll = async (
  session: Session,
  requests: readonly WriteRequest[],
  context: CallContext,
): Promise<readonly Unwritten[]> => (await Promise.all(inBatches(requests).map((batch) => batchWrite(session, batch, context)))).flat();

/** An item of a batch that was not written. */
export interface UnwrittenItem {
  /** Positions of the calls that wrote it. */
  readonly calls: readonly number[];
  readonly key: Key;
  readonly error: EdgetableError;
}

/** The key of the item that a request writes. */
export const requestKey = (catalog: Catalog, request: WriteRequest): Key =>
  keyOfItem(catalog, "PutRequest" in request ? request.PutRequest.Item : request.DeleteRequest.Key);

/**
 * Makes a batch's puts and deletions.
 *
 * @throws the first error when nothing at all was written
 */
export const runBatch = async (session: Session, plan: BatchPlan, context: CallContext): Promise<readonly UnwrittenItem[]> => {
  const items = new Map<string, BatchItem>(plan.items.map((item) => [keyId(item.step.key), item]));
  const left = await batchWriteAll(
    session,
    plan.items.map(({ step }) => writeRequest(step)),
    context,
  );
  const [first] = left;
  if (first && left.length === plan.items.length) throw first.error;
  return left.map(({ request, error }) => {
    const key = requestKey(session.catalog, request);
    return { calls: items.get(keyId(key))?.calls ?? [], key, error };
  });
};
