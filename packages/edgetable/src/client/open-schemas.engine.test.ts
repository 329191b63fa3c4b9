import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { defineGraph, edge, node, part } from "../index.ts";

// Schemas that keep what they do not know: only the row tells its attributes.
const graphOf = (table: string) =>
  defineGraph({
    table,
    nodes: { user: node({ key: "USER#{id}", schema: z.looseObject({ id: z.string(), name: z.string().optional() }) }) },
    parts: { note: part({ of: "user", key: "NOTE#{n}", schema: z.looseObject({ n: z.string() }) }) },
    edges: { likes: edge({ from: "user", to: "user", ends: "unchecked", schema: z.looseObject({}) }) },
    indexes: { byName: { entries: { user: { by: "name:text", sparse: true } } } },
  });

let engine: TestEngine;
let db: ReturnType<ReturnType<typeof graphOf>["connect"]>;
let unchecked: typeof db;
let table: string;
beforeAll(async () => {
  engine = await openEngine();
  table = engine.freshTableName("open");
  db = graphOf(table).connect({ transport: engine.transport });
  unchecked = graphOf(table).connect({ transport: engine.transport, validate: false });
  await db.table.create();
  await db.user.put({ id: "victim", secret: "kept" });
});
afterAll(() => engine.close());

const ADA = { id: "ada" };
const elsewhere = { pk: "USER#victim", sk: "#" };

test.each([
  ["a put", () => db.user.put({ ...ADA, ...elsewhere })],
  ["a create", () => db.user.create({ ...ADA, ...elsewhere })],
  ["a put of a part", () => db.note.put(ADA, { n: "1", pk: "USER#victim" })],
  ["a link", () => db.likes.link(ADA, { id: "victim" }, elsewhere)],
  ["a put of an edge", () => db.likes.put(ADA, { id: "victim" }, elsewhere)],
  ["a batch", () => db.batch([db.user.put({ ...ADA, ...elsewhere })])],
  ["a transaction", () => db.transact([db.user.put({ ...ADA, ...elsewhere })])],
  ["an update of a key", () => db.user.update({ id: "victim" }, { pk: "USER#ada" })],
  ["the type attribute", () => db.user.update({ id: "victim" }, { type: "note" })],
  ["a key of an index that another kind fills", () => db.user.update({ id: "victim" }, { gsi1pk: "USER#ada" })],
  ["a key of a declared index", () => db.user.put({ ...ADA, byNamePk: "user#0" })],
  ["the mark of a deletion", () => db.user.update({ id: "victim" }, { "~deleting": "job" })],
  ["an accumulated key", () => db.user.update({ id: "victim" }, { add: { gsi1sk: 1 } })],
  ["a prototype", () => unchecked.user.put(JSON.parse('{"id":"ada","__proto__":{"x":1}}') as typeof ADA)],
])("%s does not fill what Edgetable computes, though the schema lets it through", async (_, write) => {
  await expect((async () => write())()).rejects.toMatchObject({ code: "schema.unknownAttribute" });
});

test("such a row fails alone in a load, and nobody's item was touched", async () => {
  const report = await db.load([{ node: "user", row: { ...ADA, ...elsewhere } }]);
  expect(report).toMatchObject({ items: 0, failures: [{ row: 0, error: { code: "schema.unknownAttribute" } }] });
  const { Items = [] } = await engine.transport.send("Scan", { TableName: table });
  expect(Items.filter((item) => !("~model" in item))).toEqual([
    { pk: { S: "USER#victim" }, sk: { S: "#" }, type: { S: "user" }, secret: { S: "kept" } },
  ]);
});

test("every other name is the row's own", async () => {
  const row = { id: "own", name: "Own", constructor: 1, toString: "text", "a.b#": true, "~note": 1 };
  await db.user.put(row).orThrow();
  expect(await db.user({ id: "own" }).get()).toEqual(row);
});
