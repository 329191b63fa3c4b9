import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { defineGraph, isEdgetableError, node } from "../index.ts";

const text = z.string();

const graphOf = (table: string, storage: "items" | "document" = "items") =>
  defineGraph({
    table,
    nodes: {
      project: node({ key: "PROJECT#{projectId}", schema: z.object({ projectId: text, name: text }) }),
      person: node({ key: "PERSON#{personId}", schema: z.object({ personId: text }) }),
      issue: node({
        key: "ISSUE#{issueId}",
        schema: z.object({
          issueId: text,
          projectId: text,
          num: z.int(),
          name: text,
          state: z.enum(["open", "closed"]),
          estimate: z.number().optional(),
        }),
        fields: { of: "project", orderBy: "num:6", sortable: ["name"], storage },
      }),
    },
  });

let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

const bridge = { projectId: "35e9" };
const news = { projectId: "7b7e" };
let db: ReturnType<ReturnType<typeof graphOf>["connect"]>;
let table: string;
beforeEach(async () => {
  table = engine.freshTableName("csv");
  db = graphOf(table).connect({ transport: engine.transport });
  await db.table.create();
  for (const project of [bridge, news]) await db.project.create({ ...project, name: "…" }).orThrow();
});

type Records = readonly (readonly string[])[];
const header = ["issueId", "num", "name", "state", "Start", "Size", "Rank", "Tags", "Done", "Code"];
const line = (num: number): readonly string[] => [
  `i${num}`,
  String(num),
  `Issue ${num}`,
  num % 3 > 0 ? "open" : "closed",
  num % 2 > 0 ? `2023-05-${String((num % 28) + 1).padStart(2, "0")}` : "",
  num % 2 > 0 ? "small" : "large",
  num % 4 > 0 ? String(num * 1.5) : "",
  num % 2 > 0 ? "red;blue" : "blue",
  num % 2 > 0 ? "TRUE" : "false",
  String(num).padStart(4, "0"),
];
const file = (rows: number): Records => [header, ...Array.from({ length: rows }, (_, at) => line(at + 1))];

const written = async (parent: { readonly projectId: string }, options = {}): Promise<string> => {
  let all = "";
  for await (const piece of db.issue.grid(parent).exportCsv(options)) all += piece;
  return all;
};
const failure = async (call: Promise<unknown>) => {
  const error: unknown = await call.then(
    () => undefined,
    (one: unknown) => one,
  );
  return isEdgetableError(error) ? { code: error.code, message: error.message, details: error.details } : error;
};

