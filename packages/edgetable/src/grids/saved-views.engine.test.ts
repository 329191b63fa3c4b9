import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { defineGraph, node } from "../index.ts";

const text = z.string();
let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

const parent = { projectId: "p" };
const open = async () => {
  const graph = defineGraph({
    table: engine.freshTableName("views"),
    nodes: {
      project: node({ key: "PROJECT#{projectId}", schema: z.object({ projectId: text }) }),
      issue: node({
        key: "ISSUE#{issueId}",
        schema: z.object({ issueId: text, projectId: text, num: z.int(), state: text, due: z.date() }),
        dates: ["due"],
        fields: { of: "project", orderBy: "num:6", sortable: ["due:date"] },
      }),
    },
  });
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  await db.project.create(parent).orThrow();
  const size = await db.issue.fields(parent).define({ fieldId: "size", name: "Size", type: "choice", choices: ["small", "large"] });
  for (const num of [1, 2, 3, 4]) {
    const due = new Date(Date.UTC(2026, 0, 10 - num));
    await db.issue.create({ issueId: `i${num}`, ...parent, num, state: num % 2 === 0 ? "open" : "closed", due }).orThrow();
    await db.issue.values({ issueId: `i${num}` }).set({ [size.fieldId]: num < 3 ? "small" : "large" });
  }
  return db;
};

test("a view is saved, listed, shown, renamed, changed and deleted", async () => {
  const db = await open();
  const views = db.issue.views(parent);
  expect(await views.list()).toEqual([]);
  const late = {
    name: "Late",
    columns: ["num", "field:size"],
    where: { due: { lt: new Date("2026-01-09T00:00:00Z") }, or: [{ state: "open" }, { "field:size": "large" }] },
    sort: [{ column: "field:size", direction: "desc" }, { column: "due" }],
  } as const;
  const saved = await views.save(late);
  expect(saved).toEqual({ viewId: "v1", ...late });
  const small = await views.save({ name: "Small", where: { "field:size": "small" }, group: "state" });
  expect(await views.list()).toEqual([saved, small]);

  const grid = db.issue.grid(parent);
  const page = await grid.view(saved).page();
  expect(page.items.map(({ row, cells }) => [row, cells["size"]?.value])).toEqual([
    [{ issueId: "i4", num: 4 }, "large"],
    [{ issueId: "i3", num: 3 }, "large"],
    [{ issueId: "i2", num: 2 }, "small"],
  ]);
  const own = await grid
    .view(saved)
    .where({ num: { gt: 2 } })
    .sort("num")
    .page()
    .then(
      () => "no error",
      (error: unknown) => (error as { readonly code: string }).code,
    );
  expect(own).toBe("plan.invalidOption");
  expect(await grid.view(small).groups("state")).toMatchObject({
    groups: [
      { value: "closed", rows: 1 },
      { value: "open", rows: 1 },
    ],
  });

  expect(await views.change("v1", { name: "Overdue" })).toEqual({ ...saved, name: "Overdue" });
  expect(await views.change("v2", { where: { state: "open" } })).toEqual({ viewId: "v2", name: "Small", where: { state: "open" } });
  expect(await views.delete("v1")).toBe(true);
  expect((await views.list()).map(({ viewId }) => viewId)).toEqual(["v2"]);
  expect((await views.save({ name: "Late" })).viewId).toBe("v3");
  // The fields are beside the views, and are not touched.
  expect(await db.issue.fields(parent).list()).toHaveLength(1);
});

