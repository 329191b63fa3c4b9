import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { defineGraph, edge, node } from "../index.ts";
import { startEngine, type TestEngine } from "../test-support/engine.ts";
import { verify } from "../verify/index.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

const text = z.string();
const optional = text.optional();

/** Each of three sparse keys holds `team`, beside another field. */
const graphIn = (table: string) =>
  defineGraph({
    table,
    nodes: {
      task: node({ key: "TASK#{id}", schema: z.object({ id: text, team: optional, state: optional, worker: optional, title: optional }) }),
    },
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      indexes: {
        GSI1: { partitionKey: "GSI1PK", sortKey: "GSI1SK" },
        GSI2: { partitionKey: "GSI2PK", sortKey: "GSI1SK" },
        GSI3: { partitionKey: "GSI3PK", sortKey: "GSI1SK", projection: "KEYS_ONLY" },
      },
      nodes: {
        task: {
          keys: { SK: "TASK", GSI1PK: "{team}#{state}", GSI2PK: "{team}#BY#{worker}", GSI3PK: "{team}#IS#{title}", GSI1SK: "{id}" },
          sparse: ["GSI1PK", "GSI2PK", "GSI3PK"],
        },
      },
    },
  });

const texts = (item: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(item).map(([name, value]) => [name, { S: value }]));

test("a field is read from any of the index keys that hold it", async () => {
  const table = engine.freshTableName("severalKeys");
  const db = graphIn(table).connect({ transport: engine.transport });
  await db.table.create();
  const rows = [
    { id: "1", team: "core", state: "open" },
    { id: "2", team: "core", worker: "ann" },
    { id: "3", team: "core", title: "t" },
    { id: "4", team: "core", state: "open", worker: "ann", title: "t" },
    { id: "5" },
  ];
  for (const row of rows.slice(0, 3)) expect(await db.task.create(row).orThrow()).toMatchObject({ row });
  await db.task.put(rows[3]!).orThrow();
  expect(await db.load([{ node: "task", row: rows[4]! }])).toMatchObject({ failures: [] });
  expect(await db.task.getMany(rows.map(({ id }) => ({ id })))).toEqual(rows);
  expect(await db.task.get({ id: "3" }, { select: ["team"] })).toEqual({ team: "core" });
  expect((await verify(db)).clean).toBe(true);
  // As another program writes it.
  await engine.transport.send("PutItem", {
    TableName: table,
    Item: texts({ PK: "TASK#6", SK: "TASK", GSI3PK: "core#IS#x", GSI1SK: "6" }),
  });
  expect(await db.task.get({ id: "6" })).toEqual({ id: "6", team: "core", title: "x" });
  expect(await db.find("task").where({ team: "core", title: "x" }).rows()).toEqual([{ id: "6", team: "core", title: "x" }]);
  expect(await db.find("task").where({ team: "core", worker: "ann", title: "t" }).using("GSI2").rows()).toEqual([rows[3]]);

  // A row of which no key would hold the field is refused, however it loses the last one.
  await expect(db.task.create({ id: "7", team: "core" })).rejects.toMatchObject({ code: "keys.incomplete" });
  await expect(db.task.update({ id: "3" }, { remove: ["title"] })).rejects.toMatchObject({ code: "keys.incomplete" });
  await db.task.update({ id: "4" }, { remove: ["state"] }).orThrow();
  await db.task.update({ id: "4" }, { remove: ["worker"] }).orThrow();
  await expect(db.task.update({ id: "4" }, { remove: ["title"] })).rejects.toMatchObject({ code: "keys.incomplete" });
  expect(await db.task.get({ id: "4" })).toEqual({ id: "4", team: "core", title: "t" });
  await db.task.update({ id: "4" }, { team: "site" }).orThrow();
  expect(await db.task.get({ id: "4" })).toEqual({ id: "4", team: "site", title: "t" });
  await db.task.update({ id: "4" }, { state: "open" }).orThrow();
  expect(await db.find("task").where({ team: "site", state: "open" }).rows()).toEqual([
    { id: "4", team: "site", title: "t", state: "open" },
  ]);
  expect((await verify(db)).clean).toBe(true);
});

