// How rows are written: planned one by one, gathered in batches and groups, and sent, many requests at a time.
import { EdgetableError, isEdgetableError } from "../../errors/edgetable-error.ts";
import type { LogicalWrite } from "../../ir/logical-write.ts";
import { showReason } from "../../ir/write-outcome.ts";
import { type Failure, keyId } from "../../ir/write-plan.ts";
import { exactText } from "../../keys/template.ts";
import { planWrite } from "../../planner/writes/plan-write.ts";
import { edgeCopies } from "../../planner/writes/rules/edge-copies.ts";
import { derive } from "../../planner/writes/rules/index.ts";
import { subjectOf } from "../../planner/writes/working-set.ts";
import { attributeOf, encodeField, encodeItem, keyIfComplete } from "../../requests/encode-item.ts";
import { BATCH_WRITE_ITEMS } from "../../requests/encode-write.ts";
import type { Catalog, Shape } from "../../schema/catalog.ts";
import { derivedNames } from "../../schema/facts.ts";
import { idIn } from "../../schema/stored-id.ts";
import { timeNames } from "../../schema/timestamps.ts";
import type { AttributeValue, Item, Key, WriteRequest } from "../../transport/operations.ts";
import type { Row } from "../../util/row.ts";
import { batchWrite, requestKey } from "../batch-write.ts";
import { Meter } from "../call.ts";
import { runWrites } from "../run-write.ts";
import type { CallContext, Session } from "../session.ts";
import type { RowItem } from "./collisions.ts";
import { countWritten, failWrite, type LoadState, refuseRow, ROW_CODES, writeUnlessHalted } from "./load-state.ts";

/** How a row is written: in a batch, or by a write of its own, which no other write of the same keys may overlap. */
export type PlannedRow =
  | { readonly kind: "batch"; readonly items: readonly RowItem[] }
  | {
      readonly kind: "alone";
      readonly items: readonly RowItem[];
      readonly write: LogicalWrite;
      readonly keys: readonly string[];
      /** Of a row that counts somewhere: all items that it concerns, so that rows can share a transaction. */
      readonly concerns: readonly string[] | undefined;
    };

/** An item as far as its row is given: index keys may need what follows from other rows. */
const givenItem = (key: Key, shape: Shape, row: Row): Item => {
  const item: Record<string, AttributeValue> = { ...key };
  for (const field in row) {
    // What only keys hold has no attribute of its own.
    const attribute = field === "from" || field === "to" ? undefined : attributeOf(shape, field);
    if (attribute !== undefined && row[field] !== undefined) item[attribute] = encodeField(shape, field, row[field]);
  }
  return item;
};

/** The table key of a row. What a key holds of a node comes with the write: until then, what identifies the row stands for it. */
const keyOrId = (catalog: Catalog, shape: Shape, row: Row): Key =>
  keyIfComplete(catalog, shape, row) ?? { of: { S: shape.id }, id: { S: exactText(idIn(catalog, shape, row)) } };

