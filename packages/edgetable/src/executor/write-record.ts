import type { Term, UpdateStep } from "../ir/write-plan.ts";
import { encodeSingle } from "../requests/encode-write.ts";
import { descriptionHash, descriptionText, describeModel } from "../schema/describe-model.ts";
import { describeOptional, describeTypes, describeValues } from "../schema/describe-types.ts";
import { MIGRATION, MODEL } from "../schema/system-items.ts";
import { modelRecord, systemKeyItem, systemType } from "../schema/system-key-item.ts";
import type { AttributeValue, Item, UpdateItemInput } from "../transport/operations.ts";
import { isFailedCondition } from "./failed-term.ts";
import { type ModelRecord, type RecordedModel, textIn } from "./model-record.ts";
import type { CallContext, Session } from "./session.ts";

/** The model of a connection as a record holds it. */
export const recordedModel = ({ catalog }: Session): RecordedModel => {
  const model = describeModel(catalog);
  return {
    hash: descriptionHash(model),
    model,
    types: describeTypes(catalog),
    optional: describeOptional(catalog),
    values: describeValues(catalog),
  };
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
