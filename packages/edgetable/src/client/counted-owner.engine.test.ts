import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { count, defineGraph, node, part } from "../index.ts";
import { startEngine, type TestEngine } from "../test-support/engine.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

const id = z.string();

test("a part that its node counts, and whose key in an index holds a copy, says that the node is missing", async () => {
  const db = defineGraph({
    table: engine.freshTableName("counted-owner"),
    nodes: {
      list: node({
        key: "LIST#{id}",
        schema: z.object({ id, state: id }),
        derived: { open: count({ parts: "task", where: { open: true } }) },
      }),
    },
    parts: {
      task: part({
        of: "list",
        key: "TASK#{no}",
        schema: z.object({ no: id, open: z.boolean() }),
        copies: { state: { of: "state", freshness: "stream" } },
      }),
    },
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      indexes: { byState: { partitionKey: "G1PK", sortKey: "G1SK" } },
      nodes: { list: { keys: { SK: "LIST" } } },
      parts: { task: { keys: { G1PK: "STATE#{state}", G1SK: "{no}" } } },
    },
  }).connect({ transport: engine.transport });
  await db.table.create();
  const task = { no: "1", open: true };
  const missing = { ok: false, reason: "endMissing", id: { id: "1" } };
  expect(await db.task.create({ id: "1" }, task)).toMatchObject(missing);
  expect(await db.task.put({ id: "1" }, task)).toMatchObject(missing);
  expect(await db.task.upsert({ id: "1" }, task, { open: false })).toMatchObject(missing);
  // What nothing counts needs no node, but its key the copy.
  await expect(db.task.put({ id: "1" }, { ...task, open: false })).rejects.toThrow('"task" needs "state" to fill "G1PK"');
  await db.list.create({ id: "1", state: "new" }).orThrow();
  await db.task.create({ id: "1" }, task).orThrow();
  expect(await db.list.get({ id: "1" })).toMatchObject({ open: 1 });
});
