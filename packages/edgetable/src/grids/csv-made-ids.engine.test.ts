import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { defineGraph, node } from "../index.ts";

const graphOf = (table: string, storage: "items" | "document") =>
  defineGraph({
    table,
    nodes: {
      project: node({ key: "PROJECT#{projectId}", schema: z.object({ projectId: z.string() }) }),
      issue: node({
        key: "ISSUE#{issueId}",
        schema: z.object({ issueId: z.string().toLowerCase(), projectId: z.string(), num: z.int() }),
        fields: { of: "project", orderBy: "num:6", storage },
      }),
    },
  });

let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

const bridge = { projectId: "bridge" };
const records = (cost: string) => [
  ["issueId", "num", "Cost"],
  ["I1", "1", cost],
  ["I2", "2", "8"],
  ["i2", "2", "9"],
];

test.each(["items", "document"] as const)(
  "an import finds rows by the ids that the schema makes, and writes values where they are: %s",
  async (storage) => {
    const db = graphOf(engine.freshTableName("csv-made-ids"), storage).connect({ transport: engine.transport });
    await db.table.create();
    await db.project.create(bridge).orThrow();
    await db.issue.create({ issueId: "I1", ...bridge, num: 1 }).orThrow();
    const grid = db.issue.grid(bridge);
    const first = await grid.importCsv(records("7"));
    expect([first.created, first.changed]).toEqual([1, 2]);
    const again = await grid.importCsv(records("5"));
    expect([again.created, again.changed]).toEqual([0, 3]);
    const { items } = await grid.page();
    expect(items.map(({ row, cells }) => [row.issueId, ...Object.values(cells).map((cell) => cell?.value)])).toEqual([
      ["i1", 5],
      ["i2", 9],
    ]);
  },
);

test("an import compares attributes that cannot change as the schema makes them", async () => {
  const graph = defineGraph({
    table: engine.freshTableName("csv-made-attributes"),
    nodes: {
      project: node({ key: "PROJECT#{projectId}", schema: z.object({ projectId: z.string() }) }),
      issue: node({
        key: "ISSUE#{issueId}",
        schema: z.object({ issueId: z.string(), projectId: z.string(), num: z.int(), code: z.string().toUpperCase() }),
        immutable: ["code"],
        fields: { of: "project", orderBy: "num:6" },
      }),
    },
  });
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  await db.project.create(bridge).orThrow();
  const header = ["issueId", "num", "code"];
  const grid = db.issue.grid(bridge);
  await grid.importCsv([header, ["i1", "1", "a"]]);
  expect((await grid.importCsv([header, ["i1", "1", "a"]])).changed).toBe(1);
  expect(await db.issue.get({ issueId: "i1" })).toEqual({ issueId: "i1", ...bridge, num: 1, code: "A" });
  await expect(grid.importCsv([header, ["i1", "1", "b"]])).rejects.toMatchObject({ code: "grid.unfitRows" });
});
