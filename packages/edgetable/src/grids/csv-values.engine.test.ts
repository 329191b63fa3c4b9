import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { defineGraph, node } from "../index.ts";
import { readCsv } from "./read-csv.test-support.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

const text = z.string();
const parent = { projectId: "p" };

const open = async () => {
  const graph = defineGraph({
    table: engine.freshTableName("csv-values"),
    nodes: {
      project: node({ key: "PROJECT#{projectId}", schema: z.object({ projectId: text }) }),
      issue: node({
        key: "ISSUE#{issueId}",
        schema: z.object({
          issueId: text,
          projectId: text,
          tags: z.set(text).optional(),
          bytes: z.instanceof(Uint8Array).optional(),
          nested: z.record(text, z.any()).optional(),
          any: z.any().optional(),
          either: z.union([text, z.number(), z.bigint(), z.boolean()]).optional(),
          day: z.union([text, z.date()]).optional(),
        }),
        fields: { of: "project" },
      }),
    },
  });
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  await db.project.create(parent).orThrow();
  return db;
};

const written = async (db: Awaited<ReturnType<typeof open>>) => {
  let csv = "";
  for await (const piece of db.issue.grid(parent).exportCsv()) csv += piece;
  return readCsv(csv);
};

const rows = [
  { issueId: "1", tags: new Set(["a", "b,c"]), bytes: new Uint8Array([0, 1, 255]) },
  { issueId: "2", nested: { list: [1, 2n ** 70n, new Set(["x"])], bytes: new Uint8Array([7]) } },
  { issueId: "3", either: 5 },
  { issueId: "4", either: "5" },
  { issueId: "5", either: true },
  { issueId: "6", either: 2n ** 70n },
  { issueId: "7", any: 5, day: "2024-01-01" },
  { issueId: "8", any: [true, null, "5"] },
];

test("a file that a grid has written changes none of its rows", async () => {
  const db = await open();
  for (const row of rows) await db.issue.create({ ...row, ...parent }).orThrow();
  const records = await written(db);
  expect(await db.issue.grid(parent).importCsv(records)).toMatchObject({ created: 0, changed: rows.length, unfit: 0 });
  for (const row of rows) expect(await db.issue.get({ issueId: row.issueId })).toEqual({ ...row, ...parent });
});

test("sets, bytes and nested values are imported as they were exported", async () => {
  const [from, to] = [await open(), await open()];
  for (const row of rows.slice(0, 2)) await from.issue.create({ ...row, ...parent }).orThrow();
  expect(await to.issue.grid(parent).importCsv(await written(from))).toMatchObject({ created: 2, unfit: 0 });
  for (const row of rows.slice(0, 2)) expect(await to.issue.get({ issueId: row.issueId })).toEqual({ ...row, ...parent });
});

test("a column goes to the field of its name before one whose id it is", async () => {
  const db = await open();
  await db.issue.create({ issueId: "1", ...parent }).orThrow();
  await db.issue.fields(parent).define({ fieldId: "size", name: "Weight", type: "text" });
  await db.issue.fields(parent).define({ fieldId: "other", name: "size", type: "text" });
  const records = [
    ["issueId", "size"],
    ["1", "large"],
  ];
  await db.issue.grid(parent).importCsv(records);
  expect(Object.keys((await db.issue.values({ issueId: "1" }).get()) ?? {})).toEqual(["other"]);
});

test.each([
  ["+4930123456", "text"],
  ["-5", "number"],
  ["007", "text"],
  ["1e3", "number"],
])("a new field with the value %s is of type %s", async (value, type) => {
  const db = await open();
  const { columns } = await db.issue.grid(parent).importCsv(
    [
      ["issueId", "Phone"],
      ["1", value],
    ],
    { dryRun: true },
  );
  expect(columns[1]).toMatchObject({ type });
});

test("a field that is called as an attribute is exported by its id, whichever columns are shown", async () => {
  const db = await open();
  await db.issue.create({ issueId: "1", ...parent, either: 5 }).orThrow();
  const { fieldId } = await db.issue.fields(parent).define({ name: "either", type: "text" });
  let csv = "";
  for await (const piece of db.issue.grid(parent).columns("issueId", `field:${fieldId}`).exportCsv()) csv += piece;
  expect(readCsv(csv)[0]).toEqual(["issueId", `field:${fieldId}`]);
});

test("of records that name one row in several ways, the last one stays", async () => {
  const graph = defineGraph({
    table: engine.freshTableName("csv-repeats"),
    nodes: {
      project: node({ key: "PROJECT#{projectId}", schema: z.object({ projectId: text }) }),
      step: node({
        key: "STEP#{number:number}",
        schema: z.object({ number: z.number(), projectId: text, name: text }),
        fields: { of: "project" },
      }),
    },
  });
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  await db.project.create(parent).orThrow();
  const spellings = ["1", "01", "1.0", "1e0", "+1"];
  const records = [["number", "name"], ...Array.from({ length: 50 }, (_, at) => [spellings[at % 5] ?? "", String(at)])];
  expect(await db.step.grid(parent).importCsv(records)).toMatchObject({ unfit: 0 });
  expect(await db.step.get({ number: 1 })).toMatchObject({ name: "49" });
});

