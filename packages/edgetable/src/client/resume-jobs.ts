import { EdgetableError } from "../errors/edgetable-error.ts";
import { findJob } from "../executor/jobs/begin-deletion.ts";
import type { Job } from "../executor/jobs/job-item.ts";
import { listJobs as list } from "../executor/jobs/list-jobs.ts";
import { endJob, takeLease } from "../executor/jobs/lease.ts";
import { checkRun, runKinds, type RunOptions } from "../executor/call.ts";
import type { WriteOutcome } from "../ir/write-outcome.ts";
import { checkOptions } from "../util/check-options.ts";
import { jobKinds } from "./job-options.ts";
import { resumeDeletion } from "./run-deletion.ts";
import type { WriteDriver } from "./write-call.ts";
import type { JobHandle, JobOptions } from "./write-types.ts";

type Handle = JobHandle<WriteOutcome<unknown>>;
type Options = JobOptions & RunOptions;

const kinds = { ...jobKinds, ...runKinds };

const refuse = (id: string, message: string): never => {
  throw new EdgetableError("job.mismatch", `"${id}" ${message}`, { details: { id } });
};

export const listJobs = (driver: WriteDriver, options?: RunOptions): Promise<readonly Job[]> =>
  list(driver.session, driver.context(checkRun(options)));

export const resumeJob = async (driver: WriteDriver, id: string, options: Options): Promise<Handle> => {
  checkOptions(options, kinds);
  const job = await findJob(driver.session, id);
  if (job.kind === "load") return refuse(id, "is a load: resume it by the same db.load(source, { job }).");
  if (job.kind === "reshard") return refuse(id, "moves items to their shards: resume it by the same db.reshard({ job }).");
  return resumeDeletion(driver, job, options);
};

export const resumeAllJobs = async (driver: WriteDriver, options: Options): Promise<readonly Handle[]> => {
  checkOptions(options, kinds);
  const jobs = await listJobs(driver);
  return jobs.filter(({ kind, running }) => kind === "delete" && !running).map((job) => resumeDeletion(driver, job, options));
};

export const forgetJob = async (driver: WriteDriver, id: string): Promise<void> => {
  const job = await findJob(driver.session, id);
  if (job.kind === "delete") refuse(id, "deletes a node that is marked for it: resume it, it cannot be forgotten.");
  const context = driver.context({});
  const lease = await takeLease(driver.session, { id, kind: job.kind, duration: 1000, facts: job.facts, resumes: true }, context);
  await endJob(driver.session, lease, context);
};