test("a key that holds nothing else keeps the field where the others are left out", async () => {
  const table = engine.freshTableName("spareKey");
  const graph = defineGraph({
    table,
    nodes: { task: node({ key: "TASK#{id}", schema: z.object({ id: text, team: optional, state: optional }) }) },
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      indexes: {
        GSI1: { partitionKey: "GSI1PK", sortKey: "GSI1SK" },
        GSI2: { partitionKey: "GSI2PK", sortKey: "GSI1SK" },
      },
      nodes: {
        task: {
          keys: { SK: "TASK", GSI1PK: "{team}#{state}", GSI2PK: "TEAM#{team}", GSI1SK: "{id}" },
          sparse: ["GSI1PK", "GSI2PK"],
        },
      },
    },
  });
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  const rows = [{ id: "1", team: "core" }, { id: "2", team: "core", state: "open" }, { id: "3" }];
  for (const row of rows) await db.task.create(row).orThrow();
  expect(await db.task.getMany([{ id: "1" }, { id: "2" }, { id: "3" }])).toEqual(rows);
  expect(await db.task.get({ id: "1" }, { select: ["team"] })).toEqual({ team: "core" });
  expect(await db.find("task").where({ team: "core" }).rows()).toEqual(rows.slice(0, 2));
  await db.task.update({ id: "2" }, { remove: ["state"] }, { if: { team: "core" } }).orThrow();
  await db.task.update({ id: "1" }, { state: "done" }, { if: { team: "core", state: { exists: false } } }).orThrow();
  expect(await db.task.update({ id: "3" }, { remove: ["team"] }, { if: { team: "core" } })).toMatchObject({ ok: false });
  // An item on which the keys disagree has the value of the first one.
  await engine.transport.send("UpdateItem", {
    TableName: table,
    Key: texts({ PK: "TASK#1", SK: "TASK" }),
    UpdateExpression: "SET GSI2PK = :v",
    ExpressionAttributeValues: { ":v": { S: "TEAM#old" } },
  });
  expect(await db.task.get({ id: "1" })).toEqual({ id: "1", team: "core", state: "done" });
  expect(await db.task.update({ id: "1" }, { remove: ["state"] }, { if: { team: "old" } })).toMatchObject({ ok: false });
  expect(await verify(db, { repair: true })).toMatchObject({ kinds: [{ kind: "indexKey", count: 1, repaired: 1 }] });
  expect(await db.find("task").where({ team: "core" }).rows()).toEqual([
    { id: "1", team: "core", state: "done" },
    { id: "2", team: "core" },
  ]);
});

test("a condition of a write asks for the field in each of its keys", async () => {
  const table = engine.freshTableName("conditions");
  const db = graphIn(table).connect({ transport: engine.transport });
  await db.table.create();
  const all = [
    { id: "1", state: "open" },
    { id: "2", worker: "ann" },
    { id: "3", title: "t" },
  ].map((row) => ({ ...row, team: "core" }));
  for (const row of all) await db.task.create(row).orThrow();
  await db.task.create({ id: "4" }).orThrow();
  const holds = async (condition: object) => {
    const found: string[] = [];
    for (const id of ["1", "2", "3", "4"]) if ((await db.transact([db.task.check({ id }, { if: condition })])).ok) found.push(id);
    return found.join("");
  };
  expect(await holds({ team: "core" })).toBe("123");
  expect(await holds({ team: "cor" })).toBe("");
  expect(await holds({ team: { ne: "core" } })).toBe("4");
  expect(await holds({ team: { beginsWith: "co" } })).toBe("123");
  expect(await holds({ team: { exists: true } })).toBe("123");
  expect(await holds({ team: { exists: false } })).toBe("4");
});

test("what a write goes by is unchanged in each of the keys that hold it", async () => {
  const table = engine.freshTableName("unchanged");
  const graph = graphIn(table);
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  await db.task.create({ id: "1", team: "core", worker: "ann" }).orThrow();
  let isFirst = true;
  const late = graph.connect({
    transport: {
      ...engine.transport,
      send: async (operation, input, options) => {
        const answer = await engine.transport.send(operation, input, options);
        if (operation === "GetItem" && isFirst) {
          isFirst = false;
          await db.task.update({ id: "1" }, { team: "site" }).orThrow();
        }
        return answer;
      },
    },
  });
  await late.task.update({ id: "1" }, { state: "open" }).orThrow();
  expect(await db.task.get({ id: "1" })).toEqual({ id: "1", team: "site", worker: "ann", state: "open" });
  expect((await verify(db)).clean).toBe(true);
});

test("a walk finds the end of an edge in any of the keys that hold it", async () => {
  const table = engine.freshTableName("ends");
  const graph = defineGraph({
    table,
    nodes: { user: node({ key: "USER#{id}", schema: z.object({ id: text }) }) },
    edges: {
      reports: edge({
        from: "user",
        to: "user",
        multiplicity: "many-to-one",
        ends: "unchecked",
        schema: z.object({ role: optional, place: optional }),
      }),
    },
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      indexes: {
        GSI1: { partitionKey: "GSI1PK", sortKey: "GSI1SK" },
        GSI2: { partitionKey: "GSI2PK", sortKey: "GSI1SK" },
      },
      edges: {
        reports: {
          keys: { SK: "BOSS", GSI1PK: "{to.id}#{role}", GSI2PK: "{to.id}#AT#{place}", GSI1SK: "{from.id}" },
          sparse: ["GSI1PK", "GSI2PK"],
        },
      },
    },
  });
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  await db.reports.link({ id: "1" }, { id: "2" }, { role: "dev" }).orThrow();
  await db.reports.link({ id: "2" }, { id: "3" }, { place: "Oslo" }).orThrow();
  expect(await db.user({ id: "1" }).walk().out("reports").out("reports").ids()).toMatchObject({ items: [{ id: "3" }] });
  expect(await db.user({ id: "2" }).out("reports").edges()).toMatchObject([{ to: { id: "3" }, place: "Oslo" }]);
});
