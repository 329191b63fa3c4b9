import { EdgetableError, isEdgetableError, withEffect } from "../errors/edgetable-error.ts";
import type { LogicalWrite } from "../ir/logical-write.ts";
import { keyId } from "../ir/write-plan.ts";
import { type BatchItem, planBatch } from "../planner/writes/plan-batch.ts";
import { loadRules } from "../planner/writes/rules/index.ts";
import { keyOfItem } from "../requests/encode-item.ts";
import { encodeBatchWrite, inBatches, writeRequest } from "../requests/encode-write.ts";
import type { Catalog } from "../schema/catalog.ts";
import type { Item, Key, WriteRequest } from "../transport/operations.ts";
import { sendRepeatedly, unprocessedOf } from "./batch.ts";
import type { CallContext, Session } from "./session.ts";

/** A put or deletion that was not made, and why. */
export interface Unwritten {
  readonly request: WriteRequest;
  readonly error: EdgetableError;
}

const keyIn = (request: Partial<Record<"PutRequest", { Item?: Item }> & Record<"DeleteRequest", { Key?: Key }>>): Item | undefined =>
  request.PutRequest?.Item ?? request.DeleteRequest?.Key;

/**
 * Makes up to 25 puts and deletions of different items, each by itself, and sends unprocessed ones again until the deadline.
 * Returns those that were not made; never throws for an error of the service.
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
    if (error.code !== "execute.rejected" || pending.length === 1) {
      const unwritten = withEffect(error, true);
      return pending.map((request) => ({ request, error: unwritten }));
    }
    // One rejected item fails the whole request, so the request is halved until the item is alone.
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

/** An item of a batch that could not be written. */
export interface UnwrittenItem {
  /** Positions of the calls that wrote it. */
  readonly calls: readonly number[];
  readonly key: Key;
  readonly error: EdgetableError;
}

/** The key of the item that a request writes. */
export const requestKey = (catalog: Catalog, request: WriteRequest): Key =>
  keyOfItem(catalog, "PutRequest" in request ? request.PutRequest.Item : request.DeleteRequest.Key);

/** How a batch ended. */
export interface BatchResult {
  /** The number of items to write or delete. */
  readonly items: number;
  readonly left: readonly UnwrittenItem[];
}

/**
 * Plans a batch and makes its puts and deletions.
 *
 * @throws {plan.unsupported} for a call that is more than unconditional puts and deletions
 * @throws the first error if nothing at all was written
 */
export const runBatch = async (session: Session, writes: readonly LogicalWrite[], context: CallContext): Promise<BatchResult> => {
  await loadRules(session.catalog);
  const now = session.effects.now();
  let plan = planBatch(session.catalog, writes, {}, now);
  if (plan.reads.length > 0) {
    const { readImages } = await import("./read-images.ts");
    plan = planBatch(session.catalog, writes, await readImages(session, plan.reads, context), now);
  }
  const items = new Map<string, BatchItem>(plan.items.map((item) => [keyId(item.step.key), item]));
  const left = await batchWriteAll(
    session,
    plan.items.map(({ step }) => writeRequest(step)),
    context,
  );
  const [first] = left;
  if (first && left.length === plan.items.length) throw first.error;
  const unwritten = left.map(({ request, error }) => {
    const key = requestKey(session.catalog, request);
    return { calls: items.get(keyId(key))?.calls ?? [], key, error };
  });
  return { items: plan.items.length, left: unwritten };
};
