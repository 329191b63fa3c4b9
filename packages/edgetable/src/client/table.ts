import { checkRun, runChecks, type RunOptions } from "../executor/call.ts";
import type { ReshardReport } from "../executor/reshard/run-reshard.ts";
import type { CallContext } from "../executor/session.ts";
import type { TableDifference } from "../requests/table.ts";
import { checkOptions } from "../util/check-options.ts";
import type { Driver } from "./driver.ts";
import type { ReshardOptions } from "./job-options.ts";

const TABLE_DEADLINE = 600_000;

/** How a table is created. */
export interface CreateTableOptions extends RunOptions {
  /**
   * True to let the table record its changes, with each item's state before and after, for `edgetable/streams`. Also
   * enables the stream of a table that exists. @default a new table has one if the model's `settings` say so; that of an
   * existing one is left as it is
   */
  readonly stream?: boolean | undefined;
}

/** The table behind a connection. */
export interface TableAdmin {
  /**
   * Creates the table with all its indexes and the model's `settings`, on demand, and waits until it is active. Leaves a table as it is that
   * exists and fits the model, or that another client creates at the same time: `created` is then false. If the table
   * is being deleted, waits until it is gone. A record of the table's model that lacks kinds of items gets them, so that
   * a later change of their order is noticed: one GetItem and, where it lacks some, one UpdateItem. An empty table without a
   * record gets one; a Scan of one item tells.
   *
   * @throws {table.mismatch} when a table of that name does not fit the model.
   * @throws {execute.tableNotFound} when another client deletes it meanwhile.
   * @throws {stream.images} when `stream` is wanted and the table has one that records less.
   */
  create(options?: CreateTableOptions): Promise<{ readonly created: boolean }>;
  /** How the table differs from the model; undefined when there is no table. */
  diff(options?: RunOptions): Promise<readonly TableDifference[] | undefined>;
  /** Deletes the table and waits until it is gone. `deleted` is false if it did not exist, or another client deleted it. */
  delete(options?: RunOptions): Promise<{ readonly deleted: boolean }>;
}

// Few processes manage their table: they load the code with their first call.
const code = async () => import("../executor/administer-table.ts");

/** The administration of a connection's table. */
export const tableAdmin = (driver: Driver): TableAdmin => {
  const { session } = driver;
  const contextOf = (options?: RunOptions): CallContext => driver.context({ deadline: TABLE_DEADLINE, ...checkRun(options) });
  return {
    create: async (options = {}) => {
      checkOptions(options, { ...runChecks, stream: "boolean" });
      const { stream, ...run } = options;
      return (await code()).createTable(session, contextOf(run), { stream });
    },
    diff: async (options) => (await code()).diffTable(session, contextOf(options)),
    delete: async (options) => {
      const gone = await (await code()).deleteTable(session, contextOf(options));
      driver.forgetSecret();
      return gone;
    },
  };
};

/**
 * Moves the items of sharded indexes to where writers put them after a count was raised: `[32, 8]`. Reads find every
 * item without it; moving spreads the writes, and lets the old count leave the list. It may be cut off and called
 * again, and runs beside readers and writers. Deploy the new count everywhere first.
 *
 * Reads the partitions of the old counts, twice; where a level of a hierarchy names the partition (`split`),
 * it scans the index.
 *
 * @throws {job.busy} while another process is running it
 * @throws {plan.noIndex} when there is no such index
 * @example
 * const { moved } = await db.reshard({ rate: 500 });
 */
export type Reshard = (options?: ReshardOptions) => Promise<ReshardReport>;

/** `db.reshard` of a connection. */
export const reshardOf =
  (driver: Driver): Reshard =>
  // Few processes move items: they load the code with their first call.
  async (options = {}) =>
    (await import("./run-jobs.ts")).reshardItems(driver, options);
