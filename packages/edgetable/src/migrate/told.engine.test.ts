import { expect, test } from "vitest";
import * as v from "valibot";
import { z } from "zod";
import { defineGraph } from "../client/define-graph.ts";
import { edge, node } from "../schema/definition.ts";
import { count } from "../schema/derived.ts";
import { byAge, byName, connectTo, fast, fill, lab, old, openMigrationsLab } from "./migrations-lab.test-support.ts";

// What plans, runs and status say of what a caller has to do.

openMigrationsLab();

const id = z.string();

const blog = (derived: object, settings: object = {}) =>
  defineGraph({
    table: lab.table,
    nodes: {
      user: node({ key: "U#{id}", schema: z.object({ id }) }),
      post: node({ key: "P#{id}", schema: z.object({ id }), ...({ derived } as object) }),
    },
    edges: {
      likes: edge({
        from: "user",
        to: "post",
        schema: z.object({ good: z.boolean().optional() }),
        onDelete: { from: "cascade", to: "cascade" },
      }),
    },
    ...settings,
  }).connect({ transport: lab.engine.transport });

test("a plan notes derived attributes that the model keeps no more, or otherwise, and the order in which to deploy", async () => {
  const db = blog({ n: count({ in: "likes" }), kept: count({ in: "likes" }) });
  await db.table.create();
  await db.user.create({ id: "u" }).orThrow();
  await db.post.create({ id: "p" }).orThrow();
  const note = expect.stringMatching(
    /do not maintain "post\.n" as the recorded model does.*Run this migration before you deploy/,
  ) as string;
  expect((await blog({ kept: count({ in: "likes" }) }).migrations.plan()).notes).toEqual([note]);
  const redefined = blog({ n: count({ in: "likes", where: { good: true } }), kept: count({ in: "likes" }) });
  expect((await redefined.migrations.plan()).notes).toEqual([note]);
  // In that order, counts of programs of the older model are right.
  const without = blog({});
  await without.migrations.run(fast);
  await without.likes.link({ id: "u" }, { id: "p" }).orThrow();
  expect(
    await blog({ n: count({ in: "likes" }) })
      .post({ id: "p" })
      .in("likes")
      .count(),
  ).toBe(1);
});

test("a plan notes that derived attributes by the stream need a processor", async () => {
  await blog({}).table.create();
  const { notes } = await blog({ n: count({ in: "likes", freshness: "stream" }) }, { settings: { stream: true } }).migrations.plan();
  expect(notes).toEqual([expect.stringMatching(/stream processor maintains "post\.n": run one/)]);
});

test("a plan notes another model's migration that is under way", async () => {
  await fill(3);
  await connectTo({ byAge }).migrations.run(fast);
  expect((await connectTo({ byName: byName() }).migrations.plan()).notes).toContainEqual(
    expect.stringMatching(/migration to another model.*in progress.*undo/),
  );
  expect((await connectTo({ byAge }).migrations.plan()).notes).toEqual([]);
});

test("the next step that a run names is one that is taken", async () => {
  const keyed = (by: "name" | "city") => connectTo({ byName: { entries: { person: { by, sparse: true } } } as never });
  await fill(3);
  await keyed("name").migrations.run({ ...fast, finish: true });
  const { next } = await keyed("city").migrations.run({ ...fast, inPlace: true, leaveOut: true });
  expect(next).toContain("with finish and inPlace and leaveOut");
  expect(await keyed("city").migrations.run({ ...fast, finish: true, inPlace: true, leaveOut: true })).toMatchObject({ complete: true });
});

test("status tells a table that lacks an index from one of another model", async () => {
  await fill(3);
  const db = connectTo({ byName: byName() });
  expect((await db.migrations.status()).says).toContain("follows another model");
  await db.migrations.run({ ...fast, finish: true });
  await lab.engine.transport.send("UpdateTable", {
    TableName: lab.table,
    GlobalSecondaryIndexUpdates: [{ Delete: { IndexName: "byName" } }],
  });
  // An index goes some time after the request to delete it.
  await expect
    .poll(async () => db.migrations.status())
    .toMatchObject({
      state: "outdated",
      says: "The record says that the table follows the model, but the table lacks something that the model needs, such as an index. Look at the plan, then run the migration.",
    });
});

