import { startWorker } from "../../workers/parent.ts";
import { fanSet } from "../store/data-set.ts";
import { databaseOf, startOn } from "../store/database.ts";
import type { WalkSide } from "../walks/sides.ts";
import type { FrontierMemory } from "./worker.ts";

export interface FrontierPlan {
  /** Ids of the last layer, a multiple of 500. */
  readonly ids: number;
}

export interface Frontier extends FrontierMemory {
  readonly side: WalkSide;
  readonly ids: number;
}

const width = 500;
const sides: readonly WalkSide[] = ["edgetable", "hand-written"];

/** Memory of a walk whose last layer has so many ids, each side in a fresh process. */
export const runFrontier = async ({ ids }: FrontierPlan, log: (line: string) => void): Promise<readonly Frontier[]> => {
  const set = fanSet({ ids, width });
  const engine = await startOn(await databaseOf(set, log));
  const results: Frontier[] = [];
  try {
    for (const side of sides) {
      const worker = startWorker("graph/frontier/worker", [side, engine.endpoint, set.table, "follows"], ["--expose-gc"]);
      const memory = await worker.ask<FrontierMemory>({ start: "0", direction: "out", depth: 2 }).finally(() => worker.end());
      if (memory.found !== ids + width)
        throw new Error(`frontier: ${side} found ${memory.found} nodes, not the ${ids + width} that are there`);
      results.push({ side, ids, ...memory });
      log(`frontier: ${side}, ${ids} ids: ${memory.live.toFixed(0)} MB alive`);
    }
  } finally {
    await engine.stop();
  }
  return results;
};
