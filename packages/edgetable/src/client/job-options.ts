import { EdgetableError } from "../errors/edgetable-error.ts";
import type { RunOptions } from "../executor/call.ts";
import type { ReshardProgress } from "../executor/reshard/run-reshard.ts";
import type { OptionChecks } from "../util/check-options.ts";
import { jsonText } from "../util/json-text.ts";
import type { JobOptions } from "./write-types.ts";

/** Milliseconds after which an index is assumed to show what was written before. */
export const INDEX_LAG = 1000;
/** Milliseconds for which a job's lease is valid. */
export const LEASE = 10_000;

/** The allowed values of every job's options, in milliseconds. */
export const jobKinds: OptionChecks<JobOptions> = { indexLag: [0, 600_000], lease: [100, 600_000], onProgress: "function" };

const LONGEST_NAME = 200;

/** @throws {plan.invalidOption} when the name of a job is not a text of 1 to 200 characters */
export const checkJobName = (job: string): void => {
  if (typeof job === "string" && job.length >= 1 && job.length <= LONGEST_NAME) return;
  throw new EdgetableError("plan.invalidOption", `job is ${jsonText(job)}: give a name of 1 to ${LONGEST_NAME} characters.`, {
    details: { option: "job", value: job },
  });
};

/** How a job is resumed. */
export interface ResumeOptions extends RunOptions, JobOptions {}

/** How items are moved to their shards. */
export interface ReshardOptions {
  /** The index. @default every one whose shards grow */
  readonly index?: string;
  /** Items moved in a second, 1 to 100,000; each is a write of the table and two of the index. @default 100 */
  readonly rate?: number;
  /** Is called with how far it has come, after each page. */
  readonly onProgress?: (progress: ReshardProgress) => void;
  /**
   * Name of the job, 1 to 200 characters: its position is kept in the table, and the same call resumes an earlier one
   * that was cut off. @default "reshard"
   */
  readonly job?: string;
  /** Milliseconds after which a job whose process died may be resumed, 100 to 600,000. @default 10,000 */
  readonly lease?: number;
  /** Milliseconds after which the index is assumed to show what was moved, 0 to 600,000. @default 1,000 */
  readonly indexLag?: number;
  /** Ends it with `execute.aborted`; call again to resume. */
  readonly signal?: AbortSignal;
  /** Milliseconds for the whole job, 1 or more. @default none */
  readonly deadline?: number;
}
