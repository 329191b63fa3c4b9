// How gathered rows are sent: as batches, transactions, and writes of their own that share a reading.
import { EdgetableError, isEdgetableError } from "../../errors/edgetable-error.ts";
import type { LogicalWrite } from "../../ir/logical-write.ts";
import { showReason } from "../../ir/write-outcome.ts";
import { type Failure, type Images, keyId, type ReadNeed } from "../../ir/write-plan.ts";
import { planWrite } from "../../planner/writes/plan-write.ts";
import type { WriteRequest } from "../../transport/operations.ts";
import { batchWrite, requestKey } from "../batch-write.ts";
import { Meter } from "../call.ts";
import { runWrites } from "../run-write.ts";
import type { CallContext, Session } from "../session.ts";
import type { RowItem } from "./collisions.ts";
import { countWritten, failRow, failWrite, type LoadState, ROW_CODES, writeUnlessHalted } from "./load-state.ts";

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

/** Items of several rows, written by one request. */
export interface OpenBatch {
  readonly firstRow: number;
  /** By key: each key once, as the last row left it. */
  readonly requests: Map<string, { readonly request: WriteRequest; readonly rows: number[] }>;
  /** Items put into it, replaced ones included. */
  items: number;
}

export type AloneRow = PlannedRow & { readonly kind: "alone" };

/** Rows that count somewhere, written by one transaction: the nodes at which they count are updated once. */
export interface OpenGroup {
  readonly rows: { readonly row: number; readonly planned: AloneRow }[];
  /** The items of the rows themselves, and those where other rows count as well. */
  readonly keys: Set<string>;
  /** All items that the transaction concerns. */
  readonly concerns: Set<string>;
}

/** Rows of one type, each written alone, of which one request reads what they need. */
export interface OpenReading {
  readonly type: string;
  readonly rows: { readonly row: number; readonly planned: AloneRow }[];
  readonly keys: Set<string>;
}

/** Rows whose node is not there yet, by the key of their item: of several rows that make it, the last one is written. */
export type WaitingRows = Map<string, { readonly rows: readonly number[]; readonly planned: AloneRow; readonly error: EdgetableError }>;

// A found item shows what else is needed.
const READING_ROUNDS = 2;

// A transaction that finds nodes missing tells all of them; one that read them before tells the first.
const GROUP_ATTEMPTS = 3;

/** Lets at most `limit` requests run at the same time, in the order in which they come. */
const openTurns = (limit: number) => {
  let free = limit;
  const queue: (() => void)[] = [];
  return async <T>(run: () => Promise<T>): Promise<T> => {
    if (free > 0) free--;
    else await new Promise<void>((admit) => queue.push(admit));
    try {
      return await run();
    } finally {
      const next = queue.shift();
      if (next) next();
      else free++;
    }
  };
};

const notWritten = (failure: Parameters<typeof showReason>[0]): EdgetableError =>
  new EdgetableError("execute.notWritten", `It was not written: ${showReason(failure)}.`, { details: { ...failure } });

/** Notes that a row waits no more, nor an earlier one of the same item: that would be written over it. */
const settle = (waiting: WaitingRows, row: number, { items }: AloneRow): void => {
  const id = items[0]?.id ?? "";
  if ((waiting.get(id)?.rows.at(-1) ?? Infinity) <= row) waiting.delete(id);
};

/** Keeps a row until its node has come. */
const awaitNode = (waiting: WaitingRows, row: number, planned: AloneRow, failure: Failure): void => {
  const id = planned.items[0]?.id ?? "";
  const rows = waiting.get(id)?.rows ?? [];
  waiting.set(id, { rows: rows.includes(row) ? rows : [...rows, row], planned, error: notWritten(failure) });
};

/** What rows are sent with. */
interface Sending {
  readonly session: Session;
  readonly state: LoadState;
  readonly waiting: WaitingRows;
  /** Called after each write. */
  readonly written: () => void;
  readonly inTurn: ReturnType<typeof openTurns>;
}

const contextOf = ({ session, state: { settings } }: Sending): CallContext => ({
  meter: new Meter(),
  signal: settings.signal,
  deadline: session.effects.now() + settings.deadline,
  guard: settings.check,
});

const sendBatch = async (sending: Sending, { requests }: OpenBatch): Promise<void> => {
  const { session, state, inTurn, written } = sending;
  const sent = [...requests.values()].map(({ request }) => request);
  const { left, cost } = await inTurn(async () => {
    const context = contextOf(sending);
    return { left: await batchWrite(session, sent, context), cost: context.meter.cost };
  });
  countWritten(state, requests.size - left.length, cost);
  for (const { request, error } of left) failWrite(state, requests.get(keyId(requestKey(session.catalog, request)))?.rows ?? [], error);
  written();
};