test("what is wrong with a view is said when it is saved, and again when its fields changed", async () => {
  const db = await open();
  const views = db.issue.views(parent);
  const saved = await views.save({ name: "Small", where: { "field:size": { in: ["small"] } }, sort: [{ column: "field:size" }] });
  const refused = async (call: PromiseLike<unknown>, code: string, words: string): Promise<void> => {
    const error: unknown = await Promise.resolve(call).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code, message: expect.stringContaining(words) });
  };
  await refused(views.save({ name: "Small" }), "grid.invalidView", '"Small" already (v1)');
  await refused(views.save({ name: " " }), "grid.invalidView", "is not a name");
  const thrice = [{ column: "num" }, { column: "field:size" }, { column: "issueId" }] as const;
  await refused(views.save({ name: "Other", sort: thrice }), "plan.invalidOption", "up to two different columns");
  await refused(views.save({ name: "Other", sort: [thrice[0], thrice[0]] }), "plan.invalidOption", "up to two different columns");
  await refused(views.save({ name: "Other", where: { "field:siz": 1 } }), "grid.unknownField", "siz");
  await refused(views.save({ name: "Other", sort: [{ column: "state" }] }), "grid.notSortable", "state");
  await refused(views.save({ name: "Other", where: { state: { in: ["x".repeat(3000)] } } }), "grid.invalidView", "3000 bytes");
  await refused(views.change("Small", { name: "x" }), "grid.unknownView", '"v1"');
  await refused(views.delete("v7"), "grid.unknownView", "v7");
  expect(() =>
    db.issue
      .grid(parent)
      .view({ filter: {} } as never)
      .page(),
  ).not.toThrow();
  await refused(
    db.issue
      .grid(parent)
      .view({ filter: {} } as never)
      .page(),
    "plan.invalidOption",
    "filter",
  );

  await db.issue.fields(parent).retype("size", { type: "text" }, { indexLag: 0 });
  expect((await db.issue.grid(parent).view(saved).page()).items).toHaveLength(2);
  await db.issue.fields(parent).retype("size", { type: "boolean" }, { indexLag: 0, losing: "remove" });
  await refused(db.issue.grid(parent).view(saved).page(), "grid.invalidFilter", "Size");
  await db.issue.fields(parent).delete("size", { indexLag: 0 });
  await refused(db.issue.grid(parent).view(saved).page(), "grid.unknownField", "size");
  expect(await views.list()).toEqual([saved]);
});

test("views that are saved at once are all there, and belong to one parent", async () => {
  const db = await open();
  const other = { projectId: "q" };
  await db.project.create(other).orThrow();
  await Promise.all(Array.from({ length: 6 }, (_, at) => db.issue.views(parent).save({ name: `View ${at}` })));
  const names = (await db.issue.views(parent).list()).map(({ name }) => name);
  expect(names.toSorted()).toEqual(Array.from({ length: 6 }, (_, at) => `View ${at}`));
  expect(await db.issue.views(other).list()).toEqual([]);
  await expect(db.issue.views({ projectId: "none" }).save({ name: "x" })).rejects.toMatchObject({ code: "execute.notWritten" });
});

test("a filter keeps what JSON has no form for: dates, sets, bytes and integers of any size", async () => {
  const graph = defineGraph({
    table: engine.freshTableName("view-values"),
    nodes: {
      project: node({ key: "PROJECT#{projectId}", schema: z.object({ projectId: text }) }),
      issue: node({
        key: "ISSUE#{issueId}",
        schema: z.object({
          issueId: text,
          projectId: text,
          due: z.date(),
          size: z.bigint(),
          tags: z.set(text),
          image: z.instanceof(Uint8Array),
        }),
        dates: ["due"],
        fields: { of: "project" },
      }),
    },
  });
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  await db.project.create(parent).orThrow();
  const row = { due: new Date(5), size: 12345678901234567890n, tags: new Set(["a", "b"]), image: new Uint8Array([1, 255]) };
  await db.issue.create({ issueId: "it", ...parent, ...row }).orThrow();
  const others = { due: new Date(6), size: 12345678901234567891n, tags: new Set(["a"]), image: new Uint8Array([1]) };
  await db.issue.create({ issueId: "other", ...parent, ...others }).orThrow();
  for (const [name, value] of Object.entries(row)) {
    const where = { [name]: { eq: value } };
    await db.issue.views(parent).save({ name, where });
    const view = (await db.issue.views(parent).list()).find((one) => one.name === name);
    expect(view?.where).toEqual(where);
    const { items } = await db.issue.grid(parent).view(view!).page();
    expect(items.map((one) => one.row.issueId)).toEqual(["it"]);
  }
});
