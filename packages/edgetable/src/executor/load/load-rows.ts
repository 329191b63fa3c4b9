import { EdgetableError, isEdgetableError, withDetails } from "../../errors/edgetable-error.ts";
import type { LogicalWrite } from "../../ir/logical-write.ts";
import { loadRules } from "../../planner/writes/rules/index.ts";
import { hasPassed, onAbort } from "../../util/time.ts";
import { bookkeeping, checkLease, type JobFacts, takeLease } from "../jobs/job-store.ts";
import { runJob } from "../jobs/run-job.ts";
import type { Session } from "../session.ts";
import { validateWrite } from "../run-write.ts";
import { type CollisionFinder, findCollisions } from "./collisions.ts";
import {
  abortedLoad,
  callListener,
  estimatedProgress,
  failRow,
  type LoadProgress,
  type LoadReport,
  type LoadSettings,
  type LoadState,
  mayContinue,
  newLoadState,
  refusedBefore,
  progressOf,
  reportOf,
} from "./load-state.ts";
import { openWriter, type Pause, type PlannedRow, planRow, type RowWriter } from "./write-rows.ts";

/** Where the rows come from, and what each of them means. */
export interface LoadSource {
  readonly rows: Iterable<unknown> | AsyncIterable<unknown>;
  /** Turns a row into its write, a `put` or `putEdge`. Throws for an invalid row. */
  toWrite(row: unknown): LogicalWrite;
}

/** A load that keeps its position in the table. */
export interface LoadJob {
  readonly id: string;
  /** Identifies the input: a job is not resumed with another one. */
  readonly fingerprint: string;
  /** Milliseconds for which a lease is valid. */
  readonly lease: number;
}

// A race with one promise for all rows would keep a reaction of each row for as long as the load takes.
const nextOf = <T>(iterator: AsyncIterator<T>, signal: AbortSignal): Promise<IteratorResult<T>> =>
  new Promise((resolve, reject) => {
    const unwatch = onAbort(signal, () => reject(abortedLoad(signal)));
    void iterator
      .next()
      .then(resolve, reject)
      .finally(() => unwatch());
    if (signal.aborted) reject(abortedLoad(signal));
  });

/**
 * The rows of a source; the signal ends them even while the source keeps silent.
 *
 * @throws {execute.aborted} when the signal is aborted
 */
