import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { count, defineGraph, edge, node } from "../index.ts";
import { startEngine, type TestEngine } from "../test-support/engine.ts";
import type { Transport } from "../transport/transport.ts";
import { verify } from "./index.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

const id = z.string();
const Key = { pk: { S: "COURSE#c" }, sk: { S: "#" } };

/** A table with a wrong count, and a program that changes its node before each request from the repair on, up to so many times. */
const open = async (changes: number) => {
  const table = engine.freshTableName("restless");
  const graph = defineGraph({
    table,
    nodes: {
      user: node({ key: "USER#{id}", schema: z.object({ id }) }),
      course: node({ key: "COURSE#{id}", schema: z.object({ id, name: id.optional() }), derived: { users: count({ in: "takes" }) } }),
    },
    edges: { takes: edge({ from: "user", to: "course", onDelete: { from: "cascade", to: "cascade" } }) },
  });
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  await db.user.create({ id: "u" }).orThrow();
  await db.course.create({ id: "c" }).orThrow();
  await db.takes.link({ id: "u" }, { id: "c" }).orThrow();
  const spoil = {
    UpdateExpression: "SET #n = :n",
    ExpressionAttributeNames: { "#n": "users" },
    ExpressionAttributeValues: { ":n": { N: "7" } },
  };
  await engine.transport.send("UpdateItem", { TableName: table, Key, ...spoil }, {});
  let [isRepairing, left] = [false, changes];
  const transport: Transport = {
    ...engine.transport,
    send: async (operation, input, options) => {
      isRepairing ||= operation === "UpdateItem" || operation === "TransactWriteItems";
      if (isRepairing && left-- > 0) await db.course.update({ id: "c" }, { name: `n${left}` }).orThrow();
      return engine.transport.send(operation, input, options);
    },
    close: () => undefined,
  };
  return { db, restless: graph.connect({ transport }) };
};

test("what could not be repaired because writers kept changing it is not counted as repaired", async () => {
  const { db, restless } = await open(1000);
  const { clean, kinds } = await verify(restless, { settle: 1, repair: true });
  expect(await db.course.get({ id: "c" })).toMatchObject({ users: 7 });
  expect(kinds).toMatchObject([{ kind: "wrongAggregate", count: 1, repaired: 0 }]);
  expect(clean).toBe(false);
});

test("what is repaired once they rest is", async () => {
  const { db, restless } = await open(3);
  const { clean, kinds } = await verify(restless, { settle: 1, repair: true });
  expect(await db.course.get({ id: "c" })).toMatchObject({ users: 1 });
  expect(kinds).toMatchObject([{ kind: "wrongAggregate", count: 1, repaired: 1 }]);
  expect(clean).toBe(true);
});
