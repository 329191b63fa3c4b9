import { addCosts, type Cost, type RunOptions, type SentRequest } from "../executor/call.ts";
import { finishCopyJob, openCopyJob } from "../executor/jobs/copy-job.ts";
import type { CallContext } from "../executor/session.ts";
import type { JobDone } from "../ir/write-outcome.ts";
import type { Driver } from "./driver.ts";
import { INDEX_LAG, LEASE } from "./job-options.ts";

/** The result of the jobs that a write has begun, and the cost of the write and these jobs together. */
export interface FinishedJobs {
  readonly cost: Cost;
  readonly requests: SentRequest[];
  readonly atomic: JobDone;
}

/** Runs the jobs that a write has begun, one after the other. If the call has no deadline, they have no time limit. */
export const finishCopyJobs = async (
  { session }: Pick<Driver, "session">,
  ids: readonly string[],
  { run, context }: { readonly run: RunOptions; readonly context: CallContext },
): Promise<FinishedJobs> => {
  let [items, cost] = [0, context.meter.cost];
  const requests = [...context.meter.requests];
  const deadline = run.deadline === undefined ? Number.POSITIVE_INFINITY : context.deadline;
  for (const id of ids) {
    const job = openCopyJob(session, id, { indexLag: INDEX_LAG, lease: LEASE, signal: run.signal, deadline });
    items += (await finishCopyJob(job)).items;
    cost = addCosts(cost, job.cost);
    requests.push(...job.requests);
  }
  return { atomic: { kind: "job", id: ids[0] ?? "", items }, cost, requests };
};
