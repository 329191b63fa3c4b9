import { checkRun, createCall, type RunOptions } from "../executor/call.ts";
import type { DeleteWrite } from "../ir/logical-write.ts";
import type { WriteOutcome } from "../ir/write-outcome.ts";
import { cascades } from "../planner/writes/rules/required-nodes.ts";
import { asWriteCall, loadWriteExplanation, writeCall, type WriteDriver } from "./write-call.ts";
import type { DeleteCall, DeleteOptions, JobHandle, WriteExplanation } from "./write-types.ts";
import type { Row } from "../util/row.ts";

type Options = DeleteOptions<Row>;

// Loaded by the first deletion of this kind.
const code = async () => import("./run-jobs.ts");

const cascading = (driver: WriteDriver, write: DeleteWrite, options: Options): DeleteCall<unknown> => {
  const asked = { write, options };
  const call = createCall<WriteOutcome<unknown>, WriteExplanation>(
    async () => (await loadWriteExplanation(driver)).explainDeletion(driver.catalog, write, options),
    async (run) => (await code()).makeDeletion(driver, asked, run),
  );
  const start = async (run?: RunOptions): Promise<JobHandle<WriteOutcome<unknown>>> =>
    (await code()).startDeletion(driver, asked, checkRun(run));
  return Object.assign(asWriteCall(driver, call, write), { start });
};

/** A call that deletes a node with everything that goes with it. */
export const deleteCall = <R>(driver: WriteDriver, write: DeleteWrite, options: Options = {}): DeleteCall<R> => {
  if (cascades(driver.catalog, write.name)) return cascading(driver, write, options) as DeleteCall<R>;
  const call = writeCall<R>(driver, write);
  const start = async (run?: RunOptions): Promise<JobHandle<WriteOutcome<R>>> => ({
    id: "",
    progress: () => ({ items: 0, sweeps: 0, requests: 0, writeUnits: 0 }),
    done: call.run(checkRun(run)),
  });
  return Object.assign(call, { start });
};
