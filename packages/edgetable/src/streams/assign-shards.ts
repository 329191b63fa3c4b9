import { type Board, type ShardLease, shardKey } from "./shard-leases.ts";
import type { Shard, Streams } from "./stream-source.ts";

/** The next steps of one consumer. */
export interface Assignment {
  /** Shards to take, in this order. */
  readonly take: readonly Shard[];
  /** Number of the shards it reads that it releases. */
  readonly giveBack: number;
}

/**
 * The share of one consumer in what is left to read. A shard is read after its parent, and a stream after the one that it replaced.
 * A parent that is not listed was trimmed, so the consumer does not wait for it.
 *
 * @param reading keys of the shards that this consumer reads
 */
export const assignShards = ({ arns, shards }: Streams, { consumers, leases }: Board, reading: ReadonlySet<string>): Assignment => {
  const listed = new Map(shards.map((shard) => [shardKey(shard), shard]));
  const isDone = (shard: Shard): boolean => (leases.get(shardKey(shard))?.state.ended ?? 0) > 0;
  const current = arns.find((arn) => shards.some((shard) => shard.stream === arn && !isDone(shard)));
  const readable = shards.filter((shard) => {
    if (shard.stream !== current || isDone(shard)) return false;
    const parent = shard.parent === undefined ? undefined : listed.get(shardKey({ stream: shard.stream, id: shard.parent }));
    return parent === undefined || isDone(parent);
  });
  const share = Math.ceil(readable.length / consumers);
  const free = readable.filter((shard) => !reading.has(shardKey(shard)) && leases.get(shardKey(shard))?.running !== true);
  return { take: free.slice(0, Math.max(0, share - reading.size)), giveBack: Math.max(0, reading.size - Math.max(1, share)) };
};

/** The keys of leased shards that a listing lacks. */
export const unlistedIn = ({ shards }: Streams, { leases }: Board): ReadonlySet<string> => {
  const listed = new Set(shards.map(shardKey));
  return new Set([...leases.keys()].filter((key) => !listed.has(key)));
};

// A stream keeps records for 24 hours; one more hour, because clocks may differ.
const RETENTION = 25 * 3_600_000;

/**
 * What to do with the leases of shards that are no longer listed. Shards that were not read to their end are lost. Other leases
 * stay while a later listing may still show the shard; otherwise its children would be read from their beginning again.
 *
 * @param unlisted keys of leased shards that two listings lacked, because one listing may be incomplete
 */
export const goneShards = (
  { leases }: Board,
  { unlisted, now }: { readonly unlisted: readonly string[]; readonly now: number },
): { readonly lost: readonly ShardLease[]; readonly done: readonly ShardLease[] } => {
  const gone = unlisted.flatMap((key) => leases.get(key) ?? []).filter(({ running }) => !running);
  return {
    lost: gone.filter(({ state }) => state.ended === 0),
    done: gone.filter(({ state }) => state.ended > 0 && now - state.ended > RETENTION),
  };
};
