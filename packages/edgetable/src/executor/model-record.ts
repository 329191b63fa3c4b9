import { EdgetableError, isEdgetableError } from "../errors/edgetable-error.ts";
import { encodeGet } from "../requests/encode-read.ts";
import type { DescribedOptional, DescribedTypes, DescribedValues } from "../schema/describe-types.ts";
import type { ValueStorage } from "../schema/definition.ts";
import type { EndedRenamings } from "../schema/compare-models.ts";
import type { ModelDescription } from "../schema/describe-model.ts";
import { MIGRATION, MODEL } from "../schema/system-items.ts";
import { modelRecord, systemKeyItem } from "../schema/system-key-item.ts";
import type { Item, AttributeValue, Key } from "../transport/operations.ts";
import type { CallContext, Session } from "./session.ts";

/** A model as a table records it. */
export interface RecordedModel {
  /** 16 hexadecimal digits that identify the model's keys, indexes, shards and expiry. */
  readonly hash: string;
  readonly model: ModelDescription;
  /** The attributes of its schemas; undefined in a record of an earlier build. */
  readonly types?: DescribedTypes | undefined;
  /** The attributes that rows may lack by its schemas. */
  readonly optional?: DescribedOptional | undefined;
  /** The values of its enumerations. Older records lack them. */
  readonly values?: DescribedValues | undefined;
  /** Renamings that have ended, of which the model says nothing any more. */
  readonly renamed?: EndedRenamings | undefined;
}

/** A migration that has begun and not ended. */
export interface RecordedMigration extends RecordedModel {
  /** Milliseconds since 1970 at which it began. */
  readonly since: number;
  /** Indexes that did not exist when it began: undoing it deletes them. */
  readonly creates: readonly string[];
  /** True if the model was recorded already and everything that follows from rows is looked at again. */
  readonly again?: boolean;
}

/** How far a move of values has come. Plain values: the job saves them as text, so that the next run resumes there. */
export interface MoveState {
  to: ValueStorage;
  /** When the migration began that this state belongs to: another one begins anew. */
  since: number;
  /** Rows are moved, then parents are told that their values have arrived. */
  phase: "rows" | "arrival" | "done";
  /** The pass over the table that is under way, from 1. */
  pass: number;
  /** Where the pass resumes. */
  start: Key | undefined;
  /** Items that the pass has read. */
  seen: number;
  /** Parents and rows that the pass found where they were before. */
  found: number;
  /** False if the pass proves nothing: a parent was told of the move during it, or a row stayed where it was. */
  isProof: boolean;
  /** Rows moved by every pass. */
  moved: number;
}

/** What a table records of its model. Both are undefined for a table that Edgetable did not create and never migrated. */
export interface ModelRecord {
  /** The model that the table was last migrated to, or was created for. */
  readonly current: RecordedModel | undefined;
  readonly migration: RecordedMigration | undefined;
  /** The stored texts, on which a change of the record depends. */
  readonly stored: { readonly current: string | undefined; readonly migration: string | undefined };
}

/** A table without a record. */
export const NO_RECORD: ModelRecord = { current: undefined, migration: undefined, stored: { current: undefined, migration: undefined } };

/** The text of an attribute. */
export const textIn = (value: AttributeValue | undefined): string | undefined => (value && "S" in value ? value.S : undefined);

/** @throws {migrate.brokenRecord} for what Edgetable did not write */
const parsed = (table: string, item: Item, { attribute, key }: { attribute: string; key: Key }): RecordedModel | undefined => {
  const text = textIn(item[attribute]);
  if (text === undefined) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  const found = value as RecordedModel | null | undefined;
  if (found?.model?.items !== undefined) return found;
  throw new EdgetableError(
    "migrate.brokenRecord",
    `The record of the model of "${table}" cannot be read: "${attribute}" of the item ${JSON.stringify(key)} is invalid. Restore the item from a backup; or delete it, and run the migration with again and finish.`,
    { details: { table, attribute } },
  );
};

/** @throws {table.mismatch} when the table does not fit the model, unless nobody may describe it */
export const refuseOtherKeys = async (session: Session, context: CallContext): Promise<void> => {
  const { catalog } = session;
  const { Table } = await session.send("DescribeTable", { TableName: catalog.table }, context).catch(() => ({ Table: undefined }));
  if (!Table) return;
  const { compareTable, refuseDifferences } = await import("../requests/table.ts");
  refuseDifferences(catalog.table, compareTable(catalog, Table));
};

/**
 * Reads the record. One strongly consistent GetItem.
 *
 * @throws {migrate.brokenRecord} when the item holds something else
 * @throws {table.mismatch} when the table's keys are not those of the model
 */
export const readRecord = async (session: Session, context: CallContext): Promise<ModelRecord> => {
  const { table } = session.catalog;
  const key = systemKeyItem(session.catalog, modelRecord);
  const input = encodeGet(session.catalog, key, { consistent: true });
  const { Item: item = {} } = await session.send("GetItem", input, context).catch(async (error: unknown) => {
    if (isEdgetableError(error, "execute.rejected")) await refuseOtherKeys(session, context);
    throw error;
  });
  const stored = { current: textIn(item[MODEL]), migration: textIn(item[MIGRATION]) };
  return {
    current: parsed(table, item, { attribute: MODEL, key }),
    migration: parsed(table, item, { attribute: MIGRATION, key }) as RecordedMigration | undefined,
    stored,
  };
};
