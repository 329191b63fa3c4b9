import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineGraph, node } from "edgetable";
import { startEngine, type LocalEngine } from "@edgetable/local";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { extract, openLake, validate } from "./index.ts";
import { lakeTables } from "./lake-tables.ts";

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
