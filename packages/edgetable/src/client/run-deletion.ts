import { reportOf, type Report, type RunOptions } from "../executor/call.ts";
import { beginDeletion, reopenDeletion, type Begun } from "../executor/jobs/begin-deletion.ts";
import { progressOf, type DeletionResult, type DeletionSettings } from "../executor/jobs/deletion.ts";
import type { Job } from "../executor/jobs/job-item.ts";
import type { DeleteWrite } from "../ir/logical-write.ts";
import type { WriteOutcome } from "../ir/write-outcome.ts";
import { INDEX_LAG, LEASE } from "./job-options.ts";
import { outcomeOfFailure, type WriteDriver } from "./write-call.ts";
import type { JobHandle, JobOptions } from "./write-types.ts";

type Outcome = WriteOutcome<unknown>;

/** A deletion as it was asked for. */
export interface AskedDeletion {
  readonly write: DeleteWrite;
  readonly options: JobOptions;
}

// Without a deadline a job takes the time that it takes.
const settingsOf = (driver: WriteDriver, options: JobOptions, run: RunOptions): DeletionSettings => ({
  indexLag: options.indexLag ?? INDEX_LAG,
  lease: options.lease ?? LEASE,
  signal: run.signal,
  deadline: run.deadline === undefined ? Number.POSITIVE_INFINITY : driver.context(run).deadline,
  onProgress: options.onProgress,
});

const outcomeOf = (result: DeletionResult): Outcome =>
  result.ok ? { ok: true, row: result.row, cost: result.cost, atomic: result.atomic } : outcomeOfFailure(result.failed[0], result.cost);

// A failure is told by `done`, and only there.
const handleOf = (begun: Begun): JobHandle<Outcome> => {
  const { id, deletion } = begun;
  const done = begun.run().then(outcomeOf);
  done.catch(() => undefined);
  return { id, progress: () => progressOf(deletion), done };
};

/** Deletes a node with all that goes along. */
export const makeDeletion = async (driver: WriteDriver, { write, options }: AskedDeletion, run: RunOptions): Promise<Report<Outcome>> => {
  const begun = beginDeletion(driver.session, write, settingsOf(driver, options, run));
  const result = await begun.run();
  return reportOf(outcomeOf(result), { cost: result.cost, requests: begun.deletion.requests });
};

/** Begins the same, and gives a handle on it. */
export const startDeletion = (driver: WriteDriver, { write, options }: AskedDeletion, run: RunOptions): JobHandle<Outcome> =>
  handleOf(beginDeletion(driver.session, write, settingsOf(driver, options, run)));

/** Goes on with a deletion that was begun and not ended. */
export const resumeDeletion = (driver: WriteDriver, job: Job, options: JobOptions & RunOptions): JobHandle<Outcome> =>
  handleOf(reopenDeletion(driver.session, job, settingsOf(driver, options, options)));