describe("an import", () => {
  test("shows what columns become before anything is written", async () => {
    const grid = db.issue.grid(bridge);
    const { value: plan, cost } = await grid.importCsv(file(120), { dryRun: true }).report();
    expect(plan.columns.map(({ column, to, type, choices }) => [column, to, type, choices])).toEqual([
      ["issueId", "attribute", undefined, undefined],
      ["num", "attribute", undefined, undefined],
      ["name", "attribute", undefined, undefined],
      ["state", "attribute", undefined, undefined],
      ["Start", "newField", "date", undefined],
      ["Size", "newField", "choice", ["small", "large"]],
      ["Rank", "newField", "number", undefined],
      ["Tags", "newField", "choices", ["red", "blue"]],
      ["Done", "newField", "boolean", undefined],
      ["Code", "newField", "text", undefined],
    ]);
    expect(plan).toMatchObject({ rows: 120, created: 120, changed: 0, unfit: 0, misfits: [], written: false });
    expect(plan.columns[4]).toMatchObject({ values: 60, example: "2023-05-02", inferred: true });
    // The fields, and the rows in two steps.
    expect(cost).toMatchObject({ requests: 3, writeUnits: 0 });
    expect((await grid.page()).items).toEqual([]);
    expect(await db.issue.fields(bridge).list()).toEqual([]);
  });

  test("writes rows, fields and values, and once more changes nothing", async () => {
    const grid = db.issue.grid(bridge);
    const steps: string[] = [];
    const onProgress = ({ step, rows }: { readonly step: string; readonly rows: number }) => void steps.push(`${step} ${rows}`);
    const result = await grid.importCsv(file(120), { onProgress });
    expect(result).toMatchObject({ rows: 120, created: 120, changed: 0, unfit: 0, written: true });
    expect(steps).toEqual(["plan 100", "plan 120", "write 100", "write 120"]);
    const fields = await db.issue.fields(bridge).list();
    expect(fields.map(({ name, type }) => [name, type])).toEqual([
      ["Start", "date"],
      ["Size", "choice"],
      ["Rank", "number"],
      ["Tags", "choices"],
      ["Done", "boolean"],
      ["Code", "text"],
    ]);
    const [, , rank] = fields;
    const { items } = await grid.where({ state: "open" }).sort(`field:${rank?.fieldId}`, "desc").page({ limit: 2 });
    expect(items.map(({ row, cells }) => [row.num, cells[rank?.fieldId ?? ""]?.value])).toEqual([
      [119, 178.5],
      [118, 177],
    ]);
    const before = await written(bridge);
    expect(await grid.importCsv(file(120))).toMatchObject({ created: 0, changed: 120, columns: { length: 10 } });
    expect(await written(bridge)).toBe(before);
    expect(await db.jobs.list()).toEqual([]);
  });

  test("maps columns as it is told, and keeps or removes what is empty", async () => {
    const fields = db.issue.fields(bridge);
    const size = await fields.define({ name: "Size", type: "choice", choices: ["small", "large"] });
    const columns = {
      No: "num",
      Id: "issueId",
      Title: "name",
      How: `field:${size.fieldId}`,
      Zip: { name: "Zip code", type: "text" },
      Kind: { name: "Kind", type: "choice" },
      Note: null,
    } as const;
    const records = [
      ["Id", "No", "Title", "state", "How", "Zip", "Kind", "Note", "estimate"],
      ["a", "1", "First", "open", "large", "10115", "bug", "ignored", "2.5"],
    ];
    await db.issue.grid(bridge).importCsv(records, { columns });
    expect((await fields.list()).map(({ name, type }) => [name, type])).toEqual([
      ["Size", "choice"],
      ["Zip code", "text"],
      ["Kind", "choice"],
    ]);
    const csv = await written(bridge);
    expect(csv).toBe("issueId,projectId,num,name,state,estimate,Size,Zip code,Kind\r\na,35e9,1,First,open,2.5,large,10115,bug\r\n");
    const emptied = [records[0] ?? [], ["a", "1", "Second", "open", "", "", "bug", "", ""]];
    await db.issue.grid(bridge).importCsv(emptied, { columns });
    expect(await written(bridge)).toBe(csv.replace("First", "Second"));
    await db.issue.grid(bridge).importCsv(emptied, { columns, empty: "remove" });
    expect(await written(bridge)).toContain("\r\na,35e9,1,Second,open,,,,bug\r\n");
  });

  test("lists rows that do not fit with row, field, value and type, and writes nothing, or the others", async () => {
    const fields = db.issue.fields(bridge);
    const start = await fields.define({ name: "Start", type: "date" });
    await db.issue.create({ issueId: "theirs", ...news, num: 1, name: "n", state: "open" }).orThrow();
    await db.issue.create({ issueId: "old", ...bridge, num: 7, name: "n", state: "open" }).orThrow();
    const records = [
      ["issueId", "num", "name", "state", "Start"],
      ["a", "1", "n", "open", "soon"],
      ["b", "2", "n", "lost", "2023-05-01"],
      ["c", "x", "n", "open"],
      ["d", "4", "n", "open", "2023-05-01", "more"],
      ["", "5", "n", "open", ""],
      ["theirs", "1", "n", "open", ""],
      ["f", "6", "", "open", ""],
      ["old", "8", "n", "open", ""],
      ["good", "9", "n", "open", "2023-05-02"],
    ];
    const grid = db.issue.grid(bridge);
    const plan = await grid.importCsv(records, { dryRun: true });
    expect(plan).toMatchObject({ rows: 9, unfit: 8, created: 1 });
    expect(plan.misfits.map(({ record, problem, column }) => [record, problem, column])).toEqual([
      [1, "value", "Start"],
      [2, "value", "state"],
      [3, "cells", undefined],
      [4, "cells", undefined],
      [5, "id", "issueId"],
      [6, "parent", undefined],
      [7, "missing", "name"],
      [8, "value", "num"],
    ]);
    expect(plan.misfits[0]).toEqual({
      record: 1,
      row: { issueId: "a" },
      column: "Start",
      field: start.fieldId,
      type: "date",
      value: "soon",
      problem: "value",
      message: '"soon" is not a value of the date field "Start"',
    });
    expect(plan.misfits[2]?.message).toBe("it has 4 cells, the header has 5");
    expect(await failure(grid.importCsv(records).run())).toMatchObject({
      code: "grid.unfitRows",
      message: expect.stringMatching(/^8 of 9 rows do not fit: record 1, "Start": "soon" is not a value .* Nothing was written\.$/),
      details: { unfit: 8, rows: 9, misfits: { length: 8 } },
    });
    expect((await grid.page()).items.map(({ row }) => row.issueId)).toEqual(["old"]);
    expect(await grid.importCsv(records, { unfit: "skip" })).toMatchObject({ created: 1, unfit: 8 });
    expect((await grid.page()).items.map(({ row }) => row.issueId)).toEqual(["old", "good"]);
  });

  test("says of a text that a field does not take whether it is too long", async () => {
    await db.issue.fields(bridge).define({ name: "Remarks", type: "text" });
    const rows = ["x".repeat(100_001), "\ud800"].map((cell, at) => [`r${at}`, String(at), "a", "open", cell]);
    const grid = db.issue.grid(bridge);
    const { misfits } = await grid.importCsv([["issueId", "num", "name", "state", "Remarks"], ...rows], { dryRun: true });
    expect(misfits.map(({ message }) => message)).toEqual([
      expect.stringMatching(/^"x+…" has more than 100000 bytes, too many for the text field "Remarks"$/),
      expect.stringMatching(/ is not a value of the text field "Remarks"$/),
    ]);
  });

  test("finds what DynamoDB cannot store before anything is written", async () => {
    const fields = db.issue.fields(bridge);
    for (const type of ["number", "text"] as const) await fields.define({ fieldId: type, name: type, type });
    const records = [
      ["issueId", "num", "name", "state", "number", "text"],
      ["a", "1", "n", "open", "1e200", ""],
      ["b", "2", "n", "open", "-1e-200", ""],
      ["c", "3", "n", "open", "", "x".repeat(100_001)],
      ["d", "4", "n", "open", "", "\u{1f600}".slice(0, 1)],
      ["e", "5", "n", "open", "1e125", "\u{1f600}"],
    ];
    const { misfits, unfit } = await db.issue.grid(bridge).importCsv(records, { dryRun: true });
    expect([unfit, misfits.map(({ record, field }) => [record, field])]).toEqual([
      4,
      [
        [1, "number"],
        [2, "number"],
        [3, "text"],
        [4, "text"],
      ],
    ]);
    expect(await db.issue.grid(bridge).importCsv(records, { unfit: "skip" })).toMatchObject({ created: 1, unfit: 4 });
  });

  test("requires values of new rows, and gives the defaults", async () => {
    const fields = db.issue.fields(bridge);
    const size = await fields.define({ name: "Size", type: "number", default: 3 });
    await fields.define({ name: "Owner", type: "reference", node: "person", required: true });
    const records = [
      ["issueId", "num", "name", "state", "Owner"],
      ["a", "1", "n", "open", "P1"],
      ["b", "2", "n", "open", ""],
    ];
    const grid = db.issue.grid(bridge);
    expect(await grid.importCsv(records, { unfit: "skip" })).toMatchObject({
      created: 1,
      misfits: [{ record: 2, problem: "missing", message: 'the field "Owner" is required, and a new row has no value of it' }],
    });
    const { items } = await grid.page();
    expect(items.map(({ cells }) => Object.values(cells).map(({ value }) => value))).toEqual([[3, { personId: "P1" }]]);
    expect(items[0]?.cells[size.fieldId]).toEqual({ type: "number", value: 3 });
  });

  test.each([
    ["an empty file", [], "The file is empty"],
    ["a header without names", [["", ""]], "The file has no header"],
    ["a column without a name", [["issueId", "", "num"]], "Column 2 has no name"],
    ["a column twice", [["issueId", "num", "num"]], 'two columns "num"'],
    ["a wrong separator", [["issueId;num;name"]], 'one column, "issueId;num;name"'],
    ["no id", [["num", "name", "Issue"]], 'No column gives "issueId"'],
    ["records that are no lists", [{ issueId: "a" }], "Record 1 is"],
  ] as const)("refuses %s", async (_, records, message) => {
    const grid = db.issue.grid(bridge);
    expect(await failure(grid.importCsv(records as never).run())).toMatchObject({
      code: "grid.invalidCsv",
      message: expect.stringContaining(message),
    });
  });

  test("refuses mappings of columns that are missing or go to the same place, and builder calls before it", async () => {
    const grid = db.issue.grid(bridge);
    const rows = [["issueId", "num", "No"]];
    expect(await failure(grid.importCsv(rows, { columns: { Nu: "num" } }).run())).toMatchObject({
      code: "grid.invalidCsv",
      message: 'The header has no column "Nu". Did you mean "num"?',
    });
    expect(await failure(grid.importCsv(rows, { columns: { No: "num" } }).run())).toMatchObject({
      code: "grid.invalidCsv",
      message: expect.stringContaining('"num" and "No" both go to the num'),
    });
    expect(await failure(grid.importCsv(rows, { columns: { No: "field:f9" } }).run())).toMatchObject({ code: "grid.unknownField" });
    expect(await failure(grid.importCsv(rows, { columns: { No: "nam" as "name" } }).run())).toMatchObject({ code: "grid.unknownColumn" });
    expect(await failure(grid.sort("num").importCsv(rows).run())).toMatchObject({ code: "plan.unsupported" });
    const { fieldId } = await db.issue.fields(bridge).define({ name: "No", type: "number" });
    expect(await failure(grid.importCsv(rows, { columns: { No: { name: "No", type: "text" } }, dryRun: true }).run())).toMatchObject({
      code: "grid.invalidCsv",
      message: expect.stringMatching(
        /^The column "No" asks for a new field "No" of type text, and there is one of type number\. Leave out its type/,
      ),
      details: { column: "No", field: fieldId, type: "number" },
    });
    const { columns } = await grid.importCsv(rows, { columns: { No: { name: "No", type: "number" } }, dryRun: true });
    expect(columns[2]).toMatchObject({ column: "No", to: "field", fieldId, type: "number" });
  });

  test("refuses more new columns than fields before anything is written", async () => {
    const names = Array.from({ length: 401 }, (_, at) => `Column ${at}`);
    const records = [
      ["issueId", "num", "name", "state", ...names],
      ["a", "1", "n", "open", ...names.map(() => "")],
    ];
    expect(await failure(db.issue.grid(bridge).importCsv(records).run())).toMatchObject({
      code: "grid.tooManyFields",
      message: expect.stringContaining('"Column 400" would be field 401'),
    });
    expect((await db.issue.grid(bridge).page()).items).toEqual([]);
    expect(await db.issue.grid(bridge).importCsv(records.map((one) => one.slice(0, -1)))).toMatchObject({ created: 1 });
    expect(await db.issue.fields(bridge).list()).toHaveLength(400);
  });

  test("is resumed by the same call where it was cut off, and not with another file", async () => {
    const records = file(350);
    const abort = new AbortController();
    const grid = db.issue.grid(bridge);
    const cut = grid.importCsv(records, {
      onProgress: ({ step, rows }) => void (step === "write" && rows === 200 && abort.abort()),
    });
    expect(await failure(cut.run({ signal: abort.signal }))).toMatchObject({ code: "execute.aborted" });
    expect((await grid.page({ limit: 1000 })).items).toHaveLength(200);
    expect(await failure(grid.importCsv(file(10)).run())).toMatchObject({ code: "job.mismatch" });
    const seen: number[] = [];
    const onProgress = ({ step, rows }: { readonly step: string; readonly rows: number }) => void (step === "write" && seen.push(rows));
    expect(await grid.importCsv(records, { onProgress })).toMatchObject({ rows: 350, created: 350, changed: 0 });
    expect(seen).toEqual([100, 200, 300, 350]);
    const rows = (await written(bridge)).split("\r\n");
    expect(rows).toHaveLength(352);
    expect(rows[350]).toBe("i350,35e9,350,Issue 350,open,,,large,525,blue,false,0350");
    expect(await db.issue.fields(bridge).list()).toHaveLength(6);
  });

  test("is resumed with the fields that it has defined, whatever they are called by then", async () => {
    const records = file(350);
    const abort = new AbortController();
    const grid = db.issue.grid(bridge);
    const cut = grid.importCsv(records, {
      onProgress: ({ step, rows }) => void (step === "write" && rows === 200 && abort.abort()),
    });
    expect(await failure(cut.run({ signal: abort.signal }))).toMatchObject({ code: "execute.aborted" });
    const fields = db.issue.fields(bridge);
    const rank = (await fields.list()).find(({ name }) => name === "Rank");
    await fields.rename(rank?.fieldId ?? "", "Priority");
    expect(await grid.importCsv(records)).toMatchObject({ rows: 350, created: 350 });
    expect((await fields.list()).map(({ name }) => name)).toEqual(["Start", "Size", "Priority", "Tags", "Done", "Code"]);
    expect((await written(bridge)).split("\r\n")[350]).toBe("i350,35e9,350,Issue 350,open,,,large,525,blue,false,0350");
  });

  test("writes all values of a row into its document, where they are stored so", async () => {
    const documents = graphOf(engine.freshTableName("csv"), "document").connect({ transport: engine.transport });
    await documents.table.create();
    await documents.project.create({ ...bridge, name: "…" }).orThrow();
    const grid = documents.issue.grid(bridge);
    expect(await grid.importCsv(file(120))).toMatchObject({ created: 120 });
    const { value, requests } = await grid
      .importCsv([
        ["issueId", "Rank"],
        ["i5", "77"],
      ])
      .report();
    expect(value).toMatchObject({ created: 0, changed: 1 });
    expect(requests).toEqual([]);
    const [start, size, rank, tags, done, code] = await documents.issue.fields(bridge).list();
    expect(await documents.issue.values({ issueId: "i5" }).get()).toEqual({
      [start?.fieldId ?? ""]: { type: "date", value: "2023-05-06" },
      [size?.fieldId ?? ""]: { type: "choice", value: "small" },
      [rank?.fieldId ?? ""]: { type: "number", value: 77 },
      [tags?.fieldId ?? ""]: { type: "choices", value: ["red", "blue"] },
      [done?.fieldId ?? ""]: { type: "boolean", value: true },
      [code?.fieldId ?? ""]: { type: "text", value: "0005" },
    });
  });

  test("keeps the last of several records for one row", async () => {
    const records = [header, line(1), line(2), line(1).with(2, "Later"), line(1).with(2, "Last").with(6, "99")];
    await db.issue.grid(bridge).importCsv(records, { columns: { Rank: { name: "Rank", type: "number" } } });
    expect(await written(bridge)).toMatch(/\r\ni1,35e9,1,Last,open,,2023-05-02,small,99,/);
    const twice = [["issueId", "num", "name", "state"], ...["a", "b"].map((name) => ["twice", "1", name, "open"])];
    const [plan, done] = [await db.issue.grid(bridge).importCsv(twice, { dryRun: true }), await db.issue.grid(bridge).importCsv(twice)];
    for (const one of [plan, done]) expect(one).toMatchObject({ rows: 2, created: 1, changed: 1 });
  });

  test("loses no value while a field changes its type, and leaves none of a deleted one", async () => {
    const fields = db.issue.fields(bridge);
    const rank = await fields.define({ name: "Rank", type: "text" });
    const records = [
      ["issueId", "num", "name", "state", "Rank"],
      ...Array.from({ length: 150 }, (_, at) => [`i${at}`, `${at}`, "n", "open", `${at}`]),
    ];
    const other = graphOf(table).connect({ transport: engine.transport });
    let retyped: Promise<unknown> | undefined;
    const result = await db.issue.grid(bridge).importCsv(records, {
      onProgress: ({ step, rows }) => {
        if (step === "write" && rows === 100)
          retyped = other.issue.fields(bridge).retype(rank.fieldId, { type: "number" }, { indexLag: 0 }).run();
      },
    });
    await retyped;
    expect(result).toMatchObject({ created: 150, unfit: 0 });
    const { items } = await db.issue.grid(bridge).sort(`field:${rank.fieldId}`).empties("without").page({ limit: 1000 });
    expect(items.map(({ cells }) => cells[rank.fieldId]?.value)).toEqual(Array.from({ length: 150 }, (_, at) => at));
  });
});

