import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { defineGraph, node, type SentRequest } from "../index.ts";
import { startEngine, type TestEngine } from "../test-support/engine.ts";
import { driverOf } from "./driver.ts";
import { findOf } from "./find.ts";

const names = Array.from({ length: 20 }, (_, at) => `a${at}`);
const text = z.string();
const attributes = Object.fromEntries(names.map((name) => [name, text]));

let engine: TestEngine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

const open = async () => {
  const sent: SentRequest[] = [];
  const graph = defineGraph({
    table: engine.freshTableName("lists"),
    nodes: {
      thing: node({ key: "THING#{id}", schema: z.object({ id: text, ...attributes }) }),
    },
    indexes: {
      byFive: { entries: { thing: { by: names.slice(0, 7) as never, split: 5 } } },
      bySeven: { entries: { thing: { by: names.slice(10, 18) as never, split: 7 } } },
    },
  });
  const db = graph.connect({ transport: engine.transport, onRequest: (request) => void sent.push(request) });
  await db.table.create();
  const driver = driverOf(db);
  let plans = 0;
  const plan: typeof driver.plan = (...given) => {
    plans++;
    return driver.plan(...given);
  };
  return { db, sent, find: findOf({ ...driver, plan }), plans: () => plans };
};

const listsOf = (fields: readonly string[]) => Object.fromEntries(fields.map((name) => [name, { in: ["x", "y"] }]));

test("a search combines as many lists as fill a partition key together, and filters by the others", async () => {
  const { db, sent, find, plans } = await open();
  const rows = Array.from({ length: 40 }, (_, at) => ({
    id: `t${String(at).padStart(2, "0")}`,
    ...Object.fromEntries(names.map((name, place) => [name, "xyz"[(at * (place + 1) + (at >> 2)) % 3] as string])),
  }));
  await db.load(rows.map((row) => ({ node: "thing" as const, row })) as never);
  for (const fields of [names.slice(0, 5), names.slice(0, 6), names.slice(0, 8), names.slice(0, 5).toReversed()]) {
    sent.length = 0;
    const found = (await find("thing").where(listsOf(fields)).rows()) as { readonly id: string }[];
    const wanted = rows.filter((row) => fields.every((name) => row[name as "id"] !== "z"));
    expect(found.map(({ id }) => id).toSorted()).toEqual(wanted.map(({ id }) => id));
    expect(sent.length).toBe(32);
  }
  expect(plans()).toBeLessThan(200);
});

test("a search by twenty lists that fill no key is refused without trying their combinations", async () => {
  const { find, plans } = await open();
  const lists = listsOf(names.filter((name) => name !== "a0" && name !== "a12"));
  await expect(find("thing").where(lists).rows()).rejects.toMatchObject({ code: "plan.noIndex" });
  expect(plans()).toBeLessThan(60);
});

test("lists that fill a key by too many combinations are refused before a request", async () => {
  const { find, sent } = await open();
  sent.length = 0;
  const lists = Object.fromEntries(names.slice(0, 5).map((name) => [name, { in: ["1", "2", "3", "4", "5"] }]));
  await expect(find("thing").where(lists).rows()).rejects.toMatchObject({
    code: "plan.unsupported",
    message: expect.stringContaining("3125") as string,
  });
  expect(sent).toEqual([]);
});

test("the rows of a list of ids come in the order of the list, also in pages and backwards", async () => {
  const graph = defineGraph({
    table: engine.freshTableName("ids"),
    nodes: { thing: node({ key: "THING#{id}", schema: z.object({ id: text }) }) },
    indexes: { byId: { entries: { thing: "id" }, shards: 2 } },
  });
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  await db.load(["d", "a", "c", "b"].map((id) => ({ node: "thing", row: { id } })));
  const list = ["c", "d", "none", "a"];
  const search = () => db.find("thing").where({ id: { in: list } });
  const idsOf = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => id);
  expect(idsOf(await search().rows())).toEqual(["c", "d", "a"]);
  expect(idsOf(await search().reverse().rows())).toEqual(["a", "d", "c"]);
  const first = await search().page({ limit: 2 });
  expect(idsOf(first.items)).toEqual(["c", "d"]);
  expect(idsOf((await search().page({ limit: 2, cursor: first.next })).items)).toEqual(["a"]);
  expect(idsOf(await search().using("byId").rows())).toEqual(["a", "c", "d"]);
});
