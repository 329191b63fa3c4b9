import type { RunOptions } from "../executor/call.ts";
import type { Job } from "../executor/jobs/job-item.ts";
import type { WriteOutcome } from "../ir/write-outcome.ts";
import type { WriteDriver } from "./write-call.ts";
import type { JobHandle, JobOptions } from "./write-types.ts";

/** How a job goes on. */
export interface ResumeOptions extends RunOptions, JobOptions {}

/** Jobs whose state is in the table: deletions, loads and reshardings that are under way, or that a process left behind. */
export interface Jobs {
  /** Every job, by its id. One Query. */
  list(options?: RunOptions): Promise<readonly Job[]>;
  /**
   * Goes on with a deletion. A load is resumed by the same `db.load`, because its source is not in the table;
   * a resharding by the same `db.reshard`.
   *
   * @throws {job.notFound} when there is no such job: it ended, or was never begun
   * @throws {job.mismatch} for a load or a resharding
   * @example
   * const job = await db.jobs.resume(id);
   * await job.done;
   */
  resume(id: string, options?: ResumeOptions): Promise<JobHandle<WriteOutcome<unknown>>>;
  /** Goes on with every deletion that no process is at. */
  resumeAll(options?: ResumeOptions): Promise<readonly JobHandle<WriteOutcome<unknown>>[]>;
  /**
   * Deletes the state of a load or resharding that will not be resumed; what it wrote stays.
   *
   * @throws {job.busy} while a process is at it
   * @throws {job.mismatch} for a deletion, which can only be ended by resuming it
   */
  forget(id: string): Promise<void>;
}

// Few processes look after jobs: the code is loaded by those that do.
const code = async () => import("./resume-jobs.ts");

/** `db.jobs` of a connection. */
export const jobsOf = (driver: WriteDriver): Jobs => ({
  list: async (options) => (await code()).listJobs(driver, options),
  resume: async (id, options = {}) => (await code()).resumeJob(driver, id, options),
  resumeAll: async (options = {}) => (await code()).resumeAllJobs(driver, options),
  forget: async (id) => (await code()).forgetJob(driver, id),
});