test("an empty cell is null where the schema requires the attribute and accepts null", async () => {
  const flight = node({
    key: "FLIGHT#{id}",
    schema: z.object({ id: text, carrier: text, delay: z.int().nullable(), gate: text.nullish(), from: text }),
    fields: { of: "airline" },
  });
  const airline = node({ key: "AIRLINE#{carrier}", schema: z.object({ carrier: text }) });
  const graph = defineGraph({ table: engine.freshTableName("csv-nulls"), nodes: { airline, flight } });
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  await db.airline.create({ carrier: "UA" }).orThrow();
  const grid = db.flight.grid({ carrier: "UA" });
  const file = [
    ["id", "delay", "gate", "from"],
    ["1", "", "", "EWR"],
    ["2", "-5", "A", "JFK"],
  ];
  expect(await grid.importCsv(file)).toMatchObject({ created: 2, unfit: 0 });
  expect(await db.flight.get({ id: "1" })).toEqual({ id: "1", carrier: "UA", delay: null, from: "EWR" });
  // What is required and cannot be null is still missing.
  const unfit = grid.importCsv([
    ["id", "delay", "from"],
    ["3", "", ""],
  ]);
  await expect(unfit).rejects.toMatchObject({ code: "grid.unfitRows", details: { misfits: [{ field: "from", problem: "missing" }] } });
  // An existing row keeps its value, unless the import removes what has no cell.
  const emptied = [
    ["id", "delay", "gate"],
    ["2", "", ""],
  ];
  expect(await grid.importCsv(emptied)).toMatchObject({ changed: 1, unfit: 0 });
  expect(await db.flight.get({ id: "2" })).toEqual({ id: "2", carrier: "UA", delay: -5, gate: "A", from: "JFK" });
  expect(await grid.importCsv(emptied, { empty: "remove" })).toMatchObject({ changed: 1, unfit: 0 });
  expect(await db.flight.get({ id: "2" })).toEqual({ id: "2", carrier: "UA", delay: null, from: "JFK" });
  let csv = "";
  for await (const piece of grid.exportCsv()) csv += piece;
  await db.flight.delete({ id: "1" }).orThrow();
  expect(await grid.importCsv(readCsv(csv))).toMatchObject({ created: 1, unfit: 0 });
  expect(await db.flight.get({ id: "1" })).toEqual({ id: "1", carrier: "UA", delay: null, from: "EWR" });
});

test("an empty cell is no null of which the schema makes a value", async () => {
  const flight = node({
    key: "FLIGHT#{id}",
    schema: z.object({ id: text, carrier: text, delay: z.coerce.number(), day: z.coerce.date() }),
    dates: ["day"],
    fields: { of: "airline" },
  });
  const airline = node({ key: "AIRLINE#{carrier}", schema: z.object({ carrier: text }) });
  const graph = defineGraph({ table: engine.freshTableName("csv-coerced"), nodes: { airline, flight } });
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  await db.airline.create({ carrier: "UA" }).orThrow();
  const row = { id: "1", carrier: "UA", delay: 7, day: new Date("2024-01-02") };
  await db.flight.create(row).orThrow();
  const grid = db.flight.grid({ carrier: "UA" });
  const file = (id: string) => [
    ["id", "delay", "day"],
    [id, "", ""],
  ];
  const misfits = [
    { field: "delay", problem: "missing" },
    { field: "day", problem: "missing" },
  ];
  await expect(grid.importCsv(file("2"))).rejects.toMatchObject({ code: "grid.unfitRows", details: { misfits } });
  await expect(grid.importCsv(file("1"), { empty: "remove" })).rejects.toMatchObject({ code: "grid.unfitRows" });
  expect(await db.flight.get({ id: "1" })).toEqual(row);
});

test("an empty cell of an attribute whose schema throws where the value is missing is no value", async () => {
  const flight = node({
    key: "FLIGHT#{id}",
    schema: z.object({ id: text, carrier: text, gate: z.preprocess((gate) => (gate as string).trim(), text) }),
    fields: { of: "airline" },
  });
  const airline = node({ key: "AIRLINE#{carrier}", schema: z.object({ carrier: text }) });
  const db = defineGraph({ table: engine.freshTableName("csv-throws"), nodes: { airline, flight } }).connect({
    transport: engine.transport,
  });
  await db.table.create();
  await db.airline.create({ carrier: "UA" }).orThrow();
  await db.flight.create({ id: "1", carrier: "UA", gate: "A" }).orThrow();
  const file = [
    ["id", "gate"],
    ["1", ""],
  ];
  expect(await db.flight.grid({ carrier: "UA" }).importCsv(file)).toMatchObject({ changed: 1, unfit: 0 });
  expect(await db.flight.get({ id: "1" })).toEqual({ id: "1", carrier: "UA", gate: "A" });
});
