// "1,000 write units and 3,000 read units a second for one partition key value", bp-partition-key-design.
const PARTITION_WRITES = 1000;
const PARTITION_READS = 3000;
const WRITE_BLOCK = 1024;
const READ_BLOCK = 4096;
/** A search queries every shard, and a Query costs at least half a unit. */
const LEAST_QUERY = 0.5;
/** Headroom for values that gather in one shard by chance, as in AWS's example: 13 becomes 15. */
const HEADROOM = 1.15;

/** The expected load of the items that share one value of an index's partition key. */
export interface ShardDemand {
  /** Items written a second, 0 or more; an update that changes the index key counts twice. @default 0 */
  readonly writesPerSecond?: number;
  /** Rows read a second, 0 or more. @default 0 */
  readonly readsPerSecond?: number;
  /** Bytes of one item in the index, 1 to 409,600. @default 200 */
  readonly itemBytes?: number;
  /** Rows that one search returns, 1 or more. With it, the price of querying every shard counts. */
  readonly pageRows?: number;
  /** The share of the load on the most frequent value, above 0 to 1, if the partition key contains the value too. @default 1 */
  readonly share?: number;
}

/** How many shards a demand needs. */
export interface ShardAdvice {
  /** The count to declare. */
  readonly shards: number;
  /** The shards that the writes need, and the reads, before headroom. */
  readonly forWrites: number;
  readonly forReads: number;
  /** Searches a second that are asked for, and the most that any number of shards can answer. Undefined without `pageRows`. */
  readonly searches: { readonly asked: number; readonly most: number } | undefined;
}

/**
 * The number of shards that keeps every partition of an index within DynamoDB's limits, by AWS's rule
 * (bp-modeling-nosql): the rows wanted a second, divided by the items that a unit reads times 3,000 units a second.
 * Pure; makes no request.
 *
 * @param demand the load of one value, or of the most frequent one by its `share`
 * @example
 * recommendShards({ readsPerSecond: 600_000, itemBytes: 250 }).shards; // 15: 16 items a unit, 48,000 a partition
 */
export const recommendShards = (demand: ShardDemand): ShardAdvice => {
  const { writesPerSecond = 0, readsPerSecond = 0, itemBytes = 200, pageRows, share = 1 } = demand;
  const itemsPerUnit = itemBytes > READ_BLOCK ? 1 / Math.ceil(itemBytes / READ_BLOCK) : Math.floor(READ_BLOCK / itemBytes);
  const forWrites = Math.max(1, Math.ceil((writesPerSecond * share * Math.ceil(itemBytes / WRITE_BLOCK)) / PARTITION_WRITES));
  const forReads = Math.max(1, Math.ceil((readsPerSecond * share) / itemsPerUnit / PARTITION_READS));
  const needed = Math.max(forWrites, forReads);
  return {
    shards: needed === 1 ? 1 : Math.ceil(needed * HEADROOM),
    forWrites,
    forReads,
    searches: pageRows === undefined ? undefined : { asked: (readsPerSecond * share) / pageRows, most: PARTITION_READS / LEAST_QUERY },
  };
};
