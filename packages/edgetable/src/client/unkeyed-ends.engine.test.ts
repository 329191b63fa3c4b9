import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { edge, node } from "../schema/definition.ts";
import { startEngine, type TestEngine } from "../test-support/engine.ts";
import { defineGraph } from "./define-graph.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

const user = node({ key: "USER#{userId}", schema: z.object({ userId: z.string(), teamId: z.string().optional() }) });
const team = node({ key: "TEAM#{teamId}", schema: z.object({ teamId: z.string() }) });
const [mine, a, b] = [{ userId: "U" }, { teamId: "A" }, { teamId: "B" }];

test("an edge that lies under the key asked for and leads elsewhere is not the one", async () => {
  const graph = defineGraph({
    table: engine.freshTableName(),
    nodes: { user, team },
    edges: { joins: edge({ from: "user", to: "team", multiplicity: "many-to-one", ends: "unchecked" }) },
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      nodes: { user: { keys: { SK: "user" } }, team: { keys: { SK: "team" } } },
      edges: { joins: { keys: { SK: "JOINS", team: "{to}" } } },
    },
  });
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  await db.joins.link(mine, b).orThrow();
  expect(await db.joins.get(mine, a)).toBeUndefined();
  expect(await db.joins.get(mine, b)).toEqual({ from: mine, to: b });
  expect(await db.joins.getMany(mine, [a, b])).toEqual([{ from: mine, to: b }]);
  expect([await db.user(mine).has("joins", a), await db.user(mine).has("joins", b)]).toEqual([false, true]);
});

test("an upsert where the key names one end: links, changes the edge to that node, and leaves one to another node", async () => {
  const graph = defineGraph({
    table: engine.freshTableName(),
    nodes: { user, team },
    edges: {
      joins: edge({
        from: "user",
        to: "team",
        multiplicity: "many-to-one",
        ends: "unchecked",
        schema: z.object({ as: z.string(), turns: z.int() }),
      }),
    },
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      nodes: { user: { keys: { SK: "user" } }, team: { keys: { SK: "team" } } },
      edges: { joins: { keys: { SK: "JOINS", team: "{to}" } } },
    },
  });
  const sent: string[] = [];
  const db = graph.connect({ transport: engine.transport, onRequest: ({ operation }) => sent.push(operation) });
  await db.table.create();
  sent.length = 0;
  const upsert = (to: typeof a, expect?: "new" | "existing") =>
    db.joins.upsert(mine, to, { as: "member", turns: 1 }, { add: { turns: 1 } }, { expect });
  expect(await upsert(b)).toMatchObject({ ok: true, created: true, row: { to: b, turns: 1 } });
  expect(sent).toEqual(["GetItem", "PutItem"]);
  expect(await upsert(b, "new")).toMatchObject({ ok: true, created: false, row: { to: b, turns: 2 } });
  expect(await upsert(a)).toMatchObject({ ok: false, reason: "exists" });
  expect(await upsert(a, "new")).toMatchObject({ ok: false, reason: "exists" });
  expect(await db.joins.get(mine, b)).toEqual({ from: mine, to: b, as: "member", turns: 2 });
  const [before, then] = [db.user.create({ ...mine, teamId: "B" }), upsert(a)];
  expect(await db.transact([before, then])).toMatchObject({ ok: false, outcomes: [{ reason: "rolledBack" }, { reason: "exists" }] });
  expect(await db.user.get(mine)).toBeUndefined();
});

test("so of a reference: the node's item is there, and refers to another", async () => {
  const graph = defineGraph({
    table: engine.freshTableName(),
    nodes: { user, team },
    edges: { joins: edge({ from: "user", to: "team", stored: "reference", multiplicity: "many-to-one" }) },
  });
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  await db.user.create({ ...mine, ...b }).orThrow();
  await db.user.create({ userId: "free" }).orThrow();
  expect((await db.joins.get(mine, a).explain()).requests).toMatchObject([
    { operation: "GetItem", input: { Key: { pk: { S: "USER#U" }, sk: { S: "#" } } } },
  ]);
  expect(await db.joins.get(mine, a)).toBeUndefined();
  expect(await db.joins.get(mine, b)).toMatchObject({ from: mine, to: b });
  expect(await db.joins.get({ userId: "free" }, a)).toBeUndefined();
  expect(await db.user(mine).has("joins", a)).toBe(false);
});
