import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { defineGraph, node } from "../index.ts";

const text = z.string();
const graphOf = (table: string, shards: number) =>
  defineGraph({
    table,
    nodes: {
      project: node({ key: "PROJECT#{projectId}", schema: z.object({ projectId: text }) }),
      issue: node({
        key: "ISSUE#{issueId}",
        schema: z.object({ issueId: text, projectId: text, num: z.int(), name: text, state: z.enum(["open", "closed"]) }),
        fields: { of: "project", orderBy: "num:6", sortable: ["name"], shards },
      }),
    },
  });

let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

const parent = { projectId: "P" };

/** A grid of so many rows: two of three have values, and every thirteenth is closed. */
const gridOf = async (shards: number, rows: number) => {
  const db = graphOf(engine.freshTableName("budget"), shards).connect({ transport: engine.transport });
  await db.table.create();
  await db.project.create(parent).orThrow();
  for (const fieldId of ["a", "b"]) await db.issue.fields(parent).define({ fieldId, name: fieldId, type: "number" });
  for (let num = 0; num < rows; num++) {
    const issueId = `i${String(num).padStart(3, "0")}`;
    const state = num % 13 === 12 ? "closed" : "open";
    await db.issue.create({ issueId, ...parent, num, name: `n${num % 5}`, state }).orThrow();
    if (num % 3 > 0) await db.issue.values({ issueId }).set({ a: num % 4, ...(num % 2 > 0 ? { b: num } : {}) });
  }
  return db;
};

type Grid = ReturnType<Awaited<ReturnType<typeof gridOf>>["issue"]["grid"]>;

const pagesOf = async (grid: Grid, options: { readonly limit: number; readonly budget?: { readonly requests: number } }) => {
  const pages: { readonly rows: readonly string[]; readonly previous: string | undefined }[] = [];
  let cursor: string | undefined;
  do {
    const page = await grid.page({ ...options, cursor });
    pages.push({ rows: page.items.map(({ row }) => row.issueId), previous: page.previous });
    expect(pages.length, "a page goes on from another place than the one before").toBeLessThan(300);
    cursor = page.next;
  } while (cursor !== undefined);
  return pages;
};

const sorts: readonly (readonly ("field:a" | "field:b" | "name" | "num")[])[] = [
  [],
  ["field:a"],
  ["field:a", "field:b"],
  ["name", "field:b"],
];

test.each([3, 120])(
  "with %i shards, the smallest budget and the default one lead through all rows, and count them",
  async (shards) => {
    const db = await gridOf(shards, 14);
    const all = db.issue.grid(parent);
    for (const budget of [{ requests: 4 }, undefined]) {
      const some = budget ? { budget } : {};
      for (const columns of sorts)
        for (const where of [{}, { state: "closed" }] as const) {
          const grid = columns.reduce<Grid>((one, column) => one.sort(column), all.where(where));
          const found = (await pagesOf(grid, { limit: 4, ...some })).flatMap(({ rows }) => rows);
          expect(found).toHaveLength("state" in where ? 1 : 14);
          expect((await grid.page().explain()).requests.most).toBeGreaterThan(shards);
        }
      expect(await all.count(some)).toEqual({ rows: 14, stopped: undefined });
      expect(await all.groups("field:b", some)).toMatchObject({ stopped: undefined, groups: { 0: { value: 1, rows: 1 } } });
    }
  },
  120_000,
);

test("the page before one that found no row within its budget has the rows before it", async () => {
  const db = await gridOf(1, 40);
  for (const columns of sorts)
    for (const direction of ["asc", "desc"] as const)
      for (const empties of ["last", "first"] as const)
        for (const [requests, limit] of [
          [4, 1],
          [5, 3],
          [7, 8],
        ] as const) {
          const filtered = db.issue.grid(parent).where({ state: "closed" }).empties(empties);
          const grid = columns.reduce<Grid>((one, column) => one.sort(column, direction), filtered);
          const pages = await pagesOf(grid, { limit, budget: { requests } });
          const all = pages.flatMap(({ rows }) => rows);
          let before = 0;
          for (const [at, { rows, previous }] of pages.entries()) {
            const back = previous === undefined ? [] : (await grid.page({ limit, cursor: previous, budget: { requests: 500 } })).items;
            const expected = at === 0 ? [] : all.slice(Math.max(0, before - limit), before);
            expect(
              back.map(({ row }) => row.issueId),
              `${columns.join()} ${direction} ${empties} page ${at}`,
            ).toEqual(expected);
            before += rows.length;
          }
        }
}, 120_000);
