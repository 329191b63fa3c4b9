import type { Item, Transport } from "edgetable";

// The stamp of a document is drawn at random, and items that follow it bear it.
const RANDOM: readonly string[] = ["stamp", "follows"];

/** What a table holds, in an order that is the same whoever wrote it, without what is drawn at random. */
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
  const written = (item: Item) => Object.entries(item).map(([name, value]) => [name, RANDOM.includes(name) ? "drawn" : value] as const);
  return items.map((item) => JSON.stringify(written(item).toSorted(([a], [b]) => (a < b ? -1 : 1)))).toSorted();
};
