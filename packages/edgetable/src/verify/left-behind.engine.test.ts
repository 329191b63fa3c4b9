import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { count, defineGraph, edge, node, part } from "../index.ts";
import { startEngine, type TestEngine } from "../test-support/engine.ts";
import { verify, type VerifyOptions } from "./index.ts";

// What goes with a part without its node, and what a model keeps no more.

let engine: TestEngine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

const id = z.string();
const cascade = { from: "cascade", to: "cascade" } as const;

const found = async (db: object, options: VerifyOptions = {}) => {
  const { kinds, clean } = await verify(db, { settle: 5, ...options });
  return { clean, found: Object.fromEntries(kinds.map(({ kind, count: all, repaired }) => [kind, [all, repaired]])) };
};

const everything = { repair: true, deleteOrphans: true } as const;

test.each(["once", "twice"] as const)(
  "a part without its node goes with its edges and their guards in one run (stored %s)",
  async (stored) => {
    const db = defineGraph({
      table: engine.freshTableName("orphans"),
      nodes: {
        user: node({ key: "U#{id}", schema: z.object({ id }), derived: { tasks: count({ out: "on" }) } }),
        project: node({ key: "P#{pid}", schema: z.object({ pid: id }) }),
      },
      parts: { task: part({ of: "project", key: "T#{no}", schema: z.object({ no: id }) }) },
      edges: {
        on: edge({ from: "user", to: "task", stored, onDelete: cascade, maxDegree: { to: 5, from: 9 } }),
        blocks: edge({ from: "task", to: "task", onDelete: cascade, maxDegree: { from: 3 } }),
        saw: edge({ from: "user", to: "task" }),
      },
    }).connect({ transport: engine.transport });
    await db.table.create();
    await db.user.create({ id: "u" }).orThrow();
    for (const no of ["1", "2"]) await db.task.create({ pid: "p" }, { no }).orThrow();
    await db.on.link({ id: "u" }, { pid: "p", no: "1" }).orThrow();
    await db.blocks.link({ pid: "p", no: "1" }, { pid: "p", no: "2" }).orThrow();
    await db.saw.link({ id: "u" }, { pid: "p", no: "2" }).orThrow();
    expect((await found(db)).found).toMatchObject({ orphanedPart: [2, 0], dangling: [expect.any(Number), 0], leftEdge: [1, 0] });
    await found(db, everything);
    expect(await found(db)).toEqual({ clean: true, found: {} });
    expect(await db.user.get({ id: "u" })).toMatchObject({ tasks: 0 });
    expect([await db.user({ id: "u" }).out("on").edges(), await db.user({ id: "u" }).out("saw").edges()]).toEqual([[], []]);
  },
);

test("guards and markers that the model keeps no more are harmless, and a repair removes them for good", async () => {
  const table = engine.freshTableName("unkept");
  const modelOf = (guarded: boolean) =>
    defineGraph({
      table,
      nodes: {
        user: node({ key: "U#{id}", schema: z.object({ id, email: id, name: id }), unique: guarded ? ["email", "name"] : ["name"] }),
        post: node({ key: "P#{id}", schema: z.object({ id }) }),
      },
      edges: {
        likes: edge({ from: "user", to: "post", ...(guarded && { maxDegree: { from: 3 } }), onDelete: cascade }),
        owns: edge({ from: "user", to: "post", onDelete: guarded ? { to: "restrict" } : { to: "cascade" }, maxDegree: { from: 5 } }),
      },
    }).connect({ transport: engine.transport });
  const before = modelOf(true);
  await before.table.create();
  await before.user.create({ id: "u", email: "u@x", name: "U" }).orThrow();
  for (const one of ["p", "q"]) await before.post.create({ id: one }).orThrow();
  await before.likes.link({ id: "u" }, { id: "p" }).orThrow();
  await before.owns.link({ id: "u" }, { id: "p" }).orThrow();
  const db = modelOf(false);
  expect((await db.migrations.plan()).notes).toEqual([
    expect.stringContaining('The items that count "likes.outDegree", "owns.inDegree" are no longer maintained, and stay.'),
    expect.stringContaining('The items that reserve the values of "user.email" are no longer maintained, and stay.'),
  ]);
  expect(await db.migrations.run({ finish: true, indexLag: 0 })).toMatchObject({ complete: true });
  const idle = { idleGuard: [2, 0], idleMarker: [1, 0] };
  expect(await found(db)).toEqual({ clean: true, found: idle });
  await db.likes.link({ id: "u" }, { id: "q" }).orThrow();
  await db.user.update({ id: "u" }, { email: "v@x" }).orThrow();
  expect(await found(db)).toEqual({ clean: true, found: idle });
  expect((await found(db, { repair: true })).found).toEqual({ idleGuard: [2, 2], idleMarker: [1, 1] });
  await db.likes.unlink({ id: "u" }, { id: "p" }).orThrow();
  await db.user.create({ id: "w", email: "u@x", name: "W" }).orThrow();
  expect(await found(db)).toEqual({ clean: true, found: {} });
  expect(await db.user.create({ id: "y", email: "y@x", name: "W" })).toMatchObject({ reason: "notUnique" });
});

test("a job that was cut off is abandoned a day after it was last run, and not before", async () => {
  const table = engine.freshTableName("stopped");
  const db = defineGraph({ table, nodes: { user: node({ key: "U#{id}", schema: z.object({ id }) }) } }).connect({
    transport: engine.transport,
  });
  await db.table.create();
  const stopped = db.jobs.run("import", {}, (job) => {
    job.save({ position: 7 });
    throw new Error("stopped");
  });
  await expect(stopped).rejects.toThrow("stopped");
  const [job] = await db.jobs.list();
  expect(job).toMatchObject({ running: false, leasedUntil: 0 });
  expect(await found(db, everything)).toEqual({ clean: true, found: {} });
  expect(await db.jobs.list()).toEqual([job]);

  const { Items = [] } = await engine.transport.send("Scan", { TableName: table });
  const stored = Items.find((item) => "~until" in item)!;
  const yesterday = String(Number((stored["~until"] as { readonly N: string }).N) + 86_400_000 + 60_000);
  await engine.transport.send("PutItem", { TableName: table, Item: { ...stored, "~until": { N: yesterday } } });
  expect((await found(db)).found).toEqual({ abandonedJob: [1, 0] });
  // Whoever resumes it finds what it saved.
  await db.jobs.run("import", {}, ({ saved }) => Promise.resolve(expect(saved).toMatchObject({ position: 7 })));
  expect(await found(db)).toEqual({ clean: true, found: {} });
});
