import { isEdgetableError } from "../errors/edgetable-error.ts";
import { abortedByClose } from "../executor/jobs/run-job.ts";
import { newToken } from "../executor/run-write.ts";
import type { Session } from "../executor/session.ts";
import type { StreamTransport } from "../transport/stream-operations.ts";
import { hasPassed, linkAbort } from "../util/time.ts";
import { assignShards, goneShards, unlistedIn } from "./assign-shards.ts";
import { describeError } from "./call-handler.ts";
import type { RefreshedBatch } from "./maintain-facts.ts";
import type { Processor } from "./process-records.ts";
import {
  gapError,
  positionIn,
  type ReadPage,
  readShard,
  type ReadSettings,
  type ShardReports,
  type StartPosition,
  type StreamGap,
} from "./read-shard.ts";
import { type Board, shardKey, shardLeases, type ShardLeases } from "./shard-leases.ts";
import { checkStream, openStreamSource, type Shard, type Streams, type StreamSource } from "./stream-source.ts";

/** How far a consumer has come. */
export interface StreamProgress {
  /** Records that were processed, without those of Edgetable's own items. */
  readonly records: number;
  /** Records a second, over the last ten seconds. */
  readonly rate: number;
  /** Milliseconds from the last change that was read to now, of the shard that is farthest behind; 0 where all are read to their end. */
  readonly lag: number;
  /** Milliseconds from a change until the derived attributes and copies that follow from it were right, the longest of the last ten seconds. */
  readonly staleness: number;
  /** How often a derived attribute or copy followed later than `within` in the model says. */
  readonly stale: number;
  /** Records that were put aside. */
  readonly deadLetters: number;
  /** How often a record had to be processed again, because neither a handler nor a dead letter took it. */
  readonly failures: number;
  /** Times at which records were lost before they could be read. */
  readonly gaps: number;
  /** Shards that this consumer reads now. */
  readonly shards: number;
  /** The last error that passed, or is being waited out. */
  readonly error: { readonly code: string; readonly message: string } | undefined;
}

/** The settings of a group of consumers. */
export interface ConsumerSettings extends ReadSettings {
  readonly group: string;
  readonly from: StartPosition;
  readonly lease: number;
  readonly discovery: number;
  readonly gaps: "report" | "throw";
  readonly onGap: ((gap: StreamGap) => void) | undefined;
}

/** What the consumer counts of a processor's work. */
export interface ProcessorReports {
  onDeadLetter(): void;
  onStale(): void;
  onRefreshed(refreshed: RefreshedBatch): void;
}

/** What a run needs. */
export interface ConsumerRun {
  readonly session: Session;
  readonly transport: StreamTransport;
  readonly processorFor: (reports: ProcessorReports) => Processor;
  readonly settings: ConsumerSettings;
  readonly running: {
    readonly idle?: number;
    readonly onProgress?: (progress: StreamProgress) => void;
    readonly progressEvery?: number;
  };
  readonly signal: AbortSignal | undefined;
}

/** A shard that is being read. */
interface ShardReader {
  readonly stop: AbortController;
  readonly ended: Promise<void>;
}

const REPORT = 1000;
// The time over which the rate is told.
const WINDOW = 10_000;
const LONGEST_PAUSE = 2000;
// The wait after an error before the leases are looked at again.
const WAIT = 1000;

/** Counts what readers tell. */
const countProgress = (session: Session, readers: ReadonlyMap<string, ShardReader>) => {
  const { effects } = session;
  const counts = { records: 0, deadLetters: 0, failures: 0, gaps: 0, stale: 0 };
  const lags = new Map<string, number>();
  let error: StreamProgress["error"];
  const started = effects.now();
  const recent: { readonly at: number; readonly records: number }[] = [];
  let refreshed: { readonly at: number; readonly staleness: number }[] = [];
  const dropOld = (now: number): void => void (refreshed = refreshed.filter(({ at }) => at >= now - WINDOW));
  // Up to when each reader has read what was written; those that are processing a page are not in here.
  const readUpTo = new Map<string, number>();
  let busyAt = started;
  return {
    counts,
    fail: (cause: unknown): void => void (error = describeError(cause)),
    /** Nothing is known of what there is to read. */
    restart: (): void => void (busyAt = effects.now()),
    refreshed: ({ staleness }: RefreshedBatch): void => {
      const now = effects.now();
      dropOld(now);
      // One that is not the longest of those that stay will not be told.
      refreshed = [...refreshed.filter((one) => one.staleness > staleness), { at: now, staleness }];
    },
    start: (key: string): void => {
      readUpTo.delete(key);
      lags.delete(key);
    },
    begin: (key: string): void => void readUpTo.delete(key),
    page: (key: string, { records, lag }: ReadPage): void => {
      const now = effects.now();
      counts.records += records;
      if (records > 0 || !lags.has(key)) busyAt = now;
      readUpTo.set(key, now - lag);
      if (records > 0) recent.push({ at: now, records });
      lags.set(key, lag);
      error = undefined;
    },
    /**
     * Milliseconds in which nothing was written but Edgetable's own items, as far as the answers tell: on a slow machine, or behind
     * many own items, there may be a record that nobody has read.
     */
    idleFor: (): number => {
      const times = Array.from(readers.keys(), (key) => readUpTo.get(key) ?? 0);
      return Math.max(0, Math.min(effects.now(), ...times) - busyAt);
    },
    progress: (): StreamProgress => {
      const now = effects.now();
      while (recent[0] && recent[0].at < now - WINDOW) recent.shift();
      const seconds = Math.min(WINDOW, Math.max(1000, now - started)) / 1000;
      const rate = recent.reduce((sum, { records }) => sum + records, 0) / seconds;
      for (const key of lags.keys()) if (!readers.has(key)) lags.delete(key);
      dropOld(now);
      const staleness = refreshed[0]?.staleness ?? 0;
      return { ...counts, rate, lag: Math.max(0, ...lags.values()), staleness, shards: readers.size, error };
    },
  };
};

