import type { RunOptions } from "../executor/call.ts";
import type { Job } from "../executor/jobs/job-store.ts";
import type { WriteOutcome } from "../ir/write-outcome.ts";
import type { OwnJob, OwnJobOptions, ResumedJobs, ResumeOptions } from "./job-options.ts";
import type { WriteDriver } from "./write-call.ts";
import type { JobHandle } from "./write-types.ts";

/** Jobs whose state is in the table: deletions, loads, reshardings and your own that are running, or that a process left behind. */
export interface Jobs {
  /** Lists every job, by its id. One Query. */
  list(options?: RunOptions): Promise<readonly Job[]>;
  /**
   * Resumes a deletion. To resume a load, call the same `db.load` again, because its source is not in the table; for a
   * resharding, call the same `db.reshard`; for your own, the same `db.jobs.run`.
   *
   * @throws {job.notFound} when there is no such job: it ended, or was never begun
   * @throws {job.mismatch} for a load, a resharding or a job of your own
   * @example
   * const job = await db.jobs.resume(id);
   * await job.done;
   */
  resume(id: string, options?: ResumeOptions): Promise<JobHandle<WriteOutcome<unknown>>>;
  /**
   * Resumes every deletion and change of copies that no process is running, and tells which are leased: those run
   * elsewhere, or their process died and its lease has not expired. One Query to find them.
   *
   * @example
   * const { resumed, leased, refused } = await db.jobs.resumeAll();
   * for (const { done } of resumed) await done;
   * for (const { id, leasedUntil } of leased) console.log(id, new Date(leasedUntil));
   * for (const { id, error } of refused) console.log(id, error.message);
   */
  resumeAll(options?: ResumeOptions): Promise<ResumedJobs>;
  /**
   * Runs work of your own that takes more than one request and may be cut off. One process at a time runs a job: its
   * lease is renewed while the work runs. What the work saves is kept in the table until it is done; the same call
   * resumes it. Every step must be safe to take twice, because the last ones before an end may not be saved.
   *
   * One write unit to begin, one for each renewal (four in the lease's duration, and at least one a second), one to end.
   *
   * @param id its name, 1 to 200 characters
   * @throws {job.busy} while another process runs it
   * @throws {job.mismatch} when the name belongs to a job of another kind, or it was begun with another fingerprint
   * @throws whatever the work throws; what it saved stays for the next run
   * @example
   * await db.jobs.run("greet", {}, async (job) => {
   *   for (let at = Number(job.saved["at"] ?? 0); at < 3; at++) {
   *     job.check();
   *     await db.student.update({ studentId: `S${at}` }, { name: `Student ${at}` });
   *     job.save({ at: at + 1 });
   *   }
   * });
   */
  run<Result>(id: string, options: OwnJobOptions, work: (job: OwnJob) => Promise<Result>): Promise<Result>;
  /**
   * Deletes the state of a load, a resharding or a job of your own that will not be resumed; what it wrote stays.
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
  run: async (id, options, work) => (await code()).runOwnJob(driver, id, { options, work }),
  forget: async (id) => (await code()).forgetJob(driver, id),
});
