import { EdgetableError, isEdgetableError } from "../../errors/edgetable-error.ts";
import type { LogicalWrite } from "../../ir/logical-write.ts";
import { showReason } from "../../ir/write-outcome.ts";
import { keyId, type PutStep, type WriteItem } from "../../ir/write-plan.ts";
import { planWrite } from "../../planner/writes/plan-write.ts";
import { edgeCopies } from "../../planner/writes/rules/edge-copies.ts";
import { derive } from "../../planner/writes/rules/index.ts";
import { subjectOf } from "../../planner/writes/working-set.ts";
import { encodeItem, keyOf } from "../../requests/encode-item.ts";
import { BATCH_WRITE_ITEMS } from "../../requests/encode-write.ts";
import type { Catalog, Shape } from "../../schema/catalog.ts";
import type { WriteRequest } from "../../transport/operations.ts";
import { batchWrite, requestKey } from "../batch.ts";
import { addCosts, type Cost, Meter, NO_COST } from "../call.ts";
import { runWrites } from "../run-write.ts";
import type { CallContext, Session } from "../session.ts";
import type { Collisions, CollisionSettings, RowItem } from "./collisions.ts";

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
  /** All rows before this one are done; a job resumes from here. */
  readonly position: number;
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
  /** Milliseconds between two calls of `onProgress`. */
  readonly progressEvery: number;
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

/** How a row is written: in a batch, or by a write of its own, which no other write of the same keys may overlap. */
export type PlannedRow =
  | { readonly kind: "batch"; readonly items: readonly RowItem[] }
  | { readonly kind: "alone"; readonly items: readonly RowItem[]; readonly write: LogicalWrite; readonly keys: readonly string[] };

const isUnconditionalPut = (item: WriteItem): item is PutStep & { readonly shape: Shape } =>
  item.kind === "put" && item.terms.length === 0 && item.shape !== undefined;

/** Plans one row's write; it goes into a batch if its plan consists of puts without conditions. */
export const planRow = (catalog: Catalog, write: LogicalWrite): PlannedRow => {
  if (write.kind !== "put" && write.kind !== "putEdge")
    throw new EdgetableError("invariant", `a load puts, it does not ${write.kind}: a defect of edgetable`);
  const items: RowItem[] = [];
  const plan = planWrite(catalog, write, {});
  if (plan.kind === "ready" && plan.items.length > 0 && plan.items.every(({ item }) => isUnconditionalPut(item))) {
    for (const { item } of plan.items as readonly { readonly item: PutStep & { readonly shape: Shape } }[])
      items.push({ id: keyId(item.key), shape: item.shape, item: item.item });
    return { kind: "batch", items };
  }
  const subject = subjectOf(catalog, write);
  const reverse = write.kind === "putEdge" ? write.reverse : {};
  const places = subject.kind === "edge" ? edgeCopies(subject, write.row, reverse) : [{ shape: subject.entry.shape, row: write.row }];
  for (const { shape, row } of places) items.push({ id: keyId(keyOf(catalog, shape, row)), shape, item: encodeItem(catalog, shape, row) });
  const keys = items.map(({ id }) => id);
  // Writes that share a marker or a guard go one after the other, so that they do not cancel each other's transactions.
  for (const { rule, key } of derive(catalog, { subject, before: null, after: write.row })) if (rule.shared) keys.push(keyId(key));
  return { kind: "alone", items, write, keys };
};

/** A write that is in flight, of a range of rows. */
export interface InFlightWrite {
  /** The first row with an item in it. */
  readonly firstRow: number;
  /** Keys that no later write may change until this one is done. */
  readonly keys: Iterable<string>;
  /** Never rejects. */
  run(): Promise<void>;
}

/** The writes in flight. */
export interface InFlight {
  /** Starts a write once there is room, after every write in flight of the same keys. Resolves when there is room. */
  start(write: InFlightWrite): Promise<void>;
  /** Resolves when all writes are done. */
  done(): Promise<void>;
  /** The first row that is not written, of those before `end`. */
  position(end: number): number;
}

/** Keeps track of the writes in flight, of which there are at most `limit`. */
export const openInFlight = (limit: number): InFlight => {
  const running = new Map<InFlightWrite, Promise<void>>();
  const lastOfKey = new Map<string, Promise<void>>();
  const queue: (() => void)[] = [];
  // Writes that wait for room: their rows are not written either.
  const waiting = new Set<InFlightWrite>();
  const remove = (write: InFlightWrite, done: Promise<void>): void => {
    running.delete(write);
    for (const key of write.keys) if (lastOfKey.get(key) === done) lastOfKey.delete(key);
    queue.shift()?.();
  };
  return {
    start: async (write) => {
      waiting.add(write);
      while (running.size >= limit) await new Promise<void>((admit) => queue.push(admit));
      waiting.delete(write);
      const earlier = new Set<Promise<void>>();
      for (const key of write.keys) {
        const last = lastOfKey.get(key);
        if (last) earlier.add(last);
      }
      const ran = earlier.size > 0 ? Promise.all(earlier).then(() => write.run()) : write.run();
      const done: Promise<void> = ran.then(() => remove(write, done));
      running.set(write, done);
      for (const key of write.keys) lastOfKey.set(key, done);
    },
    done: async () => {
      await Promise.all(running.values());
    },
    position: (end) => {
      let position = end;
      for (const { firstRow } of running.keys()) position = Math.min(position, firstRow);
      for (const { firstRow } of waiting) position = Math.min(position, firstRow);
      return position;
    },
  };
};

// An input that makes one key over and over must not keep a batch open for ever.
const MOST_IN_BATCH = 10 * BATCH_WRITE_ITEMS;

/** Items of several rows, written by one request. */
interface OpenBatch {
  readonly firstRow: number;
  /** By key: each key once, as the last row left it. */
  readonly requests: Map<string, { readonly request: WriteRequest; readonly rows: number[] }>;
  /** Items put into it, replaced ones included. */
  items: number;
}

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

/**
 * Opens a writer of rows: most of them in batches, some alone.
 *
 * @param written called after each write
 */
export const openWriter = (session: Session, state: LoadState, written: () => void): RowWriter => {
  const { settings } = state;
  const inFlight = openInFlight(settings.concurrency);
  const keepsOrder = settings.order === "kept";
  let open: OpenBatch | undefined;

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

  const sendAlone = async (row: number, write: LogicalWrite, items: number): Promise<void> => {
    const context = contextOf();
    const result = await runWrites(session, [write], context);
    countWritten(state, result.ok ? items : 0, context.meter.cost);
    if (!result.ok) {
      const { failure } = result.failed[0] ?? {};
      const why = showReason(failure ?? { reason: "rolledBack" });
      failRow(state, row, new EdgetableError("execute.notWritten", `It was not written: ${why}.`, { details: { ...failure } }));
    }
    written();
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
    let pause: Pause;
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

  const startAlone = async (row: number, { write, items, keys }: PlannedRow & { readonly kind: "alone" }): Promise<void> => {
    // What the open batch writes to one of its keys comes first.
    if (keepsOrder && keys.some((id) => open?.requests.has(id))) await flush();
    const run = (): Promise<void> => writeUnlessHalted(state, [row], () => sendAlone(row, write, items.length));
    await inFlight.start({ firstRow: row, keys, run });
  };

  return {
    write: (row, planned) => (planned.kind === "batch" ? addToBatch(row, planned.items) : startAlone(row, planned)),
    finish: async () => {
      if (!state.halted) await flush();
      await inFlight.done();
    },
    position: (end) => Math.min(inFlight.position(end), open?.firstRow ?? end, state.stuck),
  };
};
