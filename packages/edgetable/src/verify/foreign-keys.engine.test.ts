import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { count, defineGraph, edge, node, part } from "../index.ts";
import { startEngine, type TestEngine } from "../test-support/engine.ts";
import type { Item } from "../transport/operations.ts";
import { verify, type VerifyOptions } from "./index.ts";

let engine: TestEngine;
let table = "";
let tables = 0;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());
beforeEach(() => {
  table = `ForeignKeys${tables++}`;
});

const text = z.string();
const place = { type: text, name: text, place: text.optional() };
const keys = { GSI1PK: "AT#{place}", GSI1SK: "{type}#{name}" };
const repeated = { verbatim: ["type", "name", "place"], sparse: ["GSI1PK", "GSI1SK"] };

const open = async () => {
  const graph = defineGraph({
    table,
    nodes: { asset: node({ key: "ASSET#{id}", schema: z.object({ id: text, ...place, note: text.optional() }) }) },
    parts: { visit: part({ of: "asset", key: "VISIT#{n}", schema: z.object({ n: text, ...place }) }) },
    edges: { near: edge({ from: "asset", to: "asset", ends: "unchecked", schema: z.object(place) }) },
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      indexes: { GSI1: { partitionKey: "GSI1PK", sortKey: "GSI1SK" } },
      nodes: { asset: { keys: { SK: "ASSET", ...keys, Id: "{id}" }, ...repeated } },
      parts: { visit: { keys, ...repeated } },
      edges: {
        near: {
          keys: { SK: "NEAR#{to}", ...keys },
          verbatim: { type: "type", name: "name", place: "place", Near: "to.id" },
          sparse: repeated.sparse,
        },
      },
    },
  });
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  const put = (item: Readonly<Record<string, string>>) =>
    engine.transport.send("PutItem", {
      TableName: table,
      Item: Object.fromEntries(Object.entries(item).map(([name, value]) => [name, { S: value }])),
    });
  const items = async (): Promise<readonly Item[]> => (await engine.transport.send("Scan", { TableName: table })).Items ?? [];
  return { db, put, items };
};

const verified = async (db: object, options: VerifyOptions = {}) => {
  const { kinds, clean } = await verify(db, { settle: 1, staleAfter: 1, ...options });
  return { clean, kinds: kinds.map(({ kind, count, repaired, examples }) => [kind, count, repaired, examples[0]?.attribute]) };
};

// Another program joins the values without looking for the delimiter in them.
const values = { type: "C#1", name: "pump", place: "here" };
const entry = { GSI1PK: "AT#here", GSI1SK: "C#1#pump" };
const asset = (id: string) => ({ PK: `ASSET#${id}`, SK: "ASSET", Id: id });

test("an index key with the delimiter in a value is left as another program wrote it, and told", async () => {
  const { db, put, items } = await open();
  await put({ ...asset("1"), ...values, ...entry });
  await put({ PK: "ASSET#1", SK: "VISIT#1", ...values, ...entry });
  await put({ PK: "ASSET#1", SK: "NEAR#ASSET#1", Near: "1", ...values, ...entry });
  const before = await items();
  const found = async () => (await db.find(["asset", "visit", "near"]).where({ place: "here" }).rows()).map(({ kind }) => kind).toSorted();
  expect(await found()).toEqual(["asset", "near", "visit"]);
  expect(await verified(db)).toEqual({ clean: false, kinds: [["invalid", 3, 0, "GSI1SK"]] });
  expect(await verified(db, { repair: true })).toEqual({ clean: false, kinds: [["invalid", 3, 0, "GSI1SK"]] });
  expect(await items()).toEqual(before);
  expect(await found()).toEqual(["asset", "near", "visit"]);
});

test("an update that would take the row out of an index is refused, and one that removes its entry is made", async () => {
  const { db, put, items } = await open();
  await put({ ...asset("1"), ...values, ...entry });
  await put({ PK: "ASSET#1", SK: "VISIT#1", ...values, ...entry });
  await put({ PK: "ASSET#1", SK: "NEAR#ASSET#1", Near: "1", ...values, ...entry });
  const before = await items();
  const refusal = { code: "keys.delimiter", message: expect.stringContaining('the value "C#1" of {type}') as string };
  const id = { id: "1" };
  await expect(db.asset.update(id, { name: "valve" }).run()).rejects.toMatchObject(refusal);
  await expect(db.asset.upsert({ id: "1", type: "x", name: "valve" }, { name: "valve" }).run()).rejects.toMatchObject(refusal);
  await expect(db.visit.update(id, { n: "1" }, { name: "valve" }).run()).rejects.toMatchObject(refusal);
  await expect(db.near.relink(id, id, { name: "valve" }).run()).rejects.toMatchObject(refusal);
  await expect(
    db.transact([db.asset.update(id, { name: "valve" }), db.asset.check({ id: "2" }, { exists: false })]).run(),
  ).rejects.toMatchObject(refusal);
  expect(await items()).toEqual(before);

  // The other half of the key does not look at the value, and a row without a place has no entry.
  expect(await db.asset.update(id, { place: "there", note: "n" })).toMatchObject({ ok: true });
  expect(await db.find("asset").where({ place: "there" }).rows()).toMatchObject([{ type: "C#1" }]);
  expect(await db.asset.update(id, { remove: ["place"] })).toMatchObject({ ok: true });
  expect(await db.asset.update(id, { type: "C1" })).toMatchObject({ ok: true });
  expect(await db.asset.update(id, { place: "there" })).toMatchObject({ ok: true });
  expect(await db.find("asset").where({ place: "there" }).rows()).toMatchObject([{ type: "C1" }]);
  expect(await verified(db)).toEqual({ clean: false, kinds: [["invalid", 2, 0, "GSI1SK"]] });
});

