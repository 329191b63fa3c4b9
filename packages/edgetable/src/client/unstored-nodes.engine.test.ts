import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { defineGraph, edge, node, part } from "../index.ts";
import { startEngine, type TestEngine } from "../test-support/engine.ts";

// A node without an item of its own (`stored: false`) is neither read nor written: its edges and parts are.

let engine: TestEngine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

const open = async () => {
  const table = engine.freshTableName("unstored");
  const graph = defineGraph({
    table,
    nodes: {
      device: node({ key: "DEVICE#{id}", schema: z.object({ id: z.string(), name: z.string().optional() }), stored: false }),
      site: node({ key: "SITE#{id}", schema: z.object({ id: z.string() }) }),
    },
    parts: { state: part({ of: "device", key: "STATE#{at}", schema: z.object({ at: z.string() }) }) },
    edges: { standsAt: edge({ from: "device", to: "site", onDelete: { from: "cascade" } }) },
  });
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  await db.site.create({ id: "s" }).orThrow();
  const stored = async () => (await engine.transport.send("Scan", { TableName: table })).Items?.length;
  return { db, stored };
};
type Db = Awaited<ReturnType<typeof open>>["db"];

const writes: Readonly<Record<string, (db: Db) => PromiseLike<unknown>>> = {
  create: (db) => db.device.create({ id: "d" }),
  put: (db) => db.device.put({ id: "d" }),
  upsert: (db) => db.device.upsert({ id: "d" }, { name: "n" }),
  update: (db) => db.device.update({ id: "d" }, { name: "n" }),
  delete: (db) => db.device.delete({ id: "d" }),
  transaction: (db) => db.transact([db.device.create({ id: "d" }), db.site.create({ id: "t" })]),
  batch: (db) => db.batch([db.device.put({ id: "d" })]),
  load: (db) => db.load([{ node: "device", row: { id: "d" } }], { strict: true }),
};

test.each(Object.keys(writes))("%s refuses a node that is not stored, and leaves its edges and parts", async (name) => {
  const { db, stored } = await open();
  await db.standsAt.link({ id: "d" }, { id: "s" }).orThrow();
  await db.state.create({ id: "d" }, { at: "2026" }).orThrow();
  const before = await stored();
  await expect((async () => writes[name]!(db))()).rejects.toThrow(
    '"device" has no item of its own (stored: false), so there is nothing to write or delete. Write its edges and parts, or leave out stored: false.',
  );
  expect(await stored()).toBe(before);
  expect(await db.device({ id: "d" }).out("standsAt").count()).toBe(1);
  expect(await db.device({ id: "d" }).parts("state").count()).toBe(1);
});
