import type { Item, Transport } from "edgetable";

/** What a table holds, in an order that is the same whoever wrote it. */
export const tableContent = async (transport: Transport, table: string): Promise<readonly string[]> => {
  const items: Item[] = [];
  let start: Item | undefined;
  do {
    const output = await transport.send("Scan", {
      TableName: table,
      Limit: 1000,
      ConsistentRead: true,
      ...(start ? { ExclusiveStartKey: start } : {}),
    });
    items.push(...(output.Items ?? []));
    start = output.LastEvaluatedKey;
  } while (start);
  return items.map((item) => JSON.stringify(Object.entries(item).toSorted(([a], [b]) => (a < b ? -1 : 1)))).toSorted();
};
