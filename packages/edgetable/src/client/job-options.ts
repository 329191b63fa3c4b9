import { EdgetableError } from "../errors/edgetable-error.ts";
import type { RunOptions } from "../executor/call.ts";
import type { Collision } from "../executor/load/collisions.ts";
import type { FailedRow, LoadProgress } from "../executor/load/load-state.ts";
import type { Job, JobFacts } from "../executor/jobs/job-store.ts";
import type { ReshardProgress } from "../executor/reshard/run-reshard.ts";
import type { MigrationProgress } from "../migrate/run-migration.ts";
import type { WriteOutcome } from "../ir/write-outcome.ts";
import type { OptionChecks } from "../util/check-options.ts";
import { jsonText } from "../util/json-text.ts";
import type { JobHandle, JobOptions } from "./write-types.ts";

/** Milliseconds until an index is assumed to show earlier writes. */
export const INDEX_LAG = 1000;
/** Milliseconds for which a job's lease is valid. */
export const LEASE = 10_000;

/** The allowed values of every job's options, in milliseconds. */
export const jobChecks: OptionChecks<JobOptions> = { indexLag: [0, 600_000], lease: [100, 600_000], onProgress: "function" };

const LONGEST_NAME = 200;

/** @throws {plan.invalidOption} if the name of a job is not a text of 1 to 200 characters */
export const checkJobName = (job: string): void => {
  if (typeof job === "string" && job.length >= 1 && job.length <= LONGEST_NAME) return;
  throw new EdgetableError("plan.invalidOption", `job is ${jsonText(job)}: give a name of 1 to ${LONGEST_NAME} characters.`, {
    details: { option: "job", value: job },
  });
};

/** The jobs that `resumeAll` found. */
export interface ResumedJobs {
  /** Jobs that continue in this process. */
  readonly resumed: readonly JobHandle<WriteOutcome<unknown>>[];
  /** Jobs that another process still holds, until `leasedUntil` unless it renews its lease. */
  readonly leased: readonly Job[];
  /** Jobs that another model began and this one cannot resume, because it does not know their node type or edges. */
  readonly refused: readonly RefusedJob[];
}

/** A job that was not resumed, and why. */
export interface RefusedJob {
  readonly id: string;
  readonly error: EdgetableError;
}

/** How a job is resumed. */
export interface ResumeOptions extends RunOptions, JobOptions {}

/** Options of a resharding. */
export interface ReshardOptions {
  /** The index. @default all indexes whose shard count grows */
  readonly index?: string | undefined;
  /** Items moved per second, 1 to 100,000; each takes a write to the table and two to the index. @default 100 */
  readonly rate?: number | undefined;
  /** Called with the progress after each page. */
  readonly onProgress?: ((progress: ReshardProgress) => void) | undefined;
  /**
   * Name of the job, 1 to 200 characters: its position is stored in the table, and the same call resumes an interrupted one.
   * @default "reshard"
   */
  readonly job?: string | undefined;
  /** Milliseconds until another process may resume a job whose process died, 100 to 600,000. @default 10,000 */
  readonly lease?: number | undefined;
  /** Milliseconds until the index is assumed to show moved items, 0 to 600,000. @default 1,000 */
  readonly indexLag?: number | undefined;
  /** Ends it with `execute.aborted`; call again to resume. */
  readonly signal?: AbortSignal | undefined;
  /** Time limit of the whole job in milliseconds, 1 or more. @default none */
  readonly deadline?: number | undefined;
}

/** How a program's own job is run. */
export interface OwnJobOptions {
  /**
   * Identifies the input, for example by the hash of a file, 0 to 1,000 characters. A job is only resumed with the same
   * fingerprint. @default ""
   */
  readonly fingerprint?: string | undefined;
  /** Milliseconds until another process may resume a job whose process died, 100 to 600,000. @default 10,000 */
  readonly lease?: number | undefined;
  /** Ends the job with `execute.aborted` at its next `check`; call again to resume. */
  readonly signal?: AbortSignal | undefined;
}

/** A running job of the program's own. */
export interface OwnJob {
  /** The values that an earlier, interrupted run saved; empty for a new job. */
  readonly saved: JobFacts;
  /**
   * Replaces the saved values. They are written with the next renewal of the lease, within a second, and when the work fails. Save
   * little, such as a position: each renewal writes it, and an item holds 400 KB.
   *
   * @throws {plan.invalidOption} for a value that is neither text nor a finite number, and for the name `fingerprint`
   */
  save(facts: JobFacts): void;
  /**
   * Call it before each request.
   *
   * @throws {job.busy} if the lease expired or another process took it
   * @throws {execute.aborted} if the signal aborts or the connection closes
   */
  check(): void;
  /**
   * Writes derived attributes of a node or edge that are declared with freshness `batch`; undefined removes one. The item's version
   * does not change. One UpdateItem; a transaction for an edge that is stored twice.
   *
   * @param name the node type or edge type
   * @param id the node's id, or `{ from, to }` of an edge with its own key
   * @param condition a condition on the item, like `if` of an update
   * @throws {plan.invalidOption} for an attribute whose freshness is not `batch`
   * @throws {job.busy} {execute.aborted} like `check`
   */
  setDerived(
    name: string,
    id: Readonly<Record<string, unknown>>,
    values: Readonly<Record<string, unknown>>,
    condition?: Readonly<Record<string, unknown>>,
  ): Promise<WriteOutcome<unknown>>;
  /** Aborts with the job's own signal and when the connection closes. */
  readonly signal: AbortSignal;
}

