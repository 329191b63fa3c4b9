import { checkRun, createCall, type RunOptions } from "../executor/call.ts";
import { readUnits } from "../ir/capacity.ts";
import type { DeleteWrite } from "../ir/logical-write.ts";
import type { WriteOutcome } from "../ir/write-outcome.ts";
import { cascades } from "../planner/writes/cascade-ends.ts";
import { planCascade, type CascadePlan } from "../planner/writes/plan-cascade.ts";
import type { Catalog } from "../schema/catalog.ts";
import { INDEX_LAG } from "./job-options.ts";
import { explainRead } from "./explanation.ts";
import { asWriteCall, writeCall, type WriteDriver } from "./write-call.ts";
import type { DeleteCall, DeleteOptions, ExplainedWriteRequest, JobHandle, WriteExplanation } from "./write-types.ts";
import type { Row } from "../util/row.ts";

type Options = DeleteOptions<Row>;

const sweepRequests = (catalog: Catalog, plan: CascadePlan): readonly ExplainedWriteRequest[] =>
  plan.sweeps.flatMap((sweep) =>
    explainRead(catalog, { plan: sweep.plan, binding: { row: sweep.row, values: [] }, livingAt: undefined }).requests.map(
      ({ operation, input, readUnits: units }) => ({ operation, input, readUnits: units, writeUnits: 0 }),
    ),
  );

const notesOf = (plan: CascadePlan, { indexLag = INDEX_LAG }: Options): readonly string[] => [
  ...(plan.marks
    ? [
        "marks the node first, in a transaction with the job's state: from then on nothing can be linked to it, and reads still give it until it goes",
      ]
    : []),
  ...(plan.lags ? [`waits ${indexLag} ms before it reads an index, so that what was linked before the mark is seen`] : []),
  "with up to 100 items everything goes in one transaction; with more, a job removes edges and parts and the node last, and can be resumed; what it writes is not in the prediction",
];

const explain = (catalog: Catalog, write: DeleteWrite, options: Options): WriteExplanation => {
  const plan = planCascade(catalog, write);
  const bytes = catalog.nodes[write.name]?.shape.bytes ?? 0;
  const requests = sweepRequests(catalog, plan);
  const units = requests.reduce((sum, request) => sum + request.readUnits, plan.marks ? readUnits(bytes, { consistent: true }) : 0);
  return {
    kind: "write",
    writes: [write],
    plan,
    requests,
    atomic: undefined,
    cost: { requests: requests.length, readUnits: units, writeUnits: 0 },
    notes: notesOf(plan, options),
  };
};

// Only those who delete load how it is done.
const code = async () => import("./run-deletion.ts");

const cascading = (driver: WriteDriver, write: DeleteWrite, options: Options): DeleteCall<unknown> => {
  const asked = { write, options };
  const call = createCall<WriteOutcome<unknown>, WriteExplanation>(
    () => explain(driver.catalog, write, options),
    async (run) => (await code()).makeDeletion(driver, asked, run),
  );
  const start = async (run?: RunOptions): Promise<JobHandle<WriteOutcome<unknown>>> =>
    (await code()).startDeletion(driver, asked, checkRun(run));
  return Object.assign(asWriteCall(driver, call, write), { start });
};

/** A call that deletes a node, with all that goes along. */
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
