// What a load has done so far, what stops it, and its report.
import { EdgetableError, isEdgetableError } from "../../errors/edgetable-error.ts";
import { addCosts, type Cost, NO_COST } from "../call.ts";
import { type Aborted, abortedWork } from "../jobs/run-job.ts";
import type { Collisions, CollisionSettings } from "./collisions.ts";

/** A row that was not loaded. */
export interface FailedRow {
  /** Position in the input, from 0. */
  readonly row: number;
  readonly error: EdgetableError;
}

/** How far a load has come. */
export interface LoadProgress {
  /** Rows read from the source. */
  readonly rows: number;
  /** All rows before this one are done: written, failed, or written by an earlier run. A job resumes from here. */
  readonly position: number;
  /** Rows that the input is estimated to have: as the caller says, or as long as an array is. Absent if nothing tells, and in the report. */
  readonly estimated?: number;
  /** Milliseconds until the estimated rows are done, at the rate of this run. */
  readonly left?: number;
  /** Items written in this run. */
  readonly items: number;
  /** Rows that failed; those that earlier runs of the job could not write are among them. */
  readonly failed: number;
  /** Items a second, in this run. */
  readonly rate: number;
  readonly writeUnits: number;
}

/** What a load did. */
export interface LoadReport extends LoadProgress {
  /** Rows that an earlier run of the job had written. */
  readonly skipped: number;
  /** The first rows that failed. `failed` counts all of them. */
  readonly failures: readonly FailedRow[];
  readonly collisions: Collisions;
  readonly cost: Cost;
  /** Milliseconds of this run. */
  readonly duration: number;
}

export interface LoadSettings extends CollisionSettings {
  readonly order: "any" | "kept";
  readonly strict: boolean;
  readonly validates: boolean;
  /** The maximum number of requests in flight. */
  readonly concurrency: number;
  /** Milliseconds that one request is tried for. */
  readonly deadline: number;
  readonly signal: AbortSignal | undefined;
  readonly onFailure?: ((failure: FailedRow) => void) | undefined;
  readonly onProgress: ((progress: LoadProgress) => void) | undefined;
  /** Rows that the input is expected to have, as far as is known. */
  readonly estimated: () => number | undefined;
  /** Milliseconds between two calls of `onProgress`. */
  readonly progressEvery: number;
  /** For jobs that change copies of what is loaded: the index's lag, and how long a lease is valid, in milliseconds. */
  readonly copies: { readonly indexLag: number; readonly lease: number };
  /** Rows before this one are read but not written. */
  readonly from: number;
  /** Of a job: rows before `from` that earlier runs could not write. Undefined for a load that cannot be resumed. */
  readonly refused: number | undefined;
  /** Called before each row and each attempt of a request; throws to stop the load. */
  readonly check: () => void;
}

interface Thrown {
  readonly error: unknown;
}

/** What a load has done so far, and what stops it. Only this file writes it. */
export interface LoadState {
  readonly settings: LoadSettings;
  readonly now: () => number;
  readonly failures: FailedRow[];
  failed: number;
  items: number;
  cost: Cost;
  /** Milliseconds passed until `seenAt`, summed up because a clock may be set back. */
  duration: number;
  seenAt: number;
  /** Why no more rows are read. */
  reason: Thrown | undefined;
  /** What a listener of the caller's threw: it ends the load, takes precedence over any other reason, and fails no row. */
  thrown: Thrown | undefined;
  /** Whether nothing more is sent either: the service or a listener failed, not a row. */
  halted: boolean;
  /** The first row that was left unwritten. */
  stuck: number;
  /** Of a job: rows that could not be written, as far as {@link refusedBefore} has not counted them, and how many it has. */
  readonly refused: { readonly rows: Set<number>; before: number };
}

export const newLoadState = (settings: LoadSettings, now: () => number): LoadState => ({
  settings,
  now,
  failures: [],
  failed: settings.refused ?? 0,
  items: 0,
  cost: NO_COST,
  duration: 0,
  seenAt: now(),
  reason: undefined,
  thrown: undefined,
  halted: false,
  stuck: Number.POSITIVE_INFINITY,
  refused: { rows: new Set(), before: settings.refused ?? 0 },
});

const measureDuration = (state: LoadState): number => {
  const now = state.now();
  state.duration += Math.max(0, now - state.seenAt);
  state.seenAt = now;
  return state.duration;
};

/** Counts items that were written. */
export const countWritten = (state: LoadState, items: number, cost: Cost): void => {
  state.items += items;
  state.cost = addCosts(state.cost, cost);
  measureDuration(state);
};

type Position = Pick<LoadProgress, "rows" | "position">;

export const progressOf = (state: LoadState, { rows, position }: Position): LoadProgress => ({
  rows,
  position,
  items: state.items,
  failed: state.failed,
  rate: state.items / Math.max(0.001, measureDuration(state) / 1000),
  writeUnits: state.cost.writeUnits,
});

