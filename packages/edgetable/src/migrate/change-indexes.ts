import { isEdgetableError, EdgetableError } from "../errors/edgetable-error.ts";
import { describeTable, readExpiry } from "../executor/administer-table.ts";
import { type Run, step, waitIn } from "../executor/jobs/run-job.ts";
import { createIndexInput, IMAGES } from "../requests/table.ts";
import type { TableSettings } from "../schema/definition.ts";
import type { IndexDescription, TableDescription, UpdateTableInput } from "../transport/operations.ts";
import { defined } from "../util/invariant.ts";

const FIRST_POLL = 20;
const SLOWEST_POLL = 5000;

/** The table, which must exist. */
export const theTable = async (run: Run): Promise<TableDescription> => {
  const { session } = run;
  const table = await step(run, async (context) => describeTable(session, context));
  if (table) return table;
  const name = session.catalog.table;
  throw new EdgetableError(
    "execute.tableNotFound",
    `There is no table "${name}". Create it: db.table.create() or edgetable table create.`,
    {
      details: { table: name },
    },
  );
};

const indexOf = (table: TableDescription, name: string): IndexDescription | undefined =>
  table.GlobalSecondaryIndexes?.find(({ IndexName }) => IndexName === name);

/** Changes the table until its description shows the change. Waits for other changes, and repeats a lost request. */
const changeTable = async (
  run: Run,
  isDone: (table: TableDescription) => boolean,
  input: (table: TableDescription) => UpdateTableInput,
): Promise<void> => {
  const { session } = run;
  for (let wait = FIRST_POLL; ; wait = Math.min(SLOWEST_POLL, wait * 2)) {
    const table = await theTable(run);
    const { TableStatus, GlobalSecondaryIndexes = [] } = table;
    const isReady = TableStatus === "ACTIVE" && GlobalSecondaryIndexes.every(({ IndexStatus }) => IndexStatus === "ACTIVE");
    if (isReady && isDone(table)) return;
    if (isReady)
      await step(run, async (context) => session.send("UpdateTable", input(table), context)).catch((error: unknown) => {
        // "You can only perform one of these operations at once" (UpdateTable); a table that is being changed is UPDATING.
        const { fault, afterAmbiguity } = isEdgetableError(error) ? error.details : {};
        // An earlier attempt, whose response was lost, may have made the change: "Index already exists". The description shows it.
        if (fault !== "ResourceInUseException" && fault !== "LimitExceededException" && afterAmbiguity !== true) throw error;
      });
    await waitIn(run, wait);
  }
};

/** Creates an index of the model and waits until DynamoDB has filled it. */
export const createIndex = (run: Run, name: string): Promise<void> =>
  changeTable(
    run,
    (table) => indexOf(table, name) !== undefined,
    (table) => createIndexInput(run.session.catalog, name, table),
  );

/** Deletes an index, whether or not it is complete, and waits until it is gone. */
export const deleteIndex = (run: Run, name: string): Promise<void> => {
  const input: UpdateTableInput = { TableName: run.session.catalog.table, GlobalSecondaryIndexUpdates: [{ Delete: { IndexName: name } }] };
  return changeTable(
    run,
    (table) => indexOf(table, name) === undefined,
    () => input,
  );
};

/** Sets the stream and the deletion protection of the table. */
export const setTable = (run: Run, wanted: TableSettings): Promise<void> =>
  changeTable(
    run,
    (table) => Object.keys(missingSettings(table, wanted)).length === 0,
    (table) => {
      const { stream, deletionProtection } = missingSettings(table, wanted);
      const specification = stream ? ({ StreamEnabled: true, StreamViewType: IMAGES } as const) : { StreamEnabled: false };
      return {
        TableName: run.session.catalog.table,
        ...(stream === undefined ? {} : { StreamSpecification: specification }),
        ...(deletionProtection === undefined ? {} : { DeletionProtectionEnabled: deletionProtection }),
      };
    },
  );

/** The settings of stream and deletion protection in which a table differs from the model. */
export const missingSettings = (table: TableDescription, { stream, deletionProtection }: TableSettings): TableSettings => ({
  ...(stream === undefined || stream === (table.StreamSpecification?.StreamEnabled ?? false) ? {} : { stream }),
  ...(deletionProtection === undefined || deletionProtection === (table.DeletionProtectionEnabled ?? false) ? {} : { deletionProtection }),
});

/** True if point-in-time recovery is enabled; undefined if the service does not support it. */
export const readRecovery = async (run: Run): Promise<boolean | undefined> => {
  const { session } = run;
  try {
    const found = await step(run, async (context) =>
      session.send("DescribeContinuousBackups", { TableName: session.catalog.table }, context),
    );
    return found.ContinuousBackupsDescription?.PointInTimeRecoveryDescription?.PointInTimeRecoveryStatus === "ENABLED";
  } catch (error) {
    // Local engines lack it: "UnknownOperationException" (docs/engines.md).
    if (isEdgetableError(error) && error.details["fault"] === "UnknownOperationException") return undefined;
    throw error;
  }
};

/** Switches point-in-time recovery on or off. */
export const setRecovery = async (run: Run, enabled: boolean): Promise<void> => {
  const { session } = run;
  const PointInTimeRecoverySpecification = { PointInTimeRecoveryEnabled: enabled };
  const input = { TableName: session.catalog.table, PointInTimeRecoverySpecification };
  await step(run, async (context) => session.send("UpdateContinuousBackups", input, context));
};

/** Enables the removal of expired items by an attribute, or disables it. */
export const setExpiry = async (run: Run, attribute: string | undefined): Promise<void> => {
  const { session } = run;
  const read = (): Promise<string | undefined> => step(run, async (context) => readExpiry(session, context));
  const found = await read();
  if (found === attribute) return;
  const TimeToLiveSpecification = { AttributeName: attribute ?? defined(found, "an expiry"), Enabled: attribute !== undefined };
  try {
    await step(run, async (context) =>
      session.send("UpdateTimeToLive", { TableName: session.catalog.table, TimeToLiveSpecification }, context),
    );
  } catch (error) {
    // An earlier attempt, whose response was lost, may have set it: "TimeToLive is already enabled".
    if (!isEdgetableError(error, "execute.rejected") || (await read()) !== attribute) throw error;
  }
};
