import { checkRun, createCall, type RunOptions } from "../executor/call.ts";
import type { DeleteWrite } from "../ir/logical-write.ts";
import type { WriteOutcome } from "../ir/write-outcome.ts";
import { cascades } from "../planner/writes/rules/required-nodes.ts";
import { asWriteCall, loadWriteExplanation, writeCall, type WriteDriver } from "./write-call.ts";
import type { DeleteCall, DeleteOptions, JobHandle, WriteExplanation } from "./write-types.ts";
import type { Row } from "../util/row.ts";

// Loaded by the first deletion that also deletes edges or parts.
const loadJobs = async () => import("./run-jobs.ts");

/** A call that deletes a node with its parts and cascading edges. */
export const deleteCall = <R>(driver: WriteDriver, write: DeleteWrite, options: DeleteOptions<Row> = {}): DeleteCall<R> => {
  if (cascades(driver.catalog, write.name)) {
    const asked = { write, options };
    const cascade = createCall<WriteOutcome<unknown>, WriteExplanation>(
      async () => (await loadWriteExplanation(driver)).explainDeletion(driver.catalog, write, options),
      async (run) => (await loadJobs()).makeDeletion(driver, asked, run),
    );
    const start = async (run?: RunOptions): Promise<JobHandle<WriteOutcome<unknown>>> =>
      (await loadJobs()).startDeletion(driver, asked, checkRun(run));
    return Object.assign(asWriteCall(driver, cascade, write), { start }) as DeleteCall<R>;
  }
  const call = writeCall<R>(driver, write);
  const start = async (run?: RunOptions): Promise<JobHandle<WriteOutcome<R>>> => ({
    id: "",
    progress: () => ({ items: 0, sweeps: 0, requests: 0, writeUnits: 0 }),
    done: call.run(checkRun(run)),
  });
  return Object.assign(call, { start }) as DeleteCall<R>;
};
