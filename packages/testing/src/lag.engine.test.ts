import { afterAll, beforeAll, expect, test } from "vitest";
import type { Transport } from "edgetable";
import { createFaultTransport, createWriteHistory, virtualClock } from "./index.ts";
import { openEngine, type TestEngine } from "../../../conformance/engines/open-engine.ts";
import { createLabTable, partition, textItem } from "./test-support/lab-table.ts";

let engine: TestEngine;
let table: string;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

const put = (transport: Transport, sk: string, v: string): Promise<unknown> =>
  transport.send("PutItem", { TableName: table, Item: textItem({ pk: "p", sk, g: "g1", h: sk, v }) });

const seen = async (transport: Transport): Promise<Readonly<Record<string, string>>> => {
  const { Items = [] } = await transport.send("Query", partition(table, "g1", "byText"));
  return Object.fromEntries(Items.map(({ sk, v }) => [(sk as { S: string }).S, (v as { S: string }).S]));
};

test("lag by time: a write shows in the index when its time has come, in the table at once", async () => {
  table = await createLabTable(engine.transport);
  const clock = virtualClock();
  const lying = createFaultTransport(engine.transport, {
    effects: clock,
    script: Array.from({ length: 4 }, () => ({ fault: "lag" as const, amount: 1_000 })),
    lag: { milliseconds: 1_000 },
  });
  await put(lying, "a", "1");
  await clock.sleep(999);
  expect(await seen(lying)).toEqual({});
  const key = textItem({ pk: "p", sk: "a" });
  expect((await lying.send("GetItem", { TableName: table, Key: key, ConsistentRead: true })).Item).toMatchObject({ v: { S: "1" } });
  await put(lying, "a", "2");
  await clock.sleep(1);
  expect(await seen(lying)).toEqual({ a: "1" });
  await clock.sleep(999);
  expect(await seen(lying)).toEqual({ a: "2" });
});

test("a consistent read is never stale, an eventually consistent one is when asked for", async () => {
  table = await createLabTable(engine.transport);
  const lying = createFaultTransport(engine.transport, { staleReads: { writes: 1 } });
  await put(lying, "a", "1");
  const Key = textItem({ pk: "p", sk: "a" });
  expect((await lying.send("GetItem", { TableName: table, Key })).Item).toBeUndefined();
  expect((await lying.send("GetItem", { TableName: table, Key, ConsistentRead: true })).Item).toBeDefined();
  expect((await lying.send("Query", partition(table, "p"))).Count).toBe(0);
  expect((await lying.send("Query", { ...partition(table, "p"), ConsistentRead: true })).Count).toBe(1);
  expect(lying.log.map(({ fault }) => fault)).toEqual(["staleRead", "staleRead"]);
});

test("settle shows every write that is done; later ones lag again", async () => {
  table = await createLabTable(engine.transport);
  const lying = createFaultTransport(engine.transport, { lag: { writes: 1 }, maxConsecutive: Infinity });
  await put(lying, "a", "1");
  expect(await seen(lying)).toEqual({});
  lying.settle();
  expect(await seen(lying)).toEqual({ a: "1" });
  await put(lying, "b", "1");
  expect(await seen(lying)).toEqual({ a: "1" });
});

test("who asks again and again sees the write in the end", async () => {
  table = await createLabTable(engine.transport);
  const lying = createFaultTransport(engine.transport, { lag: { writes: 5 }, maxConsecutive: 2 });
  await put(lying, "a", "1");
  const answers = [await seen(lying), await seen(lying), await seen(lying)];
  expect(answers).toEqual([{}, {}, { a: "1" }]);
});

test("a torn index may show half a transaction, and each item lags within the bound", async () => {
  table = await createLabTable(engine.transport);
  const lying = createFaultTransport(engine.transport, { seed: 4, lag: { writes: 2, torn: true }, maxConsecutive: Infinity });
  const versions = new Set<string>();
  for (let v = 1; v <= 40; v++) {
    const TransactItems = ["a", "b"].map((sk) => ({
      Put: { TableName: table, Item: textItem({ pk: "p", sk, g: "g1", h: sk, v: String(v) }) },
    }));
    await lying.send("TransactWriteItems", { TransactItems });
    const { a = "0", b = "0" } = await seen(lying);
    for (const shown of [a, b]) expect(v - Number(shown)).toBeOneOf([0, 1, 2].filter((lag) => lag <= v));
    versions.add(a === b ? "whole" : "torn");
  }
  expect([...versions].toSorted()).toEqual(["torn", "whole"]);
});

test("clients that share a history see each other's writes with lag", async () => {
  table = await createLabTable(engine.transport);
  const history = createWriteHistory();
  const writer = createFaultTransport(engine.transport, { history });
  const reader = createFaultTransport(engine.transport, { history, lag: { writes: 1 } });
  await put(writer, "a", "1");
  expect(await seen(reader)).toEqual({});
  await put(writer, "b", "1");
  expect(await seen(reader)).toEqual({ a: "1" });
});

test("amid concurrent writers a query shows one state: within the bound, each item once", async () => {
  table = await createLabTable(engine.transport);
  const history = createWriteHistory();
  const names = ["a", "b", "c", "d", "e"];
  const acknowledged = new Map(names.map((name) => [name, 0]));
  const writer = async (seed: number): Promise<void> => {
    const client = createFaultTransport(engine.transport, { seed, history });
    const name = names[seed] ?? "";
    for (let v = 1; v <= 30; v++) {
      // The range key moves with each version: an item seen twice or not at all would show.
      const Item = textItem({ pk: "p", sk: name, g: "g1", h: `${String((v * 7 + seed) % 10)}${name}`, v: String(v) });
      await client.send("PutItem", { TableName: table, Item });
      acknowledged.set(name, v);
    }
  };
  const reader = async (): Promise<void> => {
    const client = createFaultTransport(engine.transport, { seed: 99, history, lag: { writes: 3 }, maxConsecutive: Infinity });
    for (let round = 0; round < 40; round++) {
      const before = [...acknowledged.values()].reduce((sum, v) => sum + v, 0);
      const { Items = [] } = await client.send("Query", partition(table, "g1", "byText"));
      const shown = new Map(Items.map(({ sk, v }) => [(sk as { S: string }).S, Number((v as { S: string }).S)]));
      expect(shown.size).toBe(Items.length);
      expect(before - [...shown.values()].reduce((sum, v) => sum + v, 0)).toBeLessThanOrEqual(3);
      for (const [name, v] of shown) expect(v).toBeLessThanOrEqual(acknowledged.get(name) ?? 0);
    }
  };
  await Promise.all([...names.keys()].map(writer).concat(reader()));
});
