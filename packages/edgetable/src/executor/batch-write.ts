import { EdgetableError, isEdgetableError } from "../errors/edgetable-error.ts";
import { encodeBatchWrite } from "../requests/encode-batch-write.ts";
import type { Item, Key, WriteRequest } from "../transport/operations.ts";
import { unprocessedOf } from "./item-identity.ts";
import type { CallContext, Session } from "./session.ts";

const BASE_DELAY = 25;
const MAX_DELAY = 2000;

/** A put or deletion that was not made, and why. */
export interface Unwritten {
  readonly request: WriteRequest;
  readonly error: EdgetableError;
}

const keyIn = (request: Partial<Record<"PutRequest", { Item?: Item }> & Record<"DeleteRequest", { Key?: Key }>>): Item | undefined =>
  request.PutRequest?.Item ?? request.DeleteRequest?.Key;

const leftOver = (left: readonly WriteRequest[]): readonly Unwritten[] => {
  const message = `BatchWriteItem left ${left.length} items unprocessed until the deadline. Try again, or give the table more capacity.`;
  const error = new EdgetableError("execute.unprocessed", message, { retryable: true, details: { items: left.length } });
  return left.map((request) => ({ request, error }));
};

// One item that the service refuses takes its whole request along: halve it until the culprit is alone.
const isolate = async (session: Session, requests: readonly WriteRequest[], context: CallContext): Promise<readonly Unwritten[]> => {
  const middle = Math.ceil(requests.length / 2);
  const halves = await Promise.all([requests.slice(0, middle), requests.slice(middle)].map((half) => batchWrite(session, half, context)));
  return halves.flat();
};

/**
 * Makes up to 25 puts and deletions of different items, each alone; what DynamoDB leaves unprocessed
 * is sent again, with growing jittered pauses while nothing goes through, until the deadline (law 5).
 * Gives back what was not made; never throws for a fault of the service.
 */
export const batchWrite = async (
  session: Session,
  requests: readonly WriteRequest[],
  context: CallContext,
): Promise<readonly Unwritten[]> => {
  const { catalog, effects } = session;
  let left = requests;
  for (let idle = 0; left.length > 0;) {
    try {
      const output = await session.send("BatchWriteItem", encodeBatchWrite(catalog.table, left), context);
      const next = unprocessedOf(catalog, { operation: "BatchWriteItem", sent: left, left: output.UnprocessedItems ?? {}, keyIn });
      idle = next.length < left.length ? 0 : idle + 1;
      left = next;
      if (next.length === 0) return [];
      const wait = effects.random() * Math.min(MAX_DELAY, BASE_DELAY * 2 ** idle);
      if (effects.now() + wait >= context.deadline) return leftOver(left);
      await effects.sleep(wait, context.signal);
    } catch (error) {
      if (!isEdgetableError(error)) throw error;
      if (error.code === "execute.rejected" && left.length > 1) return isolate(session, left, context);
      return left.map((request) => ({ request, error }));
    }
  }
  return [];
};
