import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { defineGraph, edge, node, part } from "../index.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

const text = z.string();

/** Tasks whose sort key holds their status, so that one that has expired may lie beside one that has not. */
const open = async (name: string, owner: "checked" | undefined) => {
  const db = defineGraph({
    table: engine.freshTableName(name),
    nodes: {
      task: node({
        key: "TASK#{taskId}",
        schema: z.object({ taskId: text, status: text, expiresAt: z.number().optional() }),
        ttl: "expiresAt",
      }),
      user: node({ key: "USER#{userId}", schema: z.object({ userId: text }) }),
    },
    parts: { step: part({ of: "task", key: "STEP#{stepId}", schema: z.object({ stepId: text }), ...(owner && { owner }) }) },
    edges: { owns: edge({ from: "user", to: "task", onDelete: { to: "cascade" } }) },
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      indexes: { reverse: { partitionKey: "G1", sortKey: "G2" } },
      nodes: { task: { keys: { SK: "AT#{status}" } } },
      edges: { owns: { keys: { SK: "OWNS#{to}", G1: "{to}", G2: "{from}" } } },
    },
  }).connect({ transport: engine.transport });
  await db.table.create();
  return db;
};

test.each(["checked", undefined] as const)("a node is deleted beside one of its id that has expired (owner %s)", async (owner) => {
  const db = await open("deletedBeside", owner);
  const id = { taskId: "1" };
  await db.user.create({ userId: "u" }).orThrow();
  for (const [status, expiresAt] of [
    ["a", 1000],
    ["b", undefined],
    ["c", 1000],
  ] as const)
    await db.task.create({ ...id, status, ...(expiresAt && { expiresAt }) }).orThrow();
  await db.step.create(id, { stepId: "s" }).orThrow();
  await db.owns.link({ userId: "u" }, id).orThrow();
  await db.task.delete(id, { indexLag: 0 }).orThrow();
  expect(await db.task.get(id)).toBeUndefined();
  expect(await db.step.get(id, { stepId: "s" })).toBeUndefined();
  expect(await db.user({ userId: "u" }).out("owns").ids()).toEqual([]);
  expect(await db.jobs.list()).toEqual([]);
  // Beside expired items alone, there is nothing to delete but them.
  await db.task.delete(id, { indexLag: 0 }).orThrow();
});

test("a node is deleted without the parts and edges of those that share its partition", async () => {
  const db = defineGraph({
    table: engine.freshTableName("deletedNear"),
    nodes: {
      ticket: node({ key: "TEAM#{team}#{no}", schema: z.object({ team: text, no: text }) }),
      user: node({ key: "USER#{userId}", schema: z.object({ userId: text }) }),
    },
    parts: { step: part({ of: "ticket", key: "STEP#{stepId}", schema: z.object({ stepId: text }) }) },
    edges: { names: edge({ from: "ticket", to: "user", onDelete: { from: "cascade" } }) },
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      indexes: { reverse: { partitionKey: "G1", sortKey: "G2" } },
      nodes: { ticket: { keys: { PK: "TEAM#{team}", SK: "TICKET#{no}" } } },
      parts: { step: { keys: { PK: "TEAM#{team}", SK: "STEP#{no}#{stepId}" } } },
      edges: { names: { keys: { PK: "TEAM#{from.team}", SK: "NAMES#{from.no}#{to}", G1: "{to}", G2: "{from}" } } },
    },
  }).connect({ transport: engine.transport });
  await db.table.create();
  await db.user.create({ userId: "u" }).orThrow();
  for (const no of ["1", "2"]) {
    const id = { team: "t", no };
    await db.ticket.create(id).orThrow();
    await db.step.create(id, { stepId: "s" }).orThrow();
    await db.names.link(id, { userId: "u" }).orThrow();
  }
  await db.ticket.delete({ team: "t", no: "1" }, { indexLag: 0 }).orThrow();
  const left = { team: "t", no: "2" };
  expect(await db.ticket.get(left)).toEqual(left);
  expect(await db.step.get(left, { stepId: "s" })).toBeDefined();
  expect(await db.ticket(left).out("names").ids()).toHaveLength(1);
  expect(await db.step.get({ team: "t", no: "1" }, { stepId: "s" })).toBeUndefined();
  expect(await db.ticket({ team: "t", no: "1" }).out("names").ids()).toEqual([]);
});

test("edges of several types in a partition that nodes share, or in one of an index, stay with the others", async () => {
  const outgoing = edge({ from: "ticket", to: "user", onDelete: { from: "cascade" } });
  const incoming = edge({ from: "user", to: "ticket", onDelete: { to: "cascade" } });
  const from = (name: string) => ({ keys: { PK: "LINKS#{from.team}", SK: `${name}#{from.no}#{to}` } });
  const to = (name: string) => ({ keys: { SK: `${name}#{to}`, G1: "LINKED#{to.team}", G2: `${name}#{to.no}#{from}` } });
  const db = defineGraph({
    table: engine.freshTableName("deletedAmong"),
    nodes: {
      ticket: node({ key: "TEAM#{team}#{no}", schema: z.object({ team: text, no: text }) }),
      user: node({ key: "USER#{userId}", schema: z.object({ userId: text }) }),
    },
    edges: { names: outgoing, asks: outgoing, owns: incoming, saw: incoming },
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      indexes: { reverse: { partitionKey: "G1", sortKey: "G2" } },
      edges: { names: from("NAMES"), asks: from("ASKS"), owns: to("OWNS"), saw: to("SAW") },
    },
  }).connect({ transport: engine.transport });
  await db.table.create();
  const [one, two, user] = [{ team: "t", no: "1" }, { team: "t", no: "2" }, { userId: "u" }] as const;
  await db.user.create(user).orThrow();
  for (const id of [one, two]) {
    await db.ticket.create(id).orThrow();
    await db.transact([db.names.link(id, user), db.asks.link(id, user)]).orThrow();
    await db.transact([db.owns.link(user, id), db.saw.link(user, id)]).orThrow();
  }
  await db.ticket.delete(one, { indexLag: 0 }).orThrow();
  const counts = async (id: typeof one | typeof two) => {
    const ticket = db.ticket(id);
    return Promise.all([ticket.out("names").count(), ticket.out("asks").count(), ticket.in("owns").count(), ticket.in("saw").count()]);
  };
  expect(await counts(one)).toEqual([0, 0, 0, 0]);
  expect(await counts(two)).toEqual([1, 1, 1, 1]);
});
