import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { edge, node } from "../schema/definition.ts";
import type { Renaming } from "../schema/former.ts";
import { startEngine, type TestEngine } from "../test-support/engine.ts";
import { defineGraph } from "./define-graph.ts";

let engine: TestEngine;
let table = "";
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());
beforeEach(() => {
  table = engine.freshTableName("refused");
});

const id = z.string();
const onDelete = { from: "cascade", to: "cascade" } as const;

const before = () =>
  defineGraph({
    table,
    nodes: { user: node({ key: "U#{id}", schema: z.object({ id, name: id }) }), issue: node({ key: "I#{id}", schema: z.object({ id }) }) },
    edges: { reported: edge({ from: "user", to: "issue", onDelete }) },
  }).connect({ transport: engine.transport });
const after = (title: Renaming | undefined) =>
  defineGraph({
    table,
    nodes: {
      user: node({ key: "U#{id}", schema: z.object({ id, title: id }), ...(title && { renamed: { title } }) }),
      issue: node({ key: "I#{id}", schema: z.object({ id }) }),
    },
    edges: { reported: edge({ from: "user", to: "issue", onDelete }) },
  }).connect({ transport: engine.transport });
const twice = (stored: "once" | "twice") =>
  defineGraph({
    table,
    nodes: { user: node({ key: "U#{id}", schema: z.object({ id, name: id }) }), issue: node({ key: "I#{id}", schema: z.object({ id }) }) },
    edges: { reported: edge({ from: "user", to: "issue", onDelete, stored }) },
  }).connect({ transport: engine.transport });

const all = async () => (await engine.transport.send("Scan", { TableName: table, ConsistentRead: true })).Items;

/** Nothing but the items of the table says what was begun. */
const refusedAsWhole = async (remove: () => Promise<unknown>, code: string): Promise<void> => {
  const items = await all();
  await expect(remove()).rejects.toMatchObject({ code });
  expect(await all()).toEqual(items);
};

const fill = async (): Promise<void> => {
  const old = before();
  await old.table.create();
  await old.user.put({ id: "u", name: "n" }).orThrow();
  await old.issue.put({ id: "i" }).orThrow();
  await old.issue.put({ id: "alone" }).orThrow();
  await old.reported.link({ id: "u" }, { id: "i" }).orThrow();
};

test("a program from before a renaming deletes nothing, and leaves no mark and no job", async () => {
  await fill();
  for (const stored of ["old", "new"] as const)
    await after({ from: "name", stored }).migrations.run({ finish: true, share: 100, indexLag: 0 });
  for (const issue of ["i", "alone"]) {
    await refusedAsWhole(async () => before().issue.delete({ id: issue }), "plan.unreadForm");
    await refusedAsWhole(async () => (await before().issue.delete({ id: issue }).start()).done, "plan.unreadForm");
  }
  const now = after({ from: "name", stored: "new" });
  expect(await now.jobs.list()).toEqual([]);
  await now.reported.link({ id: "u" }, { id: "alone" }).orThrow();
  expect(await now.issue.delete({ id: "i" })).toMatchObject({ ok: true });
  expect(await now.issue({ id: "alone" }).in("reported").edges()).toHaveLength(1);
});

test("a deletion is refused as a whole where the table lacks what it would read", async () => {
  await fill();
  await refusedAsWhole(async () => twice("twice").issue.delete({ id: "i" }), "plan.otherStorage");
  expect(await twice("once").issue.delete({ id: "i" })).toMatchObject({ ok: true });
});
