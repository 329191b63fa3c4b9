import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { defineGraph, edge, node } from "../index.ts";
import type { StoredForm } from "../schema/former.ts";
import { startEngine, type TestEngine } from "../test-support/engine.ts";
import type { Item } from "../transport/operations.ts";
import { verify } from "./index.ts";

let engine: TestEngine;
let table = "";
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

const id = z.string();
const before = () =>
  defineGraph({
    table,
    nodes: { person: node({ key: "PERSON#{id}", schema: z.object({ id, name: z.string(), age: z.string().optional() }) }) },
    edges: { knows: edge({ from: "person", to: "person", schema: z.object({ since: z.string().optional() }), stored: "twice" }) },
  }).connect({ transport: engine.transport });
const after = (stored: StoredForm) =>
  defineGraph({
    table,
    nodes: {
      person: node({
        key: "PERSON#{id}",
        schema: z.object({ id, fullName: z.string(), age: z.int().optional() }),
        renamed: { fullName: { from: "name", stored } },
        retyped: { age: { from: z.string().regex(/^\d+$/), with: Number, back: String, stored } },
      }),
    },
    edges: {
      knows: edge({
        from: "person",
        to: "person",
        schema: z.object({ year: z.string().optional() }),
        stored: "twice",
        renamed: { year: { from: "since", stored } },
      }),
    },
  }).connect({ transport: engine.transport });

const fast = { share: 100, indexLag: 0, finish: true } as const;
const [ann, bob] = [{ id: "ann" }, { id: "bob" }];
const all = async (): Promise<readonly Item[]> => (await engine.transport.send("Scan", { TableName: table })).Items ?? [];
const items = async () => (await all()).filter(({ pk }) => "S" in pk! && pk.S.startsWith("PERSON"));
const found = async (db: object, repair = false) =>
  (await verify(db, { settle: 10, repair })).kinds.map(({ kind, count, repaired }) => ({ kind, count, repaired }));
const attributes = async () => new Set((await items()).flatMap((item) => Object.keys(item)));

beforeEach(async () => {
  table = engine.freshTableName("forms");
  const old = before();
  await old.table.create();
  for (const one of [ann, bob]) await old.person.create({ ...one, name: one.id, age: "7" }).orThrow();
  await old.knows.link(ann, bob, { since: "2020" }).orThrow();
  await after("old").migrations.run(fast);
});

test("old forms are no finding until the second step of a renaming has ended", async () => {
  expect(await found(after("old"))).toEqual([]);
  expect(await found(after("new"))).toEqual([]);
  expect(await found(after("new"), true)).toEqual([]);
  expect(await attributes()).toContain("name");
});

test("items that a program of the model before wrote after the second step are named and repaired", async () => {
  const db = after("new");
  await db.migrations.run(fast);
  expect(await found(db)).toEqual([]);
  const old = before();
  await old.person.put({ ...ann, name: "Late", age: "9" }).orThrow();
  await old.person.update(bob, { name: "Later" }).orThrow();
  await old.knows.put(ann, bob, { since: "2021" }).orThrow();
  const { kinds } = await verify(db, { settle: 10 });
  expect(kinds.map(({ kind, count }) => [kind, count])).toEqual([["otherForm", 5]]);
  expect(kinds[0]!.examples).toContainEqual({
    kind: "otherForm",
    key: { pk: { S: "PERSON#ann" }, sk: { S: "#" } },
    definition: "person",
    attribute: "name",
    stored: "Late",
    expected: "Late",
    reason: 'Since the conversion, items hold it as "fullName": a program with another model wrote this item.',
  });
  expect(await found(db, true)).toEqual([{ kind: "otherForm", count: 5, repaired: 5 }]);
  expect([...(await attributes())].filter((name) => ["name", "since"].includes(name))).toEqual([]);
  // A Scan has no order.
  const ages = (await items()).map(({ age }) => age).filter(Boolean);
  expect([ages.length, new Set(ages.map((age) => JSON.stringify(age)))]).toEqual([2, new Set(['{"N":"9"}', '{"N":"7"}'])]);
  expect(await db.person.get(ann)).toEqual({ ...ann, fullName: "Late", age: 9 });
  expect(await db.person.get(bob)).toEqual({ ...bob, fullName: "Later", age: 7 });
  expect(await db.knows.get(ann, bob)).toMatchObject({ year: "2021" });
  expect(await found(db)).toEqual([]);
});

test("items in the new form are named once the table follows the model of the first step again", async () => {
  await after("new").migrations.run(fast);
  const db = after("old");
  await db.migrations.run(fast);
  await after("new")
    .person.put({ ...ann, fullName: "New", age: 3 })
    .orThrow();
  expect(await found(db, true)).toEqual([{ kind: "otherForm", count: 2, repaired: 2 }]);
  expect(await before().person.get(ann)).toEqual({ ...ann, name: "New", age: "3" });
});

test("an item is named by neither model after an undone second step: both forms are right", async () => {
  const db = after("new");
  await db.migrations.run({ ...fast, finish: false });
  await db.person.put({ ...ann, fullName: "New" }).orThrow();
  await db.migrations.undo();
  expect(await found(after("old"))).toEqual([]);
});

test("copies of what an item holds in the other form are right, and have all its digits", async () => {
  table = engine.freshTableName("copied-forms");
  const size = "0.30000000000000000001";
  const open = (stored: StoredForm) =>
    defineGraph({
      table,
      nodes: {
        crate: node({
          key: "CRATE#{id}",
          schema: z.object({
            id,
            size: z.number(),
            tags: z.set(z.string()),
            at: z.object({ x: z.number(), a: z.string() }),
            codes: z.set(z.int()),
          }),
          renamed: { size: { from: "mass", stored }, tags: { from: "labels", stored }, at: { from: "place", stored } },
          retyped: {
            codes: { from: z.array(z.int()), with: (list) => new Set(list as number[]), back: (set) => [...(set as Set<number>)], stored },
          },
        }),
      },
      edges: { near: edge({ from: "crate", to: "crate", copies: { to: ["size", "tags", "at", "codes"] }, stored: "twice" }) },
    }).connect({ transport: engine.transport });
  await open("old").table.create();
  for (const [stored, attribute] of [
    ["old", "mass"],
    ["new", "size"],
  ] as const) {
    const other = open(stored === "old" ? "new" : "old");
    const crate = { id: stored, size: 0.3, tags: new Set(["b", "a"]), at: { x: 1, a: "b" }, codes: new Set([2, 1]) };
    await open(stored).crate.create(crate).orThrow();
    const own = async () => (await all()).filter(({ pk }) => "S" in pk! && pk.S.includes(stored));
    const [item] = await own();
    await engine.transport.send("PutItem", { TableName: table, Item: { ...item!, [attribute]: { N: size } } });
    await other.near.link({ id: stored }, { id: stored }).orThrow();
    const sizes = (await own()).flatMap((one) => one[attribute] ?? one["size"] ?? []);
    expect(sizes).toEqual([{ N: size }, { N: size }, { N: size }]);
    for (const db of [open(stored), other]) expect((await found(db)).filter(({ kind }) => kind !== "otherForm")).toEqual([]);
  }
});