/** A run under way. */
interface Consumer {
  readonly session: Session;
  readonly source: StreamSource;
  readonly leases: ShardLeases;
  readonly processor: Processor;
  readonly settings: ConsumerSettings;
  readonly readers: Map<string, ShardReader>;
  readonly counted: ReturnType<typeof countProgress>;
  /** Aborted by the caller, by `close`, and by `end`. */
  readonly signal: AbortSignal;
  /** Ends the run; with an error, if one is given. */
  readonly end: (failed?: { readonly error: unknown }) => void;
  listing: { readonly streams: Streams; readonly at: number } | undefined;
  /** Keys of leased shards that the last listing lacked. */
  unlisted: ReadonlySet<string>;
  /** Streams whose beginning was told as a gap. */
  readonly replaced: Set<string>;
  /** Ends the pause between two looks at the leases. */
  wake: AbortController;
}

/** Waits after an error that passes: another consumer may have the shard, or the service be away. Others end the run. */
const waitOut = async ({ session, counted, signal, end }: Consumer, error: unknown): Promise<void> => {
  if (signal.aborted) return;
  if (!isEdgetableError(error) || !error.retryable) return end({ error });
  counted.fail(error);
  await session.effects.sleep(WAIT, signal).catch(() => undefined);
  counted.restart();
};

const tellGap = ({ session, counted, settings, end }: Consumer, gap: StreamGap): void => {
  counted.counts.gaps++;
  settings.onGap?.(gap);
  if (settings.gaps === "throw") end({ error: gapError(gap, session.catalog.table) });
};

/** Begins to read a shard, unless another consumer took it. */
const startReader = async (consumer: Consumer, shard: Shard, board: Board): Promise<void> => {
  const { session, source, processor, settings, leases, readers, counted, replaced } = consumer;
  const taken = await leases.take(shard, "");
  if (!taken) return;
  const key = shardKey(shard);
  const onGap = (gap: StreamGap): void => tellGap(consumer, gap);
  const known = new Set([...board.leases.values()].map(({ state }) => state.stream));
  if (known.size > 0 && !known.has(shard.stream) && !replaced.has(shard.stream)) {
    replaced.add(shard.stream);
    onGap({ shard: shard.id, stream: shard.stream, kind: "replaced", after: undefined });
  }
  const stop = new AbortController();
  const { signal } = stop;
  const unlink = linkAbort(stop, consumer.signal);
  const reports: ShardReports = {
    onBegin: () => counted.begin(key),
    onPage: (page) => counted.page(key, page),
    onRetry: (records) => void (counted.counts.failures += records),
    onGap,
  };
  const read = async (): Promise<void> => {
    try {
      await readShard({ session, source, processor, settings, reports, shard, ...taken, signal });
    } catch (error) {
      await waitOut(consumer, error);
    } finally {
      unlink();
      readers.delete(key);
      // The shard may have ended: its children are looked for at once.
      consumer.listing = undefined;
      consumer.wake.abort();
    }
  };
  counted.start(key);
  readers.set(key, { stop, ended: read() });
};

