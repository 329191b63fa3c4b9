import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { defineGraph, edge, node, type SentRequest } from "../index.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

const open = async () => {
  const sent: SentRequest[] = [];
  const schema = z.object({ by: z.union([z.string(), z.number(), z.boolean()]), at: z.date() });
  const graph = defineGraph({
    table: engine.freshTableName("parallel"),
    nodes: { user: node({ key: "USER#{id}", schema: z.object({ id: z.string() }) }) },
    edges: { grants: edge({ from: "user", to: "user", schema, key: ["by", "at"], dates: ["at"], ends: "unchecked" }) },
  });
  const db = graph.connect({ transport: engine.transport, onRequest: (request) => sent.push(request) });
  await db.table.create();
  return { db, sent };
};

const [ann, bob] = [{ id: "1" }, { id: "2" }];
const at = new Date("1969-12-31T23:59:59.999Z");
// Some of these texts are how numbers and booleans stand in keys.
const keys: readonly (readonly [by: string | number | boolean, text: string])[] = [
  ["o", "o$-"],
  [0, "o"],
  ["p5001", "p5001$-"],
  [1, "p5001"],
  ["true", "true$-"],
  [true, "true"],
  ["oo", "oo"],
  ["o$-", "o$T-"],
];

test("parallel edges are told apart by any text, number, boolean or date", async () => {
  const { db, sent } = await open();
  for (const [by] of keys) await db.grants.put(ann, bob, { by, at }).orThrow();
  const written = sent.filter(({ operation }) => operation === "PutItem").map(({ input }) => (input as { Item: { sk: unknown } }).Item.sk);
  expect(written).toEqual(keys.map(([, text]) => ({ S: `grants#USER#2#${text}#1969-12-31T23:59:59.999Z` })));
  for (const [by] of keys) expect(await db.grants.get(ann, bob, { key: { by, at } })).toEqual({ from: ann, to: bob, by, at });
  expect(await db.user(ann).out("grants").count()).toBe(keys.length);
  const known = db.user(ann).out("grants").where({ to: bob });
  const beginning = await known.where({ by: { beginsWith: "o" } }).edges();
  expect(beginning.map(({ by }) => by)).toEqual(["o", "o$-", "oo"]);
  expect((await known.where({ by: { between: ["o", "p"] } }).edges()).map(({ by }) => by)).toEqual(["o", "o$-", "oo"]);
  expect((await known.where({ by: "o" }).edges()).map(({ by }) => by)).toEqual(["o"]);
  for (const [by] of keys) await db.grants.unlink(ann, bob, { key: { by, at } }).orThrow();
  expect(await db.user(bob).in("grants").count()).toBe(0);
});

test("relink says where the attributes of an edge's key belong", async () => {
  const { db } = await open();
  await db.grants.link(ann, bob, { by: "x", at }).orThrow();
  expect(() => db.grants.relink(ann, bob, { by: "x" } as never, {} as never)).toThrow(
    '"by" of "grants" cannot change. Link a new edge and unlink this one. To say which of several edges to change, pass { key: { by } } as option.',
  );
});

test("every call that addresses an edge takes its own key as the option `key`", async () => {
  const { db } = await open();
  const key = { by: "x", at };
  await db.grants.link(ann, bob, key).orThrow();
  expect(await db.grants.get(ann, bob, { key, consistent: true })).toMatchObject(key);
  expect(await db.grants.getMany(ann, [bob], { key })).toHaveLength(1);
  expect(await db.user(ann).has("grants", bob, { key })).toBe(true);
  expect(await db.grants.unlink(ann, bob, { key })).toMatchObject({ ok: true });
  expect(await db.user(ann).has("grants", bob, { key })).toBe(false);
  const untyped = db as never as Record<"grants", Record<string, (...given: unknown[]) => unknown>>;
  const calls = [
    () => untyped.grants["get"]!(ann, bob, key),
    () => untyped.grants["unlink"]!(ann, bob, key),
    () => untyped.grants["getMany"]!(ann, [bob], key),
    () => (db.user(ann) as never as (typeof untyped)["grants"])["has"]!("grants", bob, key),
  ];
  for (const call of calls) expect(call).toThrow('"by" belongs to the key of "grants": give it as the option { key: { by, at } }.');
  expect(() => untyped.grants["unlink"]!(ann, bob, { key: { by: "x" } })).toThrow('"at"');
});
