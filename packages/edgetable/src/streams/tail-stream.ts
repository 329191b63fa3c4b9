import { driverOf } from "../client/driver.ts";
import type { StreamTransport } from "../transport/stream-operations.ts";
import type { LeanTransportOptions } from "../transport/lean/lean-transport.ts";
import { checkOptions, checkSignal, namesIn, type OptionChecks } from "../util/check-options.ts";
import { linkAbort } from "../util/time.ts";
import { openTransport } from "./consumer.ts";
import { readRecord, type StreamRecord } from "./record.ts";
import { checkStream, isExpiredIterator, isTrimmed, openStreamSource, type Shard } from "./stream-source.ts";

/** How a stream is watched. */
export interface TailOptions {
  /** Ends the watch, as closing the connection does. */
  readonly signal?: AbortSignal;
  /** Milliseconds between two requests for a shard that has nothing new, 1 to 600,000. @default 500 */
  readonly pollInterval?: number;
  /** Milliseconds between two looks for new shards, 10 to 600,000. @default 10,000 */
  readonly discovery?: number;
  /**
   * Where the stream is, or a transport of it. @default the place of the connection; needed for a connection with a
   * transport or client of its own
   */
  readonly stream?: StreamTransport | LeanTransportOptions;
}

const checks: OptionChecks<TailOptions> = {
  signal: checkSignal,
  pollInterval: [1, 600_000],
  discovery: [10, 600_000],
  stream: namesIn,
};

const LIMIT = 1000;

/** A shard that is watched. */
interface Watched {
  readonly shard: Shard;
  iterator: string | undefined;
  /** The last record, behind which reading goes on if the iterator expires. */
  sequence: string | undefined;
}

/**
 * Yields the changes of a table from now on, as they come. It writes nothing: no leases, no positions. What happens before the
 * first page is asked for, or while nobody reads, may be missed. Ends when the signal is aborted or the connection is closed. For tools that show changes; programs that act on them use
 * {@link createStreamConsumer}. Costs no units of the table.
 *
 * @param db a connection of the model
 * @throws {plan.invalidOption} for an option out of its range, or when `stream` is needed and is not given
 * @throws {stream.notEnabled} {stream.images} when the table has no stream with both images
 * @throws errors of the service that do not pass
 */
export async function* tailStream(db: object, options: TailOptions = {}): AsyncGenerator<StreamRecord, void, undefined> {
  const { session, place } = driverOf(db);
  const { pollInterval = 500, discovery = 10_000, stream, ...given } = checkOptions(options, checks);
  const { transport, close } = openTransport(stream, place);
  const ended = new AbortController();
  const { signal } = ended;
  const unlink = linkAbort(ended, given.signal);
  // `close` does not wait for the end: whoever reads may be the one that closes.
  const stop = async (): Promise<void> => {
    session.jobs.delete(stop);
    ended.abort();
  };
  session.jobs.add(stop);
  const source = openStreamSource(session, transport);
  const { effects, catalog } = session;
  const watched = new Map<string, Watched>();
  const known = new Set<string>();
  let listedAt: number | undefined;
  const discover = async (): Promise<void> => {
    const isFirst = listedAt === undefined;
    listedAt = effects.now();
    for (const shard of (await source.list(signal)).shards) {
      const key = `${shard.stream} ${shard.id}`;
      if (known.has(key)) continue;
      known.add(key);
      // A shard that came later is read whole: it continues one that was watched.
      if (!isFirst || !shard.closed)
        watched.set(key, { shard, iterator: await source.begin(shard, isFirst ? "latest" : "oldest", signal), sequence: undefined });
    }
  };
  const readShard = async (key: string, one: Watched): Promise<readonly StreamRecord[]> => {
    if (one.iterator === undefined) return [];
    try {
      const { records, next } = await source.read(one.iterator, LIMIT, signal);
      one.iterator = next;
      one.sequence = records.at(-1)?.dynamodb?.SequenceNumber ?? one.sequence;
      if (next === undefined) {
        watched.delete(key);
        listedAt = -Infinity;
      }
      return records.map((record) => readRecord(record, catalog.table));
    } catch (error) {
      if (!isExpiredIterator(error) && !isTrimmed(error)) throw error;
      const start = one.sequence === undefined || isTrimmed(error) ? "latest" : { after: one.sequence };
      one.iterator = await source.begin(one.shard, start, signal);
      return [];
    }
  };
  try {
    await checkStream(session, signal);
    while (!signal.aborted) {
      if (listedAt === undefined || effects.now() - listedAt >= discovery) await discover();
      let records = 0;
      for (const [key, one] of watched)
        for (const record of await readShard(key, one)) {
          records++;
          yield record;
        }
      if (records === 0) await effects.sleep(pollInterval, signal);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    unlink();
    session.jobs.delete(stop);
    ended.abort();
    await close();
  }
}
