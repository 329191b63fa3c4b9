import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { defineGraph, node, type Transport } from "../index.ts";

const text = z.string();
let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

const parent = { projectId: "p" };
const past = Math.floor(Date.now() / 1000) - 60;

/** Filters of the Queries that were sent to an index since `open`. */
const filters: unknown[] = [];
const transport: Transport = {
  send: async (operation, input, options) => {
    if ("IndexName" in input && "FilterExpression" in input) filters.push(input.FilterExpression);
    return engine.transport.send(operation, input, options);
  },
  close: () => undefined,
};

const open = async (storage: "items" | "document") => {
  filters.length = 0;
  const graph = defineGraph({
    table: engine.freshTableName("expired-rows"),
    nodes: {
      project: node({ key: "PROJECT#{projectId}", schema: z.object({ projectId: text }) }),
      issue: node({
        key: "ISSUE#{issueId}",
        schema: z.object({ issueId: text, projectId: text, num: z.int(), until: z.int().optional() }),
        ttl: "until",
        fields: { of: "project", orderBy: "num:6", storage },
      }),
    },
  });
  const db = graph.connect({ transport });
  await db.table.create();
  await db.project.create(parent).orThrow();
  await db.issue.fields(parent).define({ fieldId: "size", name: "Size", type: "number" });
  for (const num of [1, 2, 3]) {
    await db.issue.create({ issueId: `i${num}`, ...parent, num }).orThrow();
    await db.issue.values({ issueId: `i${num}` }).set({ size: num % 2 });
  }
  await db.issue.update({ issueId: "i3" }, { until: past }).orThrow();
  return db;
};

test.each(["items", "document"] as const)("a row that has expired has no values, and is not counted (%s)", async (storage) => {
  const db = await open(storage);
  const values = db.issue.values({ issueId: "i3" });
  expect(await values.get()).toBeUndefined();
  expect(await values.set({ size: 5 })).toMatchObject({ ok: false, reason: "notFound" });
  expect(await values.get().run({ expired: "show" })).toMatchObject({ size: { value: 1 } });
  const grid = db.issue.grid(parent);
  expect((await grid.page()).items).toHaveLength(2);
  expect(await grid.count()).toMatchObject({ rows: 2 });
  const groups = [
    { value: 0, rows: 1 },
    { value: 1, rows: 1 },
  ];
  expect(await grid.groups("field:size")).toMatchObject({ groups });
  expect((await grid.count().explain()).notes.join()).toContain("reads each row");
  expect(await grid.count().run({ expired: "show" })).toMatchObject({ rows: 3 });
  expect(JSON.stringify([await grid.page().explain(), await grid.count().explain()])).not.toContain("FilterExpression");
  // The index holds keys alone. The embedded engine filters by what it lacks, DynamoDB refuses to.
  expect(filters).toEqual([]);
});

test("an import replaces a row that has expired, as a creation does", async () => {
  const db = await open("items");
  const records = [
    ["issueId", "num", "Size"],
    ["i2", "2", "4"],
    ["i3", "3", "7"],
  ];
  expect(await db.issue.grid(parent).importCsv(records)).toMatchObject({ created: 1, changed: 1, unfit: 0 });
  expect(await db.issue.get({ issueId: "i3" })).toEqual({ issueId: "i3", ...parent, num: 3 });
  expect(await db.issue.values({ issueId: "i3" }).get()).toMatchObject({ size: { value: 7 } });
});
