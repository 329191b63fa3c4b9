import type { Item, Transport } from "edgetable";

// The stamp of a document is drawn at random, and items that follow it bear it.
const RANDOM: readonly string[] = ["stamp", "follows"];

/** A value whose maps have their members in one order: a repeated write may give them in another. */
const inOrder = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(inOrder);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(members.map(([name, member]) => [name, inOrder(member)]));
};

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
  const written = (item: Item) =>
    Object.entries(item).map(([name, value]) => [name, RANDOM.includes(name) ? "drawn" : inOrder(value)] as const);
  return items.map((item) => JSON.stringify(written(item).toSorted(([a], [b]) => (a < b ? -1 : 1)))).toSorted();
};
