import type { RunOptions } from "../executor/call.ts";
import type { Job } from "../executor/jobs/job-store.ts";
import type { WriteOutcome } from "../ir/write-outcome.ts";
import type { OwnJob, OwnJobOptions, ResumedJobs, ResumeOptions } from "./job-options.ts";
import type { WriteDriver } from "./write-call.ts";
import type { JobHandle } from "./write-types.ts";

/** Jobs whose state is in the table: deletions, loads, reshardings and your own jobs, running or left behind by a process. */
export interface Jobs {
  /** Lists every job, by its id. One Query. */
  list(options?: RunOptions): Promise<readonly Job[]>;
  /**
   * Resumes a deletion. To resume a load, call the same `db.load` again, because its source is not in the table. To resume a
   * resharding or your own job, call the same `db.reshard` or `db.jobs.run` again.
   *
   * @throws {job.notFound} if there is no such job: it has ended or never began
   * @throws {job.mismatch} for a load, a resharding or a job of your own
   * @example
   * const job = await db.jobs.resume(id);
   * await job.done;
   */
  resume(id: string, options?: ResumeOptions): Promise<JobHandle<WriteOutcome<unknown>>>;
  /**
   * Resumes every deletion and change of copies that no process is running. `leased` lists the others: another process is running
   * them, or it died and its lease has not expired. One Query finds them.
   *
   * @example
   * const { resumed, leased, refused } = await db.jobs.resumeAll();
   * for (const { done } of resumed) await done;
   * for (const { id, leasedUntil } of leased) console.log(id, new Date(leasedUntil));
   * for (const { id, error } of refused) console.log(id, error.message);
   */
  resumeAll(options?: ResumeOptions): Promise<ResumedJobs>;
  /**
   * Runs work of your own that takes more than one request and may be interrupted. One process at a time runs a job, and renews its
   * lease while the work runs. What the work saves is stored in the table until the work is done; the same call resumes it. Every
   * step must be safe to repeat, because the last steps before an interruption may not be saved.
   *
   * Costs one write unit to begin, one for each renewal (four per duration of the lease, at least one per second), and one to end.
   *
   * @param id its name, 1 to 200 characters
   * @throws {job.busy} while another process runs it
   * @throws {job.mismatch} if the name belongs to a job of another kind, or the job began with another fingerprint
   * @throws the error of the work; what it saved stays for the next run
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
   * Deletes the state of a load, a resharding or a job of your own that will not be resumed. The items that it wrote stay.
   *
   * @throws {job.busy} while a process is running it
   * @throws {job.mismatch} for a deletion: resume it instead
   */
  forget(id: string): Promise<void>;
}

// Few processes manage jobs, so their first call loads the code.
const code = async () => import("./run-jobs.ts");

/** `db.jobs` of a connection. */
export const jobsOf = (driver: WriteDriver): Jobs => ({
  list: async (options) => (await code()).listJobs(driver, options),
  resume: async (id, options = {}) => (await code()).resumeJob(driver, id, options),
  resumeAll: async (options = {}) => (await code()).resumeAllJobs(driver, options),
  run: async (id, options, work) => (await code()).runOwnJob(driver, id, { options, work }),
  forget: async (id) => (await code()).forgetJob(driver, id),
});
