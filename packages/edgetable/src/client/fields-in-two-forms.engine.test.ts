import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { defineGraph, node, type Layout } from "../index.ts";
import { startEngine, type TestEngine } from "../test-support/engine.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

const text = z.string();
const layoutOf = (more: Partial<Layout>): Layout => ({
  partitionKey: "PK",
  sortKey: "SK",
  indexes: { GSI1: { partitionKey: "GSI1PK", sortKey: "GSI1SK" } },
  ...more,
});

// In the order of their lower case: Amy, bob, Zed, zoe. By bytes: Amy, Zed, bob, zoe.
const NAMES = ["Amy", "Zed", "bob", "zoe"] as const;

const openPeople = async (GSI1SK: string) => {
  const graph = defineGraph({
    table: engine.freshTableName("twice"),
    nodes: { person: node({ key: "PERSON#{id}", schema: z.object({ id: text, team: text, name: text, n: z.int() }) }) },
    layout: layoutOf({ nodes: { person: { keys: { SK: "PERSON", GSI1PK: "TEAM#{team}", GSI1SK } } } }),
  });
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  for (const [at, name] of NAMES.entries()) await db.person.create({ id: String(at), team: "T", name, n: [9, 10, 100, 2][at]! }).orThrow();
  return db;
};

test.each([["{name:lower}#{name}"], ["{name:lower}#{name}#{id}"], ["{name:upper}#{name}"]])(
  "a range of a field that a sort key holds in two forms (%s) is a range of its values",
  async (GSI1SK) => {
    const db = await openPeople(GSI1SK);
    const names = async (name: object) => (await db.find("person").where({ team: "T", name }).rows()).map((row) => row.name).toSorted();
    expect(await names({ gt: "Zed" })).toEqual(["bob", "zoe"]);
    expect(await names({ gte: "Zed" })).toEqual(["Zed", "bob", "zoe"]);
    expect(await names({ lt: "bob" })).toEqual(["Amy", "Zed"]);
    expect(await names({ lte: "bob" })).toEqual(["Amy", "Zed", "bob"]);
    expect(await names({ between: ["B", "a"] })).toEqual(["Zed"]);
    expect(await names({ beginsWith: "z" })).toEqual(["zoe"]);
    expect(await names({ beginsWith: "Z" })).toEqual(["Zed"]);
    expect(await names({ eq: "zoe" })).toEqual(["zoe"]);
  },
);

test("so is a range of numbers whose first form does not sort", async () => {
  const db = await openPeople("{n:plain}#{n:number}");
  const found = async (n: object) => (await db.find("person").where({ team: "T", n }).rows()).map((row) => row.n).toSorted((a, b) => a - b);
  expect(await found({ gt: 9 })).toEqual([10, 100]);
  expect(await found({ lte: 10 })).toEqual([2, 9, 10]);
});

test.each([["{name:lower}#{name}"], ["{name:lower}#{name}#{id}"], ["{name}#{name:lower}"], ["A#{name}#B#{name}"]])(
  "a condition of a write compares a field that a key holds twice (%s)",
  async (GSI1SK) => {
    const db = await openPeople(GSI1SK);
    const update = async (name: object, id = "3") => (await db.person.update({ id }, { n: 5 }, { if: { name } })).ok;
    expect(await update({ eq: "zoe" })).toBe(true);
    expect(await update({ eq: "Zoe" })).toBe(false);
    expect(await update({ ne: "zoe" })).toBe(false);
    expect(await update({ ne: "Zoe" })).toBe(true);
    expect(await update({ exists: true })).toBe(true);
    // What the key cannot tell is refused.
    const prefix = db.person.update({ id: "3" }, { n: 6 }, { if: { name: { beginsWith: "Z" } } }).run();
    if (/^(A#)?\{name\}/.test(GSI1SK)) expect(await prefix).toMatchObject({ ok: false });
    else await expect(prefix).rejects.toMatchObject({ code: "plan.unsupported" });
  },
);
