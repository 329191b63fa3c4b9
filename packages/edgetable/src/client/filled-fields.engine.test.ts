import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { defineGraph, node, type ItemLayout, type SentRequest } from "../index.ts";
import { startEngine, type TestEngine } from "../test-support/engine.ts";
import { verify } from "../verify/index.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

const text = z.string();

/** A ticket is found by who works on it, else by the team that it waits for; done ones, by a fixed word. */
const graphIn = (table: string, item: ItemLayout = {}) =>
  defineGraph({
    table,
    nodes: {
      ticket: node({
        key: "TICKET#{id}",
        schema: z.object({
          id: text,
          team: text,
          worker: z.object({ name: text }).optional(),
          done: z.boolean().optional(),
          queue: text.optional(),
          rank: text.optional(),
        }),
      }),
    },
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      indexes: { GSI1: { partitionKey: "GSI1PK", sortKey: "GSI1SK" } },
      nodes: {
        ticket: {
          keys: { SK: "TICKET", GSI1PK: "QUEUE#{queue}", GSI1SK: "{rank}#{id}" },
          fill: { queue: ["{worker.name}", "{team}"], rank: [{ with: "done", value: "DONE" }, "OPEN"] },
          ...item,
        },
      },
    },
  });

test("a field is filled from the first source that a row has, by every write", async () => {
  const table = engine.freshTableName("filled");
  const sent: SentRequest[] = [];
  const db = graphIn(table).connect({ transport: engine.transport, onRequest: (one) => sent.push(one) });
  await db.table.create();
  const keys = async (id: string) => {
    const { Item = {} } = await engine.transport.send("GetItem", {
      TableName: table,
      Key: { PK: { S: `TICKET#${id}` }, SK: { S: "TICKET" } },
    });
    const { GSI1PK, GSI1SK, queue, rank } = Item as Record<string, { readonly S: string }>;
    expect([queue, rank]).toEqual([undefined, undefined]);
    return [GSI1PK?.S, GSI1SK?.S];
  };
  expect(await db.ticket.create({ id: "1", team: "core" })).toMatchObject({ ok: true, row: { queue: "core", rank: "OPEN" } });
  await db.ticket.put({ id: "2", team: "core", worker: { name: "ann" } }).orThrow();
  expect(await keys("1")).toEqual(["QUEUE#core", "OPEN#1"]);
  expect(await keys("2")).toEqual(["QUEUE#ann", "OPEN#2"]);
  expect(await db.ticket.get({ id: "2" })).toEqual({ id: "2", team: "core", worker: { name: "ann" }, queue: "ann", rank: "OPEN" });

  // A change of a source reads the item and changes the keys, also of one that a read gave.
  sent.length = 0;
  expect(await db.ticket.update({ id: "1" }, { worker: { name: "ben" } })).toMatchObject({ ok: true });
  expect(sent.map(({ operation }) => operation)).toEqual(["GetItem", "UpdateItem"]);
  expect(await keys("1")).toEqual(["QUEUE#ben", "OPEN#1"]);
  await db.ticket.update({ id: "1" }, { remove: ["worker"] }).orThrow();
  expect(await keys("1")).toEqual(["QUEUE#core", "OPEN#1"]);
  await db.ticket.update({ id: "2" }, { set: { "worker.name": "cy", done: true } }).orThrow();
  expect(await keys("2")).toEqual(["QUEUE#cy", "DONE#2"]);
  const row = await db.ticket.get({ id: "2" });
  await db.ticket.put({ ...row!, worker: { name: "dan" } }).orThrow();
  expect(await keys("2")).toEqual(["QUEUE#dan", "DONE#2"]);
  await expect(db.ticket.update({ id: "1" }, { queue: "x" }).run()).rejects.toMatchObject({ code: "schema.immutableAttribute" });

  // Searches name the field.
  await db.ticket.put({ id: "3", team: "core", done: true }).orThrow();
  sent.length = 0;
  expect(await db.find("ticket").where({ queue: "core", rank: "OPEN" }).rows()).toMatchObject([{ id: "1" }]);
  expect(sent.at(-1)?.input).toMatchObject({
    KeyConditionExpression: "GSI1PK = :p AND begins_with(GSI1SK, :s)",
    ExpressionAttributeValues: { ":p": { S: "QUEUE#core" }, ":s": { S: "OPEN#" } },
  });
  expect(await db.find("ticket").where({ queue: "core" }).rows()).toMatchObject([{ id: "3" }, { id: "1" }]);
  expect(await verify(db)).toMatchObject({ clean: true });
  await engine.transport.send("UpdateItem", {
    TableName: table,
    Key: { PK: { S: "TICKET#1" }, SK: { S: "TICKET" } },
    UpdateExpression: "SET GSI1PK = :v",
    ExpressionAttributeValues: { ":v": { S: "QUEUE#other" } },
  });
  expect(await verify(db, { repair: true })).toMatchObject({ kinds: [{ kind: "indexKey", count: 1, repaired: 1 }] });
  expect(await keys("1")).toEqual(["QUEUE#core", "OPEN#1"]);
});

test.each([
  [{ fill: { queu: ["{team}"], rank: ["OPEN"] } }, '"queu" is not an attribute of "ticket"'],
  [{ fill: { queue: ["{tem}"], rank: ["OPEN"] } }, '"tem" is not an attribute of "ticket"'],
  [{ fill: { queue: [], rank: ["OPEN"] } }, "nothing fills it"],
  [{ fill: { queue: ["{team"], rank: ["OPEN"] } }, 'layout.nodes.ticket.fill.queue: key template "{team"'],
  [{ fill: { queue: ["{team}"], rank: [{ with: "done", value: "{id:nowhere}" }] } }, "layout.nodes.ticket.fill.rank: key template"],
  [{ fill: { queue: ["{queue}"], rank: ["OPEN"] } }, "it would be filled from itself"],
  [{ fill: { team: ["{id}"] } }, '"team" has to be in a key of an index from which it is read'],
] as const)("%j is refused", (item, message) => {
  expect(() => graphIn("Filled", item as never)).toThrow(message);
});
