import { startWorker } from "../workers/parent.ts";
import type { PlanTime } from "./measure.ts";

/** Times planning in a process of its own. */
export const runPlan = async (): Promise<readonly PlanTime[]> => {
  const worker = startWorker("plan/worker", []);
  try {
    return await worker.ask<readonly PlanTime[]>({});
  } finally {
    await worker.end();
  }
};
