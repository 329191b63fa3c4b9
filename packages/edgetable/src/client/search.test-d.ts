import { expectTypeOf, test } from "vitest";
import { z } from "zod";
import { defineGraph, edge, node, part } from "../index.ts";

const text = z.string();
const graph = defineGraph({
  table: "People",
  nodes: {
    person: node({ key: "P#{personId}", schema: z.object({ personId: text, name: text, age: z.int() }) }),
    place: node({ key: "L#{placeId}", schema: z.object({ placeId: text, country: text }) }),
  },
  edges: { bornIn: edge({ from: "person", to: "place", schema: z.object({ country: text, role: text }) }) },
  parts: { note: part({ of: "person", key: "N#{n:3}", schema: z.object({ n: z.int(), topic: text }) }) },
  indexes: { byValue: { entries: { person: "name", place: ["country"], bornIn: { by: ["country", "role"], split: 1 }, note: "topic" }, shards: [8, 4] } },
});
declare const db: ReturnType<typeof graph.connect>;

test("rows are of the kind that is asked for", () => {
  expectTypeOf(db.find("person").where({ age: { gte: 3 } }).rows()).resolves.toEqualTypeOf<
    readonly { personId: string; name: string; age: number }[]
  >();
  expectTypeOf(db.find("bornIn").where({ country: "UK", to: { placeId: "3" } }).rows()).resolves.toExtend<
    readonly { role: string; from: { personId: string } }[]
  >();
  expectTypeOf(db.find("bornIn").sources()).resolves.toEqualTypeOf<readonly { personId: string; name: string; age: number }[]>();
  expectTypeOf(db.find("bornIn").targets()).resolves.toEqualTypeOf<readonly { placeId: string; country: string }[]>();
  expectTypeOf(db.find("note").rows()).resolves.toExtend<readonly { n: number; topic: string; personId: string }[]>();
});

test("several kinds are told apart, and found by what all of them have", async () => {
  for (const found of await db.find(["place", "bornIn"]).where({ country: "UK" }).rows()) {
    if (found.kind === "bornIn") expectTypeOf(found.row.role).toBeString();
    else expectTypeOf(found.row.placeId).toBeString();
  }
  // @ts-expect-error -- role is the edge's alone
  db.find(["place", "bornIn"]).where({ role: "x" });
});

test("a selection has what was named, edges their ends, and several kinds their kind", () => {
  expectTypeOf(db.find("person").where({ age: 3 }).select("name").rows()).resolves.toEqualTypeOf<readonly { name: string }[]>();
  expectTypeOf(db.find("bornIn").select("role").rows()).resolves.toExtend<
    readonly { role: string; from: { personId: string }; to: { placeId: string } }[]
  >();
  expectTypeOf(db.find("bornIn").select("role").first().run()).resolves.not.toHaveProperty("country");
  expectTypeOf(db.find("bornIn").select("role").sources()).resolves.toExtend<readonly { age: number }[]>();
  expectTypeOf(db.find(["place", "bornIn"]).select("country").first()).resolves.toExtend<
    | { readonly kind: "place"; readonly row: { country: string } }
    | { readonly kind: "bornIn"; readonly row: { country: string } }
    | undefined
  >();
  // @ts-expect-error -- no such attribute
  db.find("person").select("nam");
  // @ts-expect-error -- role is the edge's alone
  db.find(["place", "bornIn"]).select("role");
});

test("what is not there does not compile", () => {
  // @ts-expect-error -- no such kind
  db.find("persn");
  // @ts-expect-error -- no such attribute
  db.find("person").where({ nam: "x" });
  // @ts-expect-error -- a node has no ends
  db.find("person").sources();
});

test("an index is declared by attributes that there are", () => {
  const person = node({ key: "P#{personId}", schema: z.object({ personId: text, name: text, age: z.int() }) });
  // @ts-expect-error -- no such attribute
  defineGraph({ table: "T", nodes: { person }, indexes: { byValue: { entries: { person: "nam" } } } });
  // @ts-expect-error -- no such definition
  defineGraph({ table: "T", nodes: { person }, indexes: { byValue: { entries: { place: "name" } } } });
  // @ts-expect-error -- a number says its format
  defineGraph({ table: "T", nodes: { person }, indexes: { byValue: { entries: { person: "age" } } } });
  defineGraph({ table: "T", nodes: { person }, indexes: { byValue: { entries: { person: { by: ["age:number", "name"], shards: { count: 4, per: "name" } } } } } });
});
