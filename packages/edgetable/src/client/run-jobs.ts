import { EdgetableError } from "../errors/edgetable-error.ts";
import { checkRun, reportOf, runChecks, type Report, type RunOptions } from "../executor/call.ts";
import {
  openDeletion,
  progressOf,
  reopenDeletion,
  runDeletion,
  type Deletion,
  type DeletionResult,
  type DeletionSettings,
} from "../executor/jobs/delete-node.ts";
import { endJob, findJob, type Job, listJobs as list, takeLease } from "../executor/jobs/job-store.ts";
import { runReshard, type ReshardReport } from "../executor/reshard/run-reshard.ts";
import type { DeleteWrite } from "../ir/logical-write.ts";
import type { WriteOutcome } from "../ir/write-outcome.ts";
import { checkOptions, checkSignal, type OptionChecks } from "../util/check-options.ts";
import { checkIndex } from "./check-names.ts";
import type { Driver } from "./driver.ts";
import { checkJobName, INDEX_LAG, jobChecks, LEASE, type ReshardOptions, type ResumeOptions } from "./job-options.ts";
import { outcomeOfFailure, type WriteDriver } from "./write-call.ts";
import type { JobHandle, JobOptions } from "./write-types.ts";

type Outcome = WriteOutcome<unknown>;

/** A deletion as it was asked for. */
export interface AskedDeletion {
  readonly write: DeleteWrite;
  readonly options: JobOptions;
}

// Without a deadline, a job takes as long as it needs.
const deletionSettings = (driver: WriteDriver, options: JobOptions, run: RunOptions): DeletionSettings => ({
  indexLag: options.indexLag ?? INDEX_LAG,
  lease: options.lease ?? LEASE,
  signal: run.signal,
  deadline: run.deadline === undefined ? Number.POSITIVE_INFINITY : driver.context(run).deadline,
  onProgress: options.onProgress,
});

const outcomeOf = (result: DeletionResult): Outcome =>
  result.ok ? { ok: true, row: result.row, cost: result.cost, atomic: result.atomic } : outcomeOfFailure(result.failed[0], result.cost);

const startJob = (deletion: Deletion, resumes: boolean): JobHandle<Outcome> => {
  const done = runDeletion(deletion, resumes).then(outcomeOf);
  // Callers learn of a failure by `done` alone, and need not listen to it.
  done.catch(() => undefined);
  return { id: deletion.id, progress: () => progressOf(deletion), done };
};

/** Deletes a node with everything that goes with it. */
export const makeDeletion = async (driver: WriteDriver, { write, options }: AskedDeletion, run: RunOptions): Promise<Report<Outcome>> => {
  const deletion = openDeletion(driver.session, write, deletionSettings(driver, options, run));
  const outcome = outcomeOf(await runDeletion(deletion, false));
  return reportOf(outcome, { cost: deletion.cost, requests: deletion.requests });
};

/** Begins to delete a node with everything that goes with it. */
export const startDeletion = (driver: WriteDriver, { write, options }: AskedDeletion, run: RunOptions): JobHandle<Outcome> =>
  startJob(openDeletion(driver.session, write, deletionSettings(driver, options, run)), false);

const resumeDeletion = (driver: WriteDriver, job: Job, options: ResumeOptions): JobHandle<Outcome> =>
  startJob(reopenDeletion(driver.session, job, deletionSettings(driver, options, options)), true);

export const listJobs = (driver: WriteDriver, options?: RunOptions): Promise<readonly Job[]> =>
  list(driver.session, driver.context(checkRun(options)));

const resumeChecks: OptionChecks<ResumeOptions> = { ...jobChecks, ...runChecks };

const mismatch = (id: string, message: string): EdgetableError =>
  new EdgetableError("job.mismatch", `"${id}" ${message}`, { details: { id } });

export const resumeJob = async (driver: WriteDriver, id: string, options: ResumeOptions): Promise<JobHandle<Outcome>> => {
  checkOptions(options, resumeChecks);
  const job = await findJob(driver.session, id);
  if (job.kind === "load") throw mismatch(id, "is a load: resume it by the same db.load(source, { job }).");
  if (job.kind === "reshard") throw mismatch(id, "moves items to their shards: resume it by the same db.reshard({ job }).");
  return resumeDeletion(driver, job, options);
};

export const resumeAllJobs = async (driver: WriteDriver, options: ResumeOptions): Promise<readonly JobHandle<Outcome>[]> => {
  checkOptions(options, resumeChecks);
  const jobs = await listJobs(driver);
  return jobs.filter(({ kind, running }) => kind === "delete" && !running).map((job) => resumeDeletion(driver, job, options));
};

export const forgetJob = async (driver: WriteDriver, id: string): Promise<void> => {
  const { session } = driver;
  const { kind, facts } = await findJob(session, id);
  if (kind === "delete") throw mismatch(id, "deletes a node that is marked for it: resume the job, it cannot be forgotten.");
  const context = driver.context({});
  const lease = await takeLease(session, { id, kind, duration: 1000, facts, resumes: true }, context);
  await endJob(session, lease, context);
};

const reshardChecks: OptionChecks<ReshardOptions> = {
  index: "string",
  rate: [1, 100_000],
  job: checkJobName,
  ...jobChecks,
  signal: checkSignal,
  deadline: [1, Number.MAX_SAFE_INTEGER],
};

/** Moves items; see `Reshard`. */
export const reshardItems = async (driver: Driver, options: ReshardOptions): Promise<ReshardReport> => {
  checkOptions(options, reshardChecks);
  if (options.index !== undefined) checkIndex(driver, options.index);
  const { index, rate = 100, job = "reshard", lease = LEASE, indexLag = INDEX_LAG, signal, deadline, onProgress } = options;
  const { session } = driver;
  const end = deadline === undefined ? Number.POSITIVE_INFINITY : session.effects.now() + deadline;
  return runReshard(session, { index, rate, job, lease, indexLag, signal, deadline: end, onProgress });
};
