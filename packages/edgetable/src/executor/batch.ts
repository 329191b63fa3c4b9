import { EdgetableError } from "../errors/edgetable-error.ts";
import { BATCH_GET_KEYS } from "../ir/capacity.ts";
import { encodeBatchGet, type Projection } from "../requests/encode-read.ts";
import type { Catalog } from "../schema/catalog.ts";
import type { Item, Key, Operation } from "../transport/operations.ts";
import { foreignAnswer, identity } from "./read-rows.ts";
import { backOff, type CallContext, type Session } from "./session.ts";

/** How the parts of a batch are sent and found in its response. */
interface Unprocessed<Sent> {
  readonly operation: Operation;
  readonly sent: readonly Sent[];
  /** The unprocessed parts in the response, by table. */
  readonly left: Readonly<Record<string, readonly unknown[]>>;
  /** The item or key in a part of the request; undefined if it is not such a part. */
  readonly keyIn: (part: Sent) => Item | undefined;
}

/**
 * The unprocessed parts of a batch, as they were sent. Parts of the response itself are never sent.
 *
 * @throws {execute.connection} if the response names something that was not sent
 */
export const unprocessedOf = <Sent>(catalog: Catalog, { operation, sent, left, keyIn }: Unprocessed<Sent>): readonly Sent[] => {
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
 * Law 5: sends unprocessed parts again until the deadline. The pauses grow while nothing is processed.
 *
 * @param send returns the unprocessed part
 * @returns the parts that are still unprocessed at the deadline
 */
export const sendRepeatedly = async <T>(
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

/** The items that a call reads. */
export interface KeySet {
  readonly keys: readonly Key[];
  readonly consistent: boolean;
  /** @default all attributes */
  readonly projection?: Projection | undefined;
}

const readChunk = async (session: Session, { keys, consistent, projection }: KeySet, context: CallContext): Promise<readonly Item[]> => {
  const { catalog } = session;
  const { table, index } = catalog;
  const items: Item[] = [];
  const left = await sendRepeatedly(session, keys, context, async (sent) => {
    const { Responses, UnprocessedKeys = {} } = await session.send(
      "BatchGetItem",
      encodeBatchGet(table, sent, consistent, projection),
      context,
    );
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

/** Reads items by their keys, 100 a request, each key once. The result is unordered and leaves out absent items. */
export const batchGet = async (session: Session, { keys, ...how }: KeySet, context: CallContext): Promise<readonly Item[]> => {
  const chunks: Promise<readonly Item[]>[] = [];
  for (let at = 0; at < keys.length; at += BATCH_GET_KEYS)
    chunks.push(readChunk(session, { keys: keys.slice(at, at + BATCH_GET_KEYS), ...how }, context));
  return (await Promise.all(chunks)).flat();
};
