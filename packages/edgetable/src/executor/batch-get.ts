import { EdgetableError } from "../errors/edgetable-error.ts";
import { BATCH_GET_KEYS } from "../ir/capacity.ts";
import { encodeBatchGet } from "../requests/encode-read.ts";
import type { Catalog } from "../schema/catalog.ts";
import type { Item, Key, KeysAndAttributes } from "../transport/operations.ts";
import { foreignAnswer, unprocessedOf } from "./item-identity.ts";
import type { CallContext, Session } from "./session.ts";

const ROUNDS = 20;
const BASE_DELAY = 25;
const MAX_DELAY = 2000;

/** The items that one call asks for. */
export interface KeySet {
  readonly keys: readonly Key[];
  readonly consistent: boolean;
}

const keysOf = (left: Readonly<Record<string, KeysAndAttributes>> = {}): Readonly<Record<string, readonly Key[]>> =>
  Object.fromEntries(Object.entries(left).map(([table, { Keys }]) => [table, Keys]));

// Whoever looks for an item by its key relies on there being one.
const keyed = ({ index: { partitionKey, sortKey } }: Catalog, items: readonly Item[] = []): readonly Item[] => {
  for (const item of items)
    if (item[partitionKey] === undefined || (sortKey !== undefined && item[sortKey] === undefined))
      throw foreignAnswer("BatchGetItem", "it has an item without the table's key");
  return items;
};

// Law 5: what DynamoDB leaves unprocessed is asked for again, with growing pauses while nothing comes.
const readChunk = async (session: Session, { keys, consistent }: KeySet, context: CallContext): Promise<readonly Item[]> => {
  const { catalog } = session;
  const items: Item[] = [];
  let left = keys;
  for (let idle = 0; idle < ROUNDS;) {
    const output = await session.send("BatchGetItem", encodeBatchGet(catalog.table, left, consistent), context);
    items.push(...keyed(catalog, output.Responses?.[catalog.table]));
    const asked = { operation: "BatchGetItem", sent: left, left: keysOf(output.UnprocessedKeys), keyIn: (key: Key) => key } as const;
    const next = unprocessedOf(catalog, asked);
    if (next.length === 0) return items;
    idle = next.length < left.length ? 0 : idle + 1;
    left = next;
    const wait = session.effects.random() * Math.min(MAX_DELAY, BASE_DELAY * 2 ** idle);
    if (session.effects.now() + wait >= context.deadline) break;
    await session.effects.sleep(wait, context.signal);
  }
  throw new EdgetableError(
    "execute.unprocessed",
    `BatchGetItem left ${left.length} of ${keys.length} keys unprocessed until the deadline. Try again, or give the table more capacity.`,
    {
      retryable: true,
      details: { keys: left },
    },
  );
};

/** Reads items by their keys, 100 a request, each key once. The answer is in no fixed order; absent items are left out. */
export const batchGet = async (session: Session, { keys, consistent }: KeySet, context: CallContext): Promise<readonly Item[]> => {
  const chunks: Key[][] = [];
  for (let at = 0; at < keys.length; at += BATCH_GET_KEYS) chunks.push(keys.slice(at, at + BATCH_GET_KEYS));
  const answers = await Promise.all(chunks.map((chunk) => readChunk(session, { keys: chunk, consistent }, context)));
  return answers.flat();
};
