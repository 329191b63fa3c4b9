import type { Collision } from "../executor/load/collisions.ts";
import type { LoadSettings } from "../executor/load/load-settings.ts";
import type { FailedRow, LoadProgress } from "../executor/load/tally.ts";
import { checkSignal, checkOptions, type OptionChecks } from "../util/check-options.ts";
import { checkJobName, jobKinds } from "./job-options.ts";

/** How a bulk load is made. */
export interface LoadOptions {
  /**
   * `kept`: rows that write the same item do so in the order of the input, so that the last one
   * stands; `any`: that is left to chance where they are more than a few rows apart. @default "any"
   */
  readonly order?: "any" | "kept";
  /**
   * What becomes of rows that make the same key: they are reported, the first one stops the load, or
   * nobody looks. Looking takes up to 8 MB of memory; from some 170,000 items on also a temporary file of 49 bytes
   * for each (hashes under a secret that is kept nowhere, in the folder that `TMPDIR` names), or as much memory
   * where there is no room for one. @default "report"
   */
  readonly collisions?: "report" | "refuse" | "ignore";
  /** True to stop at the first row that does not fit. @default false: it is named, and the rest goes on */
  readonly strict?: boolean;
  /**
   * Whether an edge's ends, and the node of a part whose owner is `checked`, must be there already; checking
   * makes each of them a transaction. @default "unchecked"
   */
  readonly ends?: "checked" | "unchecked";
  /**
   * Name of a resumable job, 1 to 200 characters: its position is kept in the table, and the same call
   * with the same source goes on where an earlier one was cut off.
   */
  readonly job?: string;
  /** Says which input this is (a file's hash, say): a job is not resumed with another. @default "" */
  readonly fingerprint?: string;
  /** Milliseconds after which a job whose process died may be resumed, 100 to 600,000. @default 10,000 */
  readonly lease?: number;
  /** Requests under way at the same time, 1 to 1,000. @default 16 */
  readonly concurrency?: number;
  /** Milliseconds that one request is tried for, retries included, 1 to 86,400,000. @default 60,000 */
  readonly deadline?: number;
  /** Failures and collisions that the report names; it counts all. 0 to 100,000. @default 100 */
  readonly named?: number;
  /** Ends the load with `execute.aborted`; a job can then be resumed. */
  readonly signal?: AbortSignal;
  /** Is told how far the load has come, and of the whole report at the end. What it throws ends the load. */
  readonly onProgress?: (progress: LoadProgress) => void;
  /** Milliseconds between two calls of `onProgress`, 1 to 600,000. @default 1,000 */
  readonly progressEvery?: number;
  /** Is told of every row that fails, while the load goes on. */
  readonly onFailure?: (failure: FailedRow) => void;
  /** Is told of every collision, while the load goes on. */
  readonly onCollision?: (collision: Collision) => void;
}

const kinds: OptionChecks<LoadOptions> = {
  order: ["any", "kept"],
  collisions: ["report", "refuse", "ignore"],
  strict: "boolean",
  ends: ["checked", "unchecked"],
  job: checkJobName,
  fingerprint: "string",
  lease: jobKinds.lease,
  concurrency: [1, 1000],
  deadline: [1, 86_400_000],
  named: [0, 100_000],
  signal: checkSignal,
  onProgress: "function",
  progressEvery: [1, 600_000],
  onFailure: "function",
  onCollision: "function",
};

/** @throws {plan.invalidOption} when an option is unknown, or not of its kind */
export const checkLoadOptions = (options: LoadOptions): LoadOptions => checkOptions(options, kinds);

/** Checked options with their defaults. */
export const loadSettings = (options: LoadOptions, validates: boolean): Omit<LoadSettings, "from" | "check"> => ({
  order: "any",
  collisions: "report",
  strict: false,
  concurrency: 16,
  deadline: 60_000,
  named: 100,
  progressEvery: 1000,
  ...(options as Pick<LoadSettings, "signal" | "onProgress" | "onFailure" | "onCollision">),
  validates,
});
