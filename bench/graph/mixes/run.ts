import { startWorker } from "../../workers/parent.ts";
import { linksSet } from "../store/data-set.ts";
import { databaseOf, startOn } from "../store/database.ts";
import type { MixTimes } from "./measure-mix.ts";
import type { MixName } from "./worker.ts";

export interface MixPlan {
  readonly nodes: number;
  readonly seed: number;
  /** Calls that are measured, of each mix. */
  readonly count: number;
  /** Calls before that, which are not. */
  readonly warmUp: number;
  /** Calls under way at a time, each measured once. */
  readonly requesters: readonly number[];
}

export interface MixResult extends MixTimes {
  readonly mix: MixName;
  readonly nodes: number;
  readonly edges: number;
  readonly requesters: number;
}

/** TAO's reads and then LinkBench's mix, which changes the graph, over the library on a copy of the graph. */
export const runMixes = async (plan: MixPlan, log: (line: string) => void): Promise<readonly MixResult[]> => {
  const set = linksSet(plan);
  const file = await databaseOf(set, log);
  const results: MixResult[] = [];
  for (const mix of ["tao", "linkbench"] as const) {
    const engine = await startOn(file);
    const worker = startWorker("graph/mixes/worker", [mix, engine.endpoint, String(plan.nodes), String(plan.seed)]);
    try {
      await worker.ask({ count: plan.warmUp, requesters: 8 });
      for (const requesters of plan.requesters) {
        const times = await worker.ask<MixTimes>({ count: plan.count, requesters });
        results.push({ mix, nodes: plan.nodes, edges: set.graph().edges, requesters, ...times });
        log(`mixes: ${mix}, ${requesters} at a time: ${Math.round(times.rate)} calls a second`);
      }
    } finally {
      await worker.end();
      await engine.stop();
    }
  }
  return results;
};
