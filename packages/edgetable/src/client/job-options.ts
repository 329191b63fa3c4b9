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

/** Milliseconds after which an index is assumed to show what was written before. */
export const INDEX_LAG = 1000;
/** Milliseconds for which a job's lease is valid. */
export const LEASE = 10_000;

/** The allowed values of every job's options, in milliseconds. */
export const jobChecks: OptionChecks<JobOptions> = { indexLag: [0, 600_000], lease: [100, 600_000], onProgress: "function" };

const LONGEST_NAME = 200;

/** @throws {plan.invalidOption} when the name of a job is not a text of 1 to 200 characters */
export const checkJobName = (job: string): void => {
  if (typeof job === "string" && job.length >= 1 && job.length <= LONGEST_NAME) return;
  throw new EdgetableError("plan.invalidOption", `job is ${jsonText(job)}: give a name of 1 to ${LONGEST_NAME} characters.`, {
    details: { option: "job", value: job },
  });
};

/** What `resumeAll` found. */
export interface ResumedJobs {
  /** Jobs that go on in this process. */
  readonly resumed: readonly JobHandle<WriteOutcome<unknown>>[];
  /** Jobs that another process still leases, until `leasedUntil` unless it renews the lease. */
  readonly leased: readonly Job[];
  /** Jobs that this model cannot resume, because another model began them: their node type or edges are unknown here. */
  readonly refused: readonly RefusedJob[];
}

/** A job that was not resumed, and why. */
export interface RefusedJob {
  readonly id: string;
  readonly error: EdgetableError;
}

/** How a job is resumed. */
export interface ResumeOptions extends RunOptions, JobOptions {}

/** How items are moved to their shards. */
export interface ReshardOptions {
  /** The index. @default every one whose shards grow */
  readonly index?: string | undefined;
  /** Items moved in a second, 1 to 100,000; each is a write of the table and two of the index. @default 100 */
  readonly rate?: number | undefined;
  /** Is called with how far it has come, after each page. */
  readonly onProgress?: ((progress: ReshardProgress) => void) | undefined;
  /**
   * Name of the job, 1 to 200 characters: its position is kept in the table, and the same call resumes an earlier one
   * that was cut off. @default "reshard"
   */
  readonly job?: string | undefined;
  /** Milliseconds after which a job whose process died may be resumed, 100 to 600,000. @default 10,000 */
  readonly lease?: number | undefined;
  /** Milliseconds after which the index is assumed to show what was moved, 0 to 600,000. @default 1,000 */
  readonly indexLag?: number | undefined;
  /** Ends it with `execute.aborted`; call again to resume. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds for the whole job, 1 or more. @default none */
  readonly deadline?: number | undefined;
}

/** How a program's own job is run. */
export interface OwnJobOptions {
  /** Identifies the input, such as by a file's hash, 0 to 1,000 characters: a job is not resumed with another one. @default "" */
  readonly fingerprint?: string | undefined;
  /** Milliseconds after which a job whose process died may be resumed, 100 to 600,000. @default 10,000 */
  readonly lease?: number | undefined;
  /** Ends the job with `execute.aborted` at its next `check`; call again to resume. */
  readonly signal?: AbortSignal | undefined;
}

