import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { refreshFacts } from "../streams/refresh-facts.ts";
import { verify } from "../verify/index.ts";
import type { Item } from "../transport/operations.ts";
import { driverOf } from "../client/driver.ts";
import { partWrites } from "../client/writes.ts";
import { defineGraph, node } from "../index.ts";
import { changeList } from "./field-list.ts";
import { gridModel } from "./grid-model.ts";
import { keyTextOf } from "../requests/attribute-value.ts";
import { openFactsLab } from "../streams/facts-lab.test-support.ts";
import { maintainFacts, type TimedRecord } from "../streams/maintain-facts.ts";

const text = z.string();
const graphIn = (table: string) =>
  defineGraph({
    table,
    nodes: {
      project: node({ key: "PROJECT#{projectId}", schema: z.object({ projectId: text }) }),
      issue: node({
        key: "ISSUE#{issueId}",
        schema: z.object({ issueId: text, projectId: text, num: z.int() }),
        fields: { of: "project", orderBy: "num:6", storage: "document" },
      }),
    },
  });

let opened: Awaited<ReturnType<typeof open>>;
const open = async () => openFactsLab(graphIn);
beforeAll(async () => {
  opened = await open();
});
afterAll(() => opened.lab.stop());

/** A project of its own with some issues. */
const project = async (projectId: string, issues: number) => {
  const { db } = opened;
  await db.project.create({ projectId }).orThrow();
  const issue = (num: number) => ({ issueId: `${projectId}-${num}` });
  for (let num = 1; num <= issues; num++) await db.issue.create({ ...issue(num), projectId, num }).orThrow();
  const fields = db.issue.fields({ projectId });
  const grid = db.issue.grid({ projectId });
  const by = async (fieldId: string) =>
    (await grid.sort(`field:${fieldId}`).empties("without").page()).items.map(({ row, cells }) => [row.num, cells[fieldId]?.value]);
  const follow = async () => opened.lab.drain(opened.session);
  const indexItems = async () =>
    (await opened.lab.items()).filter(({ pk, sk }) => {
      const texts = [keyTextOf(pk) ?? "", keyTextOf(sk) ?? ""];
      return texts[0]?.startsWith(`ISSUE#${projectId}-`) && texts[1]?.startsWith("issueValue#");
    });
  return { db, issue, values: (num: number) => db.issue.values(issue(num)), fields, grid, by, follow, indexItems };
};

test("a row of 400 values is written by one conditional UpdateItem, and read with one item", async () => {
  const { fields, values, grid, by, follow, indexItems } = await project("wide", 2);
  const [first, second] = [
    await fields.define({ fieldId: "f0", name: "Field 0", type: "text" }),
    await fields.define({ fieldId: "f1", name: "Field 1", type: "number" }),
  ];
  // The others together: one by one they take a write of the whole list each.
  await changeList(gridModel(driverOf(opened.db), "issue"), { projectId: "wide" }, {}, () => ({
    fields: Array.from({ length: 400 }, (_, at) => ({ ...(at % 2 ? second : first), fieldId: `f${at}`, name: `Field ${at}` })),
    result: undefined,
  }));
  const row = Object.fromEntries(Array.from({ length: 400 }, (_, at) => [`f${at}`, at % 2 ? at : `value ${at}`]));
  const set = (await values(1).set(row)) as { readonly atomic: string; readonly cost: { readonly requests: number } };
  // Row and document, the fields, the write, and row and fields again.
  expect(set).toMatchObject({ ok: true, atomic: "item", cost: { requests: 4 } });
  const { value: cells } = await values(1).get().report();
  expect(Object.fromEntries(Object.entries(cells ?? {}).map(([id, cell]) => [id, cell.value]))).toEqual(row);
  expect(await indexItems()).toEqual([]);
  // Filters read the document: the index has nothing yet.
  expect((await grid.where({ "field:f1": 1 }).page()).items.map(({ row: one }) => one.num)).toEqual([1]);
  expect(await by("f3")).toEqual([]);
  await follow();
  expect(await indexItems()).toHaveLength(400);
  expect(await by("f3")).toEqual([[1, 3]]);
  const page = await grid.sort("field:f3").page().report();
  expect(page.requests.map(({ operation }) => operation)).toEqual(["BatchGetItem", "Query", "BatchGetItem", "Query", "BatchGetItem"]);
  expect(page.value.items.map(({ cells: shown }) => Object.keys(shown).length)).toEqual([400, 0]);
  const { notes } = await grid.sort("field:f3").page().explain();
  expect(notes.join()).toContain("the stream's processor updates the index");
}, 120_000);

test("two writers of one row lose nothing, and a row beyond 400 KB is refused whole", async () => {
  const { fields, values } = await project("two", 1);
  for (const fieldId of ["a", "b", "c", "d", "e"]) await fields.define({ fieldId, name: fieldId, type: "text" });
  await Promise.all(["a", "b", "c", "d"].map(async (fieldId) => values(1).set({ [fieldId]: fieldId })));
  const all = { a: "a", b: "b", c: "c", d: "d" };
  const shown = async () => Object.fromEntries(Object.entries((await values(1).get()) ?? {}).map(([id, { value }]) => [id, value]));
  expect(await shown()).toEqual(all);
  const long = "x".repeat(99_000);
  await expect(values(1).set({ a: long, b: long, c: long, d: long, e: long }).report()).rejects.toMatchObject({
    code: "request.itemTooLarge",
    message: expect.stringContaining('The values of the row {"issueId":"two-1"} would be') as unknown,
  });
  expect(await shown()).toEqual(all);
  await values(1).set({ a: null, c: "C" });
  expect(await shown()).toEqual({ b: "b", c: "C", d: "d" });
  expect(await opened.db.issue.values({ issueId: "none" }).set({ a: "a" })).toMatchObject({ ok: false, reason: "notFound" });
});

