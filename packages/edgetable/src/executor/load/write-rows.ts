import { EdgetableError, isEdgetableError } from "../../errors/edgetable-error.ts";
import { showReason } from "../../ir/write-outcome.ts";
import { keyId } from "../../ir/write-plan.ts";
import { BATCH_WRITE_ITEMS } from "../../requests/encode-write.ts";
import type { WriteRequest } from "../../transport/operations.ts";
import { batchWrite, requestKey } from "../batch-write.ts";
import { addCosts, type Cost, Meter, NO_COST } from "../call.ts";
import { runWrites } from "../run-write.ts";
import type { CallContext, Session } from "../session.ts";
import type { Collisions, CollisionSettings, RowItem } from "./collisions.ts";
import { openInFlight } from "./in-flight.ts";
import type { PlannedRow } from "./plan-row.ts";

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
}

export const newLoadState = (settings: LoadSettings, now: () => number): LoadState => ({
  settings,
  now,
  failures: [],
  failed: 0,
  items: 0,
  cost: NO_COST,
  duration: 0,
  seenAt: now(),
  reason: undefined,
  thrown: undefined,
  halted: false,
  stuck: Number.POSITIVE_INFINITY,
});

const measureDuration = (state: LoadState): number => {
  const now = state.now();
  state.duration += Math.max(0, now - state.seenAt);
  state.seenAt = now;
  return state.duration;
};

