// "1,000 write units and 3,000 read units a second for one partition key value", bp-partition-key-design.
const WRITES = 1000;
const READS = 3000;

/** What is asked of one partition, in units, at a time in seconds. */
export interface Ask {
  readonly partition: string;
  readonly at: number;
  readonly writes: number;
  readonly reads: number;
}

interface Bucket {
  writes: number;
  reads: number;
  at: number;
}

/**
 * The partitions of an index on virtual time: each a bucket of one second's units for either kind, filled
 * steadily. What DynamoDB adds in good will (unused units of five minutes, isolation of hot items) is
 * left out: it cannot be counted on.
 */
export const createPartitions = (): ((ask: Ask) => boolean) => {
  const buckets = new Map<string, Bucket>();
  return ({ partition, at, writes, reads }) => {
    const bucket = buckets.get(partition) ?? { writes: WRITES, reads: READS, at: 0 };
    const passed = at - bucket.at;
    const left = {
      writes: Math.min(WRITES, bucket.writes + passed * WRITES),
      reads: Math.min(READS, bucket.reads + passed * READS),
      at,
    };
    const taken = left.writes >= writes && left.reads >= reads;
    buckets.set(partition, taken ? { writes: left.writes - writes, reads: left.reads - reads, at } : left);
    return taken;
  };
};