/** Changes the copies of what was written by the jobs that its transaction has begun. A row is done when its copies are. */
const finishCopies = async ({ session, state }: Sending, jobs: readonly string[] = []): Promise<void> => {
  if (jobs.length === 0) return;
  const { finishCopyJob, openCopyJob } = await import("../jobs/copy-job.ts");
  for (const id of jobs) {
    const limits = { ...state.settings.copies, signal: state.settings.signal, deadline: Number.POSITIVE_INFINITY };
    countWritten(state, 0, (await finishCopyJob(openCopyJob(session, id, limits))).cost);
  }
};

const sendAlone = async (sending: Sending, row: number, planned: AloneRow, read?: Images): Promise<void> => {
  const { session, state, waiting, inTurn, written } = sending;
  const { write, items } = planned;
  const result = await inTurn(async () => {
    const context = contextOf(sending);
    const made = await runWrites(session, [write], context, read);
    countWritten(state, made.ok ? items.length : 0, context.meter.cost);
    return made;
  }).catch((error: unknown) => {
    settle(waiting, row, planned);
    throw error;
  });
  const { failure = { reason: "rolledBack" } } = (!result.ok && result.failed[0]) || {};
  if (failure.reason === "endMissing") awaitNode(waiting, row, planned, failure);
  else {
    settle(waiting, row, planned);
    if (result.ok) await finishCopies(sending, result.jobs);
    else failRow(state, row, notWritten(failure));
  }
  written();
};

/** Writes rows in one transaction. Those whose nodes are missing wait; if it fails otherwise, all are written one by one, so that only those at fault fail. */
const sendGroup = async (sending: Sending, group: OpenGroup): Promise<void> => {
  const { session, state, waiting, inTurn, written } = sending;
  let { rows } = group;
  for (let attempt = 0; rows.length > 1 && attempt < GROUP_ATTEMPTS; attempt++) {
    const sent = rows;
    const result = await inTurn(async () => {
      const context = contextOf(sending);
      const writes = sent.map(({ planned }) => planned.write);
      const made = await runWrites(session, writes, context).catch((error: unknown) => {
        if (isEdgetableError(error) && (ROW_CODES.has(error.code) || error.code === "plan.unsupported")) return undefined;
        throw error;
      });
      const items = made?.ok ? sent.reduce((sum, { planned }) => sum + planned.items.length, 0) : 0;
      countWritten(state, items, context.meter.cost);
      return made;
    });
    if (result?.ok) {
      for (const { row, planned } of rows) settle(waiting, row, planned);
      await finishCopies(sending, result.jobs);
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
  for (const { row, planned } of rows) await writeUnlessHalted(state, [row], () => sendAlone(sending, row, planned));
};

/** Reads the items that several rows need, by one request for each round: a node, then the marker of its old value. */
const readTogether = async (sending: Sending, { rows }: OpenReading): Promise<Images | undefined> => {
  const { session, state, inTurn } = sending;
  const { readImages } = await import("../read-images.ts");
  let images: Images | undefined;
  for (let round = 0; round < READING_ROUNDS && rows.length > 1; round++) {
    const known = images ?? {};
    const needs = new Map<string, ReadNeed>();
    for (const { planned } of rows) {
      const plan = planWrite(session.catalog, planned.write, known, { now: session.effects.now() });
      for (const need of plan.kind === "needs" ? plan.reads : []) if (need.kind === "get" && !(need.id in known)) needs.set(need.id, need);
    }
    if (needs.size < 2) break;
    const read = await inTurn(async () => {
      const context = contextOf(sending);
      const found = await readImages(session, [...needs.values()], context);
      countWritten(state, 0, context.meter.cost);
      return found;
    });
    images = { ...known, ...read };
  }
  return images;
};

/** Writes rows one by one, each on condition that what was read for all of them is unchanged. */
const sendReading = async (sending: Sending, reading: OpenReading): Promise<void> => {
  // If that fails, each row reads for itself, and tells why it cannot.
  const read = await readTogether(sending, reading).catch(() => undefined);
  await Promise.all(
    reading.rows.map(({ row, planned }) => writeUnlessHalted(sending.state, [row], () => sendAlone(sending, row, planned, read))),
  );
};

/** Sends what was gathered. A reading never rejects. */
export const openSender = (session: Session, state: LoadState, { waiting, written }: Pick<Sending, "waiting" | "written">) => {
  // Of what is in flight, a reading has several requests.
  const sending: Sending = { session, state, waiting, written, inTurn: openTurns(state.settings.concurrency) };
  return {
    sendBatch: (batch: OpenBatch): Promise<void> => sendBatch(sending, batch),
    sendReading: (reading: OpenReading): Promise<void> => sendReading(sending, reading),
    sendGroup: (group: OpenGroup): Promise<void> => sendGroup(sending, group),
  };
};
