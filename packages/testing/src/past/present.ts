import type { BatchGetItemInput, Item, Key, QueryInput, QueryOutput, Transport } from "edgetable";
import { usedPlaceholders } from "../expression/placeholders.ts";

// BatchGetItem: 100 keys, ServiceQuotas.
const keysPerRequest = 100;
// Small enough for an engine that reads what it does not return.
const itemsPerPage = 2_000;

/** Items as they are, by key, read consistently; missing ones are left out. */
export const readPresent = async (inner: Transport, table: string, keys: readonly Key[]): Promise<readonly Item[]> => {
  const items: Item[] = [];
  let left = keys;
  while (left.length > 0) {
    const RequestItems: BatchGetItemInput["RequestItems"] = { [table]: { Keys: left.slice(0, keysPerRequest), ConsistentRead: true } };
    const answer = await inner.send("BatchGetItem", { RequestItems });
    items.push(...(answer.Responses?.[table] ?? []));
    left = [...(answer.UnprocessedKeys?.[table]?.Keys ?? []), ...left.slice(keysPerRequest)];
  }
  return items;
};

/** The bare query under another: same key condition, no filter, projection, page or direction. */
export const bareQuery = (input: QueryInput): QueryInput => ({
  TableName: input.TableName,
  KeyConditionExpression: input.KeyConditionExpression,
  ...usedPlaceholders([input.KeyConditionExpression], input),
  ...(input.IndexName === undefined ? { ConsistentRead: true } : { IndexName: input.IndexName }),
});

/** Everything that a key condition meets, in ascending order. */
export const readCollection = async (inner: Transport, input: QueryInput): Promise<readonly Item[]> => {
  const items: Item[] = [];
  let start: Key | undefined;
  do {
    const page: QueryInput = { ...bareQuery(input), Limit: itemsPerPage, ...(start && { ExclusiveStartKey: start }) };
    const answer: QueryOutput = await inner.send("Query", page);
    items.push(...(answer.Items ?? []));
    start = answer.LastEvaluatedKey;
  } while (start);
  return items;
};
