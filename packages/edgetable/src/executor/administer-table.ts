import { EdgetableError, isEdgetableError } from "../errors/edgetable-error.ts";
import {
  compareExpiry,
  compareTable,
  createTableInput,
  expiryOf,
  IMAGES,
  refuseDifferences,
  type TableDifference,
} from "../requests/table.ts";
import { keptByStream } from "../schema/describe-model.ts";
import type { TableDescription } from "../transport/operations.ts";
import { noteComplete } from "./run-read.ts";
import type { CallContext, Session } from "./session.ts";

const FIRST_POLL = 20;
const SLOWEST_POLL = 2000;

/** Describes the table; undefined if there is none. */
export const describeTable = async (session: Session, context: CallContext): Promise<TableDescription | undefined> => {
  try {
    return (await session.send("DescribeTable", { TableName: session.catalog.table }, context)).Table;
  } catch (error) {
    if (isEdgetableError(error, "execute.tableNotFound")) return undefined;
    throw error;
  }
};

/** Describes the table repeatedly while `isWaiting` holds, and returns the last description. */
const waitWhile = async (
  session: Session,
  context: CallContext,
  isWaiting: (table: TableDescription | undefined) => boolean,
): Promise<TableDescription | undefined> => {
  const { effects } = session;
  for (let wait = FIRST_POLL; ; wait = Math.min(SLOWEST_POLL, wait * 2)) {
    const table = await describeTable(session, context);
    if (!isWaiting(table)) return table;
    if (effects.now() + wait >= context.deadline) {
      throw new EdgetableError("execute.timeout", `The table "${session.catalog.table}" did not reach the wanted state in time.`, {
        retryable: true,
      });
    }
    await effects.sleep(wait, context.signal);
  }
};

/** Returns false if another client made the same change at the same time, and not an earlier attempt of this call. */
const unlessDone = async (sent: Promise<unknown>, isDone: (error: EdgetableError) => boolean): Promise<boolean> => {
  try {
    await sent;
    return true;
  } catch (error) {
    if (!isEdgetableError(error) || !isDone(error)) throw error;
    return error.details["afterAmbiguity"] === true;
  }
};

/** The attribute by which the table's items expire. */
export const readExpiry = async (session: Session, context: CallContext): Promise<string | undefined> =>
  expiryOf(await session.send("DescribeTimeToLive", { TableName: session.catalog.table }, context));

/** Enables the removal of expired items if the model has a `ttl`. Refuses a table that has it enabled for another attribute. */
const enableExpiry = async (session: Session, context: CallContext): Promise<void> => {
  const { ttl, table } = session.catalog;
  if (ttl === undefined) return;
  const isEnabled = async (): Promise<boolean> => {
    const found = await readExpiry(session, context);
    if (found !== undefined && found !== ttl) refuseDifferences(table, compareExpiry(session.catalog, found));
    return found === ttl;
  };
  if (await isEnabled()) return;
  const input = { TableName: table, TimeToLiveSpecification: { AttributeName: ttl, Enabled: true } };
  try {
    await session.send("UpdateTimeToLive", input, context);
  } catch (error) {
    // Another client was faster, or the response to an earlier attempt was lost.
    if (!isEdgetableError(error, "execute.rejected") || !(await isEnabled())) throw error;
  }
};

/**
 * Enables the table's stream. Leaves an existing stream with both images unchanged.
 *
 * @throws {stream.images} if the table has a stream without both images, which has to be disabled first
 */
const enableStream = async (session: Session, context: CallContext): Promise<void> => {
  const { table } = session.catalog;
  const isEnabled = async (): Promise<boolean> => {
    const found = (await describeTable(session, context))?.StreamSpecification;
    if (found?.StreamEnabled !== true) return false;
    if (found.StreamViewType !== IMAGES) throw lacksImages(table, found.StreamViewType);
    return true;
  };
  if (await isEnabled()) return;
  const input = { TableName: table, StreamSpecification: { StreamEnabled: true, StreamViewType: IMAGES } } as const;
  try {
    await session.send("UpdateTable", input, context);
  } catch (error) {
    // Another client was faster, or the response to an earlier attempt was lost.
    if (!isEdgetableError(error, "execute.rejected") || !(await isEnabled())) throw error;
  }
  await waitWhile(session, context, (one) => one?.TableStatus === "UPDATING");
};

