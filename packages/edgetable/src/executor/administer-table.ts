import { EdgetableError, isEdgetableError } from "../errors/edgetable-error.ts";
import { compareTable, createTableInput, type TableDifference } from "../requests/table.ts";
import type { TableDescription } from "../transport/operations.ts";
import type { CallContext, Session } from "./session.ts";

const FIRST_POLL = 20;
const SLOWEST_POLL = 2000;

const describe = async (session: Session, context: CallContext): Promise<TableDescription | undefined> => {
  try {
    return (await session.send("DescribeTable", { TableName: session.catalog.table }, context)).Table;
  } catch (error) {
    if (isEdgetableError(error, "execute.tableNotFound")) return undefined;
    throw error;
  }
};

const isActive = (table: TableDescription | undefined): boolean =>
  table?.TableStatus === "ACTIVE" && (table.GlobalSecondaryIndexes ?? []).every((index) => index.IndexStatus === "ACTIVE");

const waitUntil = async (session: Session, context: CallContext, done: (table: TableDescription | undefined) => boolean): Promise<void> => {
  const { effects } = session;
  for (let wait = FIRST_POLL; !done(await describe(session, context)); wait = Math.min(SLOWEST_POLL, wait * 2)) {
    if (effects.now() + wait >= context.deadline) {
      throw new EdgetableError("execute.timeout", `The table "${session.catalog.table}" did not reach the wanted state in time.`, {
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

const refuseUnfit = (session: Session, table: TableDescription): void => {
  const serious = compareTable(session.catalog, table).filter((one) => !one.harmless);
  if (serious.length > 0) refuseMismatch(session.catalog.table, serious);
};

/** Creates the table and waits until it is active; one that is there has to fit the model. */
export const createTable = async (session: Session, context: CallContext): Promise<{ readonly created: boolean }> => {
  const existing = await describe(session, context);
  if (existing) refuseUnfit(session, existing);
  else await session.send("CreateTable", createTableInput(session.catalog), context);
  await waitUntil(session, context, isActive);
  return { created: existing === undefined };
};

/** How the table differs from the model; undefined when there is none. */
export const diffTable = async (session: Session, context: CallContext): Promise<readonly TableDifference[] | undefined> => {
  const table = await describe(session, context);
  return table && compareTable(session.catalog, table);
};

/** Deletes the table, where there is one, and waits until it is gone. */
export const deleteTable = async (session: Session, context: CallContext): Promise<{ readonly deleted: boolean }> => {
  if ((await describe(session, context)) === undefined) return { deleted: false };
  await session.send("DeleteTable", { TableName: session.catalog.table }, context);
  await waitUntil(session, context, (table) => table === undefined);
  return { deleted: true };
};