/** Counts items that were written. */
const countWritten = (state: LoadState, items: number, cost: Cost): void => {
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
  skipped: Math.min(state.settings.from, position.rows),
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

const ROW_CODES: ReadonlySet<string> = new Set([
  "execute.rejected",
  "execute.conflict",
  "execute.ambiguous",
  "request.itemTooLarge",
  "request.transactionTooLarge",
]);

/** Fails the rows of a write: an error about one row fails that row, an error about the table stops the load. */
const failWrite = (state: LoadState, rows: readonly number[], error: EdgetableError): void => {
  const isOfRow = ROW_CODES.has(error.code) || error.code.startsWith("keys.");
  for (const row of rows) {
    if (isOfRow) {
      failRow(state, row, error);
      continue;
    }
    noteFailure(state, { row, error });
    state.halted = true;
    state.reason ??= { error };
    state.stuck = Math.min(state.stuck, row);
  }
};

/** Writes rows unless the load was halted. Never rejects: what is thrown fails the rows. */
const writeUnlessHalted = async (state: LoadState, rows: readonly number[], write: () => Promise<void>): Promise<void> => {
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

/** The error of a load that its signal ended. */
export const abortedLoad = (signal: AbortSignal): EdgetableError =>
  new EdgetableError("execute.aborted", "The load was aborted.", { cause: signal.reason });

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

// An input that makes one key over and over must not keep a batch open for ever.
const MOST_IN_BATCH = 10 * BATCH_WRITE_ITEMS;

// Nor must rows that are written alone: the load's position, from which a job resumes, would stand still before the batch.
const MOST_BEHIND = 1000;

/** Items of several rows, written by one request. */
interface OpenBatch {
  readonly firstRow: number;
  /** By key: each key once, as the last row left it. */
  readonly requests: Map<string, { readonly request: WriteRequest; readonly rows: number[] }>;
  /** Items put into it, replaced ones included. */
  items: number;
}

type AloneRow = PlannedRow & { readonly kind: "alone" };

/** Rows that count somewhere, written by one transaction: the nodes at which they count are updated once. */
interface OpenGroup {
  readonly rows: { readonly row: number; readonly planned: AloneRow }[];
  /** The items of the rows themselves, and those where other rows count as well. */
  readonly keys: Set<string>;
  /** All items that the transaction concerns. */
  readonly concerns: Set<string>;
}

// "TransactWriteItems: 100 items" (ServiceQuotas); a row may turn out to concern a few more, and is then written alone.
const MOST_IN_GROUP = 90;

// Rows that come before the node at which they count wait for it, up to so many at a time (some 10 MB).
const MOST_WAITING = 10_000;

/** Rows whose node is not there yet, by the key of their item: of several rows that make it, the last one is written. */
type WaitingRows = Map<string, { readonly rows: readonly number[]; readonly planned: AloneRow; readonly error: EdgetableError }>;

/** Something to wait for, if there is anything: most rows only fill a batch. */
export type Pause = Promise<unknown> | undefined;

/** Writes rows, many at a time. */
export interface RowWriter {
  /** Gives what to wait for before the next row, if there is anything. */
  write(row: number, planned: PlannedRow): Pause;
  /** Writes the open batch, unless the load was halted. Resolves when all writes are done. */
  finish(): Promise<void>;
  /** The first row that is not written, of those before `end`. */
  position(end: number): number;
}

/** Sends what was gathered. */
const openSender = (session: Session, state: LoadState, { waiting, written }: { waiting: WaitingRows; written: () => void }) => {
  const { settings } = state;

  /** Notes that a row waits no more, nor an earlier one of the same item: that would be written over it. */
  const settled = (row: number, { items }: AloneRow): void => {
    const id = items[0]?.id ?? "";
    if ((waiting.get(id)?.rows.at(-1) ?? Infinity) <= row) waiting.delete(id);
  };

  const contextOf = (): CallContext => ({
    meter: new Meter(),
    signal: settings.signal,
    deadline: session.effects.now() + settings.deadline,
    guard: settings.check,
  });

  const sendBatch = async ({ requests }: OpenBatch): Promise<void> => {
    const context = contextOf();
    const sent = [...requests.values()].map(({ request }) => request);
    const left = await batchWrite(session, sent, context);
    countWritten(state, requests.size - left.length, context.meter.cost);
    for (const { request, error } of left) failWrite(state, requests.get(keyId(requestKey(session.catalog, request)))?.rows ?? [], error);
    written();
  };

  /** Changes the copies of what was written by the jobs that its transaction has begun. A row is done when its copies are. */
  const finishCopies = async (jobs: readonly string[] = []): Promise<void> => {
    if (jobs.length === 0) return;
    const { finishCopyJob, openCopyJob } = await import("../jobs/copy-job.ts");
    for (const id of jobs) {
      const limits = { ...settings.copies, signal: settings.signal, deadline: Number.POSITIVE_INFINITY };
      countWritten(state, 0, (await finishCopyJob(openCopyJob(session, id, limits))).cost);
    }
  };

  const sendAlone = async (row: number, planned: AloneRow): Promise<void> => {
    const context = contextOf();
    const { write, items } = planned;
    const result = await runWrites(session, [write], context).catch((error: unknown) => {
      settled(row, planned);
      throw error;
    });
    countWritten(state, result.ok ? items.length : 0, context.meter.cost);
    const { failure = { reason: "rolledBack" } } = (!result.ok && result.failed[0]) || {};
    const error = new EdgetableError("execute.notWritten", `It was not written: ${showReason(failure)}.`, { details: { ...failure } });
    const id = items[0]?.id ?? "";
    const rows = waiting.get(id)?.rows ?? [];
    if (!result.ok && failure.reason === "endMissing")
      waiting.set(id, { rows: rows.includes(row) ? rows : [...rows, row], planned, error });
    else {
      settled(row, planned);
      if (result.ok) await finishCopies(result.jobs);
      else failRow(state, row, error);
    }
    written();
  };

  /** Writes rows in one transaction, or one by one if it does not succeed: then only the rows that are at fault fail. */
  const sendGroup = async ({ rows }: OpenGroup): Promise<void> => {
    if (rows.length > 1) {
      const context = contextOf();
      const writes = rows.map(({ planned }) => planned.write);
      const result = await runWrites(session, writes, context).catch((error: unknown) => {
        if (isEdgetableError(error) && (ROW_CODES.has(error.code) || error.code === "plan.unsupported")) return undefined;
        throw error;
      });
      const items = result?.ok ? rows.reduce((sum, { planned }) => sum + planned.items.length, 0) : 0;
      countWritten(state, items, context.meter.cost);
      if (result?.ok) {
        for (const { row, planned } of rows) settled(row, planned);
        await finishCopies(result.jobs);
        return written();
      }
    }
    for (const { row, planned } of rows) await writeUnlessHalted(state, [row], () => sendAlone(row, planned));
  };

  return { sendBatch, sendAlone, sendGroup };
};

/** Gathers rows: most of them in batches, some in groups or alone. */
const openGathering = (state: LoadState, { sendBatch, sendAlone, sendGroup }: ReturnType<typeof openSender>): RowWriter => {
  const { settings } = state;
  const inFlight = openInFlight(settings.concurrency);
  const keepsOrder = settings.order === "kept";
  let open: OpenBatch | undefined;
  let group: OpenGroup | undefined;

  const flushGroup = async (): Promise<void> => {
    const ready = group;
    group = undefined;
    if (!ready) return;
    const rows = ready.rows.map(({ row }) => row);
    await inFlight.start({ firstRow: rows[0] ?? 0, keys: ready.keys, run: () => writeUnlessHalted(state, rows, () => sendGroup(ready)) });
  };

  const addToGroup = async (row: number, planned: AloneRow, concerns: readonly string[]): Promise<void> => {
    const isTwice = planned.items.some(({ id }) => group?.concerns.has(id));
    const size = new Set([...(group?.concerns ?? []), ...concerns]).size;
    if (group && (isTwice || size > MOST_IN_GROUP || row - (group.rows[0]?.row ?? row) >= MOST_BEHIND)) await flushGroup();
    group ??= { rows: [], keys: new Set(), concerns: new Set() };
    group.rows.push({ row, planned });
    // In the input's order, an edge comes after its nodes.
    for (const key of keepsOrder ? concerns : planned.keys) group.keys.add(key);
    for (const key of concerns) group.concerns.add(key);
  };

  const flush = async (): Promise<void> => {
    const batch = open;
    open = undefined;
    if (!batch) return;
    const rows = [...batch.requests.values()].flatMap((one) => one.rows).toSorted((a, b) => a - b);
    const keys = keepsOrder ? [...batch.requests.keys()] : [];
    await inFlight.start({ firstRow: batch.firstRow, keys, run: () => writeUnlessHalted(state, rows, () => sendBatch(batch)) });
  };

  const addToBatch = (row: number, items: readonly RowItem[]): Pause => {
    // What the open group writes to one of its keys comes first, and it does not wait for ever.
    const isFirst = keepsOrder && items.some(({ id }) => group?.concerns.has(id));
    let pause: Pause = isFirst || row - (group?.rows[0]?.row ?? row) >= MOST_BEHIND ? flushGroup() : undefined;
    for (const { id, item } of items) {
      const batch = (open ??= { firstRow: row, requests: new Map(), items: 0 });
      const rows = batch.requests.get(id)?.rows ?? [];
      rows.push(row);
      batch.requests.set(id, { request: { PutRequest: { Item: item } }, rows });
      batch.items++;
      if (batch.requests.size < BATCH_WRITE_ITEMS && batch.items < MOST_IN_BATCH) continue;
      const flushed = flush();
      pause = pause ? Promise.all([pause, flushed]) : flushed;
    }
    return pause;
  };

  const startAlone = async (row: number, planned: AloneRow): Promise<void> => {
    const { keys, concerns } = planned;
    // What the open batch writes to one of its keys comes first.
    const isFirst = keepsOrder && (concerns ?? keys).some((id) => open?.requests.has(id));
    if (isFirst || (open && row - open.firstRow >= MOST_BEHIND)) await flush();
    if (concerns) return addToGroup(row, planned, concerns);
    if (keepsOrder && keys.some((id) => group?.concerns.has(id))) await flushGroup();
    const run = (): Promise<void> => writeUnlessHalted(state, [row], () => sendAlone(row, planned));
    await inFlight.start({ firstRow: row, keys, run });
  };

  return {
    write: (row, planned) => (planned.kind === "batch" ? addToBatch(row, planned.items) : startAlone(row, planned)),
    finish: async () => {
      if (!state.halted) await flush();
      if (!state.halted) await flushGroup();
      await inFlight.done();
    },
    position: (end) => Math.min(inFlight.position(end), open?.firstRow ?? end, group?.rows[0]?.row ?? end, state.stuck),
  };
};

/**
 * Opens a writer of rows. Rows whose node is not there yet wait for it.
 *
 * @param written called after each write
 */
export const openWriter = (session: Session, state: LoadState, written: () => void): RowWriter => {
  const waiting: WaitingRows = new Map();
  const gathering = openGathering(state, openSender(session, state, { waiting, written }));
  const inOrder = () => [...waiting.values()].toSorted((a, b) => a.rows.at(-1)! - b.rows.at(-1)!);

  /** Writes the rows that wait, as often as it helps: a part may be the end that others wait for. The rest fail. */
  const settleWaiting = async (): Promise<void> => {
    await gathering.finish();
    for (let left = Infinity; waiting.size > 0 && waiting.size < left && !state.halted;) {
      left = waiting.size;
      for (const { rows, planned } of inOrder()) await gathering.write(rows.at(-1)!, planned);
      await gathering.finish();
    }
    if (state.halted) return;
    for (const { rows, error } of inOrder()) for (const row of rows) failRow(state, row, error);
    waiting.clear();
  };

  return {
    write: (row, planned) =>
      waiting.size < MOST_WAITING ? gathering.write(row, planned) : settleWaiting().then(() => gathering.write(row, planned)),
    finish: settleWaiting,
    position: (end) => {
      let first = gathering.position(end);
      for (const { rows } of waiting.values()) first = Math.min(first, rows[0] ?? end);
      return first;
    },
  };
};
