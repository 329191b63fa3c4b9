import { EdgetableError, isEdgetableError } from "../errors/edgetable-error.ts";
import { compareExpiry, compareTable, createTableInput, expiryOf, type TableDifference } from "../requests/table.ts";
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

/** Describes the table until it is as wanted, and gives the last description. */
const waitUntil = async (
  session: Session,
  context: CallContext,
  done: (table: TableDescription | undefined) => boolean,
): Promise<TableDescription | undefined> => {
  const { effects } = session;
  for (let wait = FIRST_POLL; ; wait = Math.min(SLOWEST_POLL, wait * 2)) {
    const table = await describe(session, context);
    if (done(table)) return table;
    if (effects.now() + wait >= context.deadline) {
      throw new EdgetableError("execute.timeout", `The table "${session.catalog.table}" did not reach the wanted state in time.`, {
        retryable: true,
      });
    }
    await effects.sleep(wait, context.signal);
  }
};

const isBeing = (table: TableDescription | undefined, ...statuses: readonly string[]): boolean =>
  statuses.includes(table?.TableStatus ?? "");

/** False where somebody else did at the same time what was asked for; not where the lost answer was our own. */
const unlessDone = async (sent: Promise<unknown>, isDone: (error: EdgetableError) => boolean): Promise<boolean> => {
  try {
    await sent;
    return true;
  } catch (error) {
    if (!isEdgetableError(error) || !isDone(error)) throw error;
    return error.details["afterAmbiguity"] === true;
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

const refuseDeleted = (table: string): never => {
  throw new EdgetableError(
    "execute.tableNotFound",
    `The table "${table}" is being deleted by somebody else while it is created. Create it again once it is gone.`,
  );
};

const readExpiry = async (session: Session, context: CallContext): Promise<string | undefined> =>
  expiryOf(await session.send("DescribeTimeToLive", { TableName: session.catalog.table }, context));

/** Switches on the removal of expired items, where the model has a `ttl`; another attribute must not be in its place. */
const enableExpiry = async (session: Session, context: CallContext): Promise<void> => {
  const { ttl, table } = session.catalog;
  if (ttl === undefined) return;
  const refuseOther = (found: string | undefined): boolean => {
    if (found !== undefined && found !== ttl) refuseMismatch(table, compareExpiry(session.catalog, found));
    return found === ttl;
  };
  if (refuseOther(await readExpiry(session, context))) return;
  const input = { TableName: table, TimeToLiveSpecification: { AttributeName: ttl, Enabled: true } };
  try {
    await session.send("UpdateTimeToLive", input, context);
  } catch (error) {
    // Somebody else was faster, or the answer to our own attempt was lost.
    if (!isEdgetableError(error, "execute.rejected") || !refuseOther(await readExpiry(session, context))) throw error;
  }
};

/** Creates the table and waits until it is active; one that is there, or comes meanwhile, has to fit the model. */
export const createTable = async (session: Session, context: CallContext): Promise<{ readonly created: boolean }> => {
  const { catalog } = session;
  const existing = await waitUntil(session, context, (table) => !isBeing(table, "DELETING"));
  if (existing) refuseUnfit(session, existing);
  const exists = (error: EdgetableError): boolean => error.details["fault"] === "ResourceInUseException";
  const created = !existing && (await unlessDone(session.send("CreateTable", createTableInput(catalog), context), exists));
  const table = await waitUntil(session, context, (one) => (isBeing(one, "DELETING") ? refuseDeleted(catalog.table) : isActive(one)));
  if (table && !existing && !created) refuseUnfit(session, table);
  await enableExpiry(session, context);
  return { created };
};

/** How the table differs from the model; undefined when there is none. */
export const diffTable = async (session: Session, context: CallContext): Promise<readonly TableDifference[] | undefined> => {
  const table = await describe(session, context);
  return table && [...compareTable(session.catalog, table), ...compareExpiry(session.catalog, await readExpiry(session, context))];
};

/** Deletes the table, where there is one, and waits until it is gone. */
export const deleteTable = async (session: Session, context: CallContext): Promise<{ readonly deleted: boolean }> => {
  // DeleteTable: "If the specified table is in the CREATING or UPDATING states […] ResourceInUseException" (its reference).
  if (!(await waitUntil(session, context, (table) => !isBeing(table, "CREATING", "UPDATING")))) return { deleted: false };
  const gone = (error: EdgetableError): boolean => error.code === "execute.tableNotFound";
  const deleted = await unlessDone(session.send("DeleteTable", { TableName: session.catalog.table }, context), gone);
  await waitUntil(session, context, (table) => table === undefined);
  return { deleted };
};
