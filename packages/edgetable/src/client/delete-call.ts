import { EdgetableError } from "../errors/edgetable-error.ts";
import { createCall, type Report, type RunOptions } from "../executor/call.ts";
import type { Deletion, DeletionProgress, DeletionResult, DeletionSettings } from "../executor/jobs/deletion.ts";
import { readUnits } from "../ir/capacity.ts";
import type { DeleteWrite, Row } from "../ir/logical-write.ts";
import type { WriteOutcome } from "../ir/write-outcome.ts";
import { cascades } from "../planner/writes/cascade-ends.ts";
import { planCascade, type CascadePlan } from "../planner/writes/plan-cascade.ts";
import type { Catalog } from "../schema/catalog.ts";
import { explainRead } from "./explanation.ts";
import { asWriteCall, outcomeOfFailure, writeCall, type WriteDriver } from "./write-call.ts";
import type { DeleteCall, DeleteOptions, ExplainedWriteRequest, JobHandle, WriteExplanation } from "./write-types.ts";

const INDEX_LAG = 1000;
const LEASE = 10_000;
const ranges = { indexLag: [0, 600_000], lease: [100, 600_000] } as const;

type Options = DeleteOptions<Row>;

/** @throws {plan.invalidOption} when a number is out of its range */
export const checkJobOptions = (options: Pick<Options, "indexLag" | "lease">): void => {
  for (const [name, [least, most]] of Object.entries(ranges)) {
    const value = options[name as keyof typeof ranges];
    if (value === undefined || (Number.isInteger(value) && value >= least && value <= most)) continue;
    throw new EdgetableError("plan.invalidOption", `${name} is ${value}: give a whole number from ${least} to ${most}.`, {
      details: { option: name, value },
    });
  }
};

/** How a job is done; without a deadline it takes the time that it takes. */
export const deletionSettings = (driver: WriteDriver, options: Options, run: RunOptions): DeletionSettings => ({
  indexLag: options.indexLag ?? INDEX_LAG,
  lease: options.lease ?? LEASE,
  signal: run.signal,
  deadline: run.deadline === undefined ? Number.POSITIVE_INFINITY : driver.session.effects.now() + run.deadline,
  onProgress: options.onProgress,
});

/** The outcome of a deletion's result. */
export const deletionOutcome = (result: DeletionResult): WriteOutcome<unknown> =>
  result.ok ? { ok: true, row: result.row, cost: result.cost, atomic: result.atomic } : outcomeOfFailure(result.failed[0], result.cost);

const sweepRequests = (catalog: Catalog, plan: CascadePlan): readonly ExplainedWriteRequest[] =>
  plan.sweeps.flatMap((sweep) =>
    explainRead(catalog, { plan: sweep.plan, binding: { row: sweep.row, values: [] } }).requests.map(
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
  "with up to 100 items everything goes in one transaction; with more, a job removes edges and parts and the node last, and can be resumed",
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

const begin = async (
  driver: WriteDriver,
  write: DeleteWrite,
  settings: DeletionSettings,
): Promise<{ readonly deletion: Deletion; readonly id: string; run(): Promise<DeletionResult> }> => {
  const { beginDeletion } = await import("../executor/jobs/begin-deletion.ts");
  return beginDeletion(driver.session, write, settings);
};

/** A handle on a deletion that has begun. Its failure is told by `done`, and only there. */
export const handleOf = <Outcome>(id: string, deletion: Deletion, done: Promise<Outcome>): JobHandle<Outcome> => {
  done.catch(() => undefined);
  const progress = (): DeletionProgress => ({
    items: deletion.items,
    sweeps: deletion.sweeps,
    requests: deletion.cost.requests,
    writeUnits: deletion.cost.writeUnits,
  });
  return { id, progress, done };
};

const cascading = (driver: WriteDriver, write: DeleteWrite, options: Options): DeleteCall<unknown> => {
  const make = async (run: RunOptions): Promise<Report<WriteOutcome<unknown>>> => {
    const begun = await begin(driver, write, deletionSettings(driver, options, run));
    const result = await begun.run();
    return { value: deletionOutcome(result), cost: result.cost, requests: begun.deletion.requests, missing: [] };
  };
  const call = createCall<WriteOutcome<unknown>, WriteExplanation>(() => explain(driver.catalog, write, options), make);
  const start = async (run: RunOptions = {}): Promise<JobHandle<WriteOutcome<unknown>>> => {
    const begun = await begin(driver, write, deletionSettings(driver, options, run));
    return handleOf(begun.id, begun.deletion, begun.run().then(deletionOutcome));
  };
  return Object.assign(asWriteCall(call, write), { start });
};

/** A call that deletes a node, with all that goes along. */
export const deleteCall = <R>(driver: WriteDriver, write: DeleteWrite, options: Options = {}): DeleteCall<R> => {
  checkJobOptions(options);
  if (cascades(driver.catalog, write.name)) return cascading(driver, write, options) as DeleteCall<R>;
  const call = writeCall<R>(driver, write);
  const start = (run: RunOptions = {}): Promise<JobHandle<WriteOutcome<R>>> =>
    Promise.resolve({ id: "", progress: () => ({ items: 0, sweeps: 0, requests: 0, writeUnits: 0 }), done: call.run(run) });
  return Object.assign(call, { start });
};
