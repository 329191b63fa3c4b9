import { EdgetableError } from "../errors/edgetable-error.ts";
import { checkLease, type JobFacts, type Lease, releaseLease } from "../executor/jobs/job-store.ts";
import { runJob } from "../executor/jobs/run-job.ts";
import { backOff, type Session } from "../executor/session.ts";
import { isSystemItem } from "../schema/system-kinds.ts";
import { type HeldPage, holdPosition } from "./held-position.ts";
import type { Processor } from "./process-records.ts";
import { readRecord, type StreamRecord } from "./record.ts";
import { isExpiredIterator, isTrimmed, type Shard, type Start, type StreamSource } from "./stream-source.ts";

/** Where reading begins if no consumer has read the stream before: up to 24 hours ago, or now. */
export type StartPosition = "trim-horizon" | "latest";

/** Records that were lost before they could be read. */
export interface StreamGap {
  readonly shard: string;
  readonly stream: string;
  /**
   * `trimmed`: the records after the last position are older than 24 hours. `gone`: the shard, or its stream, no longer exists.
   * `replaced`: the table's stream was disabled, and another one begins here.
   */
  readonly kind: "trimmed" | "gone" | "replaced";
  /** The sequence number after which records are missing; undefined if the shard was not read. */
  readonly after: string | undefined;
}

/** The position in a shard, as its lease stores it. */
export interface ShardState {
  readonly group: string;
  readonly stream: string;
  readonly shard: string;
  /** The sequence number of the last processed record; "" for the shard's beginning, "latest" for its present end. */
  sequence: string;
  /** Milliseconds since 1970 at which its last record was processed; 0 before. */
  ended: number;
  /** Milliseconds since 1970 before which its records count as read, of a group that began with the stream's end; 0 elsewhere. */
  readonly since: number;
}

/** A page that was read and processed. */
export interface ReadPage {
  /** Without those of Edgetable's own items. */
  readonly records: number;
  /** Milliseconds between the change and now, of the last record; 0 at the end of the shard. */
  readonly lag: number;
}

/** What a reader tells of its work. */
export interface ShardReports {
  /** Called after each page. */
  onPage(page: ReadPage): void;
  /** Called when there are records, before they are processed. */
  onBegin(): void;
  /** Called with records that have to be processed again. */
  onRetry(records: number): void;
  onGap(gap: StreamGap): void;
}

/** How shards are read. */
export interface ReadSettings {
  /** Records that are processed at a time. */
  readonly batchSize: number;
  /** Milliseconds between two requests for a shard that has nothing new. */
  readonly pollInterval: number;
}

/** A shard under its lease. */
export interface LeasedShard {
  readonly lease: Lease;
  readonly shard: Shard;
  readonly state: ShardState;
}

interface Reading extends LeasedShard {
  readonly session: Session;
  readonly source: StreamSource;
  readonly processor: Processor;
  readonly settings: ReadSettings;
  readonly reports: ShardReports;
  readonly signal: AbortSignal;
}

// Milliseconds after a group's beginning in which a shard has its first reader.
const FIRST_READER = 10_000;
// DynamoDB tells times in whole seconds, DynamoDB Local in whole minutes.
const TIME_STAMP = 60_000;
// Pages that are processed ahead of the position, at most. A page that waits for an index keeps its records in memory.
const MOST_HELD = 100;
const PAUSES = { baseDelay: 500, maxDelay: 30_000 };

export const factsOf = (state: ShardState): JobFacts => ({ ...state });

/** The sequence number up to which a shard was read; undefined if nothing was. */
export const positionIn = ({ sequence }: Pick<ShardState, "sequence">): string | undefined =>
  sequence === "" || sequence === "latest" ? undefined : sequence;

/**
 * Where reading begins. Only the first reader of a shard begins at its end. A later reader would miss the records in between, so it
 * reads the shard from its oldest record, without records older than `since`.
 */
const startOf = ({ sequence, since }: ShardState, now: number): Start => {
  if (sequence === "latest") return now - since < FIRST_READER ? "latest" : "oldest";
  return sequence === "" ? "oldest" : { after: sequence };
};

/** An iterator at the position; undefined if the shard is gone. A position that was trimmed is a gap. */
const openIterator = async (reading: Reading): Promise<string | undefined> => {
  const { session, source, shard, state, reports, signal } = reading;
  try {
    const iterator = await source.begin(shard, startOf(state, session.effects.now()), signal);
    if (state.sequence === "latest") state.sequence = "";
    return iterator;
  } catch (error) {
    if (!isTrimmed(error)) throw error;
  }
  const after = positionIn(state);
  const isNew = state.sequence === "" || state.sequence === "latest";
  // The position is saved from time to time: a process that dies before the gap is told leaves the one that tells it.
  const tell = (kind: StreamGap["kind"]): void => {
    reports.onGap({ shard: shard.id, stream: shard.stream, kind, after });
    state.sequence = "";
  };
  try {
    const iterator = await source.begin(shard, "oldest", signal);
    if (isNew) state.sequence = "";
    else tell("trimmed");
    return iterator;
  } catch (error) {
    if (!isTrimmed(error)) throw error;
    tell("gone");
    return undefined;
  }
};