/** Lists the shards, and settles the leases of those that are not there any more. */
const discover = async (consumer: Consumer, board: Board): Promise<Streams> => {
  const { session, source, leases, readers, settings, signal } = consumer;
  const now = session.effects.now();
  const { listing } = consumer;
  if (listing && !hasPassed(settings.discovery, listing.at, now)) return listing.streams;
  const streams = await source.list(signal);
  consumer.listing = { streams, at: now };
  const lacking = unlistedIn(streams, board);
  const { lost, done } = goneShards(board, {
    unlisted: [...lacking].filter((key) => consumer.unlisted.has(key) && !readers.has(key)),
    now,
  });
  consumer.unlisted = lacking;
  for (const { state } of lost) {
    const shard = { stream: state.stream, id: state.shard, parent: undefined, closed: true };
    const taken = await leases.take(shard, "");
    if (!taken) continue;
    await leases.release(taken.lease, { ...taken.state, ended: now });
    tellGap(consumer, { shard: shard.id, stream: shard.stream, kind: "gone", after: positionIn(state) });
  }
  for (const one of done) await leases.forget(one);
  return streams;
};

/** Looks at the leases and the shards, and takes its share. */
const takeShare = async (consumer: Consumer): Promise<void> => {
  const { leases, readers } = consumer;
  await leases.attend();
  const board = await leases.read();
  const streams = await discover(consumer, board);
  const { take, giveBack } = assignShards(streams, board, new Set(readers.keys()));
  for (const { stop } of [...readers.values()].slice(0, giveBack)) stop.abort();
  for (const shard of take) await startReader(consumer, shard, board);
};

/** For a group that begins at the end of the stream: what there is counts as read. */
const skipOld = async ({ session, source, leases, signal }: Consumer): Promise<void> => {
  const { arns, shards } = await source.list(signal);
  for (const shard of shards) {
    const isOld = shard.closed || shard.stream !== arns.at(-1);
    const taken = await leases.take(shard, isOld ? "" : "latest", isOld ? session.effects.now() : 0);
    if (taken) await leases.release(taken.lease, taken.state);
  }
};

const reportProgress = async (
  { session, counted, signal, end }: Consumer,
  { onProgress, progressEvery = REPORT }: ConsumerRun["running"],
) => {
  if (!onProgress) return;
  try {
    while (!signal.aborted) {
      await session.effects.sleep(progressEvery, signal).catch(() => undefined);
      onProgress(counted.progress());
    }
  } catch (error) {
    end({ error });
  }
};

const consume = async (consumer: Consumer, running: ConsumerRun["running"]): Promise<void> => {
  const { session, settings, leases, readers, counted, signal, end } = consumer;
  const reporting = reportProgress(consumer, running);
  try {
    await checkStream(session, signal);
    await leases.attend();
    await leases.begin(() => (settings.from === "latest" ? skipOld(consumer) : Promise.resolve()), signal);
    while (!signal.aborted) {
      consumer.wake = new AbortController();
      await takeShare(consumer).catch((error: unknown) => waitOut(consumer, error));
      const left = running.idle === undefined ? Number.POSITIVE_INFINITY : running.idle - counted.idleFor();
      if (left <= 0) break;
      const pause = Math.max(1, Math.min(settings.lease / 3, LONGEST_PAUSE, Math.max(left, settings.pollInterval)));
      const unlink = linkAbort(consumer.wake, signal);
      await session.effects.sleep(pause, consumer.wake.signal).catch(() => undefined);
      unlink();
    }
  } catch (error) {
    if (!signal.aborted) end({ error });
  } finally {
    end();
    await Promise.all(Array.from(readers.values(), ({ ended }) => ended));
    await leases.leave();
    await reporting;
  }
};

/** Runs a consumer until it is stopped, or nothing came for a while. */
export const runConsumer = async ({
  session,
  transport,
  processorFor,
  settings,
  running,
  signal,
}: ConsumerRun): Promise<StreamProgress> => {
  const readers = new Map<string, ShardReader>();
  const counted = countProgress(session, readers);
  const ending = new AbortController();
  const unlink = linkAbort(ending, signal);
  const stopping = abortedByClose(session, ending.signal, {
    what: "The stream consumer",
    advice: "It continues from its checkpoints when it runs again.",
  });
  let failure: { readonly error: unknown } | undefined;
  const consumer: Consumer = {
    session,
    source: openStreamSource(session, transport),
    leases: shardLeases(session, settings.group, { id: newToken(session), duration: settings.lease }),
    processor: processorFor({
      onDeadLetter: () => void counted.counts.deadLetters++,
      onStale: () => void counted.counts.stale++,
      onRefreshed: counted.refreshed,
    }),
    settings,
    readers,
    counted,
    signal: stopping.signal,
    end: (failed) => {
      failure ??= failed;
      ending.abort();
    },
    listing: undefined,
    unlisted: new Set(),
    replaced: new Set(),
    wake: new AbortController(),
  };
  await stopping.track(consume(consumer, running)).finally(unlink);
  if (failure) throw failure.error;
  return counted.progress();
};
