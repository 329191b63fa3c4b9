// What `reverse` states of an edge that is stored twice is what its copy at the target holds, whatever happens to the first copy.
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { defineGraph, edge, node } from "../index.ts";
import { startEngine, type TestEngine } from "../test-support/engine.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

const [ann, bob] = [{ id: "ann" }, { id: "bob" }];
const open = async (validate: "row" | "attributes") => {
  const schema = z.object({
    stars: z.number().optional(),
    words: z.array(z.string()).optional(),
    tags: z.set(z.string()).optional(),
    place: z.object({ city: z.string(), size: z.number().optional() }).optional(),
  });
  const ends = { from: "person", to: "person", stored: "twice", schema, validate } as const;
  const graph = defineGraph({
    table: engine.freshTableName("reverse"),
    nodes: { person: node({ key: "PERSON#{id}", schema: z.object({ id: z.string() }) }) },
    edges: { knows: edge(ends), likes: edge(ends) },
  });
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  await db.transact([db.person.create(ann), db.person.create(bob)]).orThrow();
  return db;
};
const before = { stars: 1, words: ["a"], tags: new Set(["a"]), place: { city: "Bern", size: 1 } };

type Opened = Awaited<ReturnType<typeof open>>;
type Change = Parameters<Opened["knows"]["relink"]>[2];
type Reverse = NonNullable<NonNullable<Parameters<Opened["knows"]["relink"]>[3]>["reverse"]>;
const changes: readonly (readonly [Change, Reverse, object])[] = [
  [{ add: { stars: 1 } }, { stars: 9 }, { stars: 2 }],
  [{ add: { tags: new Set(["b"]) } }, { tags: new Set(["z"]) }, { tags: new Set(["a", "b"]) }],
  [{ delete: { tags: new Set(["a"]) } }, { tags: new Set(["z"]) }, { tags: undefined }],
  [{ append: { words: ["b"] } }, { words: ["z"] }, { words: ["a", "b"] }],
  [{ remove: ["words"] }, { words: ["z"] }, { words: undefined }],
  [{ set: { "place.city": "Basel" } }, { place: { city: "Zug" } }, { place: { city: "Basel", size: 1 } }],
  [{ remove: ["place.size"] }, { place: { city: "Zug" } }, { place: { city: "Bern" } }],
  [{ set: { stars: 5 }, remove: ["words"] }, { stars: 9 }, { stars: 5, words: undefined }],
];
const all = (["attributes", "row"] as const).flatMap((validate) =>
  (["knows", "likes", "upsert"] as const).flatMap((how) => changes.map((one) => [validate, how, ...one] as const)),
);

test.each(all)("validate %s, %s: %j with reverse %j", async (validate, how, change, reverse, changed) => {
  const db = await open(validate);
  await db.knows.link(ann, bob, before).orThrow();
  if (how === "upsert") await db.knows.upsert(ann, bob, {}, change, { reverse }).orThrow();
  else await db.knows.relink(ann, bob, change, { reverse, type: how }).orThrow();
  const type = how === "likes" ? "likes" : "knows";
  const [first] = await db.person(ann).out(type).edges();
  const [second] = await db.person(bob).in(type).edges();
  const expected = Object.fromEntries(Object.entries({ ...before, ...changed }).filter(([, value]) => value !== undefined));
  expect(first).toEqual({ from: ann, to: bob, ...expected });
  expect(second).toEqual({ from: ann, to: bob, ...expected, ...reverse });
});
