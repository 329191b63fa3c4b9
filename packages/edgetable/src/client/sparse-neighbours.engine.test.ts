import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { defineGraph, edge, node, part, type Layout } from "../index.ts";
import { startEngine, type TestEngine } from "../test-support/engine.ts";

// A sparse index lacks the items without an attribute of its keys. Only a call that asks for the others reads it.

let engine: TestEngine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

const text = z.string();

const open = async (sort: string, { sparse = true, more = {} }: { sparse?: boolean; more?: Layout["indexes"] } = {}) => {
  const graph = defineGraph({
    table: engine.freshTableName(),
    nodes: { thing: node({ key: "THING#{id}", schema: z.object({ id: text }), mirror: true }) },
    edges: {
      link: edge({
        from: "thing",
        to: "thing",
        ends: "unchecked",
        schema: z.object({ kind: text, rank: z.int().optional(), by: text.optional() }),
        onDelete: { to: "cascade" },
      }),
    },
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      indexes: { GSI1: { partitionKey: "GSI1PK", sortKey: "GSI1SK" }, ...more },
      nodes: { thing: { keys: { SK: "THING", GSI1PK: "{key}", GSI1SK: "THING" } } },
      edges: {
        link: {
          keys: { SK: "LINK#{to.id}", GSI1PK: "{to}", GSI1SK: sort, ...(more["GSI2"] ? { GSI2PK: "TO#{to.id}", GSI2SK: "{from}" } : {}) },
          ...(sparse ? { sparse: ["GSI1PK", "GSI1SK"] } : {}),
        },
      },
    },
  });
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  await db.link.link({ id: "1" }, { id: "9" }, { kind: "a", rank: 1, by: "ann" }).orThrow();
  if (sparse) await db.link.link({ id: "2" }, { id: "9" }, { kind: "b" }).orThrow();
  return db;
};

const refused = (gap: string): string =>
  `in("link") of "thing" is not read by "GSI1", because it is sparse and lacks those without "${gap}". Ask for that too, or add an index of all.`;

test.each([
  ["LINK#{rank:6}", "rank"],
  ["LINK#{by:lower}", "by"],
  ["LINK#{kind:lower}#{rank:number}", "rank"],
])("edges are not read by a sparse index with %s, unless the call asks for it", async (sort, gap) => {
  const db = await open(sort);
  const target = db.thing({ id: "9" });
  const ways = [
    () => target.in("link").edges(),
    () => target.in("link").count(),
    () => target.in("link").nodes(),
    () => target.in("link").page({ limit: 1 }),
    () => target.in("link").where({ kind: "a" }).edges(),
    () => target.in("link").in("link").ids(),
    () => target.walk().in("link").count(),
    () => db.thing.delete({ id: "9" }, { indexLag: 0 }),
  ];
  for (const way of ways) await expect(async () => way()).rejects.toThrow(refused(gap));
  await expect(async () => target.incoming()).rejects.toThrow('"thing" has no item in any index under its own key.');
  expect((await target.in("link").using("GSI1").edges()).map(({ from }) => from.id)).toEqual(["1"]);
});

test("a condition on what the index needs makes it an answer", async () => {
  const db = await open("LINK#{rank:6}");
  const links = db.thing({ id: "9" }).in("link");
  expect(await links.where({ rank: 1 }).count()).toBe(1);
  expect((await links.where({ rank: { gte: 0 } }).edges()).map(({ from }) => from.id)).toEqual(["1"]);
});

test.each([
  ["a list", { rank: { in: [1, 2] } }],
  ["a value", { rank: 1 }],
  ["a range", { rank: { gte: 0 } }],
  ["a list beside another condition", { by: "ann", rank: { in: [1, 3] } }],
])("so does %s of an attribute that stands behind another one in the key", async (_, where) => {
  const db = await open("LINK#{kind:lower}#{rank:number}");
  const links = db.thing({ id: "9" }).in("link").where(where);
  expect((await links.edges()).map(({ from }) => from.id)).toEqual(["1"]);
  expect(await links.count()).toBe(1);
  expect((await links.page({ limit: 5 })).items).toHaveLength(1);
  expect(await db.thing({ id: "9" }).walk().in("link").where(where).count()).toMatchObject({ count: 1 });
});

test("a condition that a null or nothing meets does not, also after one of the same form that does", async () => {
  const db = await open("LINK#{by:lower}");
  const links = (where: object) => db.thing({ id: "9" }).in("link").where(where).edges();
  expect(await links({ by: { in: ["ann", "eve"] } })).toHaveLength(1);
  for (const where of [{ by: { in: ["ann", null] } }, { by: { ne: "eve" } }, { by: { exists: false } }, { not: { by: "ann" } }])
    await expect(async () => links(where)).rejects.toThrow(refused("by"));
  expect(await links({ by: { in: ["ann", "bob"] } })).toHaveLength(1);
});

test("an index that holds all edges is read instead, whatever stands first", async () => {
  const db = await open("LINK#{rank:6}", { more: { GSI2: { partitionKey: "GSI2PK", sortKey: "GSI2SK" } } });
  expect((await db.thing({ id: "9" }).in("link").edges()).map(({ from }) => from.id)).toEqual(["1", "2"]);
});

test.each(["LINK#{kind}", "LINK#{by?:lower}", "{from}"])("a sparse index with %s lacks no edge", async (sort) => {
  const db = await open(sort);
  expect((await db.thing({ id: "9" }).in("link").edges()).map(({ from }) => from.id).toSorted()).toEqual(["1", "2"]);
  expect((await db.thing({ id: "9" }).incoming()).edges.link).toHaveLength(2);
});

test("parts are not read by a sparse index either, unless the call asks for what it needs", async () => {
  const graph = defineGraph({
    table: engine.freshTableName(),
    nodes: { thing: node({ key: "THING#{id}", schema: z.object({ id: text }) }) },
    parts: { note: part({ of: "thing", key: "NOTE#{no}", schema: z.object({ no: text, rank: z.int().optional() }) }) },
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      indexes: { GSI1: { partitionKey: "GSI1PK", sortKey: "GSI1SK" } },
      parts: {
        note: { keys: { PK: "{owner}#{no}", SK: "NOTE", GSI1PK: "NOTES#{id}", GSI1SK: "{rank:6}" }, sparse: ["GSI1PK", "GSI1SK"] },
      },
    },
  });
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  await db.note.put({ id: "9" }, { no: "1", rank: 1 });
  await db.note.put({ id: "9" }, { no: "2" });
  const notes = db.thing({ id: "9" }).parts("note");
  for (const way of [() => notes.all(), () => notes.count(), () => db.thing.delete({ id: "9" })])
    await expect(async () => way()).rejects.toThrow(
      'parts("note") of "thing" is not read by "GSI1", because it is sparse and lacks those without "rank". Ask for that too, or add an index of all.',
    );
  expect(await notes.where({ rank: { gte: 1 } }).all()).toEqual([{ id: "9", no: "1", rank: 1 }]);
});