/** The error of a stream whose records lack an item's old or new image. */
export const lacksImages = (table: string, viewType: string | undefined): EdgetableError =>
  new EdgetableError(
    "stream.images",
    `The stream of "${table}" records ${viewType}, and events need ${IMAGES}. A stream's view type cannot be changed: switch the stream off (UpdateTable, StreamEnabled false), let its readers finish, and run \`edgetable table create --stream\`.`,
    { details: { table, viewType } },
  );

/**
 * Records the model of a new table, or of an empty one. A program that may create tables but not write items leaves it without a
 * record. Returns false if another client has recorded a model.
 */
const recordModel = async (session: Session, context: CallContext): Promise<boolean> => {
  const { NO_RECORD } = await import("./model-record.ts");
  const { recordedModel, writeRecord } = await import("./write-record.ts");
  try {
    const isWritten = await writeRecord(session, NO_RECORD, { current: recordedModel(session), migration: undefined }, context);
    if (isWritten) noteComplete(session);
    return isWritten;
  } catch (error) {
    if (!isEdgetableError(error, "execute.accessDenied")) throw error;
    return true;
  }
};

/** True if a table is empty. One Scan of one item. */
const isEmpty = async (session: Session, context: CallContext): Promise<boolean> => {
  const input = { TableName: session.catalog.table, Limit: 1, ConsistentRead: true, ReturnConsumedCapacity: "TOTAL" } as const;
  const { Items = [], LastEvaluatedKey } = await session.send("Scan", input, context);
  return Items.length === 0 && LastEvaluatedKey === undefined;
};

/**
 * Adds the kinds of items that the table's record lacks, so that a later change of their order or keys is noticed. Leaves the
 * record unchanged during a migration, which writes it at its end. Records the model of an empty table without a record. A program
 * that may not read or write items leaves the record unchanged as well.
 */
const recordNewKinds = async (session: Session, context: CallContext): Promise<void> => {
  const { readRecord } = await import("./model-record.ts");
  const { checkForms } = await import("./record-gaps.ts");
  const { recordedModel, writeRecord } = await import("./write-record.ts");
  const { withNewKinds } = await import("../schema/between-models.ts");
  const { descriptionHash } = await import("../schema/describe-model.ts");
  const { model: ours, types, optional } = recordedModel(session);
  try {
    for (let isWritten = false; !isWritten;) {
      const record = await readRecord(session, context);
      checkForms(session, record);
      if (record.migration) return;
      if (!record.current) {
        // The process that created it died before recording it, or another tool created it.
        if (!(await isEmpty(session, context)) || (await recordModel(session, context))) return;
        continue;
      }
      const model = withNewKinds(record.current.model, ours, session.catalog);
      if (model === record.current.model) return;
      const schemas = { types: { ...types, ...record.current.types }, optional: { ...optional, ...record.current.optional } };
      const current = { ...record.current, hash: descriptionHash(model), model, ...schemas };
      isWritten = await writeRecord(session, record, { current, migration: undefined }, context);
    }
  } catch (error) {
    if (!isEdgetableError(error, "execute.accessDenied")) throw error;
  }
};

/** Enables point-in-time recovery of a new table, if the model says so and the service supports it. */
const enableRecovery = async (session: Session, context: CallContext): Promise<void> => {
  const PointInTimeRecoverySpecification = { PointInTimeRecoveryEnabled: true };
  try {
    await session.send("UpdateContinuousBackups", { TableName: session.catalog.table, PointInTimeRecoverySpecification }, context);
  } catch (error) {
    // Local engines lack it (docs/engines.md).
    if (!isEdgetableError(error) || error.details["fault"] !== "UnknownOperationException") throw error;
  }
};

