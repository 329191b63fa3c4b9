import { expect, test } from "vitest";
import { z } from "zod";
import { count } from "../schema/derived.ts";
import { defineGraph } from "../client/define-graph.ts";
import { edge, node } from "../schema/definition.ts";
import type { Renaming } from "../schema/former.ts";
import { verify } from "../verify/index.ts";
import type { MigrationProgress } from "./run-migration.ts";
import { fast, lab, openMigrationsLab } from "./migrations-lab.test-support.ts";

openMigrationsLab();

const schema = z.object({ id: z.string(), v: z.string(), w: z.string() });
const blocks = edge({ from: "issue", to: "issue", onDelete: { from: "cascade", to: "cascade" } });

const before = () =>
  defineGraph({ table: lab.table, nodes: { issue: node({ key: "I#{id}", schema }) }, edges: { blocks } }).connect({
    transport: lab.engine.transport,
  });
const after = () =>
  defineGraph({
    table: lab.table,
    nodes: { issue: node({ key: "I#{id}", schema, unique: ["v"], derived: { n: count({ in: "blocks" }) } }) },
    edges: { blocks },
    indexes: { byW: { entries: { issue: "w" } } },
  }).connect({ transport: lab.engine.transport });
const renamed = (title: Renaming) =>
  defineGraph({
    table: lab.table,
    nodes: { issue: node({ key: "I#{id}", schema: z.object({ id: z.string(), title: z.string(), w: z.string() }), renamed: { title } }) },
    edges: { blocks },
  }).connect({ transport: lab.engine.transport });

/** The table follows the model, and a program of the model before has written since. */
const disturb = async (): Promise<void> => {
  const old = before();
  await old.table.create();
  await old.issue.put({ id: "1", v: "v1", w: "x" }).orThrow();
  await after().migrations.run({ ...fast, finish: true });
  await old.issue.put({ id: "2", v: "v2", w: "x" }).orThrow();
  await old.issue.update({ id: "1" }, { w: "y" }).orThrow();
  await old.blocks.link({ id: "2" }, { id: "1" }).orThrow();
};

test("a run on a table that follows the model does nothing, and says how what an older program wrote since is found", async () => {
  await disturb();
  const report = await after().migrations.run({ ...fast, finish: true });
  expect(report).toMatchObject({ complete: true, changed: 0, plan: { steps: [] } });
  expect(report.plan.notes).toContainEqual(expect.stringMatching(/older model has written.*again/));
  expect((await after().migrations.plan()).notes).toEqual([]);
});

test("with again, a run makes right what an older program wrote after the migration", async () => {
  await disturb();
  const db = after();
  const { steps, cost } = await db.migrations.plan({ again: true });
  expect(steps.map(({ kind }) => kind)).toEqual(["derive", "reserve", "backfill", "record"]);
  expect(cost.readUnits).toBeGreaterThan(0);
  expect(await db.find("issue").where({ w: "x" }).count()).toBe(1);
  expect(await db.migrations.run({ ...fast, again: true, finish: true })).toMatchObject({ complete: true });
  expect(await db.find("issue").where({ w: "x" }).rows()).toMatchObject([{ id: "2" }]);
  expect(await db.find("issue").where({ w: "y" }).rows()).toMatchObject([{ id: "1" }]);
  expect(await db.issue({ id: "1" }).in("blocks").count()).toBe(1);
  expect(await db.issue.get({ id: "1" })).toMatchObject({ n: 1 });
  expect(await db.issue.by({ v: "v2" })).toMatchObject({ id: "2" });
  expect(await verify(db, { settle: 0 })).toMatchObject({ clean: true });
  expect(await db.migrations.status()).toMatchObject({ state: "current" });
  // Nothing is left to change.
  expect(await db.migrations.run({ ...fast, again: true, finish: true })).toMatchObject({ complete: true, changed: 0 });
});

test("a run with again that was not finished goes on as one, and searches are answered meanwhile", async () => {
  await disturb();
  const db = after();
  expect(await db.migrations.run({ ...fast, again: true, dryRun: true })).toMatchObject({ complete: false });
  expect(await db.migrations.run({ ...fast, again: true })).toMatchObject({ complete: false });
  expect(await after().find("issue").where({ w: "x" }).count()).toBe(1);
  await before().issue.put({ id: "3", v: "v3", w: "x" }).orThrow();
  // The record names the passes: the option need not be given again.
  expect((await after().migrations.plan()).steps.map(({ kind }) => kind)).toContain("backfill");
  expect(await after().migrations.run({ ...fast, finish: true })).toMatchObject({ complete: true });
  expect(await after().find("issue").where({ w: "x" }).count()).toBe(2);
  expect(await verify(after(), { settle: 0 })).toMatchObject({ clean: true });
});

test("with again, items that an older program wrote under an old name are converted", async () => {
  const old = before();
  await old.table.create();
  await old.issue.put({ id: "1", v: "v1", w: "x" }).orThrow();
  await renamed("v").migrations.run({ ...fast, finish: true });
  const second = renamed({ from: "v", stored: "new" });
  await second.migrations.run({ ...fast, finish: true });
  await old.issue.put({ id: "2", v: "v2", w: "x" }).orThrow();
  expect(await second.migrations.run({ ...fast, again: true, dryRun: true })).toMatchObject({ changed: 1 });
  expect(await second.migrations.run({ ...fast, again: true, finish: true })).toMatchObject({ complete: true, changed: 1 });
  const { Item: item } = await lab.engine.transport.send("GetItem", { TableName: lab.table, Key: { pk: { S: "I#2" }, sk: { S: "#" } } });
  expect(item).toMatchObject({ title: { S: "v2" } });
  expect(item).not.toHaveProperty("v");
});

/** Runs a migration that is stopped after the given one of the pages in the middle of its passes. Gives how many there were. */
const stoppedAfterPage = async (at: number): Promise<number> => {
  const stopping = new AbortController();
  let pages = 0;
  const onProgress = ({ step, seen }: MigrationProgress): void => {
    if ((step === "backfill" || step === "createIndex") && seen > 0 && seen % 200 === 0 && ++pages === at) stopping.abort();
  };
  const run = after().migrations.run({ ...fast, finish: true, signal: stopping.signal, onProgress });
  await run.catch((error: unknown) => expect(error).toMatchObject({ code: "execute.aborted" }));
  return pages;
};

test("with again, what an older program wrote is found wherever a run with finish was stopped before", async () => {
  for (let at = 1, isStopped = true; isStopped; at++) {
    lab.table = lab.engine.freshTableName("again");
    const old = before();
    await old.table.create();
    // More than a page of a pass.
    await old.load(Array.from({ length: 250 }, (_, n) => ({ node: "issue" as const, row: { id: `${n}`, v: `v${n}`, w: "x" } })));
    isStopped = (await stoppedAfterPage(at)) >= at;
    await Promise.all(Array.from({ length: 250 }, (_, n) => old.issue.update({ id: `${n}` }, { w: "y" }).orThrow()));
    await old.blocks.link({ id: "2" }, { id: "1" }).orThrow();
    expect(await after().migrations.run({ ...fast, again: true, finish: true })).toMatchObject({ complete: true });
    expect(await after().find("issue").where({ w: "y" }).count()).toBe(250);
    expect(await after().issue.get({ id: "1" })).toMatchObject({ n: 1 });
  }
});
