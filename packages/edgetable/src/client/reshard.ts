import type { ReshardProgress } from "../executor/reshard/resharding.ts";
import type { ReshardReport } from "../executor/reshard/run-reshard.ts";
import { checkRanges } from "../util/check-range.ts";
import { checkIndex } from "./check-names.ts";
import type { Driver } from "./driver.ts";
import { checkJobName, INDEX_LAG, jobRanges, LEASE } from "./job-options.ts";

/** How items are moved to their shards. */
export interface ReshardOptions {
  /** The index. @default every one whose shards grow */
  readonly index?: string;
  /** Items moved in a second, 1 to 100,000; each is a write of the table and two of the index. @default 100 */
  readonly rate?: number;
  readonly onProgress?: (progress: ReshardProgress) => void;
  /** Name of the job, 1 to 200 characters: its position is kept in the table, and the same call goes on where an earlier one was cut off. @default "reshard" */
  readonly job?: string;
  /** Milliseconds after which a job whose process died may be resumed, 100 to 600,000. @default 10,000 */
  readonly lease?: number;
  /** Milliseconds after which the index is taken to show what was moved, 0 to 600,000. @default 1,000 */
  readonly indexLag?: number;
  readonly signal?: AbortSignal;
  /** Milliseconds for the whole job, 1 or more. @default none */
  readonly deadline?: number;
}

/**
 * Moves the items of sharded indexes to where writers put them now, after a count was raised: `[32, 8]`.
 * Nothing needs it to be found; it gives the writes room, and lets the old count leave the list. It may be
 * cut off and called again, and runs beside readers and writers. Deploy the new count everywhere first.
 *
 * Reads the partitions of the old counts, twice; where a level of a hierarchy names the partition (`split`),
 * it scans the index.
 *
 * @throws {job.busy} while another process is at it
 * @throws {plan.noIndex} when there is no such index
 * @example
 * const { moved } = await db.reshard({ rate: 500 });
 */
export type Reshard = (options?: ReshardOptions) => Promise<ReshardReport>;

const ranges = {
  rate: [1, 100_000],
  ...jobRanges,
  deadline: [1, Number.MAX_SAFE_INTEGER],
} as const;

const check = (driver: Driver, options: ReshardOptions): void => {
  checkRanges(options, ranges);
  checkJobName(options.job);
  if (options.index !== undefined) checkIndex(driver, options.index);
};

/** `db.reshard` of a connection. */
export const reshardOf =
  (driver: Driver): Reshard =>
  async (options = {}) => {
    check(driver, options);
    const { session } = driver;
    const { runReshard } = await import("../executor/reshard/run-reshard.ts");
    return runReshard(session, {
      index: options.index,
      rate: options.rate ?? 100,
      job: options.job ?? "reshard",
      lease: options.lease ?? LEASE,
      indexLag: options.indexLag ?? INDEX_LAG,
      signal: options.signal,
      deadline: options.deadline === undefined ? Number.POSITIVE_INFINITY : session.effects.now() + options.deadline,
      onProgress: options.onProgress,
    });
  };
