import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineGraph, node } from "edgetable";
import { startEngine, type LocalEngine } from "@edgetable/local";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { extract, openLake, runOnSpark, top, validate, writeBack } from "./index.ts";
import { lakeTables } from "./lake-tables.ts";
import { comparable, hasSpark, python } from "./test-support/spark.ts";

const text = z.string();
const tracker = defineGraph({
  table: "Tracker",
  nodes: {
    project: node({ key: "PROJECT#{projectId}", schema: z.object({ projectId: text }) }),
    issue: node({
      key: "ISSUE#{issueId}",
      schema: z.object({ issueId: text, projectId: text, num: z.int() }),
      fields: { of: "project", orderBy: "num:6" },
    }),
    // A schema that does not tell its attributes.
    page: node({ key: "PAGE#{pageId}", schema: z.record(text, z.unknown()) as unknown as z.ZodObject<{ pageId: z.ZodString }> }),
  },
});

let engine: LocalEngine;
let folder: string;
beforeAll(async () => {
  engine = await startEngine();
  folder = await mkdtemp(join(tmpdir(), "grid-lake-"));
});
afterAll(async () => {
  await engine.stop();
  await rm(folder, { recursive: true, force: true });
});

test.each(["items", "document"] as const)(
  "values of users' fields are a typed table, whichever storage they have (%s)",
  async (storage) => {
    const model = defineGraph({
      table: `Grid-${storage}`,
      nodes: {
        project: node({ key: "PROJECT#{org}#{n}", schema: z.object({ org: text, n: text }) }),
        person: node({ key: "PERSON#{org}#{personId}", schema: z.object({ org: text, personId: text }) }),
        issue: node({
          key: "ISSUE#{issueId}",
          schema: z.object({ issueId: text, org: text.optional(), n: text.optional(), title: text.optional() }),
          fields: { of: "project", storage },
        }),
      },
    });
    const db = model.connect({ endpoint: engine.endpoint });
    await db.table.create();
    const [here, there] = [
      { org: "a/b #1", n: "7" },
      { org: "a/b #1", n: "8" },
    ] as const;
    for (const project of [here, there]) await db.project.create(project).orThrow();
    const fields = db.issue.fields(here);
    await fields.define({ fieldId: "t", name: "Text", type: "text" });
    await fields.define({ fieldId: "n", name: "Number", type: "number" });
    await fields.define({ fieldId: "d", name: "Date", type: "date" });
    await fields.define({ fieldId: "b", name: "Yes", type: "boolean" });
    await fields.define({ fieldId: "c", name: "One", type: "choice", choices: ["x", "y"] });
    await fields.define({ fieldId: "cs", name: "Several", type: "choices", choices: ["x", "y", "z"] });
    await fields.define({ fieldId: "r", name: "Who", type: "reference", node: "person" });
    await fields.define({ fieldId: "gone", name: "Gone", type: "text" });
    // The same id elsewhere is another field.
    await db.issue.fields(there).define({ fieldId: "t", name: "Elsewhere", type: "number" });
    for (const [issueId, project] of [
      ["i1", here],
      ["i2", here],
      ["ü", there],
      ["none", here],
    ] as const)
      await db.issue.create({ issueId, ...project }).orThrow();
    await db.issue.create({ issueId: "homeless" }).orThrow();
    await db.issue.values({ issueId: "i1" }).set({
      t: 'naïve "text" 🌍',
      n: 12.5,
      d: "2023-05-01",
      b: false,
      c: "y",
      cs: ["z", "x"],
      r: { personId: "P/1", org: "a" },
      gone: "soon",
    });
    await db.issue.values({ issueId: "i2" }).set({ t: "5", n: -1e40, d: "2023-05-01T10:00:00.250Z" });
    await db.issue.values({ issueId: "ü" }).set({ t: 5 });
    await fields.delete("gone");
    const into = join(folder, `cells-${storage}`);
    const { tables } = await extract(db, { into });
    expect(tables.find(({ name }) => name === "issue_cells")).toMatchObject({ kind: "cells", definition: "issue", rows: 11 });
    const lake = await openLake(into);
    const cell = (node: string, field_id: string, field_name: string, type: string, values: object) => ({
      node,
      parent: node === "issue:%C3%BC" ? "project:a%2Fb%20%231/8" : "project:a%2Fb%20%231/7",
      field_id,
      field_name,
      type,
      text_value: null,
      number_value: null,
      date_value: null,
      boolean_value: null,
      choices_value: null,
      reference_value: null,
      ...values,
    });
    expect(await lake.query("select * from issue_cells order by node, field_id")).toEqual([
      cell("issue:%C3%BC", "t", "Elsewhere", "number", { number_value: 5 }),
      cell("issue:i1", "b", "Yes", "boolean", { boolean_value: false }),
      cell("issue:i1", "c", "One", "choice", { text_value: "y" }),
      cell("issue:i1", "cs", "Several", "choices", { choices_value: ["x", "z"] }),
      cell("issue:i1", "d", "Date", "date", { text_value: "2023-05-01", date_value: new Date("2023-05-01") }),
      cell("issue:i1", "n", "Number", "number", { number_value: 12.5 }),
      cell("issue:i1", "r", "Who", "reference", { reference_value: "person:a/P%2F1" }),
      cell("issue:i1", "t", "Text", "text", { text_value: 'naïve "text" 🌍' }),
      cell("issue:i2", "d", "Date", "date", { text_value: "2023-05-01T10:00:00.250Z", date_value: new Date("2023-05-01T10:00:00.250Z") }),
      cell("issue:i2", "n", "Number", "number", { number_value: -1e40 }),
      cell("issue:i2", "t", "Text", "text", { text_value: "5" }),
    ]);
    // As the grid itself shows them.
    const shown = (await db.issue.grid(here).page()).items.flatMap(({ row, cells }) =>
      Object.keys(cells).map((field) => `${row.issueId} ${field}`),
    );
    const known = await lake.query(
      "select i.issue_id || ' ' || c.field_id as cell from issue_cells as c join issue as i on i.node = c.node join project as p on p.node = c.parent where p.n = '7'",
    );
    expect(known.map(({ cell: one }) => one).toSorted()).toEqual(shown.toSorted());
    await expect(
      writeBack(db, lake, "select node, field_id, 'x' as text_value from issue_cells", {
        to: { issue_cells: { text_value: "text_value" } },
      }),
    ).rejects.toThrow("The values of users' fields (issue_cells) cannot be written by a batch job: set them by db.issue.values()");
    if (hasSpark) {
      const program = top(lake, { of: "issue_cells", by: "number_value", per: "field_name" });
      const list = {
        ...program,
        steps: [
          ...program.steps,
          { kind: "table", name: "leaders", select: "select *, array_join(choices_value, '|') as joined from issue_cells" } as const,
        ],
        result: { table: "leaders", orderBy: "node, field_id" },
      };
      const [rows] = await runOnSpark(lake.folder, [list], { python });
      expect(comparable(rows!)).toEqual(
        comparable(await lake.query("select *, array_to_string(choices_value, '|') as joined from issue_cells order by node, field_id")),
      );
    }
    expect(await validate(lake, model.catalog)).toMatchObject({ clean: true, kinds: [] });
    lake.close();
  },
  300_000,
);

