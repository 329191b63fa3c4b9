import { expect, test } from "vitest";
import { z } from "zod";
import type { ConnectOptions } from "../client/connect.ts";
import { defineGraph } from "../client/define-graph.ts";
import { EdgetableError } from "../errors/edgetable-error.ts";
import { edge } from "../schema/definition.ts";
import type { Operation } from "../transport/operations.ts";
import { dyingTransport } from "../test-support/dying-transport.ts";
import { byName, connectTo, fast, lab, openMigrationsLab, person, watched } from "./migrations-lab.test-support.ts";

// What `table.create()` records of the kinds of items that a table's record lacks, and what reads make of it.

openMigrationsLab();

const schema = z.object({ at: z.string() });
const byTime = { from: "person", to: "person", schema, orderBy: "at" } as const;
const follows = edge(byTime);
const ordered = edge(byTime);
const plain = edge({ from: "person", to: "person", schema });
const twice = edge({ ...byTime, stored: "twice" });

const here = (): ConnectOptions => ({ transport: lab.engine.transport });
const first = (options = here()) => defineGraph({ table: lab.table, nodes: { person }, edges: { follows } }).connect(options);
const second = (admires: typeof ordered, options = here()) =>
  defineGraph({ table: lab.table, nodes: { person }, edges: { follows, admires } }).connect(options);
const third = (likes: typeof ordered, options = here()) =>
  defineGraph({ table: lab.table, nodes: { person }, edges: { follows, likes } }).connect(options);
const all = () =>
  defineGraph({ table: lab.table, nodes: { person }, edges: { follows, admires: ordered, likes: ordered } }).connect(here());

const ids = { one: { id: "P1" }, two: { id: "P2" } };
const fillWith = async (db: ReturnType<typeof second>): Promise<void> => {
  for (const id of ["P1", "P2"]) await db.person.put({ id, name: id }).orThrow();
  await db.admires.put(ids.one, ids.two, { at: "2026" }).orThrow();
};

/** A connection whose requests of one kind to one item are refused, or preceded by something else. */
const meddled = (operation: Operation, before: () => Promise<void>): ConnectOptions => ({
  transport: {
    send: async (asked, input, options) => {
      if (asked === operation && JSON.stringify(input).includes("~model")) await before();
      return lab.engine.transport.send(asked, input, options);
    },
    close: () => undefined,
  },
});

test("a new edge type is recorded, and an order that it gets later is not read from old keys", async () => {
  await first().table.create();
  const { sent, options } = watched();
  const db = second(plain as never, options);
  expect(await db.table.create()).toEqual({ created: false });
  expect(sent.slice(-2)).toEqual(["GetItem", "UpdateItem"]);
  sent.length = 0;
  await db.table.create();
  expect(sent.at(-1)).toBe("GetItem");
  expect(await db.migrations.status()).toMatchObject({ state: "current" });
  await fillWith(db);
  const after = second(ordered);
  await after.table.create();
  const read = () => after.person(ids.one).out("admires").edges();
  await expect(read()).rejects.toMatchObject({ code: "plan.indexIncomplete", details: { shape: "admires" } });
  // The plan names the kinds that an index in use finds in part: they may be older than the migration, as this one is.
  expect((await after.migrations.plan()).notes).toEqual([
    expect.stringContaining('"reverse" is already in use: until the migration has ended, it does not find all of "admires".'),
    expect.stringContaining('"ordered" is already in use: until the migration has ended, it does not find all of "admires".'),
  ]);
  await after.migrations.run({ ...fast, finish: true, inPlace: true });
  expect(await read()).toHaveLength(1);
});

test("how a new edge type is stored is recorded, also as the first of a model, so that it is not changed unnoticed", async () => {
  const graph = (edges: Readonly<Record<string, typeof ordered>>) =>
    defineGraph({ table: lab.table, nodes: { person }, edges }).connect(here());
  await graph({}).table.create();
  const db = graph({ likes: plain as never });
  await db.table.create();
  expect(await db.migrations.status()).toMatchObject({ state: "current" });
  const doubled = graph({ likes: edge({ from: "person", to: "person", schema, stored: "twice" }) as never });
  const { refusals } = await doubled.migrations.plan();
  expect(refusals).toEqual([expect.stringContaining('Edges of "likes" are stored once, and the model stores them twice')]);
});