/** Progress, with what is left of the rows that are estimated. */
export const estimatedProgress = (state: LoadState, at: Position): LoadProgress => {
  const progress = progressOf(state, at);
  const given = state.settings.estimated();
  if (given === undefined) return progress;
  const estimated = Math.max(Math.round(given), at.rows);
  const done = at.position - state.settings.from;
  return done > 0 ? { ...progress, estimated, left: ((estimated - at.position) * state.duration) / done } : { ...progress, estimated };
};

export const reportOf = (state: LoadState, position: Position, collisions: Collisions): LoadReport => ({
  ...progressOf(state, position),
  skipped: Math.max(0, Math.min(state.settings.from, position.rows) - (state.settings.refused ?? 0)),
  failures: state.failures.toSorted((a, b) => a.row - b.row),
  collisions,
  cost: state.cost,
  duration: state.duration,
});

/** Calls a listener of the caller's; what it throws stops the load. */
export const callListener = (state: LoadState, listen: () => void): void => {
  try {
    listen();
  } catch (error) {
    state.thrown ??= { error };
    state.halted = true;
  }
};

const noteFailure = (state: LoadState, failure: FailedRow): void => {
  const { named, onFailure } = state.settings;
  state.failed++;
  if (state.failures.length < named) state.failures.push(failure);
  callListener(state, () => onFailure?.(failure));
};

/** Fails a row; if the load is strict, no more rows are read. */
export const failRow = (state: LoadState, row: number, error: EdgetableError): void => {
  noteFailure(state, { row, error });
  if (!state.settings.strict) return;
  const details = { row, code: error.code, ...error.details };
  state.reason ??= {
    error: new EdgetableError("load.invalidRow", `Row ${row} stops the load: ${error.message}`, { cause: error, details }),
  };
  state.stuck = Math.min(state.stuck, row);
};

/** Fails a row that could not be written: a run that resumes the job does not write it again, and has to count it. */
export const refuseRow = (state: LoadState, row: number, error: EdgetableError): void => {
  if (state.settings.refused !== undefined) state.refused.rows.add(row);
  failRow(state, row, error);
};

/** Rows before a position that could not be written, in this run of the job and in earlier ones. */
export const refusedBefore = ({ refused }: LoadState, position: number): number => {
  for (const row of refused.rows) {
    if (row >= position) continue;
    refused.rows.delete(row);
    refused.before++;
  }
  return refused.before;
};

export const ROW_CODES: ReadonlySet<string> = new Set([
  "execute.rejected",
  "execute.conflict",
  "execute.ambiguous",
  "request.itemTooLarge",
  "request.transactionTooLarge",
]);

// The end of a load from outside: its rows are as good as those that were not reached.
const ENDINGS: ReadonlySet<string> = new Set(["job.busy", "execute.aborted"]);

/**
 * Fails the rows of a write: an error about one row fails that row, an error about the table stops the load. A lost lease and the
 * load's signal stop it without failing a row.
 */
export const failWrite = (state: LoadState, rows: readonly number[], error: EdgetableError): void => {
  const isOfRow = ROW_CODES.has(error.code) || error.code.startsWith("keys.");
  for (const row of rows) {
    if (isOfRow) {
      refuseRow(state, row, error);
      continue;
    }
    if (!ENDINGS.has(error.code)) noteFailure(state, { row, error });
    state.halted = true;
    state.reason ??= { error };
    state.stuck = Math.min(state.stuck, row);
  }
};

/** Writes rows unless the load was halted. Never rejects: what is thrown fails the rows. */
export const writeUnlessHalted = async (state: LoadState, rows: readonly number[], write: () => Promise<void>): Promise<void> => {
  if (state.halted) {
    state.stuck = Math.min(state.stuck, rows[0] ?? 0);
    return;
  }
  try {
    await write();
  } catch (error) {
    const known = isEdgetableError(error)
      ? error
      : new EdgetableError("invariant", `a load failed unexpectedly: ${String(error)}`, { cause: error });
    failWrite(state, rows, known);
  }
};

/** What errors say of a load that was aborted. */
export const LOAD: Aborted = {
  what: "The load",
  advice: "What it wrote stays. Call a load with `job` again to resume it.",
};

/** The error of a load that its signal ended. */
export const abortedLoad = (signal: AbortSignal): EdgetableError => abortedWork(LOAD, signal);

/** True if another row may be read. Throws what stops the load from outside: its signal, or a lost lease. */
export const mayContinue = (state: LoadState): boolean => {
  const { check, signal } = state.settings;
  try {
    check();
    if (signal?.aborted) throw abortedLoad(signal);
  } catch (error) {
    state.halted = true;
    throw error;
  }
  return !state.reason && !state.thrown;
};
