import { checkRun, runChecks, type RunOptions } from "../executor/call.ts";
import type { ReshardReport } from "../executor/reshard/run-reshard.ts";
import type { CallContext } from "../executor/session.ts";
import type { TableDifference } from "../requests/table.ts";
import { checkOptions } from "../util/check-options.ts";
import type { Driver } from "./driver.ts";
import type { ReshardOptions } from "./job-options.ts";

const TABLE_DEADLINE = 600_000;

/** Options of the creation of a table. */
export interface CreateTableOptions extends RunOptions {
  /**
   * True to enable the table's stream, with each item's old and new image, for `edgetable/streams`, also on an existing table.
   * @default the model's `settings` for a new table; an existing table stays as it is
   */
  readonly stream?: boolean | undefined;
}

/** The table behind a connection. */
export interface TableAdmin {
  /**
   * Creates the table with all its indexes and the model's `settings`, on demand, and waits until it is active. Leaves an existing
   * table that fits the model unchanged, also if another client creates it at the same time; `created` is then false. If the table
   * is being deleted, waits until it is gone. Adds missing kinds of items to the table's record of its model, so that a later
   * change of their order is noticed: one GetItem, and one UpdateItem if kinds are missing. An empty table without a record gets
   * one; a Scan of one item shows whether it is empty.
   *
   * @throws {table.mismatch} if a table of that name does not fit the model.
   * @throws {execute.tableNotFound} if another client deletes it in the meantime.
   * @throws {stream.images} if `stream` is true and the table's stream does not record both images.
   */
  create(options?: CreateTableOptions): Promise<{ readonly created: boolean }>;
  /** The differences between the table and the model; undefined if there is no table. */
  diff(options?: RunOptions): Promise<readonly TableDifference[] | undefined>;
  /** Deletes the table and waits until it is gone. `deleted` is false if it did not exist, or another client deleted it. */
  delete(options?: RunOptions): Promise<{ readonly deleted: boolean }>;
}

// Few processes manage their table, so their first call loads the code.
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
 * Moves the items of sharded indexes to their new shards after a count was raised: `[32, 8]`. Reads find every item without it.
 * Moving the items spreads the load, and the old count can then be removed from the list. It may be interrupted and called again,
 * and runs alongside readers and writers. Deploy the new count everywhere first.
 *
 * Reads the partitions of the old counts twice. If a level of a hierarchy is the partition key (`split`), it scans the index.
 *
 * @throws {job.busy} while another process is running it
 * @throws {plan.noIndex} if there is no such index
 * @example
 * const { moved } = await db.reshard({ rate: 500 });
 */
export type Reshard = (options?: ReshardOptions) => Promise<ReshardReport>;

/** `db.reshard` of a connection. */
export const reshardOf =
  (driver: Driver): Reshard =>
  // Few processes move items, so their first call loads the code.
  async (options = {}) =>
    (await import("./run-jobs.ts")).reshardItems(driver, options);
