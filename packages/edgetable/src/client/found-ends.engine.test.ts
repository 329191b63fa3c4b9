import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { defineGraph, edge, node, part, type Transport } from "../index.ts";
import { DELETING } from "../schema/system-items.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

const text = z.string();
const task = z.object({ taskId: text, status: text, title: text, expiresAt: z.number().optional() });

/** Tasks whose sort key holds their status beside their id, as nodes; and as parts of projects. */
const graphOf = (table: string) =>
  defineGraph({
    table,
    nodes: {
      user: node({ key: "USER#{userId}", schema: z.object({ userId: text }) }),
      task: node({ key: "TASK#{taskId}", schema: task, ttl: "expiresAt" }),
      project: node({ key: "PROJECT#{projectId}", schema: z.object({ projectId: text }) }),
    },
    parts: {
      step: part({ of: "project", key: "{stepId}", schema: z.object({ stepId: text, status: text }) }),
      note: part({ of: "task", key: "NOTE#{noteId}", owner: "checked", schema: z.object({ noteId: text }) }),
    },
    edges: {
      owns: edge({ from: "user", to: "task", onDelete: { to: "cascade" } }),
      blocks: edge({ from: "task", to: "task" }),
      near: edge({ from: "task", to: "task", symmetric: true }),
      watches: edge({ from: "user", to: "step", stored: "twice" }),
      free: edge({ from: "user", to: "task", ends: "unchecked" }),
    },
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      indexes: { reverse: { partitionKey: "G1", sortKey: "G2" } },
      nodes: { task: { keys: { SK: "AT#{status}" } }, project: { keys: { SK: "PROJECT" } } },
      parts: { step: { keys: { SK: "STEP#{status}#{stepId}" } } },
      edges: {
        owns: { keys: { SK: "OWNS#{to}", G1: "{to}", G2: "OWNS#{from}" } },
        blocks: { keys: { SK: "BLOCKS#{to}", G1: "{to}", G2: "BLOCKS#{from}" } },
        near: { keys: { SK: "NEAR#{to}" } },
        watches: {
          keys: { SK: "WATCHES#{to.projectId}#{to.stepId}" },
          mirror: { keys: { PK: "STEP#{to.projectId}#{to.stepId}", SK: "WATCHED#{from.userId}" } },
        },
        free: { keys: { SK: "FREE#{to}" } },
      },
    },
  });

const open = async (name: string, transport: Transport = engine.transport) => {
  const db = graphOf(engine.freshTableName(name)).connect({ transport });
  await db.table.create();
  await db.user.create({ userId: "u" }).orThrow();
  for (const taskId of ["1", "2"]) await db.task.create({ taskId, status: "open", title: taskId }).orThrow();
  await db.project.create({ projectId: "p" }).orThrow();
  await db.step.create({ projectId: "p" }, { stepId: "s", status: "open" }).orThrow();
  return db;
};