/** Options of a bulk load. */
export interface LoadOptions {
  /**
   * `kept`: rows that write the same item do so in the order of the input, so the last one wins. `any`: their order is undefined if
   * they are more than a few rows apart. @default "any"
   */
  readonly order?: "any" | "kept" | undefined;
  /**
   * What to do about rows with the same key: report them, stop the load at the first one, or ignore them. Finding them takes up to
   * 8 MB of memory. From some 170,000 items on, it also takes a temporary file of 49 bytes for each item in the folder that
   * `TMPDIR` names, or as much memory if there is no room for the file. The file contains hashes under a secret that is not stored.
   * @default "report"
   */
  readonly collisions?: "report" | "refuse" | "ignore" | undefined;
  /** True to stop at the first invalid row. @default false: the report names invalid rows, and the others are loaded */
  readonly strict?: boolean | undefined;
  /**
   * Whether the load checks that the ends of an edge, and the node of a part whose owner is `checked`, exist. Each checked edge and
   * part takes a transaction. Edges and parts that a node counts always need the node. A row whose node is missing waits, with up
   * to 10,000 others, until the input brings the node, and fails otherwise. @default "unchecked"
   */
  readonly ends?: "checked" | "unchecked" | undefined;
  /**
   * The times of rows whose type keeps `timestamps`. `given`: a row keeps the times that it contains, as rows of a scan do. A row
   * without a time of creation keeps that of the item it replaces, which takes a separate read and write. `now`: every row gets the
   * time at which it is loaded, and nothing is read. `refused`: a row that contains a time fails.
   *
   * @default "given"
   */
  readonly times?: "given" | "now" | "refused" | undefined;
  /**
   * Name of a resumable job, 1 to 200 characters: its position is stored in the table, and the same call with the same source
   * resumes an interrupted one.
   */
  readonly job?: string | undefined;
  /** Identifies the input, for example by the hash of a file. A job is only resumed with the same fingerprint. @default "" */
  readonly fingerprint?: string | undefined;
  /** Milliseconds until another process may resume a job whose process died, 100 to 600,000. @default 10,000 */
  readonly lease?: number | undefined;
  /** Maximum number of requests in flight, 1 to 1,000. @default 16 */
  readonly concurrency?: number | undefined;
  /** Time limit of one request, including retries, in milliseconds, 1 to 86,400,000. @default 60,000 */
  readonly deadline?: number | undefined;
  /** Maximum number of failures, and of collisions, that the report lists, 0 to 100,000; it counts all. @default 100 */
  readonly named?: number | undefined;
  /** Ends the load with `execute.aborted`, as `close()` ends one with `job`; a job can then be resumed. */
  readonly signal?: AbortSignal | undefined;
  /** Called with the progress of the load, and with the whole report at the end. An error that it throws ends the load. */
  readonly onProgress?: ((progress: LoadProgress) => void) | undefined;
  /**
   * Expected number of rows, 0 or more, for the estimate in `onProgress`; or a function, called before each progress report, that
   * returns it. @default the length of an array or the size of a set or map, else unknown
   */
  readonly estimated?: number | (() => number | undefined) | undefined;
  /** Milliseconds between two calls of `onProgress`, 1 to 600,000. @default 1,000 */
  readonly progressEvery?: number | undefined;
  /** Called with every row that fails, while the load continues. */
  readonly onFailure?: ((failure: FailedRow) => void) | undefined;
  /** Called with every collision, while the load continues. */
  readonly onCollision?: ((collision: Collision) => void) | undefined;
}

/** How a migration is planned. */
export interface MigrationPlanOptions extends RunOptions {
  /**
   * True to change the keys of an index in use. Processes with the recorded model then no longer find items that have the new keys.
   * @default false: refused
   */
  readonly inPlace?: boolean | undefined;
  /**
   * True to check everything that follows from rows again, although the table's record says that it follows the model: index keys,
   * unique values, derived attributes, counts, and the form of renamed and retyped attributes. Use it if a program with an older
   * model has written to the table since. @default false
   */
  readonly again?: boolean | undefined;
}

/** How a migration is run. */
export interface MigrationOptions extends MigrationPlanOptions {
  /**
   * True if every process that writes to the table uses this model. Only then can an index be complete: the migration makes the
   * last passes, creates the new indexes and deletes the old ones. @default false: items get their keys, and the migration stops
   * before these steps
   */
  readonly finish?: boolean | undefined;
  /**
   * Share of the table's capacity that it may use, in percent, 1 to 100. For a table on demand, of 4,000 writes and 12,000 reads
   * per second. @default 25
   */
  readonly share?: number | undefined;
  /** True to read the table and change nothing. @default false */
  readonly dryRun?: boolean | undefined;
  /** True to leave items that cannot have an index's keys out of the index, and to name them in the report. @default false: refused */
  readonly leaveOut?: boolean | undefined;
  /** Called with the progress at each step and after each page of items. */
  readonly onProgress?: ((progress: MigrationProgress) => void) | undefined;
  /** Milliseconds until another process may resume a migration whose process died, 100 to 600,000. @default 10,000 */
  readonly lease?: number | undefined;
  /** Milliseconds until an index is assumed to show earlier writes, 0 to 600,000. @default 1,000 */
  readonly indexLag?: number | undefined;
}
