import { randomFrom } from "../measure/random.ts";
import { zipfFrom } from "../measure/zipf.ts";
import { createPartitions } from "./partitions.ts";

/** An index that is partitioned by a value and a shard, and what is asked of it. */
export interface Workload {
  /** Distinct values, and how unevenly they are asked for (Zipf's exponent; 0 is even). */
  readonly values: number;
  readonly skew: number;
  readonly shards: number;
  /** Items of up to 1 KB, written a second. */
  readonly writesPerSecond: number;
  /** Searches for a value, a second; each asks every shard, at half a unit or more. */
  readonly searchesPerSecond: number;
  readonly rowsPerSearch: number;
  readonly itemBytes: number;
  readonly seconds: number;
  readonly seed: number;
}

/** What was taken of what was asked, a second. */
export interface Throughput {
  readonly writes: number;
  readonly searches: number;
}

const READ_BLOCK = 4096;

/** Runs a workload against the limits of the partitions. A search is answered when all its shards are. */
export const simulate = (workload: Workload): Throughput => {
  const { values, skew, shards, writesPerSecond, searchesPerSecond, rowsPerSearch, itemBytes, seconds, seed } = workload;
  const random = randomFrom(seed);
  const draw = zipfFrom({ ranks: values, shape: skew }, random);
  const ask = createPartitions();
  const units = Math.max(0.5, Math.ceil((rowsPerSearch / shards) * (itemBytes / READ_BLOCK)) / 2);
  const taken = { writes: 0, searches: 0 };
  const perSecond = writesPerSecond + searchesPerSecond;
  for (let turn = 0; turn < perSecond * seconds; turn++) {
    const at = turn / perSecond;
    const value = draw();
    if (random() * perSecond < writesPerSecond) {
      const shard = Math.floor(random() * shards);
      if (ask({ partition: `${value}#${shard}`, at, writes: 1, reads: 0 })) taken.writes++;
      continue;
    }
    let answered = true;
    for (let shard = 0; shard < shards; shard++)
      answered = ask({ partition: `${value}#${shard}`, at, writes: 0, reads: units }) && answered;
    if (answered) taken.searches++;
  }
  return { writes: taken.writes / seconds, searches: taken.searches / seconds };
};
