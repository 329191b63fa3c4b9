import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { defineGraph, type FieldFilter, node } from "../index.ts";

const text = z.string();

const graphOf = (table: string) =>
  defineGraph({
    table,
    nodes: {
      project: node({ key: "PROJECT#{projectId}", schema: z.object({ projectId: text, name: text }) }),
      person: node({ key: "PERSON#{personId}", schema: z.object({ personId: text, name: text }) }),
      day: node({ key: "DAY#{room}#{at:date}", schema: z.object({ room: text, at: z.date() }) }),
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
        fields: { of: "project", orderBy: "num:6", sortable: ["name", "estimate:number"] },
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
const issues = [
  { issueId: "020e", ...bridge, num: 1, name: "Needs Painting", state: "open" },
  { issueId: "67d1", ...bridge, num: 2, name: "Check for rust", state: "closed", estimate: 3 },
  { issueId: "af34", ...bridge, num: 10, name: "Girder needs replacing", state: "open", estimate: 0.5 },
  { issueId: "3544", ...news, num: 1, name: "Launch new newspaper!", state: "closed" },
] as const;

let db: ReturnType<ReturnType<typeof graphOf>["connect"]>;
let table: string;
beforeEach(async () => {
  table = engine.freshTableName("grids");
  db = graphOf(table).connect({ transport: engine.transport });
  await db.table.create();
  for (const project of [bridge, news]) await db.project.create({ ...project, name: "…" }).orThrow();
  for (const issue of issues) await db.issue.create(issue).orThrow();
});

const numbers = (page: { readonly items: readonly { readonly row: { readonly num: number } }[] }) => page.items.map(({ row }) => row.num);

describe("a grid", () => {
  test("shows the rows of one parent in their own order, with the values of its fields", async () => {
    const fields = db.issue.fields(bridge);
    const start = await fields.define({ name: "Start", type: "date" });
    const size = await fields.define({ name: "Size", type: "choice", choices: ["small", "large"] });
    const count = await fields.define({ name: "Num Items", type: "number" });
    expect((await fields.list()).map(({ name }) => name)).toEqual(["Start", "Size", "Num Items"]);

    await db.issue.values({ issueId: "020e" }).set({ [start.fieldId]: "2023-05-01", [size.fieldId]: "large" });
    await db.issue.values({ issueId: "67d1" }).set({ [start.fieldId]: "2023-05-02" });
    await db.issue.values({ issueId: "af34" }).set({ [count.fieldId]: 42 });

    const grid = db.issue.grid(bridge);
    const { items } = await grid.page();
    expect(items).toEqual([
      {
        row: issues[0],
        cells: { [start.fieldId]: { type: "date", value: "2023-05-01" }, [size.fieldId]: { type: "choice", value: "large" } },
      },
      { row: issues[1], cells: { [start.fieldId]: { type: "date", value: "2023-05-02" } } },
      { row: issues[2], cells: { [count.fieldId]: { type: "number", value: 42 } } },
    ]);
    const byStart = grid.sort(`field:${start.fieldId}`, "desc");
    expect(numbers(await byStart.page())).toEqual([2, 1, 10]);
    expect(numbers(await byStart.empties("first").page())).toEqual([10, 2, 1]);
    expect(numbers(await byStart.empties("without").page())).toEqual([2, 1]);
    expect(numbers(await grid.where({ [`field:${start.fieldId}`]: { gte: "2023-05-02" } }).page())).toEqual([2]);
    expect(
      numbers(
        await grid
          .where({ state: "open", [`field:${count.fieldId}`]: { gt: 41 } })
          .sort("name")
          .page(),
      ),
    ).toEqual([10]);
    expect(numbers(await grid.sort("name").page())).toEqual([2, 10, 1]);
    expect(numbers(await grid.sort("estimate", "desc").page())).toEqual([2, 10, 1]);
    expect(numbers(await grid.sort("num", "desc").page())).toEqual([10, 2, 1]);
  });

  test("is paged in both directions, and a page costs a few requests", async () => {
    const field = await db.issue.fields(bridge).define({ name: "Rank", type: "number" });
    for (let num = 20; num < 60; num++) {
      await db.issue.create({ issueId: `i${num}`, ...bridge, num, name: `Issue ${num}`, state: "open" }).orThrow();
      if (num % 3 > 0) await db.issue.values({ issueId: `i${num}` }).set({ [field.fieldId]: num % 7 });
    }
    const grid = db.issue.grid(bridge).sort(`field:${field.fieldId}`);
    const all = numbers(await grid.page({ limit: 1000 }));
    expect(all).toHaveLength(43);
    const report = await grid.page({ limit: 10 }).report();
    expect(report.requests.map(({ operation }) => operation)).toEqual(
      ["GetItem", "Query", "BatchGetItem"].map((name) => (name === "GetItem" ? "BatchGetItem" : name)),
    );
    const forward: number[] = [];
    let cursor: string | undefined;
    let last;
    do {
      last = await grid.page({ limit: 7, cursor });
      forward.push(...numbers(last));
      cursor = last.next;
    } while (cursor);
    expect(forward).toEqual(all);
    const backward: number[] = numbers(last);
    for (cursor = last.previous; cursor;) {
      const page = await grid.page({ limit: 5, cursor });
      backward.unshift(...numbers(page));
      cursor = page.previous;
    }
    expect(backward).toEqual(all);
    const explained = await grid.page({ limit: 10 }).explain();
    expect(explained).toMatchObject({ kind: "grid", requests: { least: 3 } });
  });
});

describe("values at the borders of their types", () => {
  const passing = async (filter: Readonly<Record<`field:${string}`, FieldFilter>>): Promise<readonly number[]> =>
    numbers(await db.issue.grid(bridge).where(filter).page());

  test("a moment is compared as a moment, however short it is written", async () => {
    await db.issue.fields(bridge).define({ fieldId: "at", name: "At", type: "date" });
    for (const [issueId, at] of [
      ["020e", "2023-05-01"],
      ["67d1", "2023-05-01T10:00Z"],
      ["af34", "2023-05-01T10:00:00.5Z"],
    ] as const)
      await db.issue.values({ issueId }).set({ at });
    for (const moment of ["2023-05-01T10:00Z", "2023-05-01T10:00:00Z", "2023-05-01T10:00:00.0Z", "2023-05-01T10:00:00.000Z"]) {
      expect(await passing({ "field:at": { gte: moment } }), moment).toEqual([2, 10]);
      expect(await passing({ "field:at": { gt: moment } }), moment).toEqual([10]);
      expect(await passing({ "field:at": { lt: moment } }), moment).toEqual([1]);
      expect(await passing({ "field:at": { lte: moment } }), moment).toEqual([1, 2]);
      expect(await passing({ "field:at": { between: [moment, moment] } }), moment).toEqual([2]);
      expect(await passing({ "field:at": { beginsWith: moment } }), moment).toEqual([2]);
    }
    expect(await passing({ "field:at": { beginsWith: "2023-05-01T10:00" } })).toEqual([2, 10]);
  });

  test("a text is found by its beginning, whatever comes behind it", async () => {
    await db.issue.fields(bridge).define({ fieldId: "note", name: "Note", type: "text" });
    const last = "\u{10ffff}";
    for (const [issueId, note] of [
      ["020e", `a${last}b`],
      ["67d1", `${last}${last}`],
      ["af34", `a${"x".repeat(3000)}`],
    ] as const)
      await db.issue.values({ issueId }).set({ note });
    // Sorted by the field, so that its index is read and not the rows' own order.
    const found = async (beginsWith: string): Promise<readonly number[]> =>
      numbers(await db.issue.grid(bridge).where({ "field:note": { beginsWith } }).sort("field:note").page());
    expect(await found("a")).toEqual([10, 1]);
    expect(await found(`a${last}`)).toEqual([1]);
    expect(await found(last)).toEqual([2]);
    expect(await found("a\ud7ff")).toEqual([]);
    expect(await found(`a${"x".repeat(1000)}`)).toEqual([10]);
  });

  test("the largest and smallest numbers are stored, found and ordered", async () => {
    await db.issue.fields(bridge).define({ fieldId: "rank", name: "Rank", type: "number" });
    const ranks = [9.99e125, -9.99e125, 1e-130];
    for (const [at, rank] of ranks.entries()) await db.issue.values({ issueId: issues[at]?.issueId ?? "" }).set({ rank });
    expect(numbers(await db.issue.grid(bridge).sort("field:rank").page())).toEqual([2, 10, 1]);
    for (const [at, rank] of ranks.entries()) expect(await passing({ "field:rank": rank })).toEqual([issues[at]?.num]);
  });
});

const startFields = async () => {
  const fields = db.issue.fields(bridge);
  await fields.define({ fieldId: "start", name: "Start", type: "date" });
  await fields.define({ fieldId: "size", name: "Size", type: "choice", choices: ["small", "large"], required: true });
  await fields.define({ fieldId: "note", name: "Note", type: "text", default: "–" });
  return fields;
};
const code = async (call: PromiseLike<unknown>): Promise<unknown> =>
  Promise.resolve(call).then(
    () => "nothing",
    (error: unknown) => ({ code: (error as { code: string }).code, message: (error as Error).message }),
  );

describe("bad input", () => {
  test("a value that does not fit its field names row, field, value and type, and nothing is written", async () => {
    await startFields();
    const values = db.issue.values({ issueId: "020e" });
    expect(await code(values.set({ note: "x", start: "soon" }))).toMatchObject({
      code: "grid.invalidValue",
      message: expect.stringContaining(
        'The value "soon" for the date field "Start" (start) of the row {"issueId":"020e"} is not a day',
      ) as unknown,
    });
    expect(await values.get()).toEqual({});
    for (const start of ["2023-02-30", "2023-5-1", "2023-05-01T10:00", 5, true, ["a"], { a: 1 }])
      expect(await code(values.set({ start: start as never }))).toMatchObject({ code: "grid.invalidValue" });
    expect(await code(values.set({ size: "medium" }))).toMatchObject({
      message: expect.stringContaining('one of "small", "large"') as unknown,
    });
    expect(await code(values.set({ size: null }))).toMatchObject({ message: expect.stringContaining("is required") as unknown });
    expect(await code(values.set({ note: "x" }, { complete: true }))).toMatchObject({
      message: expect.stringContaining("is required") as unknown,
    });
    expect(await values.set({ size: "large" }, { complete: true })).toMatchObject({ ok: true, atomic: "transaction" });
    expect(await values.get()).toEqual({ size: { type: "choice", value: "large" }, note: { type: "text", value: "–" } });
    expect(await code(values.set({ strat: "2023-05-01" }))).toMatchObject({
      code: "grid.unknownField",
      message: expect.stringContaining('Did you mean "start"?') as unknown,
    });
    expect(await db.issue.values({ issueId: "none" }).set({ note: "x" })).toMatchObject({ ok: false, reason: "notFound" });
  });

  test("a row that is written whole has no value where null is given, and none of what every object has", async () => {
    const fields = db.issue.fields(bridge);
    await fields.define({ fieldId: "note", name: "Note", type: "text", default: "–" });
    await fields.define({ fieldId: "constructor", name: "Team", type: "text" });
    const values = db.issue.values({ issueId: "020e" });
    const note = { type: "text", value: "–" };
    const cases: readonly (readonly [given: Record<string, string | null>, expected: object])[] = [
      [{}, { note }],
      [{ note: null }, {}],
      [{ note: "" }, {}],
      [{ ["constructor"]: "Ferrari" }, { note, ["constructor"]: { type: "text", value: "Ferrari" } }],
    ];
    for (const [given, expected] of cases) {
      await values.set({ note: "x", ["constructor"]: null });
      await values.set(given, { complete: true });
      expect(await values.get()).toEqual(expected);
    }
  });

  test("a default beyond 2^53 is a number, and goes into rows that are written whole", async () => {
    await db.issue.fields(bridge).define({ fieldId: "rank", name: "Rank", type: "number", default: 1e21 });
    expect(await db.issue.fields(bridge).list()).toMatchObject([{ default: 1e21 }]);
    await db.issue.values({ issueId: "020e" }).set({}, { complete: true });
    expect(await db.issue.values({ issueId: "020e" }).get()).toEqual({ rank: { type: "number", value: 1e21 } });
  });

  test("groups of numbers come in their order, those beyond 2^53 among them", async () => {
    for (const [at, estimate] of [-(2 ** 53), 2 ** 54].entries())
      await db.issue.create({ issueId: `big${at}`, ...bridge, num: 20 + at, name: "n", state: "open", estimate }).orThrow();
    const { groups } = await db.issue.grid(bridge).groups("estimate");
    expect(groups.map(({ value }) => value)).toEqual([-(2n ** 53n), 0.5, 3, 2n ** 54n, undefined]);
  });

  test.each([1e126, -1e200, 1e-131, 5e-324, Number.NaN, 5n, "5"])("the number %s is not one that DynamoDB stores", async (value) => {
    await db.issue.fields(bridge).define({ fieldId: "rank", name: "Rank", type: "number" });
    expect(await code(db.issue.values({ issueId: "020e" }).set({ rank: value as never }))).toMatchObject({ code: "grid.invalidValue" });
    expect(
      await code(
        db.issue
          .grid(bridge)
          .where({ "field:rank": value as never })
          .page(),
      ),
    ).toMatchObject({ code: typeof value === "number" ? "request.unsupportedValue" : "grid.invalidFilter" });
    expect(await db.issue.values({ issueId: "020e" }).get()).toEqual({});
  });

  test("half of a surrogate pair is refused in names, choices and filters", async () => {
    const fields = await startFields();
    const half = "\u{1f600}".slice(0, 1);
    const grid = db.issue.grid(bridge);
    for (const field of [
      { name: half, type: "text" },
      { name: "Other", type: "choice", choices: [half] },
    ] as const)
      expect(await code(fields.define(field))).toMatchObject({ code: "grid.invalidField" });
    for (const operator of ["eq", "gte", "beginsWith", "contains"])
      expect(await code(grid.where({ "field:note": { [operator]: half } }).page())).toMatchObject({ code: "request.unsupportedValue" });
  });

  test("a wrong definition is refused", async () => {
    const fields = await startFields();
    const wrong = [
      { name: "Start", type: "text" },
      { name: " ", type: "text" },
      { fieldId: "start", name: "Other", type: "text" },
      { fieldId: "a b", name: "Other", type: "text" },
      { fieldId: "__proto__", name: "Other", type: "text" },
      { name: "Other", type: "choice", choices: [] },
      { name: "Other", type: "choice", choices: ["a", "a"] },
      { name: "Other", type: "reference", node: "persn" },
      // A date cannot be stored within the value.
      { name: "Other", type: "reference", node: "day" },
    ] as const;
    for (const field of wrong) expect(await code(fields.define(field))).toMatchObject({ code: "grid.invalidField" });
    expect(await code(fields.define({ name: "Other", type: "dat" } as never))).toMatchObject({ code: "plan.invalidOption" });
    expect(await code(fields.define({ name: "Other", type: "date", choices: [] } as never))).toMatchObject({ code: "plan.invalidOption" });
    expect(await code(fields.define({ name: "Other", type: "number", default: "x" as never }))).toMatchObject({
      code: "grid.invalidValue",
    });
    expect(await code(fields.rename("start", "Size"))).toMatchObject({ code: "grid.invalidField" });
    expect(await code(fields.rename("begin", "Begin"))).toMatchObject({ code: "grid.unknownField" });
    expect(await code(db.issue.fields({ projectId: "none" }).define({ name: "A", type: "text" }))).toMatchObject({
      code: "execute.notWritten",
    });
    expect((await fields.list()).map(({ fieldId }) => fieldId)).toEqual(["start", "size", "note"]);
  });

  test("more fields than the limit are refused", async () => {
    const fields = db.issue.fields(news);
    for (let at = 0; at < 3; at++) await fields.define({ name: `Field ${at}`, type: "text" });
    const small = defineGraph({
      table,
      nodes: {
        project: node({ key: "PROJECT#{projectId}", schema: z.object({ projectId: text }) }),
        issue: node({ key: "ISSUE#{issueId}", schema: z.object({ issueId: text, projectId: text }), fields: { of: "project", most: 3 } }),
      },
    }).connect({ transport: engine.transport });
    expect(await code(small.issue.fields(news).define({ name: "One more", type: "text" }))).toEqual({
      code: "grid.tooManyFields",
      message: '"One more" would be field 4 of {"projectId":"7b7e"}, and 3 is the limit. Delete a field first.',
    });
  });

  test("columns, comparisons and orders that there are none of are refused", async () => {
    await startFields();
    const grid = db.issue.grid(bridge);
    expect(await code(grid.sort("Start" as never).page())).toMatchObject({
      code: "grid.unknownColumn",
      message: expect.stringContaining('The field of that name is "field:start"') as unknown,
    });
    expect(await code(grid.sort("field:begin").page())).toMatchObject({ code: "grid.unknownField" });
    expect(await code(grid.sort("state").page())).toMatchObject({ code: "grid.notSortable" });
    expect(await code(grid.where({ "field:size": { gt: "small" } } as never).page())).toMatchObject({
      code: "grid.invalidFilter",
      message: 'The choice field "Size" (size) has no comparison "gt". It has eq, ne, in, exists.',
    });
    expect(await code(grid.where({ "field:start": { gte: 5 } } as never).page())).toMatchObject({ code: "grid.invalidFilter" });
    expect(await code(grid.where({ "field:size": "medium" }).page())).toMatchObject({ code: "grid.invalidFilter" });
    expect(await code(grid.page({ cursor: "x" }))).toMatchObject({ code: "cursor.invalid" });
    expect(await code(grid.page({ limit: 0 }))).toMatchObject({ code: "plan.invalidOption" });
    const { next } = await grid.page({ limit: 1 });
    expect(await code(grid.sort("name").page({ cursor: next }))).toMatchObject({ code: "cursor.invalid" });
    expect(await code(db.issue.grid(news).page({ cursor: next }))).toMatchObject({ code: "cursor.invalid" });
  });

  test("a model whose fields have no parent, attributes or names of their own is refused", async () => {
    const project = node({ key: "PROJECT#{projectId}", schema: z.object({ projectId: text }) });
    const schema = z.object({ issueId: text, num: z.int() });
    expect(() =>
      defineGraph({ table, nodes: { project, issue: node({ key: "ISSUE#{issueId}", schema, fields: { of: "projct" } }) } }),
    ).toThrow('nodes.issue.fields.of: "projct" is not a node type. Did you mean "project"?');
    expect(() =>
      defineGraph({ table, nodes: { project, issue: node({ key: "ISSUE#{issueId}", schema, fields: { of: "project", orderBy: "no" } }) } }),
    ).toThrow(/"projectId" is not an attribute of "issue"[^]*"no" is not an attribute here/);
    const whole = node({ key: "ISSUE#{issueId}", schema: schema.extend({ projectId: text }), fields: { of: "project" } });
    expect(() =>
      defineGraph({ table, nodes: { project, issue: whole, issueValue: node({ key: "V#{v}", schema: z.object({ v: text }) }) } }),
    ).toThrow('the fields of "issue" are stored as "issueValue", which the model defines itself');
    const without = defineGraph({ table, nodes: { project } }).connect({ transport: engine.transport });
    await expect((without.project as never as typeof db.issue).grid(bridge).page().explain()).rejects.toMatchObject({
      code: "plan.unsupported",
    });
  });
});
