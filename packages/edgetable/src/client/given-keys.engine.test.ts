import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { defineGraph, node, type Transport } from "../index.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

const text = z.string();

test("update and delete take what the key needs beside the id, and then read nothing to find the node", async () => {
  const sent: string[] = [];
  const transport: Transport = {
    ...engine.transport,
    send: (operation, input, options) => {
      sent.push(operation);
      return engine.transport.send(operation, input, options);
    },
  };
  const log = node({ key: "LOG#{logId}", schema: z.object({ logId: text, at: text, title: text }) });
  const graph = defineGraph({
    table: engine.freshTableName("given"),
    nodes: { log },
    layout: { partitionKey: "PK", sortKey: "SK", nodes: { log: { keys: { PK: "LOG#{logId}", SK: "AT#{at}" } } } },
  });
  const db = graph.connect({ transport });
  await db.table.create();
  const requestsOf = async (call: () => PromiseLike<unknown>) => {
    sent.length = 0;
    const outcome = await call();
    return { outcome, requests: [...sent] };
  };
  await db.log.put({ logId: "1", at: "2020", title: "A" }).orThrow();
  expect(await requestsOf(() => db.log.update({ logId: "1" }, { title: "B" }))).toMatchObject({ requests: ["Query", "UpdateItem"] });
  expect(await requestsOf(() => db.log.update({ logId: "1" }, { title: "C" }, { given: { at: "2020" } }))).toMatchObject({
    outcome: { ok: true, row: { logId: "1", at: "2020", title: "C" } },
    requests: ["UpdateItem"],
  });
  // What is given has to be so.
  expect(await db.log.update({ logId: "1" }, { title: "D" }, { given: { at: "2021" } })).toMatchObject({ ok: false, reason: "notFound" });
  expect(await db.log.delete({ logId: "1" }, { given: { at: "2021" } })).toMatchObject({ ok: false, reason: "notFound" });
  // A change of it moves the item.
  const moved = await requestsOf(() => db.log.update({ logId: "1" }, { at: "2022" }, { given: { at: "2020" } }));
  expect(moved).toMatchObject({ outcome: { ok: true }, requests: ["GetItem", "TransactWriteItems"] });
  expect(await db.log.get({ logId: "1" })).toEqual({ logId: "1", at: "2022", title: "C" });
  await expect(async () => db.log.update({ logId: "1" }, { title: "E" }, { given: { title: "C" } })).rejects.toMatchObject({
    code: "schema.unknownAttribute",
  });
  expect(await requestsOf(() => db.log.delete({ logId: "1" }, { given: { at: "2022" } }))).toMatchObject({
    outcome: { ok: true },
    requests: ["DeleteItem"],
  });
  expect(await db.log.get({ logId: "1" })).toBeUndefined();
});

test("an item that is older than its version keeps the first one when a change moves it", async () => {
  const table = engine.freshTableName("movedVersion");
  const graph = defineGraph({
    table,
    nodes: { log: node({ key: "LOG#{id}", schema: z.object({ id: text, at: text }), version: true }) },
    layout: { partitionKey: "PK", sortKey: "SK", nodes: { log: { keys: { SK: "AT#{at}" } } } },
  });
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  await engine.transport.send("PutItem", { TableName: table, Item: { PK: { S: "LOG#1" }, SK: { S: "AT#2020" } } });
  expect(await db.log.update({ id: "1" }, { at: "2021" })).toMatchObject({ ok: true, row: { at: "2021", version: 1 } });
  expect(await db.log.get({ id: "1" })).toEqual({ id: "1", at: "2021", version: 1 });
  expect(await db.log.update({ id: "1" }, { at: "2022" }, { ifVersion: 1 })).toMatchObject({ ok: true, row: { version: 2 } });
});