async function* readSource<T>(rows: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T> {
  const iterator = rows[Symbol.asyncIterator]();
  let ended = false;
  try {
    for (;;) {
      const { done, value } = await nextOf(iterator, signal);
      ended = done ?? false;
      if (done) return;
      yield value;
    }
  } finally {
    // A source that keeps silent answers a request to close only with its next row.
    const closed = ended ? undefined : iterator.return?.();
    if (signal.aborted) closed?.catch(() => undefined);
    else await closed;
  }
}

/** A load under way. */
interface Loading {
  readonly session: Session;
  readonly source: LoadSource;
  readonly state: LoadState;
  readonly collisions: CollisionFinder;
  readonly writer: RowWriter;
  /** Rows that were taken: the next one has this number. */
  rows: number;
  /** When it last yielded to the event loop. */
  yieldedAt: number;
}

const failInvalid = ({ state }: Loading, row: number, error: unknown): undefined => {
  if (!isEdgetableError(error)) throw error;
  failRow(state, row, error);
};

const writeRow = (loading: Loading, row: number, write: LogicalWrite): Pause => {
  const { session, state, collisions, writer } = loading;
  let planned: PlannedRow;
  try {
    planned = planRow(session.catalog, write, session.effects.now());
  } catch (error) {
    return failInvalid(loading, row, error);
  }
  collisions.see(row, planned.items);
  return row < state.settings.from ? undefined : writer.write(row, planned);
};

const loadRow = (loading: Loading, given: unknown): Pause => {
  const { session, source, state, rows: row } = loading;
  let valid: LogicalWrite | Promise<LogicalWrite>;
  try {
    const write = source.toWrite(given);
    valid = state.settings.validates ? validateWrite(session.catalog, write) : write;
  } catch (error) {
    return failInvalid(loading, row, error);
  }
  if (!(valid instanceof Promise)) return writeRow(loading, row, valid);
  return valid.then(
    (write) => writeRow(loading, row, write),
    (error: unknown) => failInvalid(loading, row, error),
  );
};

// Milliseconds between two yields of a load that waits for nothing else.
const YIELD_AFTER = 20;

const endRow = (loading: Loading): Pause => {
  loading.rows++;
  const { effects } = loading.session;
  const now = effects.now();
  if (!hasPassed(YIELD_AFTER, loading.yieldedAt, now)) return undefined;
  // Rows that need no request must not starve timers (a lease's renewal) and sockets.
  loading.yieldedAt = now;
  return effects.sleep(0);
};

/** Takes a row; gives what to wait for before the next one, if there is anything. */
const takeRow = (loading: Loading, given: unknown): Pause => {
  const pause = loadRow(loading, given);
  return pause ? pause.then(() => endRow(loading)) : endRow(loading);
};

const readRows = async (loading: Loading): Promise<void> => {
  const { source, state } = loading;
  const { signal } = state.settings;
  const { rows } = source;
  if (Symbol.asyncIterator in rows) {
    for await (const given of signal ? readSource(rows, signal) : rows) {
      if (!mayContinue(state)) return;
      await takeRow(loading, given);
    }
    return;
  }
  // A promise for each row would cost as much as the row.
  for (const given of rows) {
    if (!mayContinue(state)) return;
    const pause = takeRow(loading, given);
    if (pause) await pause;
  }
};

const positionOf = ({ rows, writer }: Loading): Pick<LoadProgress, "rows" | "position"> => ({ rows, position: writer.position(rows) });

/** Begins to load. */
const openLoad = (session: Session, source: LoadSource, settings: LoadSettings): Loading => {
  const now = (): number => session.effects.now();
  const state = newLoadState(settings, now);
  let reportedAt = now();
  const tellProgress = (): void => {
    const { onProgress, progressEvery } = settings;
    const time = now();
    if (!onProgress || !hasPassed(progressEvery, reportedAt, time)) return;
    reportedAt = time;
    callListener(state, () => onProgress(estimatedProgress(state, positionOf(loading))));
  };
  const writer = openWriter(session, state, tellProgress);
  const loading: Loading = { session, source, state, collisions: findCollisions(settings), writer, rows: 0, yieldedAt: now() };
  return loading;
};

const loadAll = async (loading: Loading): Promise<LoadReport> => {
  const { state, collisions, writer } = loading;
  let failure: { readonly error: unknown } | undefined;
  try {
    await loadRules(loading.session.catalog);
    await readRows(loading);
  } catch (error) {
    failure = { error };
  }
  try {
    // Rows before the one that ended the reading are still written.
    await writer.finish();
    failure ??= state.thrown ?? state.reason;
    const report = reportOf(state, positionOf(loading), collisions.report());
    if (failure) throw withDetails(failure.error, { report });
    state.settings.onProgress?.(report);
    return report;
  } finally {
    collisions.close();
  }
};

type Settings = Omit<LoadSettings, "from" | "refused" | "check">;

/**
 * Loads rows; with a job, resumes from its position, which is kept in the table.
 *
 * @throws {job.busy} while another process is running the job
 * @throws {job.mismatch} when the job was begun with another input
 */
export const runLoad = async (
  session: Session,
  source: LoadSource,
  { job, settings }: { readonly job: LoadJob | undefined; readonly settings: Settings },
): Promise<LoadReport> => {
  if (!job) return loadAll(openLoad(session, source, { ...settings, from: 0, refused: undefined, check: () => undefined }));
  const { id, fingerprint, lease: duration } = job;
  const { deadline, signal } = settings;
  const begun: JobFacts = { position: 0, fingerprint, rows: 0, items: 0, failed: 0 };
  const request = { id, kind: "load", duration, facts: begun, resumes: false } as const;
  const lease = await takeLease(session, request, { ...bookkeeping(session, deadline), signal });
  const { facts: found } = lease.job;
  let loading: Loading | undefined;
  const from = Number(found["position"] ?? 0);
  return runJob(session, lease, {
    deadline,
    facts: () => {
      if (!loading) return found;
      const { rows, position, items, failed } = progressOf(loading.state, positionOf(loading));
      // While rows that are done already are read again, the job keeps its position.
      const kept = Math.max(from, position);
      return { position: kept, fingerprint, rows, items, failed, refused: refusedBefore(loading.state, kept) };
    },
    run: async () => {
      if (found["fingerprint"] !== fingerprint)
        throw new EdgetableError(
          "job.mismatch",
          `The job "${id}" was begun with another input ("${found["fingerprint"]}", now "${fingerprint}"). Give this load another name, or the input that it was begun with.`,
          { details: { id, fingerprint: found["fingerprint"], given: fingerprint } },
        );
      const refused = Number(found["refused"] ?? 0);
      loading = openLoad(session, source, { ...settings, from, refused, check: () => checkLease(session, lease) });
      return loadAll(loading);
    },
  });
};
