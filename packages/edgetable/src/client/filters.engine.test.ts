import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { defineGraph, edge, node } from "../index.ts";
import { propertyRuns } from "../../../../conformance/engines/property-runs.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

const bytes = (...of: readonly number[]): Uint8Array => Uint8Array.from(of);
const values: readonly unknown[] = [
  "",
  "a",
  "ab",
  "é",
  "\u{1f600}",
  "\ufffd",
  0,
  -1,
  1.5,
  2n ** 70n,
  true,
  false,
  null,
  new Set(["a", "b"]),
  new Set(["b", "a"]),
  new Set(["a"]),
  new Set([1, 2]),
  new Set([2 ** 60]),
  new Set([bytes(1)]),
  bytes(),
  bytes(0),
  bytes(0, 255),
  bytes(1),
  [],
  ["a", 1],
  [1, "a"],
  [2n ** 70n],
  [{ a: 1, b: 2 }],
  [{ b: 2, a: 1 }],
  {},
  { a: [1] },
];

const open = async () => {
  const graph = defineGraph({
    table: engine.freshTableName("filters"),
    nodes: { box: node({ key: "BOX#{id}", schema: z.object({ id: z.string() }) }) },
    edges: { holds: edge({ from: "box", to: "box", schema: z.object({ v: z.any() }), ends: "unchecked" }) },
  });
  const { transport } = engine;
  const [db, memory] = [graph.connect({ transport }), graph.connect({ transport, advanced: { rulesOff: ["filter-on-server"] } })];
  await db.table.create();
  for (const [at, v] of values.entries()) await db.holds.link({ id: "all" }, { id: String(at) }, { v }).orThrow();
  return { db, memory };
};

const operand = fc.constantFrom(...values);
const comparison = fc.oneof(
  fc.record({ operator: fc.constantFrom("eq", "ne", "contains"), operand }),
  fc.record({ operator: fc.constantFrom("lt", "lte", "gt", "gte"), operand: fc.constantFrom("a", "\ufffd", 0, 2n ** 69n, bytes(0, 1)) }),
  fc.record({ operator: fc.constant("in"), operand: fc.array(operand, { minLength: 1, maxLength: 3 }) }),
);

test("a filter keeps the same edges in memory as on the server, whatever they hold", async () => {
  const { db, memory } = await open();
  await fc.assert(
    fc.asyncProperty(comparison, async (of) => {
      const ids = async ({ box }: typeof db): Promise<readonly string[]> => {
        const edges = await box({ id: "all" })
          .out("holds")
          .where({ v: { [of.operator]: of.operand } })
          .edges();
        return edges.map(({ to }) => to.id).toSorted();
      };
      expect(await ids(memory)).toEqual(await ids(db));
    }),
    propertyRuns(150),
  );
});

const simple = fc.oneof(
  fc.record({ operator: fc.constantFrom("eq", "ne", "contains"), operand: fc.constantFrom("a", "ab", 0, 1.5, true) }),
  fc.record({ operator: fc.constantFrom("lt", "gte"), operand: fc.constantFrom("a", "ab", 0, 1.5) }),
  fc.record({ operator: fc.constant("exists"), operand: fc.boolean() }),
);
type Tree = { readonly v: unknown } | { readonly or: readonly Tree[] } | { readonly not: Tree };
const leaf = simple.map(({ operator, operand: of }): Tree => ({ v: { [operator]: of } }));
const { tree } = fc.letrec<{ tree: Tree }>((tie) => ({
  tree: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    leaf,
    fc.array(tie("tree"), { minLength: 1, maxLength: 3 }).map((or): Tree => ({ or })),
    tie("tree").map((not): Tree => ({ not })),
    fc.tuple(leaf, tie("tree")).map(([one, not]): Tree => ({ ...one, not })),
  ),
}));

test("`or` and `not` keep the same edges in memory, on the server, and in the condition of a write", async () => {
  const { db, memory } = await open();
  await fc.assert(
    fc.asyncProperty(tree, async (where) => {
      const ids = async ({ box }: typeof db): Promise<readonly string[]> => {
        const edges = await box({ id: "all" })
          .out("holds")
          .where(where as never)
          .edges();
        return edges.map(({ to }) => to.id).toSorted();
      };
      const kept = await ids(db);
      expect(await ids(memory)).toEqual(kept);
      const checks = await Promise.all(
        ["0", "6", "9", "12"].map(async (id) => {
          const { ok } = await db.holds.unlink({ id: "all" }, { id }, { if: { ...where, to: { id: "none" } } as never });
          const rest = await db.holds.relink({ id: "all" }, { id }, { v: values[Number(id)] }, { if: where as never });
          return [id, ok, rest.ok];
        }),
      );
      expect(checks).toEqual(["0", "6", "9", "12"].map((id) => [id, false, kept.includes(id)]));
    }),
    propertyRuns(80),
  );
});

test("a filter with `or` and `not` is one expression, without a needless parenthesis; misuse is named", async () => {
  const { db } = await open();
  const holding = db.box({ id: "all" }).out("holds");
  const where = { v: { gte: 0 }, or: [{ v: 1 }, { v: { lt: 9 }, not: { v: 2 } }, { not: { not: { or: [{ v: 3 }, { v: 4 }] } } }] } as const;
  const explained = await holding.where(where).explain();
  expect(explained.requests[0]?.input).toMatchObject({
    FilterExpression: "#0 >= :0 AND (#0 = :1 OR (#0 < :2 AND (NOT (#0 = :3))) OR (NOT (NOT (#0 = :4 OR #0 = :5))))",
  });
  expect((await holding.where(where).edges()).map(({ v }) => v as unknown)).toEqual([0, 1.5]);
  expect(explained.notes.join()).toContain("filters v after reading");
  const misuse = (filter: object) => () => holding.where(filter);
  expect(misuse({ or: [] })).toThrow("`or` takes a list of 1 to 100 conditions");
  expect(misuse({ or: { v: 1 } })).toThrow("`or` takes a list");
  expect(misuse({ or: [{}] })).toThrow("`or` takes a list");
  expect(misuse({ not: {} })).toThrow("`not` takes conditions");
  expect(misuse({ not: 3 })).toThrow("`not` takes conditions");
  expect(misuse({ or: [{ not: { w: 1 } }] })).toThrow(/has no attribute "w"|"w"/);
  expect(misuse({ or: [{ v: undefined }] })).toThrow("v");
  for (const operand of [true, null, [1], new Set([1]), {}])
    for (const operator of ["lt", "lte", "gt", "gte"])
      expect(misuse({ v: { [operator]: operand } })).toThrow(`"${operator}" of "v" takes a value that has an order`);
  for (const bounds of [[false, true], [1, "2"], ["1", Uint8Array.of(2)], [1n, new Date(2)], [1]])
    expect(misuse({ v: { between: bounds } })).toThrow('"between" of "v" takes a list of two values of one type that has an order');
  expect(() => db.holds.unlink({ id: "all" }, { id: "0" }, { if: { v: { gte: false } } as never })).toThrow(
    "takes a value that has an order",
  );
});
