import { createHash } from "node:crypto";
import { EdgetableError } from "../errors/edgetable-error.ts";
import { Meter } from "../executor/call.ts";
import type { CallContext, Session } from "../executor/session.ts";
import { encodePartition } from "../requests/encode-direct.ts";
import { encodeGet } from "../requests/encode-read.ts";
import { DEAD_LETTERS, hasTextSort, LETTER } from "../schema/system-items.ts";
import { systemKeyItem, systemType } from "../schema/system-key-item.ts";
import { deadLetter } from "../schema/system-keys.ts";
import type { Item, Key } from "../transport/operations.ts";
import { describeError } from "./call-handler.ts";
import type { StreamRecord } from "./record.ts";

/** A record that could not be processed. */
export interface DeadLetter {
  /** The id of the letter: the time of the change, and a hash that distinguishes it from others. */
  readonly id: string;
  /** The handler that failed; `"facts"` if maintaining derived attributes and copies failed. */
  readonly handler: string;
  /** The last error: a code of docs/errors.md or the name of the error's class, and up to 2,000 characters of its message. */
  readonly error: { readonly code: string; readonly message: string };
  readonly attempts: number;
  readonly failedAt: Date;
  /** The record. Without its images if they were too large: see `complete`. */
  readonly record: StreamRecord;
  /**
   * True if the record has its images: they are stored if both together take at most 350,000 bytes of JSON. Other records cannot be
   * replayed.
   */
  readonly complete: boolean;
}

const DEADLINE = 30_000;
const LIFETIME = 14 * 24 * 3600;
const MOST_MESSAGE = 2000;
// An item has at most 400 KB. Images are kept as text: an item of 32 levels has no room for another one around it.
const MOST_IMAGES = 350_000;

const bookkeepingContext = ({ effects }: Session, signal: AbortSignal | undefined): CallContext => ({
  meter: new Meter(0),
  signal,
  deadline: effects.now() + DEADLINE,
});

/** The content of a dead letter's attribute. */
interface Written extends Omit<DeadLetter, "id" | "failedAt" | "record"> {
  readonly failedAt: number;
  readonly record: StreamRecord;
}

/** Puts a record aside. One write. @returns the letter's id */
export const writeDeadLetter = async (
  session: Session,
  letter: { readonly handler: string; readonly record: StreamRecord; readonly error: unknown; readonly attempts: number },
  signal: AbortSignal | undefined,
): Promise<string> => {
  const { catalog, effects } = session;
  const { handler, record, attempts } = letter;
  const error = describeError(letter.error);
  const { before, after } = record;
  const complete = Buffer.byteLength(JSON.stringify([before, after])) <= MOST_IMAGES;
  const written: Written = {
    handler,
    error: { code: error.code, message: error.message.slice(0, MOST_MESSAGE) },
    attempts,
    failedAt: effects.now(),
    record: complete ? record : { ...record, before: undefined, after: undefined },
    complete,
  };
  // The same record and handler have the same id: a batch that is repeated overwrites its dead letters.
  const id = `${new Date(record.time).toISOString()}-${createHash("sha256")
    .update(JSON.stringify([handler, record.id]))
    .digest("hex")
    .slice(0, 16)}`;
  const item: Item = {
    ...systemKeyItem(catalog, deadLetter(id)),
    ...systemType(catalog, DEAD_LETTERS),
    [LETTER]: { S: JSON.stringify({ ...written, id }) },
    ...(catalog.ttl === undefined ? {} : { [catalog.ttl]: { N: String(Math.floor(effects.now() / 1000) + LIFETIME) } }),
  };
  await session.send(
    "PutItem",
    { TableName: catalog.table, Item: item, ReturnConsumedCapacity: "TOTAL" },
    bookkeepingContext(session, signal),
  );
  return id;
};

/** Reads a letter from its item; undefined for other items. */
const readLetter = (item: Item): DeadLetter | undefined => {
  const text = item[LETTER];
  if (!text || !("S" in text)) return undefined;
  const { failedAt, record, ...rest } = JSON.parse(text.S) as Written & { readonly id: string };
  // JSON leaves out what is undefined.
  const { before, after, sequence } = record as Partial<StreamRecord>;
  return { ...rest, failedAt: new Date(failedAt), record: { ...record, before, after, sequence } };
};

/** One dead letter; undefined if none has this id. */
export const getLetter = async (session: Session, id: string, signal?: AbortSignal): Promise<DeadLetter | undefined> => {
  const key = systemKeyItem(session.catalog, deadLetter(id));
  const input = encodeGet(session.catalog, key, { consistent: true });
  const { Item: item } = await session.send("GetItem", input, bookkeepingContext(session, signal));
  return item && readLetter(item);
};

/**
 * Pages of all letters, in the order of their changes. One Query for each megabyte.
 *
 * @throws {plan.unsupported} if the table's key has no text attribute that keeps them together
 */
export async function* letterPages(session: Session, limit: number, signal?: AbortSignal): AsyncGenerator<readonly DeadLetter[]> {
  const { index, layout, table } = session.catalog;
  if (!hasTextSort(layout) || layout.types?.[index.partitionKey] === "N")
    throw new EdgetableError(
      "plan.unsupported",
      `The dead letters of "${table}" cannot be listed: its key has no text attribute that keeps them together. Name them by their ids, which \`onDeadLetter\` receives.`,
      { details: { table } },
    );
  let start: Key | undefined;
  do {
    const page = encodePartition(table, { index, partition: DEAD_LETTERS, start, limit, consistent: true });
    const { Items = [], LastEvaluatedKey } = await session.send("Query", page, bookkeepingContext(session, signal));
    yield Items.flatMap((item) => readLetter(item) ?? []);
    start = LastEvaluatedKey;
  } while (start);
}

/** Deletes a letter. Returns false if it does not exist. */
export const deleteLetter = async (session: Session, id: string, signal?: AbortSignal): Promise<boolean> => {
  const { catalog } = session;
  const input = {
    TableName: catalog.table,
    Key: systemKeyItem(catalog, deadLetter(id)),
    ReturnValues: "ALL_OLD",
    ReturnConsumedCapacity: "TOTAL",
  } as const;
  const { Attributes } = await session.send("DeleteItem", input, bookkeepingContext(session, signal));
  return Attributes !== undefined;
};
