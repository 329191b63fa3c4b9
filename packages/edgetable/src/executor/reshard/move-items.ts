import { checkLength, keyOfItem, keyText } from "../../requests/encode-item.ts";
import { decodeItem, shapeOf } from "../../requests/decode-item.ts";
import type { Shape } from "../../schema/catalog.ts";
import type { AttributeValue, Item, Key, QueryOutput, UpdateItemInput } from "../../transport/operations.ts";
import { batchGet } from "../batch.ts";
import { isFailedCondition } from "../failed-condition.ts";
import type { CallContext, Session } from "../session.ts";
import type { OldPlace } from "./resharding.ts";
import { own } from "../../util/row.ts";

/** Items under way at the same time. */
const ABREAST = 8;

const textOf = (value: AttributeValue | undefined): string | undefined => (value && "S" in value ? value.S : undefined);

/** The attribute in which a shape keeps the field by which its shards differ in number. */
const deciding = (shape: Shape, attribute: string): readonly string[] =>
  (shape.keys[attribute]?.optional ?? []).map((field) => shape.stored[field] ?? field);

// The key is changed only if nobody changed it, or what it follows from, since the item was read.
const moveInput = (
  session: Session,
  item: Item,
  move: { readonly shape: Shape; readonly attribute: string; readonly to: string },
): UpdateItemInput => {
  const { shape, attribute, to } = move;
  const names: Record<string, string> = { "#p": attribute };
  const values: Record<string, AttributeValue> = { ":new": { S: to }, ":old": item[attribute]! };
  const conditions = ["#p = :old"];
  for (const [at, field] of deciding(shape, attribute).entries()) {
    names[`#d${at}`] = field;
    const value = own(item, field);
    if (value) values[`:d${at}`] = value;
    conditions.push(value ? `#d${at} = :d${at}` : `attribute_not_exists(#d${at})`);
  }
  return {
    TableName: session.catalog.table,
    Key: keyOfItem(session.catalog, item),
    UpdateExpression: "SET #p = :new",
    ConditionExpression: conditions.join(" AND "),
    ExpressionAttributeNames: names,
    ExpressionAttributeValues: values,
    ReturnConsumedCapacity: "TOTAL",
  };
};

/** The session of a resharding and the call by which it goes on. */
export interface MovingCall {
  readonly session: Session;
  readonly context: CallContext;
}

/** Moves one item to where a writer would put it now; false when it is there, or somebody came between. */
const moveItem = async ({ session, context }: MovingCall, place: OldPlace, item: Item): Promise<boolean> => {
  const { catalog } = session;
  const attribute = place.index.partitionKey;
  const shape = shapeOf(catalog, place.shapes, item);
  if (!shape || item[attribute] === undefined) return false;
  const to = checkLength(catalog, attribute, keyText(shape, attribute, decodeItem(catalog, shape, item)));
  if (to === undefined || to === textOf(item[attribute])) return false;
  try {
    await session.send("UpdateItem", moveInput(session, item, { shape, attribute, to }), context);
    return true;
  } catch (error) {
    // A writer that came between has put the item where it belongs; a lost answer means that it is there.
    if (isFailedCondition(error)) return false;
    throw error;
  }
};

/** Moves the items of a page; gives how many. */
export const moveItems = async (call: MovingCall, place: OldPlace, found: readonly Item[]): Promise<number> => {
  const { session, context } = call;
  const whole = place.index.projection === "ALL";
  const keys = found.map((item) => keyOfItem(session.catalog, item));
  const items = whole || found.length === 0 ? found : await batchGet(session, { keys, consistent: true }, context);
  let moved = 0;
  for (let at = 0; at < items.length; at += ABREAST) {
    const done = await Promise.all(items.slice(at, at + ABREAST).map(async (item) => moveItem(call, place, item)));
    moved += done.filter(Boolean).length;
  }
  return moved;
};

const PAGE = 100;

/** A page of a place's items: a Query of its partition, or a Scan of the index where its partitions have no list. */
export const readPlace = (
  { session, context }: MovingCall,
  { index, partition }: OldPlace,
  start: Key | undefined,
): Promise<QueryOutput> => {
  const common = {
    TableName: session.catalog.table,
    IndexName: index.name ?? "",
    Limit: PAGE,
    ...(start ? { ExclusiveStartKey: start } : {}),
    ReturnConsumedCapacity: "TOTAL" as const,
  };
  if (partition === undefined) return session.send("Scan", common, context);
  return session.send(
    "Query",
    {
      ...common,
      KeyConditionExpression: "#p = :p",
      ExpressionAttributeNames: { "#p": index.partitionKey },
      ExpressionAttributeValues: { ":p": { S: partition } },
    },
    context,
  );
};