/**
 * Creates the table and waits until it is active. A table that exists, or is created in the meantime, must fit the model; its
 * settings do not change.
 */
export const createTable = async (
  session: Session,
  context: CallContext,
  { stream = false }: { readonly stream?: boolean | undefined } = {},
): Promise<{ readonly created: boolean }> => {
  const { catalog } = session;
  const { settings = {} } = catalog.definition;
  const input = createTableInput(catalog, stream || settings.stream === true);
  const protection = settings.deletionProtection === true && { DeletionProtectionEnabled: true };
  const existing = await waitWhile(session, context, (table) => table?.TableStatus === "DELETING");
  if (existing) refuseDifferences(catalog.table, compareTable(catalog, existing));
  const exists = (error: EdgetableError): boolean => error.details["fault"] === "ResourceInUseException";
  const send = async (): Promise<void> => {
    try {
      await session.send("CreateTable", { ...input, ...protection }, context);
    } catch (error) {
      const several = catalog.indexes.find(({ partitionKeys, sortKeys }) => partitionKeys[1] ?? sortKeys[1]);
      if (!several || !isEdgetableError(error, "execute.rejected") || !/key ?schema/i.test(error.message)) throw error;
      const message = `${error.message} This engine lacks index keys of several attributes ("${several.name}"): use DynamoDB or moto.`;
      throw new EdgetableError(error.code, message, { cause: error, details: error.details });
    }
  };
  const created = !existing && (await unlessDone(send(), exists));
  const table = await waitWhile(session, context, (one) => {
    if (one?.TableStatus === "DELETING")
      throw new EdgetableError(
        "execute.tableNotFound",
        `The table "${catalog.table}" is being deleted by another client while it is created. Create it again once it is gone.`,
      );
    const indexes = one?.GlobalSecondaryIndexes ?? [];
    return one?.TableStatus !== "ACTIVE" || indexes.some((index) => index.IndexStatus !== "ACTIVE");
  });
  if (table && !existing && !created) refuseDifferences(catalog.table, compareTable(catalog, table));
  await enableExpiry(session, context);
  if (stream && !created) await enableStream(session, context);
  if (created && settings.pointInTimeRecovery === true) await enableRecovery(session, context);
  // Programs that do not know Edgetable may read a table with an adopted layout, so it has no record until it is migrated.
  if (!catalog.escapes) {
    if (created) noteComplete(session);
  } else if (!created || !(await recordModel(session, context))) await recordNewKinds(session, context);
  return { created };
};

/** The attributes that the model keeps by stream although the table has no stream. They are not maintained. */
export const unkept = (catalog: Session["catalog"], { StreamSpecification }: TableDescription): string | undefined =>
  StreamSpecification?.StreamEnabled === true ? undefined : keptByStream(catalog)[0];

/** The differences between the table and the model; undefined if there is no table. */
export const diffTable = async (session: Session, context: CallContext): Promise<readonly TableDifference[] | undefined> => {
  const { catalog } = session;
  const table = await describeTable(session, context);
  if (!table) return undefined;
  const differences = [...compareTable(catalog, table), ...compareExpiry(catalog, await readExpiry(session, context))];
  const kept = unkept(catalog, table);
  if (kept !== undefined) differences.push({ place: "stream", model: `on, it keeps ${kept}`, table: "off", harmless: false });
  return differences;
};

/** Deletes the table if it exists, and waits until it is gone. */
export const deleteTable = async (session: Session, context: CallContext): Promise<{ readonly deleted: boolean }> => {
  // DeleteTable: "If the specified table is in the CREATING or UPDATING states […] ResourceInUseException" (its reference).
  const busy = ["CREATING", "UPDATING"];
  const existing = await waitWhile(session, context, (table) => busy.includes(table?.TableStatus ?? ""));
  if (!existing) return { deleted: false };
  const gone = (error: EdgetableError): boolean => error.code === "execute.tableNotFound";
  const deleted = await unlessDone(session.send("DeleteTable", { TableName: session.catalog.table }, context), gone);
  await waitWhile(session, context, (table) => table !== undefined);
  return { deleted };
};
