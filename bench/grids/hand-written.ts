import { connect } from "../calls/candidates/hand-written/connection.ts";
import type { Reader } from "./ask.ts";

interface Value {
  readonly S?: string;
  readonly N?: string;
}
type Item = Readonly<Record<string, Value>>;

interface Capacity {
  readonly CapacityUnits: number;
}
interface QueryAnswer {
  readonly Items: readonly Item[];
  readonly LastEvaluatedKey?: Item;
  readonly ConsumedCapacity?: Capacity;
}
interface ItemAnswer {
  readonly Item?: Item;
  readonly ConsumedCapacity?: Capacity;
}
interface BatchAnswer {
  readonly Responses: { readonly Tracker: readonly Item[] };
  readonly ConsumedCapacity?: readonly Capacity[];
}

const BATCH = 100;

/**
 * What one writes by hand for the published design: a Query of the index that orders the values of a field, a
 * BatchGetItem of the rows and the values that are filtered by or shown, and filters in memory.
 */
export const handWritten = (endpoint: string): Reader => {
  const connection = connect(endpoint);
  let [requests, readUnits] = [0, 0];
  const send = async <Answer extends { readonly ConsumedCapacity?: Capacity | readonly Capacity[] }>(
    operation: string,
    input: object,
  ): Promise<Answer> => {
    requests++;
    const answer = await connection.send<Answer>(operation, JSON.stringify({ ...input, ReturnConsumedCapacity: "TOTAL" }));
    for (const { CapacityUnits } of [answer.ConsumedCapacity ?? []].flat()) readUnits += CapacityUnits;
    return answer;
  };
  /** The index's partition of a column, as the items in it have it. */
  const partitions = new Map<string, string>();
  const partitionOf = async (column: string): Promise<string> => {
    const known = partitions.get(column);
    if (known !== undefined) return known;
    const sk = column === "num" ? "#" : `issueValue#${column}`;
    for (let num = 1; ; num++) {
      const Key = { pk: { S: `ISSUE#i${num}` }, sk: { S: sk } };
      const { Item } = await send<ItemAnswer>("GetItem", { TableName: "Tracker", Key });
      const found = Item?.["gridPk"]?.S;
      if (found === undefined) continue;
      partitions.set(column, found);
      return found;
    }
  };
  const itemsOf = async (keys: readonly { readonly pk: Value; readonly sk: Value }[]): Promise<ReadonlyMap<string, Item>> => {
    const found = new Map<string, Item>();
    const parts = Array.from({ length: Math.ceil(keys.length / BATCH) }, (_, at) => keys.slice(at * BATCH, (at + 1) * BATCH));
    const answers = await Promise.all(parts.map((Keys) => send<BatchAnswer>("BatchGetItem", { RequestItems: { Tracker: { Keys } } })));
    for (const item of answers.flatMap(({ Responses }) => Responses.Tracker)) found.set(`${item["pk"]?.S}|${item["sk"]?.S}`, item);
    return found;
  };
  return {
    close: async () => connection.close(),
    async page({ sort, filters, shown, limit, cursor }) {
      const gridPk = await partitionOf(sort);
      [requests, readUnits] = [0, 0];
      let examined = 0;
      const rows: string[] = [];
      let after = cursor === undefined ? undefined : (JSON.parse(cursor) as Item);
      const fields = [...new Set([sort, ...Object.keys(filters), ...shown])].filter((name) => name.startsWith("f"));
      // An application knows its definitions, or reads them for each page: it does here.
      await send("GetItem", {
        TableName: "Tracker",
        Key: { pk: { S: "PROJECT#35e9" }, sk: { S: "issueFields#all" } },
        ConsistentRead: true,
      });
      for (;;) {
        const { Items, LastEvaluatedKey } = await send<QueryAnswer>("Query", {
          TableName: "Tracker",
          IndexName: "grid",
          KeyConditionExpression: "gridPk = :column",
          ExpressionAttributeValues: { ":column": { S: gridPk } },
          Limit: limit,
          ...(after && { ExclusiveStartKey: after }),
        });
        const keys = Items.flatMap(({ pk = {} }) => [
          { pk, sk: { S: "#" } },
          ...fields.map((field) => ({ pk, sk: { S: `issueValue#${field}` } })),
        ]);
        const found = await itemsOf(keys);
        for (const item of Items) {
          examined++;
          const row = found.get(`${item["pk"]?.S}|#`);
          const passes = Object.entries(filters).every(([name, wanted]) => {
            const value = name.startsWith("f") ? found.get(`${item["pk"]?.S}|issueValue#${name}`)?.["value"]?.S : row?.[name]?.S;
            return value !== undefined && wanted.includes(value);
          });
          if (!passes) continue;
          rows.push(row?.["issueId"]?.S ?? item["pk"]?.S?.slice("ISSUE#".length) ?? "");
          if (rows.length < limit) continue;
          const { pk = {}, sk = {}, gridSk = {} } = item;
          return { rows, examined, requests, readUnits, next: JSON.stringify({ pk, sk, gridPk: { S: gridPk }, gridSk }) };
        }
        after = LastEvaluatedKey;
        if (!after) return { rows, examined, requests, readUnits, next: undefined };
      }
    },
  };
};
