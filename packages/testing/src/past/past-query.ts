import type { Item, QueryInput, QueryOutput } from "edgetable";
import type { Condition } from "../expression/condition.ts";
import { holds } from "../expression/holds.ts";
import { parseCondition } from "../expression/parse-condition.ts";
import { taggedValue } from "../expression/value-order.ts";
import type { Look, Past } from "./past.ts";
import { pageOf } from "./past-page.ts";
import { type Positions, positionsOf } from "./position.ts";
import { readCollection } from "./present.ts";
import { type IndexShape, keyNames, keyOf, keyText, type TableShape } from "./table-shape.ts";
import type { Images } from "./write-history.ts";

/** An answer, and whether it is one of the past. */
export interface PastAnswer<T> {
  readonly output: T;
  readonly lagged: boolean;
}

const inIndex = (table: TableShape, index: IndexShape, item: Item): boolean =>
  keyNames(index).every((name) => {
    const value = item[name];
    return value !== undefined && taggedValue(value)[0] === table.types.get(name);
  });

const asIndexed = (index: IndexShape | undefined, item: Item): Item =>
  index?.projected ? Object.fromEntries(Object.entries(item).filter(([name]) => index.projected?.has(name))) : item;

const keyCondition = (input: QueryInput): Condition =>
  parseCondition({
    text: input.KeyConditionExpression,
    names: input.ExpressionAttributeNames ?? {},
    values: input.ExpressionAttributeValues ?? {},
  });

/** Replaces the items that were written since by what they were. */
const patched = (
  present: readonly Item[],
  images: Images,
  place: { input: QueryInput; table: TableShape; index: IndexShape | undefined },
): readonly Item[] => {
  const { input, table, index } = place;
  const met = keyCondition(input);
  const unchanged = present.filter((item) => !images.has(keyText(table, keyOf(table, item) ?? {})));
  const restored = [...images.values()].filter(
    (item): item is Item => item !== undefined && (!index || inIndex(table, index, item)) && holds(met, item),
  );
  return [...unchanged, ...restored.map((item) => asIndexed(index, item))];
};

/** Whether the engine keeps equal range keys in the order that cursors here rely on. */
const inOrder = (items: readonly Item[], positions: Positions): boolean =>
  items.every((item, at) => at === 0 || positions.compare(items[at - 1] ?? item, item) < 0);

/**
 * A Query's answer from the past. The present is asked, too, for what it refuses and for the capacity
 * that it reports.
 *
 * @throws {plan.unsupported} when an expression of the query is beyond the reader of expressions
 */
export const pastQuery = async (past: Past, input: QueryInput, look: Look): Promise<PastAnswer<QueryOutput>> => {
  const table = await past.shapes.of(input.TableName);
  const view = past.history.view(input.TableName, look.unseen);
  try {
    const now = await past.inner.send("Query", input, look.options);
    if (view.images.size === 0) return { output: now, lagged: false };
    const index = input.IndexName === undefined ? undefined : table.indexes.get(input.IndexName);
    const positions = positionsOf(table, index);
    const present = await readCollection(past.inner, input);
    if (!inOrder(present, positions)) return { output: now, lagged: false };
    const collection = patched(present, view.images, { input, table, index }).toSorted((a, b) => positions.compare(a, b));
    const page = pageOf(collection, input, positions);
    return { output: { ...page, ...(now.ConsumedCapacity && { ConsumedCapacity: now.ConsumedCapacity }) }, lagged: true };
  } finally {
    view.close();
  }
};
