import { afterAll, beforeAll, expect, test } from "vitest";
import type { Item, OperationInputs } from "edgetable";
import { createFaultTransport, type FaultTransport } from "./index.ts";
import { openEngine, type TestEngine } from "../../../conformance/engines/open-engine.ts";
import { createLabTable, partition, textItem } from "./test-support/lab-table.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

const tenItems = (pk: string): readonly Item[] => Array.from({ length: 10 }, (_, at) => textItem({ pk, sk: `s${String(at)}` }));
const half = (fault: "unprocessed" | "resetAfter", amount: number): FaultTransport =>
  createFaultTransport(engine.transport, { script: [{ fault, amount, draw: 5 }] });

const twoTables = async (): Promise<readonly [string, string, OperationInputs["BatchWriteItem"]]> => {
  const tables = [await createLabTable(engine.transport), await createLabTable(engine.transport)] as const;
  const requests = tenItems("p").map((item) => ({ PutRequest: { Item: item } }));
  return [...tables, { RequestItems: { [tables[0]]: requests, [tables[1]]: requests } }];
};

const storedIn = async (table: string): Promise<number> => (await engine.transport.send("Query", partition(table, "p"))).Count ?? 0;

test.each([
  [0.05, 1],
  [0.5, 10],
  [1, 20],
])("unprocessed items of share %d stay undone, are given back, and nothing else is", async (share, undone) => {
  const [a, b, input] = await twoTables();
  const answer = await half("unprocessed", share).send("BatchWriteItem", input);
  const left = Object.values(answer.UnprocessedItems ?? {}).flat();
  expect(left).toHaveLength(undone);
  expect((await storedIn(a)) + (await storedIn(b))).toBe(20 - undone);
  const again = await engine.transport.send("BatchWriteItem", { RequestItems: answer.UnprocessedItems ?? {} });
  expect(again.UnprocessedItems ?? {}).toEqual({});
  expect(await Promise.all([storedIn(a), storedIn(b)])).toEqual([10, 10]);
});

test.each([
  [0.05, 1],
  [0.5, 10],
  [1, 20],
])("unprocessed keys of share %d are given back with their way of reading", async (share, undone) => {
  const [a, b, input] = await twoTables();
  await engine.transport.send("BatchWriteItem", input);
  const how = { ConsistentRead: true, ProjectionExpression: "#s", ExpressionAttributeNames: { "#s": "sk" } };
  const Keys = tenItems("p");
  const answer = await half("unprocessed", share).send("BatchGetItem", { RequestItems: { [a]: { Keys, ...how }, [b]: { Keys } } });
  const left = answer.UnprocessedKeys ?? {};
  expect(Object.values(left).flatMap((table) => table.Keys)).toHaveLength(undone);
  expect(left[a] ?? how).toMatchObject(how);
  const rest = await engine.transport.send("BatchGetItem", { RequestItems: left });
  const found = [answer, rest].flatMap(({ Responses = {} }) => [...(Responses[a] ?? []), ...(Responses[b] ?? [])]);
  expect(found).toHaveLength(20);
});

test("a batch whose answer is lost may have taken effect in part", async () => {
  const [a, b, input] = await twoTables();
  const lying = half("resetAfter", 0.25);
  await expect(lying.send("BatchWriteItem", input)).rejects.toMatchObject({ code: "execute.connection" });
  expect((await storedIn(a)) + (await storedIn(b))).toBe(5);
  expect(lying.log).toEqual([{ n: 1, operation: "BatchWriteItem", fault: "resetAfter", amount: 0.25, draw: 5 }]);
});