/** A program's own job while it runs. */
export interface OwnJob {
  /** What an earlier run that was cut off saved; empty for a job that begins. */
  readonly saved: JobFacts;
  /**
   * Replaces what the job saves. It is written with the next renewal of the lease, within a second, and when the work
   * fails. Save little, such as a position: each renewal writes it, and an item holds 400 KB.
   *
   * @throws {plan.invalidOption} for a value that is neither text nor a finite number, and for the name `fingerprint`
   */
  save(facts: JobFacts): void;
  /**
   * Call it before each request.
   *
   * @throws {job.busy} when the lease expired or another process took it
   * @throws {execute.aborted} when the signal aborts or the connection closes
   */
  check(): void;
  /**
   * Writes derived attributes of a node or edge that are declared with freshness `batch`; undefined removes one. The item keeps
   * its version. One UpdateItem; a transaction for an edge that is stored twice.
   *
   * @param name the node type or edge type
   * @param id of a node its id; of an edge `{ from, to }` with its own key
   * @param condition what must hold of the item, as `if` of an update
   * @throws {plan.invalidOption} for an attribute that is not kept in batch
   * @throws {job.busy} {execute.aborted} as `check` does
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
   * `kept`: rows that write the same item do so in the order of the input, so that the last one
   * stands; `any`: their order is undefined if they are more than a few rows apart. @default "any"
   */
  readonly order?: "any" | "kept" | undefined;
  /**
   * How to treat rows that make the same key: report them, stop the load at the first one, or do not look for
   * them. Looking takes up to 8 MB of memory; from some 170,000 items on also a temporary file of 49 bytes
   * for each (hashes under a secret that is stored nowhere, in the folder that `TMPDIR` names), or as much memory
   * if there is no room for one. @default "report"
   */
  readonly collisions?: "report" | "refuse" | "ignore" | undefined;
  /** True to stop at the first invalid row. @default false: the report names it, and the other rows are loaded */
  readonly strict?: boolean | undefined;
  /**
   * Whether an edge's ends, and the node of a part whose owner is `checked`, must exist already; checking
   * makes a transaction of each edge and part. What a node counts needs the node in any case. A row whose end is not there
   * yet waits until the input has brought it, with up to 10,000 others, and fails otherwise. @default "unchecked"
   */
  readonly ends?: "checked" | "unchecked" | undefined;
  /**
   * Of rows whose type keeps `timestamps`. `given`: a row keeps the times that it states, as a scan gives them; one that does
   * not state its creation keeps that of the item that it replaces, which takes a read and a write of its own. `now`: every
   * row takes the time at which it is loaded, and nothing is read. `refused`: a row that states a time fails.
   *
   * @default "given"
   */
  readonly times?: "given" | "now" | "refused" | undefined;
  /**
   * Name of a resumable job, 1 to 200 characters: its position is kept in the table, and the same call
   * with the same source resumes an earlier one that was cut off.
   */
  readonly job?: string | undefined;
  /** Identifies the input, such as by a file's hash: a job is not resumed with another one. @default "" */
  readonly fingerprint?: string | undefined;
  /** Milliseconds after which a job whose process died may be resumed, 100 to 600,000. @default 10,000 */
  readonly lease?: number | undefined;
  /** Maximum number of requests in flight, 1 to 1,000. @default 16 */
  readonly concurrency?: number | undefined;
  /** Milliseconds that one request is tried for, retries included, 1 to 86,400,000. @default 60,000 */
  readonly deadline?: number | undefined;
  /** Failures and collisions that the report names; it counts all. 0 to 100,000. @default 100 */
  readonly named?: number | undefined;
  /** Ends the load with `execute.aborted`, as `close()` ends one with `job`; a job can then be resumed. */
  readonly signal?: AbortSignal | undefined;
  /** Called with how far the load has come, and with the whole report at the end. An error that it throws ends the load. */
  readonly onProgress?: ((progress: LoadProgress) => void) | undefined;
  /**
   * Rows that the input is expected to have, 0 or more, for the estimate in `onProgress`; or a function that is called for each
   * progress and says how many by then. @default the length of an array, the size of a set or map; else unknown
   */
  readonly estimated?: number | (() => number | undefined) | undefined;
  /** Milliseconds between two calls of `onProgress`, 1 to 600,000. @default 1,000 */
  readonly progressEvery?: number | undefined;
  /** Called with every row that fails, while the load goes on. */
  readonly onFailure?: ((failure: FailedRow) => void) | undefined;
  /** Called with every collision, while the load goes on. */
  readonly onCollision?: ((collision: Collision) => void) | undefined;
}

/** How a migration is planned. */
export interface MigrationPlanOptions extends RunOptions {
  /**
   * True to change the keys of an index that is in use. Processes with the recorded model then miss items that have their
   * new keys. @default false: refused
   */
  readonly inPlace?: boolean | undefined;
  /**
   * True to look at everything that follows from rows again, although the table is recorded as following the model: index keys,
   * unique values, derived attributes, counts, and the form of renamed and retyped attributes. For a table to which a program of
   * an older model has written since. @default false
   */
  readonly again?: boolean | undefined;
}

/** How a migration is run. */
export interface MigrationOptions extends MigrationPlanOptions {
  /**
   * Says that every process that writes to the table uses this model. Only then can an index be complete: the last passes
   * are made, new indexes are created and old ones deleted. @default false: items get their keys, and it stops before that
   */
  readonly finish?: boolean | undefined;
  /** Share of the table's capacity that it may take, in percent, 1 to 100; on demand, of 4,000 writes and 12,000 reads a second. @default 25 */
  readonly share?: number | undefined;
  /** True to read the table and change nothing. @default false */
  readonly dryRun?: boolean | undefined;
  /** True to leave items out of an index that cannot have its keys, and to name them in the report. @default false: refused */
  readonly leaveOut?: boolean | undefined;
  /** Called with how far it has come: at each step, and after each page of items. */
  readonly onProgress?: ((progress: MigrationProgress) => void) | undefined;
  /** Milliseconds after which a migration whose process died may be resumed, 100 to 600,000. @default 10,000 */
  readonly lease?: number | undefined;
  /** Milliseconds after which an index is assumed to show what was written, 0 to 600,000. @default 1,000 */
  readonly indexLag?: number | undefined;
}
