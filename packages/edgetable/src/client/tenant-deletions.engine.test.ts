import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { count, defineGraph, edge, EdgetableError, node, type Transport } from "../index.ts";
import { verify } from "../verify/index.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

const text = z.string();

/** A graph of two tenants, in which a program without a tenant has linked a team to many users of the other. */
const openCrossing = async (name: string, { users = 3, shards }: { readonly users?: number; readonly shards?: number } = {}) => {
  const id = z.object({ tenantId: text, id: text });
  const sent: { readonly operation: string; readonly input: unknown }[] = [];
  const graph = defineGraph({
    table: engine.freshTableName(name),
    nodes: {
      user: node({ key: "T#{tenantId}#U#{id}", schema: id, derived: { all: count({ out: "joins", ...(shards && { shards }) }) } }),
      team: node({ key: "T#{tenantId}#M#{id}", schema: id }),
    },
    edges: { joins: edge({ from: "user", to: "team", onDelete: { from: "cascade", to: "cascade" } }) },
  });
  let denies = false;
  const transport: Transport = {
    ...engine.transport,
    send: async (operation, input, options) => {
      // What an identity whose policy names the tenant's partitions alone is told.
      if (denies && operation.endsWith("Items") && JSON.stringify(input).includes('"T#b#'))
        throw new EdgetableError("execute.accessDenied", "User is not authorized", { details: {} });
      return engine.transport.send(operation, input, options);
    },
    close: async () => undefined,
  };
  const db = graph.connect({ transport, onRequest: ({ operation, input }) => sent.push({ operation, input }) });
  await db.table.create();
  const team = { tenantId: "a", id: "red" };
  await db.team.put(team);
  await db.team.put({ tenantId: "b", id: "blue" });
  for (let at = 0; at < users; at++) await db.user.put({ tenantId: "b", id: `${at}` });
  for (let at = 0; at < users; at++)
    for (const to of [team, { tenantId: "b", id: "blue" }]) await db.joins.link({ tenantId: "b", id: `${at}` }, to).orThrow();
  sent.length = 0;
  return { db, a: db.as({ tenantId: "a" }), sent, team, deny: () => (denies = true) };
};

test.each([undefined, 3])(
  "a deletion removes a page of edges from another tenant's nodes, and names no other items of theirs (shards %s)",
  async (shards) => {
    const { db, a, sent } = await openCrossing("crossed", { users: 30, ...(shards && { shards }) });
    await db.user.put({ tenantId: "c", id: "1" });
    sent.length = 0;
    await a.team.delete({ id: "red" }, { indexLag: 0 }).orThrow();
    const named = sent.filter(({ operation }) => operation !== "Query").map(({ input }) => JSON.stringify(input));
    expect(named.filter((one) => one.includes("T#c#") || one.includes("#blue"))).toEqual([]);
    expect(await db.team({ tenantId: "a", id: "red" }).in("joins").count()).toBe(0);
    expect(await db.team({ tenantId: "b", id: "blue" }).in("joins").count()).toBe(30);
    // Counters that several shards hold are rolled up by the stream.
    if (!shards) expect(await db.user({ tenantId: "b", id: "7" }).get()).toMatchObject({ all: 1 });
    expect((await verify(db)).kinds.filter(({ isHarmless }) => !isHarmless)).toEqual([]);
  },
);

test("where the tenant's credentials may not write the other end, such edges stay, and the node goes", async () => {
  const { db, a, deny } = await openCrossing("denied");
  deny();
  expect(await a.team.delete({ id: "red" }, { indexLag: 0 })).toMatchObject({ ok: true });
  expect(await a.team({ id: "red" }).get()).toBeUndefined();
  expect(await a.jobs.list()).toEqual([]);
  expect(await db.user({ tenantId: "b", id: "1" }).out("joins").count()).toBe(2);
});

test("a deletion that meets no such edge sends no more than one without a tenant", async () => {
  const { db, a, sent } = await openCrossing("uncrossed");
  await db.user.put({ tenantId: "a", id: "1" });
  for (const id of ["x", "y", "z"]) {
    await db.team.put({ tenantId: "a", id });
    await db.joins.link({ tenantId: "a", id: "1" }, { tenantId: "a", id }).orThrow();
  }
  // The first deletion of a connection may read the table's record.
  await a.team.delete({ id: "z" }, { indexLag: 0 }).orThrow();
  sent.length = 0;
  await a.team.delete({ id: "x" }, { indexLag: 0 }).orThrow();
  const scoped = sent.splice(0).map(({ operation }) => operation);
  await db.team.delete({ tenantId: "a", id: "y" }, { indexLag: 0 }).orThrow();
  expect(scoped).toEqual(sent.map(({ operation }) => operation));
});
