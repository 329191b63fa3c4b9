import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { defineGraph, edge, node, part, type SentRequest } from "../index.ts";
import { startEngine, type TestEngine } from "../test-support/engine.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

const text = z.string();

/** Sessions and users, one item each, under a partition key alone. */
const graphOf = (table: string) =>
  defineGraph({
    table,
    nodes: {
      user: node({ key: "USER#{email}", schema: z.object({ email: text, name: text, handle: text.optional() }), unique: ["handle"] }),
      session: node({ key: "SESSION#{token}", schema: z.object({ token: text, email: text, device: text }) }),
    },
    edges: {
      signedInBy: edge({ from: "session", to: "user", stored: "reference", multiplicity: "many-to-one" }),
      follows: edge({ from: "user", to: "user", schema: z.object({ since: text }) }),
    },
    layout: {
      partitionKey: "Id",
      typeAttribute: "Kind",
      indexes: {
        byOwner: { partitionKey: "Owner", sortKey: "OwnerSort" },
        byFollower: { partitionKey: "Follower" },
        byFollowed: { partitionKey: "Followed" },
      },
      nodes: { session: { keys: { Owner: "{email}", OwnerSort: "{device}" } } },
      edges: { follows: { keys: { Id: "FOLLOWS#{from.email}#{to.email}", Follower: "{from}", Followed: "{to}" } } },
    },
  });

test("nodes of a table without a sort key are written, read, changed, listed and deleted by their partition key", async () => {
  const graph = graphOf(engine.freshTableName("sessions"));
  const sent: SentRequest[] = [];
  const db = graph.connect({ transport: engine.transport, onRequest: (one) => sent.push(one) });
  await db.table.create();
  expect(await db.table.diff()).toEqual([]);
  const Table = graph.catalog.table;
  expect(sent.find(({ operation }) => operation === "CreateTable")?.input).toMatchObject({
    KeySchema: [{ AttributeName: "Id", KeyType: "HASH" }],
  });
  sent.length = 0;

  await db.session.create({ token: "t1", email: "a@x", device: "phone" }).orThrow();
  expect(sent[0]?.input).toEqual({
    TableName: Table,
    Item: {
      Id: { S: "SESSION#t1" },
      Kind: { S: "session" },
      Owner: { S: "a@x" },
      OwnerSort: { S: "phone" },
    },
    ConditionExpression: "attribute_not_exists(#0)",
    ExpressionAttributeNames: { "#0": "Id" },
    ReturnValuesOnConditionCheckFailure: "ALL_OLD",
    ReturnConsumedCapacity: "TOTAL",
  });
  sent.length = 0;
  expect(await db.session.get({ token: "t1" })).toEqual({ token: "t1", email: "a@x", device: "phone" });
  expect(sent.map(({ operation, input }) => [operation, input])).toEqual([
    ["GetItem", { TableName: Table, Key: { Id: { S: "SESSION#t1" } }, ReturnConsumedCapacity: "TOTAL" }],
  ]);
  await db.session.put({ token: "t2", email: "a@x", device: "laptop" }).orThrow();
  expect((await db.session.create({ token: "t2", email: "a@x", device: "x" })).ok).toBe(false);
  expect(await db.session.update({ token: "t1" }, { device: "tablet" }).orThrow()).toMatchObject({ row: { device: "tablet" } });
  expect(await db.session.getMany([{ token: "t1" }, { token: "none" }, { token: "t2" }])).toMatchObject([
    { device: "tablet" },
    undefined,
    { device: "laptop" },
  ]);

  await db.user.create({ email: "a@x", name: "A", handle: "ann" }).orThrow();
  expect(await db.user.create({ email: "b@x", name: "B", handle: "ann" })).toMatchObject({ ok: false, reason: "notUnique" });
  await db.user.create({ email: "b@x", name: "B" }).orThrow();
  const user = { email: "a@x" };
  expect(await db.user(user).in("signedInBy").nodes()).toMatchObject([{ token: "t2" }, { token: "t1" }]);
  expect(await db.session({ token: "t1" }).out("signedInBy").nodes()).toMatchObject([{ name: "A" }]);
  expect((await db.user(user).walk().in("signedInBy").ids()).items).toEqual([{ token: "t2" }, { token: "t1" }]);

  const first = await db.user(user).in("signedInBy").page({ limit: 1 });
  const second = await db.user(user).in("signedInBy").page({ limit: 1, cursor: first.next });
  expect([...first.items, ...second.items]).toHaveLength(2);

  await db.follows.link(user, { email: "b@x" }, { since: "2020" }).orThrow();
  expect(await db.user(user).out("follows").edges()).toEqual([{ from: user, to: { email: "b@x" }, since: "2020" }]);
  expect(await db.user({ email: "b@x" }).in("follows").nodes()).toMatchObject([{ name: "A" }]);

  const strays: unknown[] = [];
  const scan = db.scan({ onStray: (stray) => strays.push(stray) });
  const rows: unknown[] = [];
  for await (const row of scan) rows.push(row);
  expect(strays).toEqual([]);
  expect(rows).toHaveLength(5);
  expect(scan.report()).toMatchObject({ system: 2, stray: 0 });

  await db.follows.unlink(user, { email: "b@x" }).orThrow();
  await db.session.delete({ token: "t1" }).orThrow();
  expect(await db.session.get({ token: "t1" })).toBeUndefined();
});

const messages = (define: () => unknown): string => {
  try {
    define();
    return "";
  } catch (error) {
    return (error as Error).message;
  }
};

test("what needs an item of its own beside a node is refused in a table without a sort key", () => {
  const user = node({ key: "USER#{id}", schema: z.object({ id: text }) });
  const noteOf = part({ of: "user", key: "NOTE#{n}", schema: z.object({ n: text }) });
  const layout = { partitionKey: "Id" } as const;
  expect(messages(() => defineGraph({ table: "Users", nodes: { user }, parts: { note: noteOf }, layout }))).toBe(
    [
      "The model has a mistake:",
      '- parts.note: the table has no sort key, so "note" would replace its "user". Give the layout a sortKey, or declare "note" as a node with a reference to "user".',
    ].join("\n"),
  );
  expect(
    messages(() => defineGraph({ table: "Users", nodes: { user }, edges: { knows: edge({ from: "user", to: "user" }) }, layout })),
  ).toBe(
    [
      "The model has a mistake:",
      '- edges.knows: the table has no sort key, so an edge needs its own partition key with both its ends: {to.id} is not in it. Give layout.edges.knows.keys.Id a template such as "knows#{from}#{to}", store the edge as a "reference", or give the layout a sortKey.',
    ].join("\n"),
  );
});
