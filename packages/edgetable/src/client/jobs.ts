import type { RunOptions } from "../executor/call.ts";
import type { Job } from "../executor/jobs/job-store.ts";
import type { WriteOutcome } from "../ir/write-outcome.ts";
import type { ResumeOptions } from "./job-options.ts";
import type { WriteDriver } from "./write-call.ts";
import type { JobHandle } from "./write-types.ts";

/** Jobs whose state is in the table: deletions, loads and reshardings that are running, or that a process left behind. */
export interface Jobs {
  /** Lists every job, by its id. One Query. */
  list(options?: RunOptions): Promise<readonly Job[]>;
  /**
   * Resumes a deletion. To resume a load, call the same `db.load` again, because its source is not in the table; for a
   * resharding, call the same `db.reshard`.
   *
   * @throws {job.notFound} when there is no such job: it ended, or was never begun
   * @throws {job.mismatch} for a load or a resharding
   * @example
   * const job = await db.jobs.resume(id);
   * await job.done;
   */
  resume(id: string, options?: ResumeOptions): Promise<JobHandle<WriteOutcome<unknown>>>;
  /** Resumes every deletion that no process is running. */
  resumeAll(options?: ResumeOptions): Promise<readonly JobHandle<WriteOutcome<unknown>>[]>;
  /**
   * Deletes the state of a load or resharding that will not be resumed; what it wrote stays.
   *
   * @throws {job.busy} while a process is running it
   * @throws {job.mismatch} for a deletion, which can only be ended by resuming it
   */
  forget(id: string): Promise<void>;
}

// Few processes manage jobs: they load the code with their first call.
const code = async () => import("./run-jobs.ts");

/** `db.jobs` of a connection. */
export const jobsOf = (driver: WriteDriver): Jobs => ({
  list: async (options) => (await code()).listJobs(driver, options),
  resume: async (id, options = {}) => (await code()).resumeJob(driver, id, options),
  resumeAll: async (options = {}) => (await code()).resumeAllJobs(driver, options),
  forget: async (id) => (await code()).forgetJob(driver, id),
});
