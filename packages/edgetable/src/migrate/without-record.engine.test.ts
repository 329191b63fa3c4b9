import { expect, test } from "vitest";
import { z } from "zod";
import { average, count, defineGraph, edge, max, node, part } from "../index.ts";
import { verify } from "../verify/index.ts";
import { fast, lab, openMigrationsLab } from "./migrations-lab.test-support.ts";

// The first migration of a table that other programs have written: nothing of what the model keeps is there.

openMigrationsLab();

const text = z.string();
const cascade = { from: "cascade", to: "cascade" } as const;
const connect = () =>
  defineGraph({
    table: lab.table,
    nodes: {
      user: node({
        key: "USER#{id}",
        schema: z.object({ id: text, email: text }),
        unique: ["email"],
        derived: {
          notes: count({ parts: "note" }),
          mean: average({ out: "likes", of: "stars" }),
          best: max({ in: "likes", of: "stars", freshness: "stream" }),
        },
      }),
    },
    parts: { note: part({ of: "user", key: "NOTE#{n}", schema: z.object({ n: text }), copies: ["email"] }) },
    edges: {
      likes: edge({ from: "user", to: "user", schema: z.object({ stars: z.number() }), maxDegree: { from: 2 }, onDelete: cascade }),
    },
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      indexes: { GSI1: { partitionKey: "GSI1PK", sortKey: "GSI1SK" } },
      edges: { likes: { keys: { SK: "LIKES#{to}", GSI1PK: "{to}", GSI1SK: "LIKED#{from}" } } },
    },
  }).connect({ transport: lab.engine.transport });

const filled = async () => {
  const db = connect();
  await db.table.create();
  const put = (item: Readonly<Record<string, string>>, stars?: string) =>
    lab.engine.transport.send("PutItem", {
      TableName: lab.table,
      Item: {
        ...Object.fromEntries(Object.entries(item).map(([name, value]) => [name, { S: value }])),
        ...(stars !== undefined && { stars: { N: stars } }),
      },
    });
  for (const id of ["1", "2", "3"]) {
    await put({ PK: `USER#${id}`, SK: `USER#${id}`, email: `${id}@x.org` });
    await put({ PK: `USER#${id}`, SK: "NOTE#1" });
  }
  const links = [
    ["1", "2"],
    ["1", "3"],
    ["2", "3"],
  ] as const;
  for (const [at, [from, to]] of links.entries())
    await put({ PK: `USER#${from}`, SK: `LIKES#USER#${to}`, GSI1PK: `USER#${to}`, GSI1SK: `LIKED#USER#${from}` }, String(at + 1));
  return db;
};

test("it reserves unique values, and computes derived attributes, copies and degrees", async () => {
  const db = await filled();
  const { steps, notes } = await db.migrations.plan();
  expect(steps.map(({ kind }) => kind)).toEqual(["derive", "reserve", "record"]);
  expect(notes.join(" ")).toContain('A stream processor maintains "user.best"');
  expect(await db.migrations.run({ ...fast, finish: true })).toMatchObject({ complete: true });
  expect(await db.user.getMany([{ id: "1" }, { id: "2" }, { id: "3" }])).toEqual([
    { id: "1", email: "1@x.org", notes: 1, mean: 1.5 },
    { id: "2", email: "2@x.org", notes: 1, mean: 3, best: 1 },
    { id: "3", email: "3@x.org", notes: 1, best: 3 },
  ]);
  expect(await db.user({ id: "2" }).parts("note").all()).toEqual([{ id: "2", n: "1", email: "2@x.org" }]);
  expect(await db.user.by({ email: "1@x.org" })).toMatchObject({ id: "1" });
  expect(await db.user.create({ id: "4", email: "1@x.org" })).toMatchObject({ ok: false, reason: "notUnique" });
  expect(await db.likes.link({ id: "1" }, { id: "1" }, { stars: 1 })).toMatchObject({ ok: false, reason: "degreeExceeded" });
  expect((await verify(db, { settle: 1, staleAfter: 1 })).kinds).toEqual([]);
  expect((await db.migrations.plan()).steps).toEqual([]);
});

test("it stops at values that are not unique, and at parts without their node", async () => {
  const db = await filled();
  await lab.engine.transport.send("PutItem", { TableName: lab.table, Item: { PK: { S: "USER#9" }, SK: { S: "NOTE#1" } } });
  await expect(db.migrations.run({ ...fast, finish: true })).rejects.toMatchObject({ code: "migrate.uncounted" });
  await lab.engine.transport.send("PutItem", {
    TableName: lab.table,
    Item: { PK: { S: "USER#9" }, SK: { S: "USER#9" }, email: { S: "1@x.org" } },
  });
  await expect(db.migrations.run({ ...fast, finish: true })).rejects.toMatchObject({ code: "migrate.duplicates" });
});
