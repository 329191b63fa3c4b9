import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { defineGraph, edge, node, part } from "../index.ts";
import { startEngine, type TestEngine } from "../test-support/engine.ts";
import { verify } from "../verify/index.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

const id = z.string();
const open = async () => {
  const table = engine.freshTableName("siblings");
  const graph = defineGraph({
    table,
    nodes: {
      person: node({ key: "PERSON#{id}", schema: z.object({ id, name: z.string().optional(), age: z.int().optional() }) }),
      club: node({ key: "CLUB#{id}", schema: z.object({ id }) }),
    },
    parts: { note: part({ of: "person", key: "NOTE#{at}", schema: z.object({ at: id }), copies: ["name", "age"] }) },
    edges: { joined: edge({ from: "person", to: "club", copies: { from: ["name", "age"] }, stored: "twice" }) },
  });
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  await db.club.create({ id: "c" });
  return db;
};

const p = { id: "p" };
const c = { id: "c" };

test("copies that are given for a new part or edge are refused", async () => {
  const db = await open();
  const refused = expect.objectContaining({ code: "schema.derivedAttribute", details: { attribute: "name" } }) as Error;
  const given = { name: "Eve" } as never;
  expect(() => db.note.create(p, { at: "1", ...(given as object) })).toThrow(refused);
  expect(() => db.note.upsert(p, { at: "1", ...(given as object) }, {} as never)).toThrow(refused);
  expect(() => db.joined.link(p, c, given)).toThrow(refused);
});

test.each(["first", "last"])("a part and an edge take what the same transaction writes into their node, the node %s", async (order) => {
  const db = await open();
  const all = <T>(change: T, ...rest: T[]): T[] => (order === "first" ? [change, ...rest] : [...rest, change]);
  const found = async () => ({
    notes: await db.person(p).parts("note").all(),
    out: await db.person(p).out("joined").edges(),
    in: await db.club(c).in("joined").edges(),
  });
  const shows = (copied: object, ...notes: string[]) => ({
    notes: notes.map((at) => ({ ...p, at, ...copied })),
    out: [expect.objectContaining(copied)],
    in: [expect.objectContaining(copied)],
  });

  const created = db.person.create({ ...p, name: "Ann", age: 1 });
  await db.transact(all<unknown>(created, db.note.create(p, { at: "1" }), db.joined.link(p, c)) as never).orThrow();
  expect(await found()).toEqual(shows({ name: "Ann", age: 1 }, "1"));

  const updated = db.person.update(p, { set: { name: "Bob" }, add: { age: 2 } });
  await db.transact(all<unknown>(updated, db.note.create(p, { at: "2" }), db.joined.put(p, c)) as never).orThrow();
  expect(await found()).toEqual(shows({ name: "Bob", age: 3 }, "1", "2"));

  const put = db.person.put({ ...p, name: "Cid", age: 9 });
  await db.transact(all<unknown>(put, db.note.put(p, { at: "2" })) as never).orThrow();
  expect(await found()).toEqual(shows({ name: "Cid", age: 9 }, "1", "2"));

  const removed = db.person.update(p, { remove: ["age"] });
  await db.transact(all<unknown>(removed, db.note.put(p, { at: "1" })) as never).orThrow();
  expect((await db.person(p).parts("note").all()).map(({ age }) => age)).toEqual([undefined, undefined]);
  expect(await verify(db, { settle: 1 })).toMatchObject({ clean: true, kinds: [] });
});
