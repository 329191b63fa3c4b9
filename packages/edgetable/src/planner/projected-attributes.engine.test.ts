import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { defineGraph, edge, node } from "../index.ts";

const text = z.string();
let engine: TestEngine;
const open = async () => {
  const schema = z.object({ stopId: text, name: text, zone: text, opened: text.optional() });
  const graph = defineGraph({
    table: engine.freshTableName("held"),
    nodes: { stop: node({ key: "STOP#{stopId}", schema }) },
    indexes: { byZone: { entries: { stop: "zone" }, projection: ["zone", "name"] }, byName: { entries: { stop: "name" } } },
  });
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  await db.stop.create({ stopId: "a", name: "Old", zone: "1", opened: "1900" }).orThrow();
  await db.stop.create({ stopId: "b", name: "New", zone: "1", opened: "2020" }).orThrow();
  return db;
};
let db: Awaited<ReturnType<typeof open>>;
beforeAll(async () => {
  engine = await openEngine();
  db = await open();
});
afterAll(() => engine.close());

const refused = {
  code: "plan.noIndex",
  message:
    'The index "byZone" finds "stop", but its projection leaves "opened" out. Name that in the projection, or ask another index: using(…).',
};

test.each([
  ["on the server", { opened: { gte: "2000" } }],
  ["on the server, where it is missing", { opened: { ne: "1900" } }],
  ["in memory", { opened: { in: ["2020"] } }],
] as const)("what an index leaves out is not asked of it: a filter %s", async (_, filter) => {
  const inZone = db.find("stop").where({ zone: "1" }).where(filter);
  await expect(async () => inZone.rows()).rejects.toThrow(expect.objectContaining(refused));
  await expect(async () => inZone.count()).rejects.toThrow(expect.objectContaining(refused));
  expect(await db.find("stop").using("byName").where(filter).rows()).toMatchObject([{ stopId: "b" }]);
});

test("nor is it selected there; what the index holds is", async () => {
  const inZone = db.find("stop").where({ zone: "1" });
  // The type is not projected either: not even that is asked for.
  expect((await inZone.select("name", "zone").rows().explain()).requests[0]?.input).toMatchObject({
    ProjectionExpression: "pk, sk, byZonePk, byZoneSk, #0, #1",
  });
  await expect(async () => inZone.select("opened").rows()).rejects.toThrow(expect.objectContaining(refused));
  expect(
    await inZone
      .where({ name: { in: ["Old"] } })
      .select("name", "stopId")
      .rows(),
  ).toEqual([{ name: "Old", stopId: "a" }]);
});

test.each(["KEYS_ONLY", ["color"]] as const)(
  "neighbours come whole, from their partition, though an index of %s takes a condition",
  async (projection) => {
    const schema = z.object({ color: text, size: text });
    const graph = defineGraph({
      table: engine.freshTableName("neighbours"),
      nodes: { a: node({ key: "A#{id}", schema: z.object({ id: text }) }), b: node({ key: "B#{id}", schema: z.object({ id: text }) }) },
      edges: { has: edge({ from: "a", to: "b", schema }) },
      indexes: { byColor: { entries: { has: "color" }, projection } },
    });
    const has = graph.connect({ transport: engine.transport });
    await has.table.create();
    const [a, b] = [{ id: "1" }, { id: "2" }];
    await has.a.create(a).orThrow();
    await has.b.create(b).orThrow();
    await has.has.link(a, b, { color: "red", size: "L" }).orThrow();
    const whole = { from: a, to: b, color: "red", size: "L" };
    for (const neighbours of [has.a(a).out("has"), has.b(b).in("has")]) {
      expect(await neighbours.where({ color: "red" }).edges()).toEqual([whole]);
      expect(await neighbours.where({ color: "red" }).entries()).toMatchObject([{ edge: whole }]);
      expect(await neighbours.where({ color: { beginsWith: "r" }, size: "L" }).edges()).toEqual([whole]);
      expect(await neighbours.where({ color: "red", size: "L" }).count()).toBe(1);
    }
    expect((await has.a(a).out("has").where({ color: "red", size: "L" }).in("has").ids()).items).toEqual([a]);
    // The index that the caller names is asked for what it holds.
    const named = has.a(a).out("has").using("byColor").where({ color: "red" });
    expect(await named.edges()).toEqual([projection === "KEYS_ONLY" ? { from: a, to: b } : { from: a, to: b, color: "red" }]);
  },
);