test("both copies of a new edge type that is stored twice are read in its order at once", async () => {
  await first().table.create();
  const db = second(twice as never);
  await fillWith(db);
  const read = () =>
    db
      .person(ids.two)
      .in("admires")
      .where({ at: { gte: "2" } })
      .edges();
  expect(await read()).toHaveLength(1);
  await db.table.create();
  expect(await db.migrations.status()).toMatchObject({ state: "current" });
  expect(await read()).toHaveLength(1);
});

test("two programs of different models add their kinds to one record", async () => {
  await first().table.create();
  await Promise.all([second(ordered).table.create(), third(ordered).table.create()]);
  expect(await all().migrations.status()).toMatchObject({ state: "current" });
  // The older program reads and creates as before, and takes nothing away.
  await first().table.create();
  expect(await all().migrations.status()).toMatchObject({ state: "current" });
});

test("a program that may not read or write the record does without", async () => {
  await first().table.create();
  for (const operation of ["GetItem", "UpdateItem"] as const) {
    const refused = meddled(operation, async () => {
      throw new EdgetableError("execute.accessDenied", "not allowed");
    });
    const db = second(ordered, refused);
    expect(await db.table.create()).toEqual({ created: false });
    await fillWith(db);
    expect(
      await db
        .person(ids.one)
        .out("admires")
        .where({ at: { gte: "2" } })
        .edges(),
    ).toHaveLength(1);
  }
  expect(await second(ordered).migrations.status()).toMatchObject({ state: "outdated" });
});

test("a kind of which items may be in either form is recorded so, until a migration has stored one", async () => {
  await first().table.create();
  const titled = z.object({ at: z.string(), title: z.string() });
  const renamed = { ...byTime, schema: titled, renamed: { title: { from: "name", stored: "new" } } } as const;
  const db = second(edge(renamed) as never);
  await db.table.create();
  expect((await db.migrations.plan()).steps.map(({ kind }) => kind)).toEqual(["convert", "record"]);
  const { refusals } = await second(edge({ ...byTime, schema: titled }) as never).migrations.plan();
  expect(refusals).toEqual([expect.stringContaining('hold "title" under its new name or as "name"')]);
});

test("the record of a migration under way is left alone, and a migration begins on what was recorded just before", async () => {
  await first().table.create();
  let isFirst = true;
  const late = meddled("UpdateItem", async () => {
    if (!isFirst) return;
    isFirst = false;
    await third(ordered).table.create();
  });
  await second(ordered, late).migrations.run(fast);
  expect(isFirst).toBe(false);
  const before = await second(ordered).migrations.status();
  expect(before).toMatchObject({ state: "migrating" });
  expect(await all().table.create()).toEqual({ created: false });
  expect((await second(ordered).migrations.status()).plan).toEqual(before.plan);
});

test("the model is recorded by the next program where the one that created the table died, unless items are there", async () => {
  const both = { byName: { entries: { person: "name", club: "name" } } } as const;
  for (let answers = 1, isRecorded = false; !isRecorded; answers++) {
    lab.table = lab.engine.freshTableName("died");
    const { transport, died } = dyingTransport(lab.engine.transport, answers);
    const creating = connectTo({ byName: byName() }, { transport }).table.create();
    isRecorded = (await Promise.race([creating.then(() => true), died.then(() => false)])) as boolean;
    const db = connectTo({ byName: byName() });
    await db.table.create();
    await db.club.put({ id: "c", name: "C" }).orThrow();
    const next = connectTo(both);
    await expect((async () => next.find("club").where({ name: "C" }).count())()).rejects.toMatchObject({ code: "plan.indexIncomplete" });
    expect(await next.migrations.run({ ...fast, finish: true })).toMatchObject({ complete: true, changed: 1 });
    expect(await next.find("club").where({ name: "C" }).count()).toBe(1);
    // Nobody knows by which model these items were written.
    await lab.engine.transport.send("DeleteItem", { TableName: lab.table, Key: { pk: { S: "~model" }, sk: { S: "#" } } });
    await connectTo(both).table.create();
    expect((await connectTo(both).migrations.plan()).recorded).toBeUndefined();
  }
});
