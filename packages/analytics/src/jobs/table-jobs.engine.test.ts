import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineGraph, edge, node } from "edgetable";
import { startEngine } from "@edgetable/local";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { extract, openLake, rollUp, rollUpHierarchy, runOnSpark, top, weightedSum, type Lake } from "../index.ts";
import { comparable, hasSpark, python } from "../test-support/spark.ts";

const billing = defineGraph({
  table: "Billing",
  nodes: {
    customer: node({ key: "C#{customerId}", schema: z.object({ customerId: z.string() }) }),
    invoice: node({ key: "I#{invoiceId}", schema: z.object({ invoiceId: z.string() }) }),
    bill: node({ key: "B#{billId}", schema: z.object({ billId: z.string(), cents: z.int(), region: z.string() }) }),
    note: node({ key: "N#{noteId}", schema: z.object({ noteId: z.string(), about: z.string().optional() }) }),
    unit: node({ key: "U#{unitId}", schema: z.object({ unitId: z.string(), staff: z.int() }) }),
  },
  edges: {
    billOf: edge({ from: "bill", to: "invoice", schema: z.object({ share: z.number() }) }),
    owes: edge({ from: "customer", to: "invoice", schema: z.object({}) }),
    notes: edge({ from: "note", to: "customer", stored: "reference", by: { customerId: "about" } }),
    partOf: edge({ from: "unit", to: "unit", schema: z.object({}) }),
  },
});

let folder: string;
let lake: Lake;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tables-"));
  const engine = await startEngine();
  const db = billing.connect({ endpoint: engine.endpoint });
  await db.table.create();
  await db.load([
    ...["c1", "c2"].map((customerId) => ({ node: "customer" as const, row: { customerId } })),
    { node: "note" as const, row: { noteId: "n1", about: "c1" } },
    { node: "note" as const, row: { noteId: "n2" } },
    ...["i1", "i2", "i3"].map((invoiceId) => ({ node: "invoice" as const, row: { invoiceId } })),
    ...[100, 250, 50, 75].map((cents, at) => ({
      node: "bill" as const,
      row: { billId: `b${at}`, cents, region: at % 2 === 0 ? "north" : "south" },
    })),
    ...[
      ["b0", "i1"],
      ["b1", "i1"],
      ["b2", "i2"],
      ["b3", "i3"],
    ].map(([billId, invoiceId], at) => ({
      edge: "billOf" as const,
      from: { billId: billId! },
      to: { invoiceId: invoiceId! },
      attributes: { share: at / 2 },
    })),
    ...[
      ["c1", "i1"],
      ["c1", "i2"],
      ["c2", "i3"],
    ].map(([customerId, invoiceId]) => ({ edge: "owes" as const, from: { customerId: customerId! }, to: { invoiceId: invoiceId! } })),
    ...[
      ["world", 1],
      ["north", 2],
      ["south", 3],
      ["city", 4],
    ].map(([unitId, staff]) => ({ node: "unit" as const, row: { unitId: String(unitId), staff: Number(staff) } })),
    // The city belongs to two regions: what is below a node counts once.
    ...[
      ["north", "world"],
      ["south", "world"],
      ["city", "north"],
      ["city", "south"],
    ].map(([from, to]) => ({ edge: "partOf" as const, from: { unitId: from! }, to: { unitId: to! } })),
  ]);
  await extract(db, { into: join(folder, "lake") });
  await engine.stop();
  lake = await openLake(join(folder, "lake"));
});
afterAll(async () => {
  lake?.close();
  await rm(folder, { recursive: true, force: true });
});

test("sums roll up along a chain, from bills over invoices to customers", async () => {
  const program = rollUp(lake, { node: "bill", sum: "cents", along: [{ edge: "billOf" }, { edge: "owes", direction: "in" }] });
  expect(await lake.run(program)).toEqual([
    { node: "customer:c1", total: 400n, rows_summed: 3n, least: 50n, greatest: 250n },
    { node: "customer:c2", total: 75n, rows_summed: 1n, least: 75n, greatest: 75n },
  ]);
});

test("sums roll up a hierarchy in which paths meet", async () => {
  expect(await lake.run(rollUpHierarchy(lake, { edge: "partOf", node: "unit", sum: "staff" }))).toEqual([
    { node: "unit:world", total: 10n, rows_summed: 4n },
    { node: "unit:south", total: 7n, rows_summed: 2n },
    { node: "unit:north", total: 6n, rows_summed: 2n },
    { node: "unit:city", total: 4n, rows_summed: 1n },
  ]);
});

test("weights are summed at either end", async () => {
  expect(await lake.run(weightedSum(lake, { edge: "billOf", weight: "share", at: "target" }))).toEqual([
    { node: "invoice:i3", total: 1.5, edges: 1n },
    { node: "invoice:i2", total: 1, edges: 1n },
    { node: "invoice:i1", total: 0.5, edges: 2n },
  ]);
  const times = { node: "bill", attribute: "cents" };
  expect((await lake.run(weightedSum(lake, { edge: "billOf", weight: "share", times, at: "target" })))[0]).toEqual({
    node: "invoice:i1",
    total: 125,
    edges: 2n,
  });
});

test("the top rows, over all and for each group", async () => {
  expect((await lake.run(top(lake, { of: "bill", by: "cents", top: 2 }))).map(({ bill_id }) => bill_id)).toEqual(["b1", "b0"]);
  expect(
    (await lake.run(top(lake, { of: "bill", by: "cents", per: "region", top: 1 }))).map(({ region, bill_id }) => [region, bill_id]),
  ).toEqual([
    ["north", "b0"],
    ["south", "b1"],
  ]);
});

test("references, which lie inside their sources' items, are edges", async () => {
  expect(await lake.query("select source, target from notes")).toEqual([{ source: "note:n1", target: "customer:c1" }]);
});

test("names that the lake does not have are told with the nearest one", async () => {
  expect(() => top(lake, { of: "bil", by: "cents" })).toThrow('The lake has no table "bil". Did you mean "bill"?');
  expect(() => top(lake, { of: "bill", by: "cent" })).toThrow('"bill" has no column "cent" (table bill). Did you mean "cents"?');
  await expect(lake.query("select nope from bill")).rejects.toMatchObject({
    code: "analytics.sql",
    message: expect.stringMatching(/nope[^]*The lake's tables: customer, invoice, bill, note, unit/),
  });
  await expect(openLake(folder)).rejects.toMatchObject({ code: "analytics.lake", message: expect.stringContaining("There is no lake in") });
});

test.runIf(hasSpark)(
  "Spark returns the same rows",
  async () => {
    const programs = [
      rollUp(lake, { node: "bill", sum: "cents", along: [{ edge: "billOf" }, { edge: "owes", direction: "in" }] }),
      rollUpHierarchy(lake, { edge: "partOf", node: "unit", sum: "staff" }),
      weightedSum(lake, { edge: "billOf", weight: "share", at: "target", times: { node: "bill", attribute: "cents" } }),
      top(lake, { of: "bill", by: "cents", per: "region", top: 1 }),
    ];
    const results = await runOnSpark(lake.folder, programs, { python });
    for (const [at, program] of programs.entries())
      expect(comparable(results[at]!), program.job).toEqual(comparable(await lake.run(program)));
  },
  300_000,
);
