import { EdgetableError } from "../errors/edgetable-error.ts";
import type { RunOptions } from "../executor/call.ts";
import type { Job } from "../executor/jobs/job-store.ts";
import type { WriteOutcome } from "../ir/write-outcome.ts";
import { checkJobOptions, deletionOutcome, deletionSettings, handleOf } from "./delete-call.ts";
import type { WriteDriver } from "./write-call.ts";
import type { JobHandle, JobOptions } from "./write-types.ts";

export interface ResumeOptions extends RunOptions, JobOptions {}

/** Jobs whose state is in the table: deletions and loads that are under way, or that a process left behind. */
export interface Jobs {
  /** Every job, by its id. One Query. */
  list(options?: RunOptions): Promise<readonly Job[]>;
  /**
   * Goes on with a deletion. A load is resumed by the same `db.load`, because its source is not in the table.
   *
   * @throws {job.notFound} when there is no such job: it ended, or was never begun
   * @throws {job.mismatch} for a load
   * @example
   * const job = await db.jobs.resume(id);
   * await job.done;
   */
  resume(id: string, options?: ResumeOptions): Promise<JobHandle<WriteOutcome<unknown>>>;
  /** Goes on with every deletion that no process is at. */
  resumeAll(options?: ResumeOptions): Promise<readonly JobHandle<WriteOutcome<unknown>>[]>;
  /**
   * Deletes the state of a load that will not be resumed; what it wrote stays.
   *
   * @throws {job.busy} while a process is at it
   * @throws {job.mismatch} for a deletion, which can only be ended by resuming it
   */
  forget(id: string): Promise<void>;
}

type Handle = JobHandle<WriteOutcome<unknown>>;

// Deletion is code of its own that only those load who delete.
const chunk = async () => import("../executor/jobs/begin-deletion.ts");

const refuse = (id: string, message: string): never => {
  throw new EdgetableError("job.mismatch", `"${id}" ${message}`, { details: { id } });
};

const reopen = (
  driver: WriteDriver,
  { job, options }: { readonly job: Job; readonly options: ResumeOptions },
  { reopenDeletion }: Awaited<ReturnType<typeof chunk>>,
): Handle => {
  const begun = reopenDeletion(driver.session, job, deletionSettings(driver, options, options));
  return handleOf(begun.id, begun.deletion, begun.run().then(deletionOutcome));
};

/** `db.jobs` of a connection. */
export const jobsOf = (driver: WriteDriver): Jobs => ({
  list: async (options = {}) => (await chunk()).listJobs(driver.session, driver.context(options)),
  resume: async (id, options = {}) => {
    checkJobOptions(options);
    const code = await chunk();
    const job = await code.findJob(driver.session, id);
    if (job.kind === "load") return refuse(id, "is a load: resume it by the same db.load(source, { job }).");
    return reopen(driver, { job, options }, code);
  },
  resumeAll: async (options = {}) => {
    checkJobOptions(options);
    const code = await chunk();
    const jobs = await code.listJobs(driver.session, driver.context({}));
    return jobs.filter(({ kind, running }) => kind === "delete" && !running).map((job) => reopen(driver, { job, options }, code));
  },
  forget: async (id) => {
    const code = await chunk();
    const job = await code.findJob(driver.session, id);
    if (job.kind !== "load") refuse(id, "deletes a node that is marked for it: resume it, it cannot be forgotten.");
    const context = driver.context({});
    const lease = await code.takeLease(driver.session, { id, kind: "load", duration: 1000, facts: job.facts, resumes: true }, context);
    await code.endJob(driver.session, lease, context);
  },
});
