import { expect, test } from "vitest";
import { z } from "zod";
import { defineGraph, edge, node, type Transport } from "../index.ts";

const graph = defineGraph({
  table: "TTT",
  nodes: { b: node({ key: "B#{id}", schema: z.object({ id: z.string(), n: z.number().optional() }), version: true }) },
  edges: { un: edge({ from: "b", to: "b", ends: "unchecked" }) },
});

/** A connection to a server that gives one answer to each operation, with what it was sent. */
const connect = (answers: Readonly<Record<string, object>>) => {
  const sent: string[] = [];
  const send = (operation: string): Promise<object> => {
    sent.push(operation);
    return Promise.resolve(answers[operation] ?? {});
  };
  return { db: graph.connect({ transport: { send, close: () => undefined } as Transport }), sent };
};

const refused = { code: "execute.connection", message: expect.stringContaining("not DynamoDB's") };
const itemOf = (id: string) => ({ pk: { S: `B#${id}` }, sk: { S: "#" }, type: { S: "b" } });
const edgeTo = (id: string) => ({ pk: { S: "B#1" }, sk: { S: `un#B#${id}` }, type: { S: "un" } });

test("an item without the table's key is refused, wherever items are read by their keys", async () => {
  const { db } = connect({ BatchGetItem: { Responses: { TTT: [{}] } }, Query: { Items: [edgeTo("2")], Count: 1 } });
  await expect(db.b.getMany([{ id: "1" }]).run()).rejects.toMatchObject(refused);
  await expect(db.b({ id: "1" }).out("un").entries().run()).rejects.toMatchObject(refused);
});

test.each([
  ["another key", { TTT: { Keys: [{ pk: { S: "B#66" }, sk: { S: "#" } }] } }],
  ["another table", { Other: { Keys: [{ pk: { S: "B#1" }, sk: { S: "#" } }] } }],
  ["no key", { TTT: { Keys: [{}] } }],
])("a read that leaves %s unprocessed is refused, and asks for nothing else", async (_, UnprocessedKeys) => {
  const { db, sent } = connect({ BatchGetItem: { Responses: { TTT: [] }, UnprocessedKeys } });
  await expect(db.b.getMany([{ id: "1" }]).run()).rejects.toMatchObject(refused);
  expect(sent).toEqual(["BatchGetItem"]);
});

test("an item under another key than the one that was asked for is refused", async () => {
  for (const Item of [itemOf("2"), {}]) {
    const { db } = connect({ GetItem: { Item } });
    await expect(db.b({ id: "1" }).get()).rejects.toMatchObject(refused);
    await expect(db.b.put({ id: "1" }).run()).rejects.toMatchObject(refused);
  }
  expect(
    await connect({ GetItem: { Item: itemOf("1") } })
      .db.b({ id: "1" })
      .get(),
  ).toEqual({ id: "1" });
});
