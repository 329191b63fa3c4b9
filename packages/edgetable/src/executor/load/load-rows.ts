import { EdgetableError, isEdgetableError } from "../../errors/edgetable-error.ts";
import { withDetails } from "../../errors/with-details.ts";
import type { LogicalWrite } from "../../ir/logical-write.ts";
import { showReason } from "../../ir/write-outcome.ts";
import { keyId } from "../../ir/write-plan.ts";
import { BATCH_WRITE_ITEMS } from "../../requests/encode-batch-write.ts";
import type { WriteRequest } from "../../transport/operations.ts";
import { hasPassed } from "../../util/has-passed.ts";
import { batchWrite } from "../batch-write.ts";
import { Meter } from "../meter.ts";
import { requestKey } from "../run-batch.ts";
import { runWrites } from "../run-write.ts";
import type { CallContext, Session } from "../session.ts";
import { validateWrite } from "../validate-write.ts";
import { findCollisions, type CollisionFinder, type CollisionSettings } from "./collisions.ts";
import { openFlights, type Flights } from "./flights.ts";
import { planRow, type PlannedRow } from "./plan-row.ts";
import { abortedLoad, readSource } from "./read-source.ts";
import { startTally, type LoadProgress, type LoadReport, type Tally, type TallySettings } from "./tally.ts";

/** Where the rows come from, and what each of them means. */
export interface LoadSource {
  readonly rows: Iterable<unknown> | AsyncIterable<unknown>;
  /** The write of a row: `put` or `putEdge`. Throws for a row that is none. */
  toWrite(row: unknown): LogicalWrite;
}

export interface LoadSettings extends CollisionSettings, Pick<TallySettings, "onFailure"> {
  readonly order: "any" | "kept";
  readonly strict: boolean;
  readonly validates: boolean;
  /** Requests under way at the same time. */
  readonly concurrency: number;
  /** Milliseconds that one request is tried for. */
  readonly deadline: number;
  readonly signal: AbortSignal | undefined;
  readonly onProgress: ((progress: LoadProgress) => void) | undefined;
  /** Milliseconds between two calls of `onProgress`. */
  readonly progressEvery: number;
  /** Rows before this one are read but not written. */
  readonly from: number;
  /** Called before each row and each attempt of a request; throws to stop the load. */
  readonly check: () => void;
}

/** A load under way. */
export interface Loading {
  readonly done: Promise<LoadReport>;
  position(): number;
  progress(): LoadProgress;
}

interface OpenBatch {
  readonly firstRow: number;
  /** By key, so that a key is in a batch once, as the last row left it. */
  readonly requests: Map<string, { readonly request: WriteRequest; readonly rows: number[] }>;
  /** Items put into it, those that were overtaken included. */
  items: number;
}

// Milliseconds between two pauses of a load that otherwise waits for nothing.
const LONGEST_BREATH = 20;
// An input that makes one key over and over must not keep a batch open for ever.
const MOST_OVERTAKING = 10 * BATCH_WRITE_ITEMS;

interface State {
  readonly session: Session;
  readonly settings: LoadSettings;
  readonly flights: Flights;
  readonly tally: Tally;
  readonly collisions: CollisionFinder;
  rows: number;
  batch: OpenBatch | undefined;
  /** Why no more rows are read. */
  fault: EdgetableError | undefined;
  /** What a listener of the caller's threw: it ends the load, and is no fault of a row. */
  thrown: { readonly error: unknown } | undefined;
  /** Whether nothing more is sent either: the fault is the service's, or a listener's, not a row's. */
  halted: boolean;
  /** The first row that a fault left unwritten. */
  stuck: number;
  reported: number;
  breathed: number;
}

const positionOf = (state: State): number => Math.min(state.flights.position(state.rows), state.batch?.firstRow ?? state.rows, state.stuck);
const placeOf = (state: State): { readonly rows: number; readonly position: number } => ({ rows: state.rows, position: positionOf(state) });

const contextOf = ({ session, settings }: State): CallContext => ({
  meter: new Meter(),
  signal: settings.signal,
  deadline: session.effects.now() + settings.deadline,
  guard: settings.check,
});

const tell = (state: State, listen: () => void): void => {
  try {
    listen();
  } catch (error) {
    state.thrown ??= { error };
    state.halted = true;
  }
};

