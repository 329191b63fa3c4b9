import { stoppedByClose } from "../executor/jobs/stopped-by-close.ts";
import type { ReshardProgress } from "../executor/reshard/resharding.ts";
import { runReshard, type ReshardReport } from "../executor/reshard/run-reshard.ts";
import { checkSignal, checkOptions, type OptionChecks } from "../util/check-options.ts";
import { checkIndex } from "./check-names.ts";
import type { Driver } from "./driver.ts";
import { checkJobName } from "./job-name.ts";
import { INDEX_LAG, jobKinds, LEASE } from "./job-options.ts";

/** How items are moved to their shards. */
export interface ReshardOptions {
  /** The index. @default every one whose shards grow */
  readonly index?: string;
  /** Items moved in a second, 1 to 100,000; each is a write of the table and two of the index. @default 100 */
  readonly rate?: number;
  /** Is told how far it has come. */
  readonly onProgress?: (progress: ReshardProgress) => void;
  /** Name of the job, 1 to 200 characters: its position is kept in the table, and the same call goes on where an earlier one was cut off. @default "reshard" */
  readonly job?: string;
  /** Milliseconds after which a job whose process died may be resumed, 100 to 600,000. @default 10,000 */
  readonly lease?: number;
  /** Milliseconds after which the index is taken to show what was moved, 0 to 600,000. @default 1,000 */
  readonly indexLag?: number;
  /** Ends it with `execute.aborted`; called again, it goes on. */
  readonly signal?: AbortSignal;
  /** Milliseconds for the whole job, 1 or more. @default none */
  readonly deadline?: number;
}

const kinds: OptionChecks<ReshardOptions> = {
  index: "string",
  rate: [1, 100_000],
  job: checkJobName,
  ...jobKinds,
  signal: checkSignal,
  deadline: [1, Number.MAX_SAFE_INTEGER],
};

/** Moves items; see `Reshard`. */
export const reshardItems = async (driver: Driver, options: ReshardOptions): Promise<ReshardReport> => {
  checkOptions(options, kinds);
  if (options.index !== undefined) checkIndex(driver, options.index);
  const { session } = driver;
  const { signal, hold } = stoppedByClose(session, options.signal);
  const resharding = runReshard(session, {
    index: options.index,
    rate: options.rate ?? 100,
    job: options.job ?? "reshard",
    lease: options.lease ?? LEASE,
    indexLag: options.indexLag ?? INDEX_LAG,
    signal,
    deadline: options.deadline === undefined ? Number.POSITIVE_INFINITY : session.effects.now() + options.deadline,
    onProgress: options.onProgress,
  });
  return hold(resharding);
};
