import { EdgetableError } from "../errors/edgetable-error.ts";
import type { Session } from "../executor/session.ts";
import { keyId } from "../ir/write-plan.ts";
import { keyOfItem } from "../requests/encode-item.ts";
import { checkOptions, type OptionChecks } from "../util/check-options.ts";
import { callHandler, type Tries } from "./call-handler.ts";
import { FACTS_HANDLER, type Handler, readHandlers } from "./handlers.ts";
import { maintainFacts, type RefreshedBatch } from "./maintain-facts.ts";
import { writeDeadLetter } from "./dead-letters.ts";
import type { StreamRecord } from "./record.ts";
import type { StaleFact } from "./stale-facts.ts";

/** Options of processing records. */
export interface ProcessorOptions {
  /**
   * Time limit of one call of a handler in milliseconds, 1 to 2,147,483,647. Then the event's signal is aborted and the call has
   * failed. @default 30,000
   */
  readonly timeout?: number;
  /** Maximum number of calls of a failing handler, 1 to 100, with growing pauses of up to 5 s in between. @default 3 */
  readonly attempts?: number;
  /** Maximum number of handlers that run in parallel, 1 to 1,000. Changes of one item never run in parallel. @default 16 */
  readonly concurrency?: number;
  /**
   * True to turn a record that keeps failing into a dead letter in the table, so that it does not block others. Otherwise it is
   * reported as failed, together with later records of its item. @default true
   */
  readonly deadLetters?: boolean;
  /** Called with each record that became a dead letter, for example to count it. It must not throw. */
  readonly onDeadLetter?: (letter: PutAside) => void;
  /** Milliseconds until an index is assumed to show earlier writes, 0 to 600,000. @default 10,000 */
  readonly indexLag?: number;
  /** Called after each batch that concerned derived attributes, with their staleness, for example for a metric. It must not throw. */
  readonly onRefreshed?: (refreshed: RefreshedBatch) => void;
  /** Called with each derived attribute that was updated later than `within` in the model allows. It must not throw. */
  readonly onStale?: (stale: StaleFact) => void;
}

/** How a batch is processed. */
export interface ProcessRun {
  readonly signal?: AbortSignal | undefined;
  /**
   * Takes what of the batch has to be refreshed once more when an index shows it: it resolves to the records to be processed
   * again. Without it the batch is done only then.
   */
  readonly defer?: ((late: Promise<readonly StreamRecord[]>) => void) | undefined;
}

/** A record that was put aside. */
export interface PutAside {
  readonly id: string;
  /** The handler that failed; `"facts"` if it was the upkeep of derived attributes and copies. */
  readonly handler: string;
  readonly error: unknown;
  readonly record: StreamRecord;
}

/** Processes records, wherever they were read. */
export interface Processor {
  /**
   * Processes a batch: maintains the model's facts and calls the handlers. It never rejects because of a record. Once the signal is
   * aborted, unprocessed records are returned.
   *
   * @param records those of one item in the order of its changes
   * @returns the records to be processed again
   */
  process(records: readonly StreamRecord[], options?: ProcessRun): Promise<readonly StreamRecord[]>;
}

export const processorChecks: OptionChecks<ProcessorOptions> = {
  timeout: [1, 2_147_483_647],
  attempts: [1, 100],
  concurrency: [1, 1000],
  deadLetters: "boolean",
  onDeadLetter: "function",
  indexLag: [0, 600_000],
  onRefreshed: "function",
  onStale: "function",
};

/** The records of one item, for one handler. */
interface Lane {
  readonly handler: Handler;
  readonly records: readonly StreamRecord[];
}

/**
 * The processor that Lambda's handler and the consumer share.
 *
 * @param given the user's handlers, as `StreamHandlers` types them
 * @throws {plan.invalidOption} for an option or a handler that is not one
 * @throws {plan.unsupported} for the connection of a tenant
 */
export const createProcessor = (session: Session, given: object, options: ProcessorOptions = {}): Processor => {
  const { timeout = 30_000, attempts = 3, concurrency = 16, deadLetters = true, ...rest } = checkOptions(options, processorChecks);
  const { onDeadLetter, indexLag = 10_000, onRefreshed, onStale } = rest;
  if (session.tenant)
    throw new EdgetableError("plan.unsupported", "A stream has the changes of all tenants. Use the connection that `as` was called on.");
  const handlers = readHandlers(session.catalog, given);
  const keepFacts = maintainFacts(session, { indexLag, onRefreshed, onStale });

  /** Stores a record as a dead letter. Returns false if it has to be processed again. */
  const putAside = async (handler: string, record: StreamRecord, error: unknown, signal: AbortSignal | undefined): Promise<boolean> => {
    if (!deadLetters || signal?.aborted) return false;
    try {
      const id = await writeDeadLetter(session, { handler, record, error, attempts }, signal);
      onDeadLetter?.({ id, handler, error, record });
      return true;
    } catch {
      return false;
    }
  };

  const runLane = async ({ handler, records }: Lane, tries: Tries, failed: Set<StreamRecord>): Promise<void> => {
    for (const [at, record] of records.entries()) {
      const failure = tries.signal?.aborted
        ? { error: undefined }
        : await callHandler(session, handler, { record, replayed: false }, tries);
      if (!failure || (await putAside(handler.name, record, failure.error, tries.signal))) continue;
      for (const later of records.slice(at)) failed.add(later);
      return;
    }
  };

  const runHandlers = async (records: readonly StreamRecord[], tries: Tries, failed: Set<StreamRecord>): Promise<void> => {
    const byItem = new Map<string, StreamRecord[]>();
    for (const record of records) {
      // The attributes of a key come in any order.
      const id = keyId(keyOfItem(session.catalog, record.key));
      const known = byItem.get(id);
      if (known) known.push(record);
      else byItem.set(id, [record]);
    }
    const lanes = handlers.flatMap((handler) => Array.from(byItem.values(), (own): Lane => ({ handler, records: own }))).values();
    const worker = async (): Promise<void> => {
      for (const lane of lanes) await runLane(lane, tries, failed);
    };
    await Promise.all(Array.from({ length: concurrency }, worker));
  };

  /** Maintains the facts, and returns the records to process again. */
  const runFacts = async (records: readonly StreamRecord[], { signal, defer }: ProcessRun): Promise<readonly StreamRecord[]> => {
    if (!keepFacts) return [];
    // What fails late is tried and put aside like what fails at once.
    const again = async (late: Promise<readonly { readonly record: StreamRecord }[]>): Promise<readonly StreamRecord[]> =>
      runFacts(
        (await late).map(({ record }) => record),
        { signal },
      );
    let left: readonly { readonly record: StreamRecord; readonly error: unknown }[] = records.map((record) => ({
      record,
      error: undefined,
    }));
    for (let attempt = 0; attempt < attempts && left.length > 0; attempt++) {
      if (signal?.aborted) break;
      const tried = left.map(({ record }) => record);
      try {
        left = await keepFacts(tried, { signal, defer: defer && ((late) => defer(again(late))) });
      } catch (error) {
        left = tried.map((record) => ({ record, error }));
      }
    }
    const failed: StreamRecord[] = [];
    for (const { record, error } of left) if (!(await putAside(FACTS_HANDLER, record, error, signal))) failed.push(record);
    return failed;
  };

  return {
    process: async (records, run = {}) => {
      const failed = new Set<StreamRecord>();
      const tries = { timeout, attempts, signal: run.signal };
      const [left] = await Promise.all([runFacts(records, run), runHandlers(records, tries, failed)]);
      for (const record of left) failed.add(record);
      return records.filter((record) => failed.has(record));
    },
  };
};
