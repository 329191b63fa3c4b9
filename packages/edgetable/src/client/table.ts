import { EdgetableError, isEdgetableError } from "../errors/edgetable-error.ts";
import type { RunOptions } from "../executor/call.ts";
import type { CallContext } from "../executor/session.ts";
import { compareTable, createTableInput, type TableDifference } from "../requests/table.ts";
import type { TableDescription } from "../transport/operations.ts";
import type { Driver } from "./driver.ts";

const FIRST_POLL = 20;
const SLOWEST_POLL = 2000;
const TABLE_DEADLINE = 600_000;

/** The table behind a connection. */
export interface TableAdmin {
  /**
   * Creates the table with all its indexes, on demand, and waits until it is active. A table that is
   * there and fits the model is left as it is: `created` is then false.
   *
   * @throws {table.mismatch} when a table of that name does not fit the model.
   */
  create(options?: RunOptions): Promise<{ readonly created: boolean }>;
  /** How the table differs from the model; undefined when there is no table. */
  diff(options?: RunOptions): Promise<readonly TableDifference[] | undefined>;
  /** Deletes the table and waits until it is gone. `deleted` is false when there was none. */
  delete(options?: RunOptions): Promise<{ readonly deleted: boolean }>;
}

const describe = async (driver: Driver, context: CallContext): Promise<TableDescription | undefined> => {
  try {
    return (await driver.session.send("DescribeTable", { TableName: driver.catalog.table }, context)).Table;
  } catch (error) {
    if (isEdgetableError(error, "execute.tableNotFound")) return undefined;
    throw error;
  }
};

const isActive = (table: TableDescription | undefined): boolean =>
  table?.TableStatus === "ACTIVE" && (table.GlobalSecondaryIndexes ?? []).every((index) => index.IndexStatus === "ACTIVE");

const waitUntil = async (driver: Driver, context: CallContext, done: (table: TableDescription | undefined) => boolean): Promise<void> => {
  const { effects } = driver.session;
  for (let wait = FIRST_POLL; !done(await describe(driver, context)); wait = Math.min(SLOWEST_POLL, wait * 2)) {
    if (effects.now() + wait >= context.deadline) {
      throw new EdgetableError("execute.timeout", `The table "${driver.catalog.table}" did not reach the wanted state in time.`, {
        retryable: true,
      });
    }
    await effects.sleep(wait, context.signal);
  }
};

const refuseMismatch = (table: string, differences: readonly TableDifference[]): never => {
  const list = differences.map((one) => `${one.place}: the model says ${one.model}, the table ${one.table}`).join("; ");
  throw new EdgetableError(
    "table.mismatch",
    `The table "${table}" does not fit the model: ${list}. Change the model's layout, or use another table.`,
    { details: { table, differences } },
  );
};

/** The administration of a connection's table. */
export const tableAdmin = (driver: Driver): TableAdmin => {
  const { catalog, session } = driver;
  const contextOf = (options: RunOptions = {}): CallContext => driver.context({ deadline: TABLE_DEADLINE, ...options });
  const fits = (table: TableDescription): void => {
    const serious = compareTable(catalog, table).filter((one) => !one.harmless);
    if (serious.length > 0) refuseMismatch(catalog.table, serious);
  };
  return {
    create: async (options) => {
      const context = contextOf(options);
      const existing = await describe(driver, context);
      if (existing) fits(existing);
      else await session.send("CreateTable", createTableInput(catalog), context);
      await waitUntil(driver, context, isActive);
      return { created: existing === undefined };
    },
    diff: async (options) => {
      const table = await describe(driver, contextOf(options));
      return table && compareTable(catalog, table);
    },
    delete: async (options) => {
      const context = contextOf(options);
      if ((await describe(driver, context)) === undefined) return { deleted: false };
      await session.send("DeleteTable", { TableName: catalog.table }, context);
      await waitUntil(driver, context, (table) => table === undefined);
      return { deleted: true };
    },
  };
};
