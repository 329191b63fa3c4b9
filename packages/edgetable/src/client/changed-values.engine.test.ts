import { type } from "arktype";
import * as v from "valibot";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { defineGraph, edge, node } from "../index.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

// The types of changes are those of rows as they are read.
const given = (text: string): never => text as never;
const number = z.string().transform(Number);
const email = z.string().trim().toLowerCase();
const inZod = z.object({ id: z.string(), email: email.optional(), age: number.optional() });
const schemas = {
  zod: inZod,
  "zod, asynchronous": inZod.extend({ age: z.string().transform(async (text) => Number(text)) }).partial({ age: true }),
  "zod, with a check of the row": inZod.refine(({ id }) => id !== "no"),
  valibot: v.object({
    id: v.string(),
    email: v.optional(v.pipe(v.string(), v.trim(), v.toLowerCase())),
    age: v.optional(v.pipe(v.string(), v.transform(Number))),
  }),
  arktype: type({ id: "string", "email?": "string.trim |> string.lower", "age?": "string.numeric.parse" }) as unknown as typeof inZod,
};

test.each(Object.entries(schemas))("what is changed is what the schema makes of it: %s", async (_, schema) => {
  const user = node({ key: "USER#{id}", schema: schema as typeof inZod, unique: ["email"] });
  const db = defineGraph({ table: engine.freshTableName("changed"), nodes: { user } }).connect({ transport: engine.transport });
  await db.table.create();
  await db.user.create({ id: "1", email: " Ann@a.org", age: "41" }).orThrow();
  await db.user.create({ id: "2", email: "Bob@b.org" }).orThrow();
  expect(await db.user.update({ id: "2" }, { email: "ANN@a.org " })).toMatchObject({ reason: "notUnique" });
  await db.user.update({ id: "2" }, { email: " BOB@b.org", age: given("42") }).orThrow();
  expect(await db.user.get({ id: "2" })).toEqual({ id: "2", email: "bob@b.org", age: 42 });
  await expect(db.user.update({ id: "2" }, { age: 43 })).rejects.toMatchObject({ code: "schema.invalidValue" });
  await db.user.update({ id: "2" }, { set: { age: given("43") }, remove: ["email"] }).orThrow();
  expect(await db.user.get({ id: "2" })).toEqual({ id: "2", age: 43 });
});

test("either copy of an edge holds what the schema makes of its own values", async () => {
  const user = node({ key: "USER#{id}", schema: inZod });
  const knows = edge({
    from: "user",
    to: "user",
    schema: z.object({ rank: number, note: email }),
    orderBy: "rank:number",
    stored: "twice",
  });
  const graph = defineGraph({ table: engine.freshTableName("copies"), nodes: { user }, edges: { knows } });
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  const [ann, bob] = [{ id: "1" }, { id: "2" }];
  await db.transact([db.user.create(ann), db.user.create(bob)]);
  const notes = async () => [...(await db.user(ann).out("knows").edges()), ...(await db.user(bob).in("knows").edges())];
  await db.knows.link(ann, bob, { rank: "-1", note: "A " }, { reverse: { note: "B " } }).orThrow();
  expect(await notes()).toMatchObject([
    { rank: -1, note: "a" },
    { rank: -1, note: "b" },
  ]);
  await db.knows.relink(ann, bob, { rank: given("-2.5"), note: "C " }, { reverse: { note: "D " } }).orThrow();
  expect(await notes()).toMatchObject([
    { rank: -2.5, note: "c" },
    { rank: -2.5, note: "d" },
  ]);
  const bad = db.knows.relink(ann, bob, { rank: 3 }, { reverse: { rank: given("3") } });
  await expect(bad).rejects.toMatchObject({ code: "schema.invalidValue" });
});
