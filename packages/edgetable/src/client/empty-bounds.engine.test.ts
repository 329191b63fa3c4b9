// Ranges whose bounds are empty texts: no key holds one, and DynamoDB refuses one in a key condition.
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { defineGraph, edge, node, part } from "../index.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

const at = { s: z.string(), n: z.number() };
const texts = ["a", "ab", "b", "\u{1f600}"];

const open = async () => {
  const graph = defineGraph({
    table: engine.freshTableName("empty-bounds"),
    nodes: {
      a: node({ key: "A#{id}", schema: z.object({ id: z.string(), g: z.string(), ...at }) }),
    },
    parts: { p: part({ of: "a", key: "{s}", schema: z.object(at) }) },
    edges: { e: edge({ from: "a", to: "a", schema: z.object(at), orderBy: "s" }) },
    indexes: {
      one: { entries: { a: "s" } },
      two: { entries: { a: ["s", "n:number"] }, shards: 2 },
      split: { entries: { a: { by: ["g", "s"], split: 1 } } },
    },
  });
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  for (const [n, s] of texts.entries()) {
    await db.a.put({ id: s, g: "g", s, n }).orThrow();
    await db.p.put({ id: "a" }, { s, n }).orThrow();
    await db.e.put({ id: "a" }, { id: s }, { s, n }).orThrow();
  }
  return db;
};

const ranges: readonly (readonly [object, (text: string) => boolean])[] = [
  [{ beginsWith: "" }, () => true],
  [{ gte: "" }, () => true],
  [{ gt: "" }, () => true],
  [{ between: ["", "ab"] }, (text) => text <= "ab"],
  [{ gte: "", lt: "b" }, (text) => text < "b"],
  [{ lt: "" }, () => false],
  [{ lte: "" }, () => false],
  [{ between: ["", ""] }, () => false],
];

test("a range with an empty bound finds what it holds for, and no request has an empty value", async () => {
  const db = await open();
  for (const [range, holds] of ranges)
    for (const more of [{}, { n: { gte: 1 } }] as const) {
      const where = { s: range, ...more } as never;
      const calls = {
        one: db.find("a").using("one").where(where),
        two: db.find("a").using("two").where(where),
        split: db.find("a").using("split").where({ g: "g" }).where(where),
        edges: db.a({ id: "a" }).out("e").where(where),
      };
      const parts = db.a({ id: "a" }).parts("p").where(where);
      const found: Record<string, readonly { readonly s: string }[]> = {
        one: await calls.one.rows(),
        two: await calls.two.rows(),
        split: await calls.split.rows(),
        page: (await calls.one.page({ limit: 3 })).items,
        edges: await calls.edges.edges(),
        parts: await parts.all(),
      };
      const wanted = texts.filter((text, n) => holds(text) && (!("n" in more) || n >= 1));
      for (const [name, rows] of Object.entries(found))
        expect([name, where, rows.map(({ s }) => s)]).toEqual([name, where, name === "page" ? wanted.slice(0, 3) : wanted]);
      const plans = [calls.one.rows(), calls.two.rows(), calls.split.rows(), calls.edges.edges(), parts.all()];
      for (const plan of plans) expect(JSON.stringify((await plan.explain()).requests)).not.toContain('"S":""');
    }
});