describe("names that every object has", () => {
  test.each(["constructor", "toString", "__proto__"])("a column %s becomes a field like any other", async (name) => {
    const records = [
      ["issueId", "num", "name", "state", name],
      ["a", "1", "Lap", "open", "Ferrari"],
    ];
    expect(await db.issue.grid(bridge).importCsv(records)).toMatchObject({ created: 1 });
    const [field] = await db.issue.fields(bridge).list();
    const filled = { type: "text", value: "Ferrari" };
    expect(await db.issue.values({ issueId: "a" }).get()).toEqual({ [String(field?.fieldId)]: filled });
    expect(await db.issue.grid(bridge).importCsv(records)).toMatchObject({ created: 0, changed: 1 });
    expect(await db.issue.fields(bridge).list()).toMatchObject([{ name }]);
  });
});

describe("whole numbers of many digits", () => {
  test("are the same after an export and an import, and are refused where they would be rounded", async () => {
    const estimates = [12345678901234567890n, 2n ** 60n + 1n, 9007199254740993n, 1e21, 0.1, 0.30000000000000004];
    for (const [at, estimate] of estimates.entries())
      await db.issue.create({ issueId: `i${at}`, ...bridge, num: at, name: "n", state: "open", estimate: estimate as number }).orThrow();
    const rows = async () => (await db.issue.grid(bridge).page()).items.map(({ row }) => row.estimate);
    const before = await rows();
    const records = (await written(bridge)).split("\r\n").slice(0, -1);
    await db.issue.grid(bridge).importCsv(records.map((record) => record.split(",")));
    expect(await rows()).toEqual(before);

    await db.issue.fields(bridge).define({ fieldId: "rank", name: "Rank", type: "number" });
    const ranked = [
      "9007199254740993",
      "4111111111111111234",
      "123456789012345680000",
      "9007199254740994",
      "100000000000000000000000",
      "007",
    ];
    const file = [["issueId", "num", "name", "state", "Rank"], ...ranked.map((rank, at) => [`r${at}`, "1", "n", "open", rank])];
    const { misfits } = await db.issue.grid(bridge).importCsv(file, { unfit: "skip" });
    expect(misfits.map(({ value }) => value)).toEqual(ranked.slice(0, 2));
    expect((await db.issue.values({ issueId: "r2" }).get())?.["rank"]).toEqual({ type: "number", value: 123456789012345680000 });
  });
});

