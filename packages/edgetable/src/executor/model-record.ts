import { EdgetableError } from "../errors/edgetable-error.ts";
import type { Term, UpdateStep } from "../ir/write-plan.ts";
import { encodeGet } from "../requests/encode-read.ts";
import { encodeSingle } from "../requests/encode-write.ts";
import {
  descriptionHash,
  descriptionText,
  describeModel,
  type EndedRenamings,
  type ModelDescription,
  unreadForm,
} from "../schema/describe-model.ts";
import type { ValueStorage } from "../schema/definition.ts";
import { MIGRATION, MODEL } from "../schema/system-items.ts";
import { modelRecord, systemKeyItem, systemType } from "../schema/system-keys.ts";
import type { AttributeValue, Item, Key, UpdateItemInput } from "../transport/operations.ts";
import { isFailedCondition } from "./failed-term.ts";
import type { CallContext, Session } from "./session.ts";

/** A model as a table records it. */
export interface RecordedModel {
  /** 16 hexadecimal digits that identify the model's keys, indexes, shards and expiry. */
  readonly hash: string;
  readonly model: ModelDescription;
  /** Renamings that have ended, of which the model says nothing any more. */
  readonly renamed?: EndedRenamings | undefined;
}

/** A migration that has begun and not ended. */
export interface RecordedMigration extends RecordedModel {
  /** Milliseconds since 1970 at which it began. */
  readonly since: number;
  /** Indexes that did not exist when it began: undoing it deletes them. */
  readonly creates: readonly string[];
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

const textIn = (value: AttributeValue | undefined): string | undefined => (value && "S" in value ? value.S : undefined);

const parsed = (text: string | undefined): unknown => (text === undefined ? undefined : (JSON.parse(text) as unknown));

/** Reads the record. One strongly consistent GetItem. */
export const readRecord = async (session: Session, context: CallContext): Promise<ModelRecord> => {
  const key = systemKeyItem(session.catalog, modelRecord);
  const { Item: item = {} } = await session.send("GetItem", encodeGet(session.catalog, key, { consistent: true }), context);
  const stored = { current: textIn(item[MODEL]), migration: textIn(item[MIGRATION]) };
  return {
    current: parsed(stored.current) as RecordedModel | undefined,
    migration: parsed(stored.migration) as RecordedMigration | undefined,
    stored,
  };
};

/** The model of a connection as a record holds it. */
export const recordedModel = ({ catalog }: Session): RecordedModel => {
  const model = describeModel(catalog);
  return { hash: descriptionHash(model), model };
};

/** @throws {plan.unreadForm} when items hold an attribute under a name, or in a type, that the model does not read */
export const checkForms = ({ catalog }: Session, { current, migration }: ModelRecord): void => {
  const ours = describeModel(catalog);
  for (const recorded of [current, migration]) {
    const unread = recorded && unreadForm(catalog, ours, recorded);
    if (!unread) continue;
    const { says, definition, attribute } = unread;
    throw new EdgetableError(
      "plan.unreadForm",
      `${says}, and this model does not read that. Deploy a model with it in renamed or retyped, or the model that the table follows.`,
      { details: { table: catalog.table, definition, attribute } },
    );
  }
};

const RECORD_TYPE = "~model";

const FAILED = { reason: "conditionFailed" } as const;

const recordText = (value: RecordedModel | undefined): string | undefined =>
  value && JSON.stringify({ ...value, model: JSON.parse(descriptionText(value.model)) as unknown });

/**
 * Replaces the record if it is unchanged since it was read. Returns false if another process changed it. A record of nothing is
 * removed.
 */
export const writeRecord = async (
  session: Session,
  before: Pick<ModelRecord, "stored">,
  after: Pick<ModelRecord, "current" | "migration">,
  context: CallContext,
): Promise<boolean> => {
  const { table, index } = session.catalog;
  const key = systemKeyItem(session.catalog, modelRecord);
  const asRead = (attribute: string, text: string | undefined): Term => ({
    kind: "equals",
    attribute,
    value: text === undefined ? undefined : { S: text },
    failure: FAILED,
  });
  const terms = [asRead(MODEL, before.stored.current), asRead(MIGRATION, before.stored.migration)];
  const set: Record<string, AttributeValue> = {};
  const remove: string[] = [];
  for (const [attribute, value] of [
    [MODEL, after.current],
    [MIGRATION, after.migration],
  ] as const) {
    const text = recordText(value);
    if (text === undefined) remove.push(attribute);
    else set[attribute] = { S: text };
  }
  const isGone = Object.keys(set).length === 0;
  const changes: UpdateStep["changes"] = { set: { ...set, ...systemType(session.catalog, RECORD_TYPE) }, remove, add: {}, append: {} };
  const target = { table, partitionKey: index.partitionKey };
  try {
    if (isGone) {
      const { input } = encodeSingle(target, { kind: "delete", key, terms, shape: undefined });
      await session.send("DeleteItem", input as { readonly TableName: string; readonly Key: Item }, context);
    } else {
      const { input } = encodeSingle(target, { kind: "update", key, terms, shape: undefined, changes });
      await session.send("UpdateItem", input as UpdateItemInput, context);
    }
    return true;
  } catch (error) {
    if (!isFailedCondition(error)) throw error;
    // An earlier attempt, whose answer was lost, may have written it.
    const found = (error.details["item"] as Item | undefined) ?? {};
    return textIn(found[MODEL]) === recordText(after.current) && textIn(found[MIGRATION]) === recordText(after.migration);
  }
};