test("an attribute that repeats a value and is in no index drifts, and is written", async () => {
  const { db, put, items } = await open();
  await put({ ...asset("1"), ...values, type: "C1", GSI1PK: "AT#here", GSI1SK: "C1#pump", Id: "2" });
  await put({ PK: "ASSET#1", SK: "NEAR#ASSET#3", type: "C1", name: "pump" });
  const before = await items();
  expect(await verified(db)).toEqual({ clean: false, kinds: [["drift", 2, 0, "Id"]] });
  expect(await verified(db, { repair: true })).toEqual({ clean: true, kinds: [["drift", 2, 2, "Id"]] });
  const mended = before.map((item) => ({ ...item, ...("Id" in item ? { Id: { S: "1" } } : { Near: { S: "3" } }) }));
  expect(await items()).toEqual(mended);
});

test("a repaired copy whose value no key takes leaves no key of its old value", async () => {
  const graph = defineGraph({
    table,
    nodes: { asset: node({ key: "ASSET#{id}", schema: z.object({ id: text, place: text }) }) },
    parts: { visit: part({ of: "asset", key: "VISIT#{n}", schema: z.object({ n: text }), copies: ["place"] }) },
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      indexes: { GSI1: { partitionKey: "GSI1PK", sortKey: "GSI1SK" } },
      parts: { visit: { keys: { GSI1PK: "AT#{place}#", GSI1SK: "{n}" }, verbatim: ["place"] } },
    },
  });
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  await db.asset.create({ id: "1", place: "old" }).orThrow();
  await db.visit.create({ id: "1" }, { n: "a" }).orThrow();
  await engine.transport.send("PutItem", {
    TableName: table,
    Item: { PK: { S: "ASSET#1" }, SK: { S: "ASSET#1" }, place: { S: "new#er" } },
  });
  expect(await verified(db, { repair: true })).toEqual({ clean: true, kinds: [["staleCopy", 1, 1, "place"]] });
  expect(await db.asset({ id: "1" }).parts("visit").all()).toEqual([{ id: "1", n: "a", place: "new#er" }]);
  expect(await db.find("visit").where({ place: "old" }).rows()).toEqual([]);
  expect(await verified(db)).toEqual({ clean: true, kinds: [] });
});

test("a repaired count leaves a key that another value keeps from being made, and tells it once", async () => {
  const graph = defineGraph({
    table,
    nodes: {
      asset: node({ key: "ASSET#{id}", schema: z.object({ id: text, type: text }), derived: { visits: count({ parts: "visit" }) } }),
    },
    parts: { visit: part({ of: "asset", key: "VISIT#{n}", schema: z.object({ n: text }) }) },
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      indexes: { GSI1: { partitionKey: "GSI1PK", sortKey: "GSI1SK" } },
      nodes: { asset: { keys: { GSI1PK: "ASSETS", GSI1SK: "{type}#{visits:4}" }, verbatim: ["type"] } },
    },
  });
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  const item = { PK: { S: "ASSET#1" }, SK: { S: "ASSET#1" }, type: { S: "C#1" }, GSI1PK: { S: "ASSETS" }, GSI1SK: { S: "C#1#0007" } };
  await engine.transport.send("PutItem", { TableName: table, Item: { ...item, visits: { N: "7" } } });
  const invalid = ["invalid", 1, 0, "GSI1SK"];
  expect(await verified(db, { repair: true })).toEqual({ clean: false, kinds: [invalid, ["wrongAggregate", 1, 1, "visits"]] });
  expect(await db.find("asset").using("GSI1").rows()).toEqual([{ id: "1", type: "C#1", visits: 0 }]);
  expect(await verified(db)).toEqual({ clean: false, kinds: [invalid] });
});

test("an update takes a row out of an index if it lacks a field of its key, as a repair does", async () => {
  const schema = z.object({ id: text, team: text, at: text, rank: text });
  const db = defineGraph({
    table,
    nodes: { order: node({ key: "ORDER#{id}", schema }) },
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      indexes: { GSI1: { partitionKey: "GSI1PK", sortKey: "GSI1SK" } },
      nodes: { order: { keys: { SK: "ORDER", GSI1PK: "TEAM#{team}", GSI1SK: "{rank}#{at}" }, verbatim: ["team", "at", "rank"] } },
    },
  }).connect({ transport: engine.transport });
  await db.table.create();
  // From before the key held the rank.
  const order = { PK: "ORDER#1", SK: "ORDER", team: "T", at: "2024" };
  const old = Object.entries({ ...order, GSI1PK: "TEAM#T", GSI1SK: "2024" }).map(([name, S]) => [name, { S }] as const);
  await engine.transport.send("PutItem", { TableName: table, Item: Object.fromEntries(old) });
  expect(await db.order.update({ id: "1" }, { at: "2025" })).toMatchObject({ ok: true });
  expect((await engine.transport.send("Scan", { TableName: table })).Items).toMatchObject([{ at: { S: "2025" } }]);
  expect(await db.find("order").where({ team: "T" }).rows()).toEqual([]);
  await db.order.update({ id: "1" }, { rank: "1" }).orThrow();
  expect(await db.find("order").where({ team: "T" }).rows()).toEqual([{ id: "1", team: "T", at: "2025", rank: "1" }]);
});
