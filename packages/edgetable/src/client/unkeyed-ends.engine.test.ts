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