test("old, repeated and reordered records leave the index as the documents are", async () => {
  const { fields, values, by, issue, db, follow, indexItems } = await project("late", 3);
  await fields.define({ fieldId: "size", name: "Size", type: "number" });
  await opened.lab.take();
  const handle = maintainFacts(opened.session, { indexLag: 0 })!;
  const all: TimedRecord[] = [];
  for (const [at, size] of [5, 1, 9, 4].entries()) {
    for (const num of [1, 2, 3]) await values(num).set({ size: num === 2 && at === 3 ? null : size + num });
    const news = await opened.lab.take();
    all.push(...news);
    await handle(at % 2 ? news.toReversed() : news);
  }
  const right = [
    [1, 5],
    [3, 7],
  ];
  expect(await by("size")).toEqual(right);
  await handle(all.toReversed());
  await handle([...all, ...all]);
  expect(await by("size")).toEqual(right);
  expect(await indexItems()).toHaveLength(2);
  // A value item that nobody asked for goes, and one that was lost comes back.
  await db.issue.delete(issue(3), { indexLag: 0 });
  await handle(all);
  expect(await by("size")).toEqual([[1, 5]]);
  expect(await indexItems()).toHaveLength(1);
  await follow();
  expect(await indexItems()).toHaveLength(1);
});

test("verify finds value items that do not follow their documents, and repairs them", async () => {
  const { fields, values, by, follow, indexItems } = await project("verified", 3);
  await fields.define({ fieldId: "size", name: "Size", type: "number" });
  await fields.define({ fieldId: "note", name: "Note", type: "text" });
  for (const num of [1, 2, 3]) await values(num).set({ size: num, note: "x" });
  await follow();
  const { db, lab } = opened;
  // Other tests keep changes from the processor.
  const refreshed = await refreshFacts(db);
  expect(refreshed.failed).toEqual([]);
  expect(refreshed.documents).toBeGreaterThanOrEqual(3);
  const checked = async (repair: boolean) => {
    const { kinds, clean } = await verify(db, { settle: 1, staleAfter: 1, repair });
    return {
      clean,
      found: kinds.map(({ kind, count, repaired, examples }) => [kind, count, repaired, examples.map(({ reason }) => reason).toSorted()]),
    };
  };
  expect(await checked(false)).toEqual({ clean: true, found: [] });
  const before = await indexItems();
  const { table, engine } = lab;
  const [first, second] = before as unknown as readonly [Item, Item];
  await engine.transport.send("DeleteItem", { TableName: table, Key: { pk: first["pk"]!, sk: first["sk"]! } });
  await engine.transport.send("PutItem", { TableName: table, Item: { ...second, value: { S: "other" } } });
  const model = gridModel(driverOf(db), "issue");
  const stray = { fieldId: "stray", generation: 1, value: 1, column: "none", sort: "1" };
  await partWrites(model.driver, model.value).put({ issueId: "verified-3" }, stray);
  // No processor is told.
  await lab.take();
  const reasons: unknown = expect.arrayContaining([
    expect.stringMatching(/^The value of "(size|note)" has an item with another value or place[.]/),
    expect.stringMatching(/^The value of "(size|note)" has no item[.] The stream processor is behind/),
    expect.stringContaining('The value of "stray" has an item, and the document has no such value.'),
  ]);
  expect(await checked(false)).toEqual({ clean: false, found: [["staleValue", 3, 0, reasons]] });
  expect(await checked(true)).toEqual({ clean: true, found: [["staleValue", 3, 3, reasons]] });
  expect(await indexItems()).toEqual(before);
  expect(await by("size")).toEqual([
    [1, 1],
    [2, 2],
    [3, 3],
  ]);
});

test("the id of a node of which no key can be made is refused, in values, defaults and filters, and the row stays in the index", async () => {
  const { db, fields, values, grid, by, follow } = await project("references", 1);
  await fields.define({ fieldId: "size", name: "Size", type: "number" });
  await fields.define({ fieldId: "whose", name: "Whose", type: "reference", node: "project" });
  await values(1).set({ size: 3 });
  for (const whose of [{ projectId: 5 }, { projectId: true }, { projectId: "" }]) {
    await expect(values(1).set({ size: 4, whose }).run()).rejects.toMatchObject({ code: "grid.invalidValue" });
    await expect(grid.where({ "field:whose": whose }).page().run()).rejects.toMatchObject({ code: "grid.invalidFilter" });
    await expect(fields.update("whose", { default: whose }).run()).rejects.toMatchObject({ code: "grid.invalidValue" });
  }
  await follow();
  expect(await by("size")).toEqual([[1, 3]]);
  expect(await verify(db, { settle: 0, staleAfter: 0 })).toMatchObject({ clean: true });
}, 60_000);

test("a group is told as long as one of its rows has its value, however many changed before the index did", async () => {
  const { fields, values, grid, follow } = await project("groups", 12);
  await fields.define({ fieldId: "state", name: "State", type: "text" });
  for (let num = 1; num <= 12; num++) await values(num).set({ state: num > 10 ? "gone" : "open" });
  await follow();
  // The processor is behind: the index shows these as they were.
  for (const num of [1, 2, 3, 4, 11, 12]) await values(num).set({ state: "closed" });
  expect(await grid.groups("field:state")).toEqual({ groups: [{ value: "open", rows: 10 }], stopped: undefined });
  await follow();
  expect((await grid.groups("field:state")).groups).toEqual([
    { value: "closed", rows: 6 },
    { value: "open", rows: 6 },
  ]);
});
