import type { EdgetableError } from "../errors/edgetable-error.ts";
import { keyId } from "../ir/write-plan.ts";
import type { BatchItem, BatchPlan } from "../planner/writes/plan-batch.ts";
import { inBatches, writeRequest } from "../requests/encode-batch-write.ts";
import { keyOfItem } from "../requests/encode-item.ts";
import type { Catalog } from "../schema/catalog.ts";
import type { Key, WriteRequest } from "../transport/operations.ts";
import { batchWrite } from "./batch-write.ts";
import type { CallContext, Session } from "./session.ts";

/** An item of a batch that was not written. */
export interface UnwrittenItem {
  /** Positions of the calls that wrote it. */
  readonly calls: readonly number[];
  readonly key: Key;
  readonly error: EdgetableError;
}

/** The key by which a request's item is known. */
export const requestKey = (catalog: Catalog, request: WriteRequest): Key =>
  keyOfItem(catalog, "PutRequest" in request ? request.PutRequest.Item : request.DeleteRequest.Key);

/**
 * Makes a batch's puts and deletions, 25 a request, as many requests at a time as the connection allows.
 *
 * @throws the first error when nothing at all was written
 */
export const runBatch = async (session: Session, plan: BatchPlan, context: CallContext): Promise<readonly UnwrittenItem[]> => {
  const items = new Map<string, BatchItem>(plan.items.map((item) => [keyId(item.step.key), item]));
  const requests = plan.items.map(({ step }) => writeRequest(step));
  const left = await Promise.all(inBatches(requests).map((batch) => batchWrite(session, batch, context)));
  const unwritten = left.flat().map(({ request, error }) => {
    const key = requestKey(session.catalog, request);
    return { calls: items.get(keyId(key))?.calls ?? [], key, error };
  });
  const [first] = unwritten;
  if (first && unwritten.length === plan.items.length) throw first.error;
  return unwritten;
};
