import { randomFrom, shuffled } from "../../measure/random.ts";
import { percentilesOf } from "../../measure/statistics.ts";
import { startWorker } from "../../workers/parent.ts";
import type { Worker } from "../../workers/parent.ts";
import { tasksSet } from "../store/data-set.ts";
import { databaseOf, startOn } from "../store/database.ts";
import { shardCounts } from "./model.ts";
import type { TasksIndex } from "./model.ts";
import type { PageBlock, PageTimes } from "./worker.ts";

export interface ScatterPlan {
  readonly tasks: number;
  readonly seed: number;
  readonly rounds: number;
  /** Pages in a block. */
  readonly pages: number;
}

/** Pages of one size from one index; times (the lower quartile of the rounds) and requests are for one page. */
export interface Scatter {
  readonly shards: number;
  readonly limit: number;
  readonly latency: number;
  readonly wall: number;
  readonly requests: number;
  /** Wall time relative to one shard's. */
  readonly ratio: number;
}

interface Case {
  readonly limit: number;
  readonly latency: number;
}

// A request to DynamoDB takes 3 to 10 ms; bare, the engine's one lane makes sixteen requests sixteen times one.
const cases: readonly Case[] = [0, 5].flatMap((latency) => [20, 100].map((limit) => ({ limit, latency })));
const indexes: readonly TasksIndex[] = ["single", "spread"];

const runCase = async (worker: Worker, { limit, latency }: Case, plan: ScatterPlan): Promise<readonly Scatter[]> => {
  const random = randomFrom(plan.seed + limit);
  const times = new Map(indexes.map((index) => [index, [] as PageTimes[]] as const));
  for (let round = 0; round <= plan.rounds; round++) {
    const from = Array.from({ length: plan.pages }, () => Math.floor((plan.tasks - limit) * random()));
    for (const index of shuffled(indexes, random)) {
      const taken = await worker.ask<PageTimes>({ index, limit, from, latency } satisfies PageBlock);
      if (round > 0) times.get(index)?.push(taken);
    }
  }
  const quick = (taken: readonly PageTimes[]): number => percentilesOf(taken.map(({ wall }) => wall)).p25 / plan.pages;
  const single = quick(times.get("single") ?? []);
  return [...times].map(([index, own]) => ({
    shards: shardCounts[index],
    limit,
    latency,
    wall: quick(own),
    requests: own.reduce((sum, { requests }) => sum + requests, 0) / own.length / plan.pages,
    ratio: quick(own) / single,
  }));
};

/** The same page of the same tasks from one shard and from sixteen, in turns. */
export const runScatter = async (plan: ScatterPlan, log: (line: string) => void): Promise<readonly Scatter[]> => {
  const engine = await startOn(await databaseOf(tasksSet(plan.tasks), log));
  const worker = startWorker("graph/scatter/worker", [engine.endpoint]);
  const results: Scatter[] = [];
  try {
    for (const one of cases) {
      const measured = await runCase(worker, one, plan);
      results.push(...measured);
      log(
        `scatter: pages of ${one.limit}, ${one.latency} ms: ${measured.map(({ shards, wall }) => `${shards} shards ${wall.toFixed(2)} ms`).join(", ")}`,
      );
    }
  } finally {
    await worker.end();
    await engine.stop();
  }
  return results;
};