/** Plans one row's write; it goes into a batch if its plan consists of puts without conditions. */
export const planRow = (catalog: Catalog, write: LogicalWrite, now: number): PlannedRow => {
  if (write.kind !== "put" && write.kind !== "putEdge")
    throw new EdgetableError("invariant", `a load puts, it does not ${write.kind}: a defect of edgetable`);
  const plan = planWrite(catalog, write, {}, { now });
  const steps = plan.kind === "ready" ? plan.items : [];
  const puts = steps.flatMap(({ item }) =>
    item.kind === "put" && item.terms.length === 0 && item.shape ? [{ id: keyId(item.key), shape: item.shape, item: item.item }] : [],
  );
  if (puts.length > 0 && puts.length === steps.length) return { kind: "batch", items: puts };
  const subject = subjectOf(catalog, write);
  const reverse = write.kind === "putEdge" ? write.reverse : {};
  const places = subject.kind === "edge" ? edgeCopies(subject, write.row, reverse) : [{ shape: subject.entry.shape, row: write.row }];
  const isFilled = [...derivedNames(subject.entry.definition), ...timeNames(subject.entry.definition)].length > 0;
  const items = places.map(({ shape, row }): RowItem => {
    const key = keyOrId(catalog, shape, row);
    return { id: keyId(key), shape, item: isFilled ? givenItem(key, shape, row) : encodeItem(catalog, shape, row) };
  });
  const keys = items.map(({ id }) => id);
  // Writes that share a marker or a guard go one after the other, so that they do not cancel each other's transactions.
  const concerns = [...keys];
  for (const { rule, key } of derive(catalog, { subject, before: null, after: write.row })) {
    concerns.push(keyId(key));
    if (rule.shared) keys.push(keyId(key));
  }
  const isCounted = subject.kind !== "node" && keys.length > items.length;
  return { kind: "alone", items, write, keys, concerns: isCounted ? concerns : undefined };
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

// A transaction that finds nodes missing tells all of them; one that read them before tells the first.
const GROUP_ATTEMPTS = 3;

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

const notWritten = (failure: Parameters<typeof showReason>[0]): EdgetableError =>
  new EdgetableError("execute.notWritten", `It was not written: ${showReason(failure)}.`, { details: { ...failure } });

/** Notes that a row waits no more, nor an earlier one of the same item: that would be written over it. */
const settle = (waiting: WaitingRows, row: number, { items }: AloneRow): void => {
  const id = items[0]?.id ?? "";
  if ((waiting.get(id)?.rows.at(-1) ?? Infinity) <= row) waiting.delete(id);
};

/** Notes that a row has failed: if it waits, the earlier ones of the same item, for which it stands, have failed with it. */
const drop = (waiting: WaitingRows, row: number, { items }: AloneRow): readonly number[] => {
  const id = items[0]?.id ?? "";
  const rows = waiting.get(id)?.rows ?? [];
  if (rows.at(-1) !== row) return [row];
  waiting.delete(id);
  return rows;
};

/** Keeps a row until its node has come. */
const awaitNode = (waiting: WaitingRows, row: number, planned: AloneRow, failure: Failure): void => {
  const id = planned.items[0]?.id ?? "";
  const rows = waiting.get(id)?.rows ?? [];
  waiting.set(id, { rows: rows.includes(row) ? rows : [...rows, row], planned, error: notWritten(failure) });
};

/** Sends what was gathered. */
const openSender = (session: Session, state: LoadState, { waiting, written }: { waiting: WaitingRows; written: () => void }) => {
  const { settings } = state;

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
      const earlier = drop(waiting, row, planned).filter((one) => one !== row);
      if (isEdgetableError(error)) failWrite(state, earlier, error);
      throw error;
    });
    countWritten(state, result.ok ? items.length : 0, context.meter.cost);
    const { failure = { reason: "rolledBack" } } = (!result.ok && result.failed[0]) || {};
    if (failure.reason === "endMissing") awaitNode(waiting, row, planned, failure);
    else if (result.ok) {
      settle(waiting, row, planned);
      await finishCopies(result.jobs);
    } else for (const one of drop(waiting, row, planned)) refuseRow(state, one, notWritten(failure));
    written();
  };

  /** Writes rows in one transaction. Those whose nodes are missing wait; if it fails otherwise, all are written one by one, so that only those at fault fail. */
  const sendGroup = async (group: OpenGroup): Promise<void> => {
    let { rows } = group;
    for (let attempt = 0; rows.length > 1 && attempt < GROUP_ATTEMPTS; attempt++) {
      const context = contextOf();
      const writes = rows.map(({ planned }) => planned.write);
      const result = await runWrites(session, writes, context).catch((error: unknown) => {
        if (isEdgetableError(error) && (ROW_CODES.has(error.code) || error.code === "plan.unsupported")) return undefined;
        throw error;
      });
      const items = result?.ok ? rows.reduce((sum, { planned }) => sum + planned.items.length, 0) : 0;
      countWritten(state, items, context.meter.cost);
      if (result?.ok) {
        for (const { row, planned } of rows) settle(waiting, row, planned);
        await finishCopies(result.jobs);
        return written();
      }
      const missing = new Map(result?.failed.map(({ write, failure }) => [write, failure]));
      const left = rows.filter(({ row, planned }, at) => {
        const failure = missing.get(at);
        if (failure?.reason !== "endMissing") return true;
        awaitNode(waiting, row, planned, failure);
        return false;
      });
      if (left.length === rows.length) break;
      rows = left;
      written();
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
    for (const { rows, error } of inOrder()) for (const row of rows) refuseRow(state, row, error);
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
