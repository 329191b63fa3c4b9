import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { defineGraph, type FieldInput, type NewField, node } from "../index.ts";
import { readCsv } from "./read-csv.test-support.ts";

const text = z.string();

const graphOf = (table: string) =>
  defineGraph({
    table,
    nodes: {
      project: node({ key: "PROJECT#{projectId}", schema: z.object({ projectId: text }) }),
      card: node({ key: "CARD#{number:number}", schema: z.object({ number: z.union([z.number(), z.bigint()]) }) }),
      issue: node({
        key: "ISSUE#{issueId}",
        schema: z.object({ issueId: text, projectId: text, num: z.int(), name: text, size: z.number().optional() }),
        fields: { of: "project", orderBy: "num:6" },
      }),
    },
  });

let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

const choices = ["a", "b;c", String.raw`d\e`, " f", "g, h", 'i"j', "=k"];
const fields: readonly (NewField & { readonly fieldId: string })[] = [
  { fieldId: "text", name: "Text, of a kind", type: "text" },
  { fieldId: "number", name: "Number", type: "number" },
  { fieldId: "date", name: "Date", type: "date" },
  { fieldId: "boolean", name: "Boolean", type: "boolean" },
  { fieldId: "choice", name: "name", type: "choice", choices },
  { fieldId: "choices", name: 'Choices "several"', type: "choices", choices },
  { fieldId: "reference", name: "Reference", type: "reference", node: "project" },
  { fieldId: "card", name: "Card", type: "reference", node: "card" },
];

const words = fc.oneof(
  fc.string({ minLength: 1, maxLength: 12 }),
  fc.constantFrom(" a ", "a\r\nb", '"', ",", ";", "\\", "=1+1", "007", "\ttab"),
);
const numbers = fc
  .double({ noNaN: true, noDefaultInfinity: true, min: -1e30, max: 1e30 })
  .map((value) => (Math.abs(value) < 1e-30 ? 0 : value));
const values = fc.record(
  {
    text: words,
    number: numbers,
    date: fc.date({ min: new Date("2000-01-01"), max: new Date("2100-01-01"), noInvalidDate: true }).map((date) => date.toISOString()),
    boolean: fc.boolean(),
    choice: fc.constantFrom(...choices),
    choices: fc.uniqueArray(fc.constantFrom(...choices), { minLength: 1 }),
    reference: fc.constantFrom("p", " q", "7").map((projectId) => ({ projectId })),
    card: fc.constantFrom(7, -0.5, 1e21, 12345678901234567890n, -(10n ** 37n) - 1n).map((number) => ({ number })),
  },
  { requiredKeys: [] },
);
const rows = fc.array(fc.record({ name: words, size: fc.option(numbers, { nil: undefined }), values }), { minLength: 1, maxLength: 6 });

const parent = { projectId: "p" };
const open = async () => {
  const db = graphOf(engine.freshTableName("round-trip")).connect({ transport: engine.transport });
  await db.table.create();
  await db.project.create(parent).orThrow();
  for (const field of fields) await db.issue.fields(parent).define(field);
  return db;
};
const written = async (db: Awaited<ReturnType<typeof open>>): Promise<string> => {
  let csv = "";
  for await (const piece of db.issue.grid(parent).exportCsv({ page: 4 })) csv += piece;
  return csv;
};

test("what is exported is imported as it was", async () => {
  await fc.assert(
    fc.asyncProperty(rows, async (given) => {
      const [from, to] = [await open(), await open()];
      for (const [num, { name, size, values: own }] of given.entries()) {
        await from.issue.create({ issueId: `i${num}`, ...parent, num, name, ...(size === undefined ? {} : { size }) }).orThrow();
        await from.issue.values({ issueId: `i${num}` }).set(own as Readonly<Record<string, FieldInput>>);
      }
      const csv = await written(from);
      expect(await to.issue.grid(parent).importCsv(readCsv(csv))).toMatchObject({ created: given.length, unfit: 0 });
      expect((await to.issue.grid(parent).page()).items).toEqual((await from.issue.grid(parent).page()).items);
      expect(await written(to)).toBe(csv);
    }),
    { numRuns: 15 },
  );
});

test.each(["constructor", "toString"])("a field with the id %s has no value where a row has none", async (fieldId) => {
  const graph = defineGraph({
    table: engine.freshTableName("inherited"),
    nodes: {
      project: node({ key: "P#{pid}", schema: z.object({ pid: z.string() }) }),
      issue: node({
        key: "I#{iid}",
        schema: z.object({ iid: z.string(), pid: z.string(), num: z.int() }),
        fields: { of: "project", orderBy: "num:6" },
      }),
    },
  });
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  await db.project.create({ pid: "p" });
  await db.issue.create({ iid: "1", pid: "p", num: 1 });
  await db.issue.fields({ pid: "p" }).define({ fieldId, name: "Field", type: "text" });
  let csv = "";
  for await (const piece of db.issue.grid({ pid: "p" }).exportCsv()) csv += piece;
  expect(csv.split("\r\n")[1]).toBe("1,p,1,");
});

test("columns go to the attributes that a schema declares, also if it takes others", async () => {
  const graph = defineGraph({
    table: engine.freshTableName("loose"),
    nodes: {
      project: node({ key: "P#{pid}", schema: z.object({ pid: z.string() }) }),
      issue: node({
        key: "I#{iid}",
        schema: z.looseObject({ iid: z.string(), pid: z.string(), num: z.int(), name: z.string().optional() }),
        fields: { of: "project", orderBy: "num:6" },
      }),
    },
  });
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  await db.project.create({ pid: "p" });
  await db.issue.create({ iid: "1", pid: "p", num: 1, name: "old" });
  const file = [
    ["iid", "num", "name"],
    ["1", "1", "new"],
    ["2", "2", "x"],
  ];
  const { columns } = await db.issue.grid({ pid: "p" }).importCsv(file, { dryRun: true });
  expect(columns.map(({ to }) => to)).toEqual(["attribute", "attribute", "attribute"]);
  await db.issue.grid({ pid: "p" }).importCsv(file);
  expect(await db.issue.get({ iid: "1" })).toMatchObject({ num: 1, name: "new" });
  expect(await db.issue.get({ iid: "2" })).toMatchObject({ num: 2, name: "x" });
});
