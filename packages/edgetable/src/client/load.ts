import { EdgetableError } from "../errors/edgetable-error.ts";
import type { Collision } from "../executor/load/collisions.ts";
import type { LoadSettings } from "../executor/load/load-rows.ts";
import type { FailedRow, LoadProgress, LoadReport } from "../executor/load/tally.ts";
import type { Edges, EndId, Nodes, Parts } from "./read-types.ts";
import type { WriteDriver } from "./write-call.ts";

interface NodeRow<Name extends string, Row> {
  readonly node: Name;
  readonly row: Row;
}
interface PartRow<Name extends string, Owner, Row> {
  readonly part: Name;
  /** Id of the node that contains it. */
  readonly owner: Owner;
  readonly row: Row;
}
interface EdgeRow<Name extends string, Ends, Input, Changes> {
  readonly edge: Name;
  readonly from: Ends extends { readonly from: infer From } ? From : never;
  readonly to: Ends extends { readonly to: infer To } ? To : never;
  readonly attributes?: Input;
  /** Attributes that differ on the copy in the target's partition, of an edge stored in both. */
  readonly reverse?: Changes;
}

/** One row of a bulk load: a node, a part or an edge. */
export type LoadRow<N extends Nodes, E extends Edges, P extends Parts> =
  | { readonly [Name in keyof N & string]: NodeRow<Name, N[Name]["~types"]["input"]> }[keyof N & string]
  | { readonly [Name in keyof P & string]: PartRow<Name, N[P[Name]["of"]]["~types"]["id"], P[Name]["~types"]["input"]> }[keyof P & string]
  | {
      readonly [Name in keyof E & string]: EdgeRow<
        Name,
        { readonly from: EndId<N, E[Name]["~from"]>; readonly to: EndId<N, E[Name]["~to"]> },
        E[Name]["~types"]["input"],
        E[Name]["~types"]["changes"]
      >;
    }[keyof E & string];

export interface LoadOptions {
  /**
   * `kept`: rows that write the same item do so in the order of the input, so that the last one
   * stands; `any`: that is left to chance where they are more than a few rows apart. @default "any"
   */
  readonly order?: "any" | "kept";
  /**
   * What becomes of rows that make the same key: they are reported, the first one stops the load, or
   * nobody looks. Looking takes 16 to 54 bytes of memory for each item. @default "report"
   */
  readonly collisions?: "report" | "refuse" | "ignore";
  /** True to stop at the first row that does not fit. @default false: it is named, and the rest goes on */
  readonly strict?: boolean;
  /** Whether an edge's ends must be there already; checking makes each edge a transaction. @default "unchecked" */
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
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: LoadProgress) => void;
  /** Milliseconds between two calls of `onProgress`, 1 to 600,000. @default 1,000 */
  readonly progressEvery?: number;
  /** Is told of every row that fails, while the load goes on. */
  readonly onFailure?: (failure: FailedRow) => void;
  /** Is told of every collision, while the load goes on. */
  readonly onCollision?: (collision: Collision) => void;
}

/**
 * Loads rows from an iterable, 25 items a request, in memory that does not grow with the input (but for
 * the finding of collisions). Each item is written alone and replaces what is there. A node with unique
 * attributes or a version, and an edge with a version or a guarded degree, takes a read and a
 * transaction: some thirty times slower.
 *
 * One write unit for each KB of each item, and as much for each index it is in.
 *
 * @throws {load.invalidRow} for the first row that does not fit, where `strict`
 * @throws {load.collision} for the first collision, where they are refused
 * @throws {job.busy} while another process runs the job
 * @throws {job.mismatch} when the job is of another kind or another input
 * @throws what the service said, when it does not take more: `details.report` has what was done
 * @example
 * const report = await db.load(rows, { order: "kept", job: "import-2024" });
 * for (const { row, error } of report.failures) console.log(row, error.message);
 */
export type Load<Row> = (rows: Iterable<Row> | AsyncIterable<Row>, options?: LoadOptions) => Promise<LoadReport>;

const ranges = {
  lease: [100, 600_000],
  concurrency: [1, 1000],
  deadline: [1, 86_400_000],
  named: [0, 100_000],
  progressEvery: [1, 600_000],
} as const;

const checkRanges = (options: LoadOptions): void => {
  for (const [name, [least, most]] of Object.entries(ranges)) {
    const value = options[name as keyof typeof ranges];
    if (value === undefined || (Number.isInteger(value) && value >= least && value <= most)) continue;
    throw new EdgetableError("plan.invalidOption", `${name} is ${value}: give a whole number from ${least} to ${most}.`, {
      details: { option: name, value },
    });
  }
  if (options.job === undefined || (options.job.length >= 1 && options.job.length <= 200)) return;
  throw new EdgetableError("plan.invalidOption", `The name of a job has 1 to 200 characters; this one has ${options.job.length}.`, {
    details: { option: "job", value: options.job },
  });
};

const settingsOf = (driver: WriteDriver, options: LoadOptions): Omit<LoadSettings, "from" | "check"> => ({
  order: options.order ?? "any",
  collisions: options.collisions ?? "report",
  strict: options.strict ?? false,
  validates: driver.validates,
  concurrency: options.concurrency ?? 16,
  deadline: options.deadline ?? 60_000,
  named: options.named ?? 100,
  signal: options.signal,
  onProgress: options.onProgress,
  progressEvery: options.progressEvery ?? 1000,
  onFailure: options.onFailure,
  onCollision: options.onCollision,
});

/** `db.load` of a connection. */
export const loadOf =
  (driver: WriteDriver): Load<unknown> =>
  async (rows, options = {}) => {
    checkRanges(options);
    const [{ runLoad }, { rowReader }] = await Promise.all([import("../executor/load/run-load.ts"), import("./load-rows.ts")]);
    const { job, fingerprint = "", lease = 10_000 } = options;
    const source = { rows, toWrite: rowReader(driver, options.ends ?? "unchecked") };
    return runLoad(driver.session, source, {
      job: job === undefined ? undefined : { id: job, fingerprint, lease },
      settings: settingsOf(driver, options),
    });
  };
