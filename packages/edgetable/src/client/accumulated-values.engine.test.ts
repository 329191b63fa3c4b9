import { type } from "arktype";
import * as v from "valibot";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import * as mini from "zod/mini";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { defineGraph, edge, node } from "../index.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

const inZod = z.object({
  id: z.string(),
  text: z.string().trim().optional(),
  points: z.int().max(5).optional(),
  price: z.number().max(5).optional(),
  total: z.bigint().optional(),
  tags: z.array(z.string()).max(3).optional(),
  marks: z.set(z.string()).optional(),
  any: z.unknown().optional(),
});

const schemas = {
  zod: inZod,
  "zod, with a check of the row": inZod.refine(() => true),
  "zod, asynchronous": inZod.extend({ tags: z.array(z.string().refine(async () => true)).optional() }),
  "zod/mini": mini.object({
    id: mini.string(),
    text: mini.optional(mini.string()),
    points: mini.optional(mini.number().check(mini.multipleOf(1), mini.maximum(5))),
    price: mini.optional(mini.number().check(mini.maximum(5))),
    total: mini.optional(mini.bigint()),
    tags: mini.optional(mini.array(mini.string())),
    marks: mini.optional(mini.set(mini.string())),
    any: mini.optional(mini.unknown()),
  }),
  valibot: v.object({
    id: v.string(),
    text: v.optional(v.pipe(v.string(), v.trim())),
    points: v.optional(v.pipe(v.number(), v.integer(), v.maxValue(5))),
    price: v.nullish(v.pipe(v.number(), v.maxValue(5))),
    total: v.optional(v.bigint()),
    tags: v.optional(v.pipe(v.array(v.string()), v.maxLength(3))),
    marks: v.optional(v.set(v.string())),
    any: v.optional(v.unknown()),
  }),
  arktype: type({
    id: "string",
    "text?": "string",
    "points?": "number.integer <= 5",
    "price?": "number <= 5",
    "total?": "bigint",
    "tags?": "string[] <= 3",
    "marks?": type.instanceOf(Set),
    "any?": "unknown",
  }),
};

const open = async (schema: unknown) => {
  const graph = defineGraph({
    table: engine.freshTableName("accumulated"),
    nodes: { user: node({ key: "USER#{id}", schema: schema as typeof inZod }) },
    edges: { knows: edge({ from: "user", to: "user", schema: schema as typeof inZod, ends: "unchecked" }) },
  });
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  await db.user.create({ id: "1" }).orThrow();
  await db.knows.link({ id: "1" }, { id: "1" }, { id: "1" }).orThrow();
  return db;
};

const refused = [
  ["a number added to a text", { add: { text: 1 } }, '"text"'],
  ["a set added to a text", { add: { text: new Set(["a"]) } }, '"text"'],
  ["a number added to a list", { add: { tags: 1 } }, '"tags"'],
  ["a number added to a set", { add: { marks: 1 } }, '"marks"'],
  ["a set added to a number", { add: { price: new Set([1]) } }, '"price"'],
  ["a fraction added to an integer", { add: { points: 1.5 } }, '"points"'],
  ["a fraction added to a bigint", { add: { total: 0.5 } }, '"total"'],
  ["a list appended to a text", { append: { text: ["a"] } }, '"text"'],
  ["a list appended to a number", { append: { price: [1] } }, '"price"'],
  ["a list appended to a set", { append: { marks: ["a"] } }, '"marks"'],
  ["an element of another type", { append: { tags: ["a", 7] } }, '"tags.1"'],
] as const;

describe.each(Object.entries(schemas))("in %s", (name, schema) => {
  test.each(name === "arktype" ? refused : [...refused, ["a member of another type", { add: { marks: new Set([7]) } }, '"marks'] as const])(
    "the schema refuses %s, of a node and of an edge",
    async (_, changes, says) => {
      const db = await open(schema);
      const user = { id: "1" };
      const error = expect.objectContaining({ code: "schema.invalidValue", message: expect.stringContaining(says) as string }) as Error;
      await expect(db.user.update(user, changes as never)).rejects.toEqual(error);
      await expect(db.transact([db.user.update(user, changes as never)])).rejects.toEqual(error);
      await expect(db.knows.relink(user, user, changes as never)).rejects.toEqual(error);
      expect(await db.user.get(user)).toEqual(user);
    },
  );

  test("the schema lets everything else pass, and a range is not applied to what is added", async () => {
    const db = await open(schema);
    const user = { id: "1" };
    await db.user
      .update(user, { add: { points: 4, price: 1.5, total: 2n, marks: new Set(["a"]), any: 1 }, append: { tags: ["a"] } })
      .orThrow();
    await db.user
      .update(user, { add: { points: -7, price: -9.5, total: 2, marks: new Set(["b"]) }, append: { tags: ["b", "c"] } })
      .orThrow();
    const row = await db.user.get(user);
    expect(row).toMatchObject({ points: -3, price: -8, marks: new Set(["a", "b"]), any: 1, tags: ["a", "b", "c"] });
    expect(Number(row?.total)).toBe(4);
  });
});

test("an element is stored as its schema gives it back", async () => {
  const db = await open(inZod.extend({ tags: z.array(z.string().trim()).min(2).optional() }));
  await db.user.update({ id: "1" }, { append: { tags: [" a "] } }).orThrow();
  expect((await db.user.get({ id: "1" }))?.tags).toEqual(["a"]);
});

test("a connection that does not validate adds what it is given", async () => {
  const graph = defineGraph({ table: engine.freshTableName("unvalidated"), nodes: { user: node({ key: "USER#{id}", schema: inZod }) } });
  const db = graph.connect({ transport: engine.transport, validate: false });
  await db.table.create();
  await db.user.create({ id: "1" }).orThrow();
  await db.user.update({ id: "1" }, { add: { points: 1.5 } }).orThrow();
  expect((await db.user.get({ id: "1" }))?.points).toBe(1.5);
});

test("a sum over an attribute that is not a number is refused", async () => {
  const graph = defineGraph({
    table: engine.freshTableName("sums"),
    nodes: { user: node({ key: "USER#{id}", schema: inZod }) },
    indexes: { byText: { entries: { user: "text" } } },
  });
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  await db.user.create({ id: "1", text: "a", points: 2 }).orThrow();
  await db.user.create({ id: "2", text: "a" }).orThrow();
  const found = db.find("user").where({ text: "a" });
  expect(await found.sum("points")).toBe(2);
  await expect(found.sum("text" as never).run()).rejects.toMatchObject({ code: "plan.invalidOption", details: { attribute: "text" } });
});