describe("a node whose sort key holds more than its id, at the end of an edge", () => {
  test("is checked, wherever it is", async () => {
    const db = await open("foundEnds");
    const none = (end: string, id: object) => ({ ok: false, reason: "endMissing", end, id });
    expect(await db.owns.link({ userId: "u" }, { taskId: "9" })).toMatchObject(none("to", { taskId: "9" }));
    expect(await db.owns.put({ userId: "u" }, { taskId: "9" })).toMatchObject(none("to", { taskId: "9" }));
    expect(await db.blocks.link({ taskId: "9" }, { taskId: "1" })).toMatchObject(none("from", { taskId: "9" }));
    expect(await db.near.link({ taskId: "1" }, { taskId: "9" })).toMatchObject(none("to", { taskId: "9" }));
    expect(await db.watches.link({ userId: "u" }, { projectId: "p", stepId: "t" })).toMatchObject(
      none("to", { projectId: "p", stepId: "t" }),
    );
    expect(await db.note.create({ taskId: "9" }, { noteId: "n" })).toMatchObject(none("owner", { taskId: "9" }));
    expect(await db.user({ userId: "u" }).out("owns").edges()).toEqual([]);
    await db.owns.link({ userId: "u" }, { taskId: "1" }).orThrow();
    await db.task.update({ taskId: "2" }, { status: "done" }).orThrow();
    await db.owns.link({ userId: "u" }, { taskId: "2" }).orThrow();
    await db.blocks.link({ taskId: "1" }, { taskId: "2" }).orThrow();
    await db.near.link({ taskId: "1" }, { taskId: "2" }).orThrow();
    await db.near.link({ taskId: "1" }, { taskId: "1" }).orThrow();
    await db.watches.link({ userId: "u" }, { projectId: "p", stepId: "s" }).orThrow();
    await db.note.create({ taskId: "2" }, { noteId: "n" }).orThrow();
    await db.free.link({ userId: "u" }, { taskId: "9" }).orThrow();
  });

  test("is checked in transactions and loads, and is there if the same call writes it", async () => {
    const db = await open("foundEndsTogether");
    const both = await db.transact([
      db.task.create({ taskId: "3", status: "new", title: "3" }),
      db.owns.link({ userId: "u" }, { taskId: "3" }),
      db.task.update({ taskId: "1" }, { status: "done" }),
      db.owns.link({ userId: "u" }, { taskId: "1" }),
      db.note.create({ taskId: "1" }, { noteId: "n" }),
    ]);
    expect(both).toMatchObject({ ok: true });
    const refused = await db.transact([db.user.create({ userId: "v" }), db.owns.link({ userId: "v" }, { taskId: "9" })]);
    expect(refused).toMatchObject({ ok: false, outcomes: [{ reason: "rolledBack" }, { reason: "endMissing", end: "to" }] });
    const rows = [
      { edge: "owns", from: { userId: "u" }, to: { taskId: "2" } },
      { edge: "owns", from: { userId: "u" }, to: { taskId: "9" } },
    ] as const;
    const { failures } = await db.load(rows, { ends: "checked" });
    expect(failures).toMatchObject([{ row: 1 }]);
    expect((await db.user({ userId: "u" }).out("owns").ids()).map(({ taskId }) => taskId)).toEqual(["1", "2", "3"]);
  });

  test("is the one that has not expired, where both are there", async () => {
    const db = await open("foundEndsAnew");
    for (const [status, expiresAt] of [
      ["a", 1000],
      ["b", undefined],
      ["c", 1000],
    ] as const)
      await db.task.create({ taskId: "4", status, title: status, ...(expiresAt && { expiresAt }) }).orThrow();
    await db.owns.link({ userId: "u" }, { taskId: "4" }).orThrow();
    await db.task.update({ taskId: "4" }, { title: "new" }).orThrow();
    expect(await db.task.get({ taskId: "4" })).toEqual({ taskId: "4", status: "b", title: "new" });
    await db.task.update({ taskId: "4" }, { expiresAt: 1000 }).orThrow();
    expect(await db.task.update({ taskId: "4" }, { title: "newer" })).toMatchObject({ ok: false, reason: "notFound" });
    expect(await db.owns.link({ userId: "u" }, { taskId: "4" })).toMatchObject({ ok: false, reason: "endMissing" });
  });

  test("is not there while it is deleted, also where the same call changes it", async () => {
    const db = await open("foundEndsMarked");
    const Key = { PK: { S: "TASK#1" }, SK: { S: "AT#open" } };
    const mark = {
      UpdateExpression: "SET #d = :d",
      ExpressionAttributeNames: { "#d": DELETING },
      ExpressionAttributeValues: { ":d": { S: "job" } },
    };
    await engine.transport.send("UpdateItem", { TableName: db.catalog.table, Key, ...mark });
    expect(await db.owns.link({ userId: "u" }, { taskId: "1" })).toMatchObject({ ok: false, reason: "endMissing" });
    const both = await db.transact([db.task.update({ taskId: "1" }, { title: "x" }), db.owns.link({ userId: "u" }, { taskId: "1" })]);
    expect(both).toMatchObject({ ok: false, outcomes: [{ reason: "rolledBack" }, { reason: "endMissing" }] });
  });

  test("has gone or expired, or moves between the look and the write", async () => {
    let before = async (): Promise<unknown> => undefined;
    const transport: Transport = {
      ...engine.transport,
      send: async (operation, input, options) => {
        if (operation === "TransactWriteItems") {
          const now = before;
          before = async () => undefined;
          await now();
        }
        return engine.transport.send(operation, input, options);
      },
    };
    const db = await open("foundEndsMoved", transport);
    before = async () => db.task.update({ taskId: "1" }, { status: "done" }).orThrow();
    await db.owns.link({ userId: "u" }, { taskId: "1" }).orThrow();
    before = async () => db.task.delete({ taskId: "2" }).orThrow();
    expect(await db.owns.link({ userId: "u" }, { taskId: "2" })).toMatchObject({ ok: false, reason: "endMissing" });
    await db.task.create({ taskId: "4", status: "open", title: "4", expiresAt: 1000 }).orThrow();
    expect(await db.owns.link({ userId: "u" }, { taskId: "4" })).toMatchObject({ ok: false, reason: "endMissing" });
  });

  test("cannot be checked where its partition does not follow from its id: the message says what to do", async () => {
    const graph = defineGraph({
      table: engine.freshTableName("foundNowhere"),
      nodes: {
        user: node({ key: "USER#{userId}", schema: z.object({ userId: text }) }),
        post: node({ key: "POST#{postId}", schema: z.object({ postId: text, author: text }) }),
      },
      edges: { likes: edge({ from: "user", to: "post" }), sees: edge({ from: "user", to: "post", ends: "unchecked" }) },
      layout: {
        partitionKey: "PK",
        sortKey: "SK",
        nodes: { post: { keys: { PK: "POSTS#{author}" } } },
        edges: { likes: { keys: { SK: "LIKES#{to}" } }, sees: { keys: { SK: "SEES#{to}" } } },
      },
    });
    const db = graph.connect({ transport: engine.transport });
    await db.table.create();
    await db.user.create({ userId: "u" }).orThrow();
    await expect(db.likes.link({ userId: "u" }, { postId: "1" }).run()).rejects.toMatchObject({
      code: "plan.unsupported",
      message: expect.stringContaining('declare the edge with ends: "unchecked"') as string,
    });
    await db.sees.link({ userId: "u" }, { postId: "1" }).orThrow();
  });
});
