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
  const [db, memory] = [graph.connect({ transport }), graph.connect({ transport, rulesOff: ["filter-on-server"] })];
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