/**
 * Processes a page until it is done or the reader has to stop, and moves the position after the processed records. Copies that an
 * index does not show yet are refreshed later. They hold back the position, but not the following pages.
 */
const processPage = async (reading: Reading, page: HeldPage, records: readonly StreamRecord[]): Promise<void> => {
  const { session, lease, processor, reports, signal } = reading;
  const defer = (late: Promise<readonly StreamRecord[]>): void =>
    page.hold(
      late.then((again) => {
        if (again.length > 0 && !signal.aborted) reports.onRetry(again.length);
        return again.length > 0;
      }),
    );
  let left = records;
  for (let attempt = 0; left.length > 0; attempt++) {
    checkLease(session, lease);
    left = await processor.process(left, { signal, defer });
    const [first] = left;
    const done = first ? records.slice(0, records.indexOf(first)) : records;
    const last = done.at(-1)?.sequence;
    if (last !== undefined) page.moveTo(last);
    if (!first || signal.aborted) return;
    reports.onRetry(left.length);
    await backOff(session.effects, PAUSES, attempt, { deadline: Number.POSITIVE_INFINITY, signal });
  }
};

/** Ends a reader, so that the shard is read again from its position. */
const isLate = (shard: string): EdgetableError =>
  new EdgetableError("execute.conflict", `Copies of a change in ${shard} could not be refreshed: it is read again from its position.`, {
    retryable: true,
    details: { shard },
  });

/** Reads to the shard's end, or until the reader has to stop. */
const readToEnd = async (reading: Reading): Promise<void> => {
  const { session, source, lease, state, settings, reports, signal } = reading;
  const { catalog, effects } = session;
  const position = holdPosition((sequence) => (state.sequence = sequence));
  let iterator = await openIterator(reading);
  while (iterator !== undefined && !signal.aborted) {
    checkLease(session, lease);
    await position.settle(MOST_HELD);
    if (position.hasFailed) throw isLate(state.shard);
    let page;
    try {
      page = await source.read(iterator, settings.batchSize, signal);
    } catch (error) {
      if (!isTrimmed(error) && !isExpiredIterator(error)) throw error;
      // What is ahead of the position would come again.
      await position.settle(0);
      iterator = await openIterator(reading);
      await effects.sleep(settings.pollInterval, signal);
      continue;
    }
    const read = page.records.map((one) => readRecord(one, catalog.table));
    const records = read.filter(({ time }) => time >= state.since - TIME_STAMP);
    const last = read.at(-1);
    if (last?.sequence !== undefined) {
      reports.onBegin();
      const begun = position.begin();
      try {
        await processPage(reading, begun, records);
        if (!signal.aborted) begun.moveTo(last.sequence);
      } finally {
        begun.end();
      }
    }
    if (signal.aborted) return;
    reports.onPage({
      records: records.filter(({ before, after }) => !isSystemItem(catalog, after ?? before ?? {})).length,
      lag: last ? Math.max(0, effects.now() - last.time) : 0,
    });
    // The reader is not idle: what is late is still to be done.
    if (position.isHeld) reports.onBegin();
    iterator = page.next;
    if (iterator !== undefined && records.length === 0) await effects.sleep(settings.pollInterval, signal);
  }
  await position.settle(0);
  if (position.hasFailed) throw isLate(state.shard);
  if (!signal.aborted) state.ended = effects.now();
};

/**
 * Reads a shard under its lease, which keeps the position. Ends when the shard does, or tidily when the signal is aborted: then the
 * lease is released with the last position.
 *
 * @throws {job.busy} if another process has taken the lease
 */
export const readShard = async (reading: Reading): Promise<void> => {
  const { session, lease, state, signal } = reading;
  const run = async (): Promise<void> => {
    try {
      await readToEnd(reading);
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  };
  // A position that is a few seconds old costs a few records twice; a write a second for each shard costs more.
  const beat = lease.duration / 4;
  await runJob(session, lease, { run, facts: () => factsOf(state), endsItself: true, beat });
  await releaseLease(session, lease, factsOf(state));
};

const LOSSES: Readonly<Record<StreamGap["kind"], string>> = {
  trimmed: "was trimmed",
  gone: "is gone",
  replaced: "begins another stream than the one that was read before",
};

/** The error of a gap that ends the consumer. */
export const gapError = ({ shard, kind, after }: StreamGap, table: string): EdgetableError =>
  new EdgetableError(
    "stream.gap",
    `Changes of "${table}" were not read in time: the shard ${shard} ${LOSSES[kind]}${after === undefined ? "" : ` after ${after}`}. Streams keep records for 24 hours. Call refreshFacts(db) for the model's facts, update what your handlers maintain, and run the consumer again: it continues with the remaining records.`,
    { details: { shard, kind, after } },
  );
