import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { defineGraph, node, part, type SentRequest } from "../index.ts";
import type { CreateTableInput } from "../transport/operations.ts";
import { startEngine, type TestEngine } from "../test-support/engine.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

const text = z.string();

/** The threads and replies of the developer guide's forum: who replied is found by a local index. */
const forumIn = (table: string) =>
  defineGraph({
    table,
    nodes: { thread: node({ key: "{forum}#{subject}", schema: z.object({ forum: text, subject: text }), stored: false }) },
    parts: { reply: part({ of: "thread", key: "{at}", schema: z.object({ at: text, by: text, message: text }) }) },
    layout: {
      partitionKey: "Id",
      sortKey: "ReplyDateTime",
      indexes: { byAuthor: { partitionKey: "Id", sortKey: "PostedBy", projection: ["message"] } },
      parts: { reply: { keys: { PostedBy: "{by}" } } },
    },
  });

const keys = (sort: string) =>
  [
    { AttributeName: "Id", KeyType: "HASH" },
    { AttributeName: sort, KeyType: "RANGE" },
  ] as const;

test("a table whose index is a local one fits a model that names it, and is searched by it", async () => {
  const table = engine.freshTableName("forum");
  const local = {
    IndexName: "byAuthor",
    KeySchema: keys("PostedBy"),
    Projection: { ProjectionType: "INCLUDE", NonKeyAttributes: ["message"] },
  };
  const create = {
    TableName: table,
    AttributeDefinitions: ["Id", "ReplyDateTime", "PostedBy"].map((AttributeName) => ({ AttributeName, AttributeType: "S" as const })),
    KeySchema: keys("ReplyDateTime"),
    LocalSecondaryIndexes: [local],
    BillingMode: "PAY_PER_REQUEST",
  } satisfies CreateTableInput & { readonly LocalSecondaryIndexes: unknown };
  await engine.transport.send("CreateTable", create);
  const sent: SentRequest[] = [];
  const db = forumIn(table).connect({ transport: engine.transport, onRequest: (one) => sent.push(one) });
  expect(await db.table.diff()).toEqual([]);

  const thread = { forum: "Dynamo", subject: "Keys" };
  for (const [at, by] of [
    ["2015", "ann"],
    ["2016", "bob"],
    ["2017", "ann"],
  ] as const)
    await db.reply.create(thread, { at, by, message: `in ${at}` }).orThrow();
  sent.length = 0;
  const found = await db
    .find("reply")
    .where({ ...thread, by: "ann" })
    .rows();
  expect(found).toEqual(["2015", "2017"].map((at) => ({ ...thread, at, by: "ann", message: `in ${at}` })));
  // The record of the model is read beside the first read of an index: either may be sent first.
  expect(sent.map(({ operation, index }) => `${operation} ${index}`).toSorted()).toEqual(["GetItem undefined", "Query byAuthor"]);
  expect((await db.migrations.status()).indexes).toEqual([{ name: "byAuthor", state: "complete" }]);
});
