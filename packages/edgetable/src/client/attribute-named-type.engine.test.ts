import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { defineGraph, edge, node, part } from "../index.ts";
import { verify } from "../verify/index.ts";

/** "type" is the attribute by which Edgetable tells items apart; a model may call an attribute of its own so too. */
const text = z.string();
const [ann, bob, red] = [{ id: "1" }, { id: "2" }, { team: "r" }];
let engine: TestEngine;
beforeAll(async () => void (engine = await openEngine()));
afterAll(async () => engine.close());

const modelIn = (table: string) =>
  defineGraph({
    table,
    nodes: {
      user: node({ key: "USER#{id}", schema: z.object({ id: text, type: text }), unique: ["type"] }),
      team: node({ key: "TEAM#{team}", schema: z.object({ team: text, type: text.optional() }) }),
      doc: node({ key: "DOC#{type}", schema: z.object({ type: text }) }),
    },
    edges: {
      knows: edge({ from: "user", to: ["user", "team"], schema: z.object({ type: text }), orderBy: "type" }),
      made: edge({ from: "user", to: ["user", "team"], schema: z.object({ type: text }), stored: "twice" }),
      plays: edge({ from: "user", to: "team", schema: z.object({ type: text }), key: ["type"] }),
    },
    parts: { line: part({ of: "user", key: "LINE#{n}", schema: z.object({ n: text, type: text }) }) },
    indexes: { byType: { entries: { user: "type", line: "type" } } },
  });

test("in nodes, edges and parts, in keys, orders, indexes and unique values, with relink and ends of several types", async () => {
  const db = modelIn(engine.freshTableName("type")).connect({ transport: engine.transport });
  await db.table.create();
  await db.user.create({ ...ann, type: "admin" }).orThrow();
  await db.user.create({ ...bob, type: "guest" }).orThrow();
  expect((await db.user.create({ id: "3", type: "guest" })).reason).toBe("notUnique");
  await db.team.create({ ...red, type: "club" }).orThrow();
  await db.doc.create({ type: "pdf" }).orThrow();
  expect(await db.doc.get({ type: "pdf" })).toEqual({ type: "pdf" });
  await db.user.update(ann, { type: "owner" }, { if: { type: "admin" } }).orThrow();
  expect(await db.user.by({ type: "owner" })).toEqual({ ...ann, type: "owner" });
  await db.knows.link(ann, bob, { type: "b" }).orThrow();
  await db.knows.link(ann, red, { type: "a" }).orThrow();
  expect(await db.user(ann).out("knows").entries()).toEqual([
    {
      edge: { from: { ...ann, type: "user" }, to: { ...red, type: "team" }, type: "a" },
      node: { kind: "team", row: { ...red, type: "club" } },
    },
    {
      edge: { from: { ...ann, type: "user" }, to: { ...bob, type: "user" }, type: "b" },
      node: { kind: "user", row: { ...bob, type: "guest" } },
    },
  ]);
  await db.knows.relink(ann, bob, { type: "z" }).orThrow();
  expect(
    (
      await db
        .user(ann)
        .out("knows")
        .where({ type: { gte: "b" } })
        .edges()
    ).map(({ type }) => type),
  ).toEqual(["z"]);
  await db.knows.relink(ann, bob, { type: "made" }, { type: "made" }).orThrow();
  expect((await db.user(bob).in("made").edges()).map(({ type }) => type)).toEqual(["made"]);
  for (const type of ["goal", "wing"]) await db.plays.link(ann, red, { type }).orThrow();
  await db.plays.unlink(ann, red, { key: { type: "goal" } }).orThrow();
  expect((await db.team(red).in("plays").edges()).map(({ type }) => type)).toEqual(["wing"]);
  await db.line.create(ann, { n: "1", type: "owner" }).orThrow();
  expect(await db.user(ann).parts("line").where({ type: "owner" }).all()).toMatchObject([{ n: "1", type: "owner" }]);
  const found = await db.find(["user", "line"]).where({ type: "owner" }).rows();
  expect(found.map(({ kind, row }) => `${kind} ${row.type}`).toSorted()).toEqual(["line owner", "user owner"]);
  expect(await db.user.upsert({ ...ann, type: "owner" }, { type: "admin" }).orThrow()).toMatchObject({
    created: false,
    row: { type: "admin" },
  });
  expect((await db.user(ann).collection()).parts.line).toHaveLength(1);
  const copy = modelIn(engine.freshTableName("type")).connect({ transport: engine.transport });
  await copy.table.create();
  expect(await copy.load(db.scan())).toMatchObject({ failed: 0 });
  for (const each of [db, copy]) expect(await verify(each, { settle: 1 })).toMatchObject({ clean: true, kinds: [] });
  expect(await copy.doc.get({ type: "pdf" })).toEqual({ type: "pdf" });
  expect((await copy.doc.get({ type: "pdf" }).report()).drifted.items).toBe(0);
  expect(await copy.user.getMany([ann, bob])).toEqual(await db.user.getMany([ann, bob]));
});

test("where it tells apart the ends of an edge, it cannot be an id field", () => {
  const nodes = {
    doc: node({ key: "DOC#{type}", schema: z.object({ type: text }) }),
    user: node({ key: "USER#{id}", schema: z.object({ id: text }) }),
  };
  expect(() => defineGraph({ table: "T", nodes, edges: { has: edge({ from: "user", to: ["doc", "user"] }) } })).toThrow(
    '"type" distinguishes the node types of this end, and is an id field of "doc". Rename the field.',
  );
});
