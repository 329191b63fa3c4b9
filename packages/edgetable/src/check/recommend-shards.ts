// "1,000 write units and 3,000 read units a second for one partition key value", bp-partition-key-design.
const PARTITION_WRITES = 1000;
const PARTITION_READS = 3000;
const WRITE_BLOCK = 1024;
const READ_BLOCK = 4096;
/** A search asks every shard, and half a unit is the least that a Query costs. */
const LEAST_QUERY = 0.5;
/** Room for values that gather in one shard by chance, as in AWS's example: 13 becomes 15. */
const ROOM = 1.15;

/** What is expected of the items that share one value of an index's partition key. */
export interface ShardDemand {
  /** Items written a second, 0 or more; an update that changes the index key counts twice. @default 0 */
  readonly writesPerSecond?: number;
  /** Rows read a second, 0 or more. @default 0 */
  readonly readsPerSecond?: number;
  /** Bytes of one item as the index has it, 1 to 409,600. @default 200 */
  readonly itemBytes?: number;
  /** Rows that one search gives, 1 or more; with it, the price of asking every shard is counted. */
  readonly pageRows?: number;
  /** The part of it all that falls to the most frequent value, above 0 to 1, where partitions are told apart by value too. @default 1 */
  readonly share?: number;
}

/** How many shards a demand needs. */
export interface ShardAdvice {
  /** The count to declare. */
  readonly shards: number;
  /** What the writes need, and what the reads need, before room is left. */
  readonly forWrites: number;
  readonly forReads: number;
  /** Searches a second that are asked for, and the most that any number of shards can answer; undefined without `pageRows`. */
  readonly searches: { readonly asked: number; readonly most: number } | undefined;
}

const least = (needed: number): number => Math.max(1, Math.ceil(needed));

/**
 * The number of shards that keeps every partition of an index within DynamoDB's limits, by AWS's own
 * rule (bp-modeling-nosql): items a unit reads, times 3,000 units a second, into the rows wanted a second.
 * Pure; makes no request.
 *
 * @param demand what is expected of one value, or of the most frequent one by its `share`
 * @example
 * recommendShards({ readsPerSecond: 600_000, itemBytes: 250 }).shards; // 15: 16 items a unit, 48,000 a partition
 */
export const recommendShards = (demand: ShardDemand): ShardAdvice => {
  const { writesPerSecond = 0, readsPerSecond = 0, itemBytes = 200, pageRows, share = 1 } = demand;
  const itemsPerUnit = itemBytes > READ_BLOCK ? 1 / Math.ceil(itemBytes / READ_BLOCK) : Math.floor(READ_BLOCK / itemBytes);
  const forWrites = least((writesPerSecond * share * Math.ceil(itemBytes / WRITE_BLOCK)) / PARTITION_WRITES);
  const forReads = least((readsPerSecond * share) / itemsPerUnit / PARTITION_READS);
  const needed = Math.max(forWrites, forReads);
  return {
    shards: needed === 1 ? 1 : Math.ceil(needed * ROOM),
    forWrites,
    forReads,
    searches: pageRows === undefined ? undefined : { asked: (readsPerSecond * share) / pageRows, most: PARTITION_READS / LEAST_QUERY },
  };
};