test("users' fields are tables with their keys, which a validation finds right", async () => {
  const db = tracker.connect({ endpoint: engine.endpoint });
  await db.table.create();
  const project = { projectId: "P1" };
  await db.project.create(project).orThrow();
  const fields = db.issue.fields(project);
  for (const fieldId of ["cost", "size"]) await fields.define({ fieldId, name: fieldId, type: "number" });
  for (const num of [1, 2, 3]) {
    await db.issue.create({ issueId: `i${num}`, ...project, num }).orThrow();
    await db.issue.values({ issueId: `i${num}` }).set({ cost: num * 10, ...(num > 1 ? { size: num } : {}) });
  }
  await db.page.create({ pageId: "p1" }).orThrow();
  // An extraction that is resumed tells rows apart by their keys: without them, a row would keep one value.
  expect(Object.fromEntries(lakeTables(tracker.catalog).map(({ name, key }) => [name, key]))).toMatchObject({
    issue_fields: ["list"],
    issue_value: ["field_id"],
    issue_values: ["document"],
  });
  const into = join(folder, "lake");
  await extract(db, { into });
  const lake = await openLake(into);
  expect(
    await lake.query("select issue_id, field_id, cast(more ->> '$.value' as bigint) as value from issue_value order by issue_id, field_id"),
  ).toEqual([
    { issue_id: "i1", field_id: "cost", value: 10n },
    { issue_id: "i2", field_id: "cost", value: 20n },
    { issue_id: "i2", field_id: "size", value: 2n },
    { issue_id: "i3", field_id: "cost", value: 30n },
    { issue_id: "i3", field_id: "size", value: 3n },
  ]);
  expect(await lake.query("select page_id from page")).toEqual([{ page_id: "p1" }]);
  expect(await validate(lake, tracker.catalog)).toMatchObject({ clean: true, kinds: [] });
  lake.close();
});
