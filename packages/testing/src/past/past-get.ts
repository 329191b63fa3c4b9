import type { BatchGetItemInput, BatchGetItemOutput, GetItemInput, GetItemOutput, Item, Key, KeysAndAttributes } from "edgetable";
import { parseProjection } from "../expression/project.ts";
import type { Look, Past } from "./past.ts";
import type { PastAnswer } from "./past-query.ts";
import { keyText } from "./table-shape.ts";
import type { Images } from "./write-history.ts";

type Projected = Pick<KeysAndAttributes, "ProjectionExpression" | "ExpressionAttributeNames">;

const project = (how: Projected, item: Item): Item =>
  how.ProjectionExpression === undefined ? item : parseProjection(how.ProjectionExpression, how.ExpressionAttributeNames ?? {})(item);

const imagesOf = (past: Past, table: string, look: Look): Images => {
  const view = past.history.view(table, look.unseen);
  view.close();
  return view.images;
};

/** A GetItem's answer from the past. */
export const pastGet = async (past: Past, input: GetItemInput, look: Look): Promise<PastAnswer<GetItemOutput>> => {
  const shape = await past.shapes.of(input.TableName);
  const images = imagesOf(past, input.TableName, look);
  const now = await past.inner.send("GetItem", input, look.options);
  const key = keyText(shape, input.Key);
  if (!images.has(key)) return { output: now, lagged: false };
  const item = images.get(key);
  const { ConsumedCapacity: consumed } = now;
  return { output: { ...(item && { Item: project(input, item) }), ...(consumed && { ConsumedCapacity: consumed }) }, lagged: true };
};

interface TableKeys {
  readonly table: string;
  readonly present: readonly Key[];
  readonly past: readonly (Item | undefined)[];
}

const divide = async (past: Past, [table, asked]: readonly [string, KeysAndAttributes], look: Look): Promise<TableKeys> => {
  const shape = await past.shapes.of(table);
  const images = asked.ConsistentRead === true ? new Map<string, Item>() : imagesOf(past, table, look);
  const isPast = (key: Key): boolean => images.has(keyText(shape, key));
  return {
    table,
    present: asked.Keys.filter((key) => !isPast(key)),
    past: asked.Keys.filter(isPast).map((key) => images.get(keyText(shape, key))),
  };
};

const presentPart = (input: BatchGetItemInput, tables: readonly TableKeys[]): BatchGetItemInput["RequestItems"] => {
  const asked = tables.filter(({ present }) => present.length > 0);
  return Object.fromEntries(
    asked.map(({ table, present }) => [table, { ...(input.RequestItems[table] as KeysAndAttributes), Keys: present }]),
  );
};

/** A BatchGetItem's answer from the past; tables that are read consistently are not lied about. */
export const pastBatchGet = async (past: Past, input: BatchGetItemInput, look: Look): Promise<PastAnswer<BatchGetItemOutput>> => {
  const tables = await Promise.all(Object.entries(input.RequestItems).map((entry) => divide(past, entry, look)));
  const now = await past.inner.send("BatchGetItem", input, look.options);
  if (tables.every((table) => table.past.length === 0)) return { output: now, lagged: false };
  const RequestItems = presentPart(input, tables);
  const rest: BatchGetItemOutput =
    Object.keys(RequestItems).length === 0 ? {} : await past.inner.send("BatchGetItem", { ...input, RequestItems }, look.options);
  const responses = tables.map(({ table, past: images }) => {
    const old = images.flatMap((item) => (item ? [project(input.RequestItems[table] ?? {}, item)] : []));
    return [table, [...(rest.Responses?.[table] ?? []), ...old]] as const;
  });
  const { ConsumedCapacity: consumed } = now;
  return { output: { ...rest, Responses: Object.fromEntries(responses), ...(consumed && { ConsumedCapacity: consumed }) }, lagged: true };
};
