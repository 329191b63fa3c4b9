import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { count, defineGraph, edge, node } from "../index.ts";
import { startEngine, type TestEngine } from "../test-support/engine.ts";
import { verify } from "../verify/index.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

const text = z.string();
const cascade = { from: "cascade", to: "cascade" } as const;
const [ann, bob, cid] = [{ id: "ann" }, { id: "bob" }, { id: "cid" }];

describe.each(["once", "twice"] as const)("edges between nodes of one type that copy from both ends, stored %s", (stored) => {
  const open = async (beyond: "refuse" | "job" = "refuse") => {
    const graph = defineGraph({
      table: engine.freshTableName("both-ends"),
      nodes: {
        person: node({
          key: "PERSON#{id}",
          schema: z.object({ id: text, name: text, age: z.int().optional() }),
          derived: { annSeen: count({ out: "follows", where: { whom: "Ann" } }) },
        }),
      },
      edges: {
        follows: edge({
          from: "person",
          to: "person",
          schema: z.object({ note: text.optional() }),
          ...(stored === "twice" && { stored }),
          copies: { from: { who: { of: "name" }, age: "age" }, to: { whom: { of: "name" }, ofAge: { of: "age", beyond } } },
          onDelete: cascade,
        }),
      },
    });
    const db = graph.connect({ transport: engine.transport });
    await db.table.create();
    for (const one of [ann, bob, cid]) await db.person.create({ ...one, name: one.id }).orThrow();
    return db;
  };
  const copiesOf = async (db: Awaited<ReturnType<typeof open>>) => {
    const { edges } = await db.person(ann).collection();
    const into = await db.person(ann).in("follows").edges();
    const show = ({ from, to, ...copies }: (typeof into)[number]) => [`${from.id} ${to.id}`, copies] as const;
    return Object.fromEntries([...(edges.follows ?? []).map(show), ...into.map(show)]);
  };

  test("follow a change at either end", async () => {
    const db = await open();
    await db.follows.link(ann, bob).orThrow();
    await db.follows.link(cid, ann).orThrow();
    await db.follows.link(bob, ann).orThrow();
    await db.person.update(ann, { name: "Ann", age: 7 }).orThrow();
    expect(await copiesOf(db)).toEqual({
      "ann bob": { who: "Ann", age: 7, whom: "bob" },
      "cid ann": { who: "cid", whom: "Ann", ofAge: 7 },
      "bob ann": { who: "bob", whom: "Ann", ofAge: 7 },
    });
    expect(await db.person.get(bob)).toMatchObject({ annSeen: 1 });
    await db.person.put({ ...ann, name: "Anna" }).orThrow();
    expect(await copiesOf(db)).toEqual({
      "ann bob": { who: "Anna", whom: "bob" },
      "cid ann": { who: "cid", whom: "Anna" },
      "bob ann": { who: "bob", whom: "Anna" },
    });
    expect(await verify(db, { settle: 0 })).toMatchObject({ clean: true, kinds: [] });
  });

  test("follow where the node is linked to itself", async () => {
    const db = await open();
    await db.follows.link(ann, ann).orThrow();
    await db.follows.link(ann, bob).orThrow();
    await db.person.update(ann, { name: "Ann", age: 7 }).orThrow();
    expect(await copiesOf(db)).toMatchObject({ "ann ann": { who: "Ann", age: 7, whom: "Ann", ofAge: 7 } });
    expect(await db.person.get(ann)).toMatchObject({ annSeen: 1 });
    await db.person.upsert({ ...ann, name: "" }, { remove: ["age"], set: { name: "Anna" } }).orThrow();
    expect(await copiesOf(db)).toEqual({ "ann ann": { who: "Anna", whom: "Anna" }, "ann bob": { who: "Anna", whom: "bob" } });
    expect(await db.person.get(ann)).toMatchObject({ annSeen: 0 });
    expect(await verify(db, { settle: 0 })).toMatchObject({ clean: true, kinds: [] });
  });

  test("follow where one transaction changes both nodes", async () => {
    const db = await open();
    await db.follows.link(ann, bob).orThrow();
    await db.follows.link(bob, ann).orThrow();
    await db.follows.link(ann, ann).orThrow();
    await db.follows.link(cid, ann).orThrow();
    await db.transact([db.person.update(ann, { name: "Ann", age: 7 }), db.person.put({ ...bob, name: "Bob", age: 8 })]).orThrow();
    expect(await copiesOf(db)).toEqual({
      "ann bob": { who: "Ann", age: 7, whom: "Bob", ofAge: 8 },
      "bob ann": { who: "Bob", age: 8, whom: "Ann", ofAge: 7 },
      "ann ann": { who: "Ann", age: 7, whom: "Ann", ofAge: 7 },
      "cid ann": { who: "cid", whom: "Ann", ofAge: 7 },
    });
    expect(await Promise.all([ann, bob, cid].map(async (one) => (await db.person.get(one))?.annSeen))).toEqual([1, 1, 1]);
    await db
      .transact([db.person.update(bob, { age: 9 }), db.person.update(ann, { remove: ["age"] }), db.person.update(cid, { name: "Cid" })])
      .orThrow();
    expect(await copiesOf(db)).toEqual({
      "ann bob": { who: "Ann", whom: "Bob", ofAge: 9 },
      "bob ann": { who: "Bob", age: 9, whom: "Ann" },
      "ann ann": { who: "Ann", whom: "Ann" },
      "cid ann": { who: "Cid", whom: "Ann" },
    });
    expect(await verify(db, { settle: 0 })).toMatchObject({ clean: true, kinds: [] });
  });

  test("are refused where the same transaction changes the edge as well", async () => {
    const db = await open();
    await db.follows.link(ann, bob).orThrow();
    const calls = () => [db.person.update(ann, { name: "Ann" }), db.follows.relink(ann, bob, { note: "n" })] as const;
    await expect(db.transact(calls())).rejects.toThrow(/calls 1 and 2 both write/);
  });

  test.runIf(stored === "once")("follow where a job changes the copies at one end", async () => {
    const db = await open("job");
    await db.follows.link(ann, ann).orThrow();
    const ids = Array.from({ length: 100 }, (_, at) => ({ id: `p${at}` }));
    await db.load([
      ...ids.map((from) => ({ node: "person" as const, row: { ...from, name: "p" } })),
      ...ids.map((from) => ({ edge: "follows" as const, from, to: ann, attributes: {} })),
    ]);
    await db.person.update(ann, { age: 7 }).orThrow();
    const copies = await copiesOf(db);
    expect(copies["ann ann"]).toEqual({ who: "ann", age: 7, whom: "ann", ofAge: 7 });
    expect(Object.values(copies).filter(({ ofAge }) => ofAge !== 7)).toEqual([]);
    expect(await verify(db, { settle: 0 })).toMatchObject({ clean: true, kinds: [] });
  });
});

test("two nodes of one id and of different types, changed by one transaction, each change the edges of their own", async () => {
  const id = z.union([z.int(), z.bigint()]);
  const graph = defineGraph({
    table: engine.freshTableName("both-ends"),
    nodes: {
      person: node({ key: "PERSON#{id:number}", schema: z.object({ id, name: text }) }),
      club: node({ key: "CLUB#{id:number}", schema: z.object({ id, name: text }) }),
    },
    edges: { joins: edge({ from: "person", to: "club", copies: { from: { who: "name" }, to: { club: "name" } } }) },
  });
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  const [first, second] = [{ id: 2n ** 60n }, { id: 2 }];
  for (const one of [first, second]) {
    await db.person.create({ ...one, name: "p" }).orThrow();
    await db.club.create({ ...one, name: "c" }).orThrow();
  }
  await db.joins.link(first, second).orThrow();
  await db.joins.link(second, first).orThrow();
  await db.transact([db.person.update(first, { name: "P" }), db.club.update(first, { name: "C" })]).orThrow();
  expect(await db.joins.get(first, second)).toMatchObject({ who: "P", club: "c" });
  expect(await db.joins.get(second, first)).toMatchObject({ who: "p", club: "C" });
});
