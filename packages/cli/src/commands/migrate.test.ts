import { afterAll, beforeAll, expect, test } from "vitest";
import { startEngine, type LocalEngine } from "@edgetable/local";
import { createFolder, educationData, educationModel, run, type Folder } from "../test-support/lab.ts";

let folder: Folder;
let engine: LocalEngine;
const indexed = educationModel.replace("  edges: {", "  indexes: { byName: { entries: { student: 'name' } } },\n  edges: {");
beforeAll(async () => {
  engine = await startEngine();
  folder = createFolder({
    "edgetable.ts": educationModel,
    "next.ts": indexed,
    "other.ts": indexed.replace("byName", "byOther"),
    "data.json": educationData,
    "late.json": JSON.stringify([{ node: "student", row: { studentId: "S9", name: "Late" } }]),
  });
});
afterAll(async () => {
  folder.remove();
  await engine.stop();
});

const call = (...argv: readonly string[]) => run([...argv, "--endpoint", engine.endpoint], { cwd: folder.path });

test("an index is added: plan, run, status, undo, and run to the end", async () => {
  expect(indexed).not.toBe(educationModel);
  expect((await call("table", "create")).code).toBe(0);
  expect((await call("load", "data.json")).code).toBe(0);
  expect(await call("migrate", "plan")).toMatchObject({ code: 0, out: "The table Education follows the model.\n" });
  const next = (...argv: readonly string[]) => call("migrate", ...argv, "--model", "next.ts");

  const plan = await next("plan");
  expect(plan.code).toBe(1);
  expect(plan.out).toContain('give items their index keys: "student" in "byName"');
  expect(plan.out).toContain('create the index "byName"');
  expect(JSON.parse((await next("plan", "--json")).out)).toMatchObject({ table: "Education", refusals: [] });
  expect((await next("run", "--dry-run")).out).toContain("3 items would be changed.");
  expect(await call("find", "student", "--where", "name=Ann", "--model", "next.ts")).toMatchObject({
    code: 1,
    err: expect.stringContaining("plan.indexIncomplete") as string,
  });

  expect(await next("run")).toMatchObject({ code: 0, out: expect.stringContaining("run it again with --finish") as string });
  expect(await next("status")).toMatchObject({ code: 1, out: expect.stringContaining("byName: missing") as string });
  const other = await call("migrate", "run", "--model", "other.ts");
  expect(other).toMatchObject({ code: 1, err: expect.stringContaining("migrate.otherModel · docs/errors.md#migrateothermodel") as string });
  expect(await next("undo")).toMatchObject({ code: 0, out: expect.stringContaining("The migration is undone.") as string });
  expect((await next("undo")).code).toBe(1);

  expect(await next("run", "--finish")).toMatchObject({
    code: 0,
    out: expect.stringContaining("The table Education follows the model.") as string,
  });
  expect(await next("status")).toMatchObject({ code: 0, out: expect.stringContaining("byName: complete") as string });
  expect(JSON.parse((await next("run", "--json")).out)).toMatchObject({ complete: true, changed: 0 });
  expect(await next("run", "--finish")).toMatchObject({
    code: 0,
    out: expect.stringContaining("there is nothing to do") as string,
    err: expect.stringMatching(/run with --again --finish.*\n.*requests?, .* RCU, 0 WCU/) as string,
  });
  // A program of the model before writes: the search misses its item until a run with --again.
  expect((await call("load", "late.json")).code).toBe(0);
  expect((await call("find", "student", "--where", "name=Late", "--model", "next.ts")).out).not.toContain("S9");
  expect(await next("run", "--again", "--finish")).toMatchObject({ code: 0, out: expect.stringContaining("1 item changed.") as string });
  expect((await call("find", "student", "--where", "name=Late", "--model", "next.ts")).out).toContain("S9");
  expect((await call("find", "student", "--where", "name=Ann", "--model", "next.ts")).out).toContain("S1");
});

test("what a plan, a run and a status print fits the terminal", async () => {
  const counting = educationModel
    .replace(
      "  edges: {",
      "  indexes: { byCount: { entries: { student: 'courses:number' } }, byName: { entries: { student: 'name' } } },\n  edges: {",
    )
    .replace(/key: ["']STUDENT#\{studentId\}["'],/, (key) => `${key} unique: ["name"], derived: { courses: count({ out: "enrolledIn" }) },`)
    .replace('orderBy: "at"', 'orderBy: "at", onDelete: { from: "cascade", to: "cascade" }')
    .replace("import { ", "import { count, ")
    .replace('table: "Education"', 'table: "Fitting"');
  const files = createFolder({ "before.ts": educationModel.replace('table: "Education"', 'table: "Fitting"'), "edgetable.ts": counting });
  const there = (columns: number, ...argv: readonly string[]) =>
    run([...argv, "--endpoint", engine.endpoint], { cwd: files.path, columns, env: { NO_COLOR: "1" } });
  expect((await there(80, "table", "create", "--model", "before.ts")).code).toBe(0);
  for (const columns of [60, 80]) {
    const plan = await there(columns, "migrate", "plan");
    expect(plan.out).toMatch(/^step +items {2}read units {2}write units\n/);
    expect(plan.out).toMatch(/^At most .* read units and .* write\s+units\s+in\s+all/m);
    for (const text of [plan.out, plan.err, (await there(columns, "migrate", "run")).out, (await there(columns, "migrate", "status")).out])
      for (const line of text.split("\n")) expect(line.length).toBeLessThanOrEqual(columns);
  }
  const stopping = new AbortController();
  const cut = await run(["migrate", "run", "--finish", "--endpoint", engine.endpoint], {
    cwd: files.path,
    columns: 80,
    signal: stopping.signal,
    onErr: () => stopping.abort(),
  });
  expect(cut).toMatchObject({
    code: 130,
    err: expect.stringContaining("Interrupted. What was done is kept: the same command resumes.") as string,
  });
  const { err } = await there(80, "migrate", "run", "--finish");
  for (const step of ["computing derived attributes", "reserving unique values", "giving items their keys"])
    expect(err).toMatch(new RegExp(`${step}, pass 1: \\d+ items? read.*, \\d+ changed`));
  files.remove();
});

test("a share out of its range is a usage error", async () => {
  expect(await call("migrate", "run", "--share", "0")).toMatchObject({ code: 2 });
});