test("an index over a new copy says to end the older writers, which link without it", async () => {
  const nodes = {
    user: node({ key: "U#{id}", schema: z.object({ id, name: id }) }),
    post: node({ key: "P#{id}", schema: z.object({ id }) }),
  };
  const plain = () =>
    defineGraph({ table: lab.table, nodes, edges: { likes: edge({ from: "user", to: "post", ends: "unchecked" }) } }).connect({
      transport: lab.engine.transport,
    });
  const options = { transport: lab.engine.transport };
  const copies = { from: { userName: { of: "name", freshness: "transaction" } } };
  const model = {
    table: lab.table,
    nodes,
    edges: { likes: edge({ from: "user", to: "post", ends: "unchecked", copies } as never) },
    indexes: { byUser: { entries: { likes: "userName" } } },
  };
  const before = plain();
  await before.table.create();
  await before.post.create({ id: "p" }).orThrow();
  // There is no node to copy from: as of an edge that an older program links after the copies were computed.
  await before.likes.link({ id: "u" }, { id: "p" }).orThrow();
  const db = defineGraph(model as never).connect(options);
  expect((await db.migrations.run(fast)).next).toMatch(
    /except those that lack "userName", which the migration computes: a program with the older/,
  );
  await expect(db.migrations.run({ ...fast, finish: true })).rejects.toMatchObject({
    code: "migrate.missingSource",
    message: expect.stringMatching(
      /computes "userName".*Stop the programs with the older model, and run the migration with finish/,
    ) as string,
  });
});

test("undo says that markers stay", async () => {
  const model = (unique: boolean) =>
    defineGraph({
      table: lab.table,
      nodes: { user: node({ key: "U#{id}", schema: z.object({ id, email: id }), ...((unique ? { unique: ["email"] } : {}) as object) }) },
    }).connect({ transport: lab.engine.transport });
  await model(false).table.create();
  await model(false).user.put({ id: "1", email: "a" }).orThrow();
  await model(true).migrations.run(fast);
  expect((await model(true).migrations.status()).undo).toContain("Markers");
  expect((await model(true).migrations.undo()).notes).toContainEqual(expect.stringMatching(/Markers.*"user\.email" stay.*verify --repair/));
});

test("connections of the older model see no difference", async () => {
  await fill(1);
  expect((await old().migrations.status()).says).toBe("The table follows the model.");
});

test("a plan notes texts that become an enumeration, and values that one does not take any more", async () => {
  const withState = (state: object) =>
    defineGraph({
      table: lab.table,
      nodes: { post: node({ key: "P#{id}", schema: z.object({ id, state: state as z.ZodString }) }) },
    }).connect({ transport: lab.engine.transport });
  const notesFor = async (state: object) => (await withState(state).migrations.plan()).notes;
  const anew = async (state: object) => withState(state).migrations.run({ ...fast, again: true, finish: true });
  await withState(z.string()).table.create();
  const any = expect.stringMatching(/"post" may hold any text as "state", which the schema no longer accepts.*edgetable verify/) as string;
  expect(await notesFor(z.enum(["draft", "open"]))).toEqual([any]);
  expect(await notesFor(z.enum(["draft", "open"]).optional())).toContainEqual(any);
  expect(await notesFor(z.string().max(5))).toEqual([]);
  await anew(z.enum(["draft", "open"]));
  expect(await notesFor(z.enum(["draft", "open"]))).toEqual([]);
  expect(await notesFor(z.enum(["open", "draft", "closed"]))).toEqual([]);
  expect(await notesFor(z.string())).toEqual([]);
  expect(await notesFor(z.enum(["open", "closed"]).default("open"))).toEqual([
    expect.stringMatching(/"post" may hold "draft" as "state", which/),
  ]);
  expect(await notesFor(v.picklist(["open"]))).toEqual([expect.stringMatching(/may hold "draft" as "state", which/)]);
});
