import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { defineGraph, edge, node, part, type Transport } from "../index.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

const text = z.string();
const WRITES: readonly string[] = ["UpdateItem", "DeleteItem", "TransactWriteItems"];

test("a row that another writer moves between the look and the write is looked for again, and one that is deleted is not found", async () => {
  const graph = defineGraph({
    table: engine.freshTableName("foundMoves"),
    nodes: {
      task: node({
        key: "TASK#{taskId}",
        schema: z.object({ taskId: text, status: text, title: text, until: z.number().optional() }),
        ttl: "until",
      }),
      list: node({ key: "LIST#{listId}", schema: z.object({ listId: text, rank: text }) }),
      user: node({ key: "USER#{userId}", schema: z.object({ userId: text }) }),
    },
    parts: {
      step: part({ of: "user", key: "STEP#{stepId}", schema: z.object({ stepId: text, at: text, title: text }) }),
      entry: part({ of: "list", key: "ENTRY#{n}", schema: z.object({ n: text }) }),
    },
    edges: { knows: edge({ from: "user", to: "user", schema: z.object({ since: text, how: text }) }) },
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      nodes: { task: { keys: { SK: "AT#{status}" } }, list: { keys: { SK: "RANK#{rank}" } } },
      parts: { step: { keys: { SK: "STEP#{at}#{stepId}" } } },
      edges: { knows: { keys: { SK: "KNOWS#{since}#{to}" } } },
    },
  });
  let meanwhile: (() => Promise<unknown>) | undefined;
  const transport: Transport = {
    ...engine.transport,
    send: async (operation, input, options) => {
      const first = WRITES.includes(operation) ? meanwhile : undefined;
      if (first) meanwhile = undefined;
      await first?.();
      return engine.transport.send(operation, input, options);
    },
  };
  const [db, other] = [graph.connect({ transport }), graph.connect({ transport: engine.transport })];
  await db.table.create();
  const [id, a, b, step] = [{ taskId: "1" }, { userId: "a" }, { userId: "b" }, { stepId: "1" }] as const;
  await db.task.create({ ...id, status: "open", title: "0" }).orThrow();
  for (const user of [a, b]) await db.user.create(user).orThrow();
  await db.step.create(a, { ...step, at: "1", title: "0" }).orThrow();
  await db.knows.link(a, b, { since: "1", how: "0" }).orThrow();
  let moves = 0;
  const beside = async <Outcome>(move: (place: string) => PromiseLike<unknown>, write: () => PromiseLike<Outcome>): Promise<Outcome> => {
    meanwhile = async () => move(`m${++moves}`);
    const outcome = await write();
    expect(meanwhile).toBeUndefined();
    return outcome;
  };
  const task = (status: string) => other.task.update(id, { status }).run();
  const stepTo = (at: string) => other.step.update(a, step, { at }).run();
  const knows = (since: string) => other.knows.relink(a, b, { since }).run();

  expect(await beside(task, () => db.task.update(id, { title: "1" }))).toMatchObject({ ok: true, row: { status: "m1", title: "1" } });
  expect(await beside(task, () => db.task.update(id, { status: "own" }))).toMatchObject({ ok: true });
  expect(await beside(task, () => db.transact([db.task.check(id), db.user.put(a)]))).toMatchObject({ ok: true });
  expect(await beside(task, () => db.task.update(id, { title: "2" }, { if: { title: "0" } }))).toMatchObject({ reason: "conditionFailed" });
  expect(await db.task.get(id)).toEqual({ ...id, status: "m4", title: "1" });
  expect(await beside(stepTo, () => db.step.update(a, step, { title: "1" }))).toMatchObject({ ok: true, row: { at: "m5", title: "1" } });
  expect(await beside(stepTo, () => db.step.delete(a, step))).toMatchObject({ ok: true });
  expect(await beside(knows, () => db.knows.relink(a, b, { how: "1" }))).toMatchObject({ ok: true, row: { since: "m7", how: "1" } });
  expect(await beside(knows, () => db.knows.unlink(a, b))).toMatchObject({ ok: true });
  expect([await db.step.get(a, step), await db.knows.get(a, b)]).toEqual([undefined, undefined]);

  expect(
    await beside(
      () => other.task.delete(id).run(),
      () => db.task.update(id, { title: "3" }),
    ),
  ).toMatchObject({ reason: "notFound" });
  await db.task.create({ ...id, status: "open", title: "0" }).orThrow();
  expect(await beside(task, () => db.task.delete(id))).toMatchObject({ ok: true });
  await db.task.create({ ...id, status: "open", title: "0", until: 1000 }).orThrow();
  expect(await db.task.update(id, { title: "4" })).toMatchObject({ reason: "notFound" });
  const list = { listId: "l" };
  await db.list.create({ ...list, rank: "1" }).orThrow();
  await db.entry.create(list, { n: "1" }).orThrow();
  expect(
    await beside(
      (rank) => other.list.update(list, { rank }).run(),
      () => db.list.delete(list),
    ),
  ).toMatchObject({ ok: true });
  expect([await db.list.get(list), await db.entry.get(list, { n: "1" })]).toEqual([undefined, undefined]);
});

test("a row moves to the place of an expired item, as it would be created there", async () => {
  const until = z.number().optional();
  const graph = defineGraph({
    table: engine.freshTableName("movesToExpired"),
    nodes: { task: node({ key: "TASK#{id}", schema: z.object({ id: text, at: text, until }), ttl: "until" }) },
    parts: { step: part({ of: "task", key: "STEP#{n}", schema: z.object({ n: text, at: text, until }), ttl: "until" }) },
    edges: { next: edge({ from: "task", to: "task", schema: z.object({ at: text, until }), ttl: "until" }) },
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      nodes: { task: { keys: { SK: "AT#{at}" } } },
      parts: { step: { keys: { SK: "STEP#{at}#{n}" } } },
      edges: { next: { keys: { SK: "NEXT#{at}#{to}" } } },
    },
  });
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  const [a, n] = [{ id: "a" }, { n: "1" }] as const;
  // What has expired lies where the row is to go.
  for (const row of [{ at: "new" }, { at: "old", until: 1000 }]) {
    await db.task.create({ ...a, ...row }).orThrow();
    await db.step.create(a, { ...n, ...row }).orThrow();
    await db.next.link(a, a, row).orThrow();
  }
  const seesAll = graph.connect({ transport: engine.transport, expired: "show" });
  expect(await seesAll.task.update(a, { at: "old" }, { given: { at: "new" } })).toMatchObject({ reason: "exists" });
  const moved = { ok: true, row: { at: "old" } };
  expect(await db.task.update(a, { at: "old" })).toMatchObject(moved);
  expect(await db.step.upsert(a, { ...n, at: "new" }, { at: "old" })).toMatchObject({ ...moved, created: false });
  expect(await db.next.relink(a, a, { at: "old" })).toMatchObject(moved);
  expect(await seesAll.task(a).collection()).toEqual({
    node: { ...a, at: "old" },
    parts: { step: [{ ...a, ...n, at: "old" }] },
    edges: { next: [{ from: a, to: a, at: "old" }] },
  });
});