const tellProgress = (state: State): void => {
  const { onProgress, progressEvery } = state.settings;
  const now = state.session.effects.now();
  if (!onProgress || !hasPassed(progressEvery, state.reported, now)) return;
  state.reported = now;
  tell(state, () => onProgress(state.tally.progress(placeOf(state))));
};

const ROW_CODES: ReadonlySet<string> = new Set([
  "execute.rejected",
  "execute.conflict",
  "execute.ambiguous",
  "request.itemTooLarge",
  "request.transactionTooLarge",
]);
const isOfRow = (error: EdgetableError): boolean => ROW_CODES.has(error.code) || error.code.startsWith("keys.");

const stop = (state: State, row: number, error: EdgetableError): void => {
  state.fault ??= error;
  state.stuck = Math.min(state.stuck, row);
};

const failRow = (state: State, row: number, error: EdgetableError): void => {
  state.tally.fail({ row, error });
  if (!state.settings.strict) return;
  stop(
    state,
    row,
    new EdgetableError("load.invalidRow", `Row ${row} stops the load: ${error.message}`, {
      cause: error,
      details: { row, code: error.code, ...error.details },
    }),
  );
};

// What the service says of one row fails that row; what it says of the table ends the load.
const failWritten = (state: State, rows: readonly number[], error: EdgetableError): void => {
  for (const row of rows) {
    if (isOfRow(error)) failRow(state, row, error);
    else {
      state.tally.fail({ row, error });
      state.halted = true;
      stop(state, row, error);
    }
  }
};

const writeBatch = async (state: State, { requests }: OpenBatch): Promise<void> => {
  const context = contextOf(state);
  const left = await batchWrite(
    state.session,
    [...requests.values()].map(({ request }) => request),
    context,
  );
  state.tally.wrote(requests.size - left.length, context.meter.cost);
  for (const { request, error } of left)
    failWritten(state, requests.get(keyId(requestKey(state.session.catalog, request)))?.rows ?? [], error);
  tellProgress(state);
};

const writeAlone = async (state: State, row: number, planned: PlannedRow & { readonly kind: "alone" }): Promise<void> => {
  const context = contextOf(state);
  const result = await runWrites(state.session, [planned.write], context);
  state.tally.wrote(result.ok ? planned.items.length : 0, context.meter.cost);
  if (!result.ok) {
    const { failure } = result.failed[0] ?? {};
    const why = showReason(failure ?? { reason: "rolledBack" });
    failRow(state, row, new EdgetableError("execute.notWritten", `It was not written: ${why}.`, { details: { ...failure } }));
  }
  tellProgress(state);
};

// A flight never rejects: the first fault is kept, and ends the reading.
const guarded = async (state: State, rows: readonly number[], work: () => Promise<void>): Promise<void> => {
  try {
    if (state.halted) state.stuck = Math.min(state.stuck, rows[0] ?? 0);
    else await work();
  } catch (error) {
    const known = isEdgetableError(error)
      ? error
      : new EdgetableError("invariant", `a load failed unexpectedly: ${String(error)}`, { cause: error });
    failWritten(state, rows, known);
  }
};

const sendBatch = async (state: State): Promise<void> => {
  const { batch } = state;
  if (!batch) return;
  const rows = [...batch.requests.values()].flatMap((one) => one.rows).toSorted((a, b) => a - b);
  const holds = state.settings.order === "kept" ? [...batch.requests.keys()] : [];
  const start = state.flights.start({ firstRow: batch.firstRow, holds, run: () => guarded(state, rows, () => writeBatch(state, batch)) });
  state.batch = undefined;
  await start;
};

/** Something to wait for, where there is anything: most rows only fill a batch. */
type Pause = Promise<unknown> | undefined;

const addToBatch = (state: State, row: number, planned: PlannedRow): Pause => {
  let pause: Pause;
  for (const { id, item } of planned.items) {
    const batch = (state.batch ??= { firstRow: row, requests: new Map(), items: 0 });
    const rows = batch.requests.get(id)?.rows ?? [];
    rows.push(row);
    batch.requests.set(id, { request: { PutRequest: { Item: item } }, rows });
    batch.items++;
    if (batch.requests.size < BATCH_WRITE_ITEMS && batch.items < MOST_OVERTAKING) continue;
    const sent = sendBatch(state);
    pause = pause ? Promise.all([pause, sent]) : sent;
  }
  return pause;
};

