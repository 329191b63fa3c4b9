import { EdgetableError } from "../errors/edgetable-error.ts";
import { type Call, type Cost, createCall, type Report, reportOf, type RunOptions } from "../executor/call.ts";
import { validateWrite } from "../executor/run-write.ts";
import type { Key } from "../transport/operations.ts";
import { loadOnce } from "../util/load-once.ts";
import { loadWriteExplanation, type WriteDriver, writesOf } from "./write-call.ts";
import type { Advice, BatchableCall, BatchExplanation } from "./write-types.ts";

/** The items of one call of a batch that could not be written. */
export interface Unwritten {
  /** Position of the call in the batch, from 0. */
  readonly call: number;
  /** The table key of the item. */
  readonly key: Key;
  readonly error: EdgetableError;
}

/** How a batch ended. */
export interface BatchOutcome {
  /** True if everything was written. */
  readonly ok: boolean;
  /** Items written or deleted. */
  readonly items: number;
  readonly unwritten: readonly Unwritten[];
  readonly cost: Cost;
  /** Each item is written alone; a reader may see some of the batch and not the rest. */
  readonly atomic: { readonly kind: "item" };
}

/** A batch that has not been made yet; awaiting it gives its outcome as a value. */
export interface BatchCall extends Call<BatchOutcome, BatchExplanation> {
  /**
   * Makes the batch.
   *
   * @throws {execute.unprocessed} when some of it could not be written, with the outcome in `details`
   */
  orThrow(options?: RunOptions): Promise<BatchOutcome>;
}

/**
 * Writes and deletes many things, 25 items a request, several requests at a time: `put` of nodes, parts and edges, `delete` of
 * nodes and parts, `unlink` of edges, as calls that were not awaited.
 *
 * Each item is written by itself and unchecked: a put replaces an existing item, a deletion of an absent item succeeds, and the
 * ends of an edge may be missing. If several calls write the same item, the last one wins. Puts of rows that keep the time of their
 * creation read it first, with one BatchGetItem for each 100 items; a row that is deleted and created again in between may keep the
 * earlier time. Calls that need a condition are refused: unique values, versions, guarded degrees, cascades, `if`.
 *
 * Costs one write unit for each KB of each item, and the same for each index: half of what `transact` costs.
 *
 * @throws {plan.unsupported} for a call that needs a condition or a read
 * @throws the service's error, if nothing was written at all
 * @example
 * const outcome = await db.batch([db.student.put(ann), db.student.put(bob), db.enrolledIn.unlink(tom, art)]);
 * for (const { call, error } of outcome.unwritten) console.log(call, error.message);
 */
export type Batch = (
  calls: readonly (
    | BatchableCall<unknown>
    | Advice<"A batch takes put, delete and unlink: await other writes, or make a transaction of them.">
  )[],
) => BatchCall;

const loadBatch = loadOnce(async () => import("../executor/batch-write.ts"));

/** `db.batch` of a connection. */
export const batchOf =
  (driver: WriteDriver): Batch =>
  (calls) => {
    const writes = writesOf(driver, calls as readonly BatchableCall<unknown>[]);
    const make = async (options: RunOptions): Promise<Report<BatchOutcome>> => {
      const context = driver.context(options);
      const valid = driver.validates ? await Promise.all(writes.map(async (write) => validateWrite(driver.catalog, write))) : writes;
      const { runBatch } = await loadBatch();
      const { items, left } = await runBatch(driver.session, valid, context);
      const { meter } = context;
      const unwritten = left.flatMap(({ calls, key, error }) => calls.map((call): Unwritten => ({ call, key, error })));
      const done = { ok: left.length === 0, items: items - left.length, unwritten: unwritten.toSorted((a, b) => a.call - b.call) };
      return reportOf({ ...done, cost: meter.cost, atomic: { kind: "item" } }, meter);
    };
    const call = createCall<BatchOutcome, BatchExplanation>(
      async () => (await loadWriteExplanation(driver)).explainBatch(driver.catalog, writes, driver.session.effects.now()),
      make,
    );
    const orThrow = async (options?: RunOptions): Promise<BatchOutcome> => {
      const outcome = options === undefined ? await call : await call.run(options);
      const [first] = outcome.unwritten;
      if (!first) return outcome;
      throw new EdgetableError(
        "execute.unprocessed",
        `${outcome.unwritten.length} items of the batch were not written, the first (of call ${first.call + 1}) because: ${first.error.message}`,
        {
          retryable: outcome.unwritten.every(({ error }) => error.retryable),
          cause: first.error,
          details: { ...outcome },
        },
      );
    };
    return Object.assign(call, { orThrow });
  };
