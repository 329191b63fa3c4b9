import { startWorker } from "../workers/parent.ts";
import type { PlanRounds, PlanTime } from "./measure.ts";

/** Times planning in a process of its own. */
export const runPlan = async (rounds: PlanRounds): Promise<readonly PlanTime[]> => {
  const worker = startWorker("plan/worker", []);
  try {
    return await worker.ask<readonly PlanTime[]>(rounds);
  } finally {
    await worker.end();
  }
};
