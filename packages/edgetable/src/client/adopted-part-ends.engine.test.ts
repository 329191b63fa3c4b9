import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { count, defineGraph, edge, node, part, type SentRequest, sum } from "../index.ts";
import { startEngine, type TestEngine } from "../test-support/engine.ts";
import { verify } from "../verify/index.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

const text = z.string();

/** Tasks lie in the partition of their project, and who does them in partitions of their own. */
const graphIn = (table: string) =>
  defineGraph({
    table,
    nodes: {
      user: node({
        key: "USER-{userId}",
        schema: z.object({ userId: text, name: text }),
        derived: { tasks: count({ out: "assigned" }), hours: sum({ of: "hours", out: "assigned" }) },
      }),
      project: node({ key: "PROJECT-{projectId}", schema: z.object({ projectId: text }) }),
    },
    parts: { task: part({ of: "project", key: "TASK-{taskId:4}", schema: z.object({ taskId: z.int(), title: text }) }) },
    edges: {
      assigned: edge({
        from: "user",
        to: "task",
        schema: z.object({ hours: z.int() }),
        copies: { from: ["name"] },
        onDelete: { from: "cascade", to: "cascade" },
      }),
      blocks: edge({ from: "task", to: "task", onDelete: { from: "cascade", to: "cascade" } }),
    },
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      delimiter: "-",
      indexes: { GSI1: { partitionKey: "GSI1PK", sortKey: "GSI1SK" } },
      nodes: { user: { keys: { SK: "USER" } }, project: { keys: { SK: "PROJECT" } } },
      parts: { task: { keys: { GSI1PK: "TITLE-{title}", GSI1SK: "{key}" } } },
      edges: {
        assigned: { keys: { SK: "DOES-{to}", GSI1PK: "{to}", GSI1SK: "BY-{from}" } },
        blocks: { keys: { SK: "BLOCKS-{to}", GSI1PK: "{to}", GSI1SK: "BLOCKED-{from}" } },
      },
    },
  });

const [ann, bob] = [{ userId: "ann" }, { userId: "bob" }];
const task = (taskId: number) => ({ projectId: "p", taskId });

test("edges of an adopted table lead to parts and from them", async () => {
  const table = engine.freshTableName("partends");
  const sent: SentRequest[] = [];
  const db = graphIn(table).connect({ transport: engine.transport, onRequest: (one) => sent.push(one) });
  await db.table.create();
  await db.load([
    { node: "user", row: { ...ann, name: "Ann" } },
    { node: "user", row: { ...bob, name: "Bob" } },
    { node: "project", row: { projectId: "p" } },
    ...[1, 2, 3].map((taskId) => ({ part: "task", owner: { projectId: "p" }, row: { taskId, title: `T${taskId}` } }) as const),
  ]);
  await db.assigned.link(ann, task(1), { hours: 3 }).orThrow();
  expect(await db.assigned.link(ann, task(9), { hours: 1 })).toMatchObject({ ok: false, reason: "endMissing", end: "to" });
  await db.assigned.link(ann, task(2), { hours: 4 }).orThrow();
  await db.blocks.link(task(1), task(2)).orThrow();
  await db.blocks.link(task(2), task(3)).orThrow();
  const { Item } = await engine.transport.send("GetItem", {
    TableName: table,
    Key: { PK: { S: "PROJECT-p-TASK-0001" }, SK: { S: "BLOCKS-PROJECT-p-TASK-0002" } },
  });
  expect(Item).toEqual({
    PK: { S: "PROJECT-p-TASK-0001" },
    SK: { S: "BLOCKS-PROJECT-p-TASK-0002" },
    GSI1PK: { S: "PROJECT-p-TASK-0002" },
    GSI1SK: { S: "BLOCKED-PROJECT-p-TASK-0001" },
  });

  // Reads from either end, and walks that begin at the parts which a search finds.
  expect(await db.assigned.get(ann, task(1))).toEqual({ from: ann, to: task(1), hours: 3, name: "Ann" });
  expect(await db.user(ann).out("assigned").nodes()).toEqual([1, 2].map((taskId) => ({ ...task(taskId), title: `T${taskId}` })));
  expect(await db.task(task(2)).in("assigned").ids()).toEqual([ann]);
  sent.length = 0;
  expect(await db.find("task").where({ title: "T1" }).out("blocks").out("blocks").ids()).toMatchObject({ items: [task(3)] });
  expect(
    sent
      .filter(({ operation }) => operation === "Query")
      .map(({ input }) => Object.values((input as { ExpressionAttributeValues: object }).ExpressionAttributeValues)),
  ).toEqual([
    [{ S: "TITLE-T1" }, { S: "TASK-" }],
    [{ S: "PROJECT-p-TASK-0001" }, { S: "BLOCKS-PROJECT-" }],
    [{ S: "PROJECT-p-TASK-0002" }, { S: "BLOCKS-PROJECT-" }],
  ]);
  expect(await db.find("task").where({ title: "T2" }).in("assigned").nodes()).toMatchObject({ items: [{ name: "Ann" }] });

  // What follows from them: counts of nodes, and copies of nodes' attributes.
  expect(await db.user.get(ann)).toEqual({ ...ann, name: "Ann", tasks: 2, hours: 7 });
  await db.user.update(ann, { name: "Anna" }).orThrow();
  await db.assigned.relink(ann, task(2), { hours: 5 }).orThrow();
  expect(await db.user(ann).out("assigned").edges()).toMatchObject([
    { name: "Anna", hours: 3 },
    { name: "Anna", hours: 5 },
  ]);
  expect(await db.user.get(ann)).toMatchObject({ tasks: 2, hours: 8 });
  expect(await verify(db)).toMatchObject({ clean: true });

  // A part takes its edges along, and so does its node.
  await db.task.delete({ projectId: "p" }, { taskId: 1 }, { indexLag: 0 }).orThrow();
  expect(await db.user.get(ann)).toMatchObject({ tasks: 1, hours: 5 });
  await db.project.delete({ projectId: "p" }, { indexLag: 0 }).orThrow();
  expect(await db.user.get(ann)).toEqual({ ...ann, name: "Anna", tasks: 0, hours: 0 });
  expect(await verify(db)).toMatchObject({ clean: true });
});