describe("an export", () => {
  test("has the columns, filters and order of the grid, and a page costs what a page does", async () => {
    await db.issue.grid(bridge).importCsv(file(250));
    const [start, , rank] = await db.issue.fields(bridge).list();
    const grid = db.issue
      .grid(bridge)
      .columns(`field:${rank?.fieldId}`, "num", `field:${start?.fieldId}`)
      .where({ state: "open", [`field:${start?.fieldId}`]: { gte: "2023-05-20" } })
      .sort(`field:${rank?.fieldId}`, "desc")
      .empties("without");
    let pieces = 0;
    let all = "";
    for await (const piece of grid.exportCsv({ page: 10, delimiter: ";" })) {
      pieces++;
      all += piece;
    }
    const expected = Array.from({ length: 250 }, (_, at) => line(at + 1))
      .filter((one) => one[3] === "open" && (one[4] ?? "") >= "2023-05-20" && one[6] !== "")
      .toSorted((a, b) => Number(b[6]) - Number(a[6]))
      .map((one) => `${one[6]};${one[1]};${one[4]}\r\n`);
    expect(all).toBe(`Rank;num;Start\r\n${expected.join("")}`);
    expect(pieces).toBeGreaterThan(2);
  });

  test("names a field by its id where an attribute has its name, and disarms formulas if asked", async () => {
    const field = await db.issue.fields(bridge).define({ name: "name", type: "text" });
    await db.issue.create({ issueId: "a", ...bridge, num: 1, name: '=HYPERLINK("x")', state: "open", estimate: -1 }).orThrow();
    await db.issue.values({ issueId: "a" }).set({ [field.fieldId]: "@SUM(1,2)" });
    const columns = `issueId,projectId,num,name,state,estimate,field:${field.fieldId}\r\n`;
    expect(await written(bridge)).toBe(`${columns}a,35e9,1,"=HYPERLINK(""x"")",open,-1,"@SUM(1,2)"\r\n`);
    expect(await written(bridge, { formulas: "escape" })).toBe(`${columns}a,35e9,1,"'=HYPERLINK(""x"")",open,-1,"'@SUM(1,2)"\r\n`);
    expect(await failure(written(bridge, { delimiter: '"' }))).toMatchObject({ code: "plan.invalidOption" });
    expect(await failure(written(bridge, { page: 0 }))).toMatchObject({ code: "plan.invalidOption" });
  });
});
