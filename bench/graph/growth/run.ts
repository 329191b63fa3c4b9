import { randomFrom, shuffled } from "../../measure/random.ts";
import { percentilesOf } from "../../measure/statistics.ts";
import { startWorker } from "../../workers/parent.ts";
import type { Worker } from "../../workers/parent.ts";
import type { Engine } from "../../engine/engine.ts";
import { plantedDepth, plantedNodes, plantedStart } from "../graphs/plant.ts";
import { socialSet } from "../store/data-set.ts";
import { databaseOf, startOn } from "../store/database.ts";
import type { WalkSide } from "../walks/sides.ts";
import { warmUp } from "../walks/run.ts";
import type { WalkBlock } from "../walks/worker.ts";

export interface GrowthPlan {
  /** Edges of the graphs, ten for each node, the smallest first. */
  readonly edges: readonly number[];
  readonly seed: number;
  readonly rounds: number;
  /** Walks of the same neighbourhood in a round. */
  readonly walks: number;
}

/** One walk of the planted neighbourhood in a graph of so many edges, by one side. */
export interface Growth {
  readonly side: WalkSide;
  readonly edges: number;
  /** Milliseconds: the lower quartile of the rounds. */
  readonly wall: number;
  /** Relative to the smallest graph. */
  readonly ratio: number;
}

interface Runner {
  readonly side: WalkSide;
  readonly edges: number;
  readonly worker: Worker;
  readonly walls: number[];
}

const sides: readonly WalkSide[] = ["edgetable", "hand-written"];

// The first thousands of requests in a process cost a client two to three times the later ones.
const warmUpRequests = 3000;
const planted = { start: String(plantedStart), direction: "out", depth: plantedDepth } as const;

const walkOnce = async (runner: Runner, walks: number): Promise<number> => {
  const { wall, answers } = await runner.worker.ask<WalkBlock>(Array.from({ length: walks }, () => planted));
  if (answers.some(({ found }) => found !== plantedNodes - 1)) throw new Error(`growth: ${runner.side} did not find the planted nodes`);
  return wall / walks;
};

const summarize = (runners: readonly Runner[]): readonly Growth[] =>
  runners.map(({ side, edges, walls }) => {
    const smallest = runners.find((runner) => runner.side === side)?.walls ?? [];
    const wall = percentilesOf(walls).p25;
    return { side, edges, wall, ratio: wall / percentilesOf(smallest).p25 };
  });

/** The same 155 nodes, three hops out, in graphs of growing size, side by side; the hand-written client shows what the engine adds. */
export const runGrowth = async (plan: GrowthPlan, log: (line: string) => void): Promise<readonly Growth[]> => {
  const engines: Engine[] = [];
  const runners: Runner[] = [];
  const random = randomFrom(plan.seed);
  try {
    for (const edges of plan.edges) {
      const set = socialSet({ nodes: edges / 10, edges, seed: plan.seed });
      const engine = await startOn(await databaseOf(set, log));
      engines.push(engine);
      for (const side of sides)
        runners.push({ side, edges, worker: startWorker("graph/walks/worker", [side, engine.endpoint, set.table, "follows"]), walls: [] });
    }
    for (const { worker } of runners) await warmUp(worker, [planted], warmUpRequests);
    for (let round = 0; round < plan.rounds; round++)
      for (const runner of shuffled(runners, random)) runner.walls.push(await walkOnce(runner, plan.walks));
    return summarize(runners);
  } finally {
    await Promise.all(runners.map(({ worker }) => worker.end()));
    await Promise.all(engines.map((engine) => engine.stop()));
  }
};
