import { checkRun, type RunOptions } from "../executor/call.ts";
import type { CallContext } from "../executor/session.ts";
import type { TableDifference } from "../requests/table.ts";
import type { Driver } from "./driver.ts";

const TABLE_DEADLINE = 600_000;

/** The table behind a connection. */
export interface TableAdmin {
  /**
   * Creates the table with all its indexes, on demand, and waits until it is active. A table that is
   * there and fits the model, or that somebody else creates at the same time, is left as it is: `created`
   * is then false. One that is being deleted is waited for.
   *
   * @throws {table.mismatch} when a table of that name does not fit the model.
   * @throws {execute.tableNotFound} when somebody deletes it meanwhile.
   */
  create(options?: RunOptions): Promise<{ readonly created: boolean }>;
  /** How the table differs from the model; undefined when there is no table. */
  diff(options?: RunOptions): Promise<readonly TableDifference[] | undefined>;
  /** Deletes the table and waits until it is gone. `deleted` is false when there was none, or somebody else deleted it. */
  delete(options?: RunOptions): Promise<{ readonly deleted: boolean }>;
}

// Few processes manage their table: its code is loaded by those that do.
const code = async () => import("../executor/administer-table.ts");

/** The administration of a connection's table. */
export const tableAdmin = (driver: Driver): TableAdmin => {
  const { session } = driver;
  const contextOf = (options?: RunOptions): CallContext => driver.context({ deadline: TABLE_DEADLINE, ...checkRun(options) });
  return {
    create: async (options) => (await code()).createTable(session, contextOf(options)),
    diff: async (options) => (await code()).diffTable(session, contextOf(options)),
    delete: async (options) => {
      const gone = await (await code()).deleteTable(session, contextOf(options));
      driver.forgetSecret();
      return gone;
    },
  };
};
