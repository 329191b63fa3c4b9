import { createTable } from "../calls/table.ts";
import { connect } from "../calls/candidates/hand-written/connection.ts";
import { startEngine } from "../engine/engine.ts";
import { randomFrom, shuffled } from "../measure/random.ts";
import { median } from "../measure/statistics.ts";
import { startWorker } from "../workers/parent.ts";
import type { Worker } from "../workers/parent.ts";
import type { Side } from "./sides.ts";
import type { Segment } from "./worker.ts";

export interface LoadPlan {
  readonly sides: readonly Side[];
  readonly items: number;
  /** The sides take turns after so many items. Divides `items`. */
  readonly segment: number;
  readonly seed: number;
}

export interface Load {
  readonly side: Side;
  readonly items: number;
  /** Items a second over all segments. */
  readonly rate: number;
  /** The rate relative to the bare loop's: the median over the segments. */
  readonly rateRatio: number;
  /** Microseconds of client CPU an item. */
  readonly cpu: number;
  /** Megabytes after a collection, at the end of each segment. */
  readonly heap: readonly number[];
  /** Median heap of the last quarter less that of the second: the first still warms up. */
  readonly heapGrowth: number;
}

interface Contestant {
  readonly side: Side;
  readonly worker: Worker;
  readonly segments: Segment[];
}

const countItems = async (endpoint: string, TableName: string): Promise<number> => {
  const connection = connect(endpoint);
  const { Table } = await connection.send<{ readonly Table: { readonly ItemCount: number } }>(
    "DescribeTable",
    JSON.stringify({ TableName }),
  );
  connection.close();
  return Table.ItemCount;
};

const heapGrowthOf = (heap: readonly number[]): number => {
  const quarter = Math.max(1, heap.length >> 2);
  return median(heap.slice(-quarter)) - median(heap.slice(quarter, 2 * quarter));
};

const summarize = ({ side, segments }: Contestant, bare: readonly Segment[], items: number): Load => {
  const total = (figure: (segment: Segment) => number): number => segments.reduce((sum, segment) => sum + figure(segment), 0);
  const heap = segments.map((segment) => segment.heap);
  return {
    side,
    items,
    rate: items / total(({ seconds }) => seconds),
    rateRatio: median(segments.map(({ seconds }, index) => (bare[index]?.seconds ?? Number.NaN) / seconds)),
    cpu: (total(({ cpu }) => cpu) / items) * 1e6,
    heap,
    heapGrowth: heapGrowthOf(heap),
  };
};

const takeTurns = async (contestants: readonly Contestant[], plan: LoadPlan, log: (line: string) => void): Promise<void> => {
  const random = randomFrom(plan.seed);
  for (let done = 0; done < plan.items; done += plan.segment) {
    for (const { worker, segments } of shuffled(contestants, random)) segments.push(await worker.ask<Segment>({ first: done === 0 }));
    log(`load: ${done + plan.segment} of ${plan.items} items each`);
  }
};

/** Each side loads the same rows in one call, into a table of its own on one engine, in turns. */
export const runLoad = async (plan: LoadPlan, log: (line: string) => void): Promise<readonly Load[]> => {
  const engine = await startEngine();
  const contestants: Contestant[] = [];
  try {
    for (const side of plan.sides) {
      await createTable(engine.endpoint, `Load-${side}`);
      const args = [side, engine.endpoint, `Load-${side}`, String(plan.items), String(plan.segment)];
      contestants.push({ side, worker: startWorker("load/worker", args, ["--expose-gc"]), segments: [] });
    }
    await takeTurns(contestants, plan, log);
    for (const { side } of contestants) {
      const count = await countItems(engine.endpoint, `Load-${side}`);
      if (count !== plan.items) throw new Error(`load: ${side} left ${count} of ${plan.items} items in the table`);
    }
    const bare = contestants.find(({ side }) => side === "bare")?.segments ?? [];
    return contestants.map((contestant) => summarize(contestant, bare, plan.items));
  } finally {
    await Promise.all(contestants.map(({ worker }) => worker.end()));
    await engine.stop();
  }
};