const startAlone = async (state: State, row: number, planned: PlannedRow & { readonly kind: "alone" }): Promise<void> => {
  // What the open batch writes to one of its keys comes first.
  if (state.settings.order === "kept" && planned.holds.some((id) => state.batch?.requests.has(id))) await sendBatch(state);
  await state.flights.start({
    firstRow: row,
    holds: planned.holds,
    run: () => guarded(state, [row], () => writeAlone(state, row, planned)),
  });
};

const writeRow = (state: State, row: number, planned: PlannedRow): Pause => {
  state.collisions.see(row, planned);
  if (row < state.settings.from) return undefined;
  return planned.kind === "batch" ? addToBatch(state, row, planned) : startAlone(state, row, planned);
};

const failPlanning = (state: State, row: number, error: unknown): undefined => {
  if (!isEdgetableError(error)) throw error;
  failRow(state, row, error);
};

const validRow = async (state: State, row: number, valid: Promise<LogicalWrite>): Promise<void> => {
  let planned: PlannedRow;
  try {
    planned = planRow(state.session.catalog, await valid);
  } catch (error) {
    return failPlanning(state, row, error);
  }
  await writeRow(state, row, planned);
};

const loadRow = (state: State, source: LoadSource, given: unknown): Pause => {
  const { catalog } = state.session;
  const row = state.rows;
  let planned: PlannedRow;
  try {
    const write = source.toWrite(given);
    const valid = state.settings.validates ? validateWrite(catalog, write) : write;
    if (valid instanceof Promise) return validRow(state, row, valid);
    planned = planRow(catalog, valid);
  } catch (error) {
    return failPlanning(state, row, error);
  }
  return writeRow(state, row, planned);
};

const mayGoOn = (state: State): boolean => {
  const { check, signal } = state.settings;
  try {
    check();
    if (signal?.aborted) throw abortedLoad(signal);
  } catch (error) {
    state.halted = true;
    throw error;
  }
  return state.fault === undefined && state.thrown === undefined;
};

// Rows that need no request must not keep timers (a lease's renewal) and sockets from their turn.
const breathe = (state: State): Pause => {
  const { effects } = state.session;
  const now = effects.now();
  if (!hasPassed(LONGEST_BREATH, state.breathed, now)) return undefined;
  state.breathed = now;
  return effects.sleep(0);
};

const takeRow = (state: State, source: LoadSource, given: unknown): Pause => {
  const pause = loadRow(state, source, given);
  if (!pause) {
    state.rows++;
    return breathe(state);
  }
  return pause.then(() => {
    state.rows++;
    return breathe(state);
  });
};

const readAll = async (state: State, source: LoadSource): Promise<void> => {
  const { rows } = source;
  const { signal } = state.settings;
  if (Symbol.asyncIterator in rows) {
    for await (const given of signal ? readSource(rows, signal) : rows) {
      if (!mayGoOn(state)) return;
      await takeRow(state, source, given);
    }
    return;
  }
  // A promise for each row would cost as much as the row.
  for (const given of rows) {
    if (!mayGoOn(state)) return;
    const pause = takeRow(state, source, given);
    if (pause) await pause;
  }
};

const reportOf = (state: State): LoadReport =>
  state.tally.report({ ...placeOf(state), skipped: Math.min(state.settings.from, state.rows) }, state.collisions.report());

const runAll = async (state: State, source: LoadSource): Promise<LoadReport> => {
  let failure: unknown;
  try {
    await readAll(state, source);
  } catch (error) {
    failure = error;
  }
  // Rows before the one that ended the reading are still written.
  if (!state.halted) await sendBatch(state);
  await state.flights.landed();
  failure ??= state.thrown?.error ?? state.fault;
  if (failure !== undefined) throw withDetails(failure, { report: reportOf(state) });
  const report = reportOf(state);
  state.settings.onProgress?.(report);
  return report;
};

/** Begins to load. */
export const loadRows = (session: Session, source: LoadSource, settings: LoadSettings): Loading => {
  const now = (): number => session.effects.now();
  const state: State = {
    session,
    settings,
    flights: openFlights(settings.concurrency),
    tally: startTally({ now, named: settings.named, onFailure: (failure) => tell(state, () => settings.onFailure?.(failure)) }),
    collisions: findCollisions(settings),
    rows: 0,
    batch: undefined,
    fault: undefined,
    thrown: undefined,
    halted: false,
    stuck: Number.POSITIVE_INFINITY,
    reported: now(),
    breathed: now(),
  };
  return { done: runAll(state, source), position: () => positionOf(state), progress: () => state.tally.progress(placeOf(state)) };
};
