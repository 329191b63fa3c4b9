import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { systemEffects } from "../executor/session.ts";
import { count, defineGraph, edge, node, part, sum } from "../index.ts";
import { startEngine, type TestEngine } from "../test-support/engine.ts";
import type { Transport } from "../transport/transport.ts";
import { verify } from "../verify/index.ts";

// Rows that begin to count at a node that is being deleted, or that is not there.

const id = z.string();
const modelIn = (table: string, shards: number | undefined) => {
  const spread = shards ? { shards } : {};
  return defineGraph({
    table,
    nodes: {
      user: node({ key: "USER#{id}", schema: z.object({ id, name: id }) }),
      post: node({
        key: "POST#{id}",
        schema: z.object({ id }),
        derived: {
          byAnn: count({ in: "likes", where: { by: "Ann" }, ...spread }),
          long: count({ parts: "note", where: { words: { gte: 10 } } }),
          words: sum({ parts: "note", of: "words" }),
        },
      }),
    },
    parts: { note: part({ of: "post", key: "NOTE#{n}", schema: z.object({ n: id, words: z.int() }) }) },
    edges: {
      likes: edge({
        from: "user",
        to: "post",
        key: ["k"],
        schema: z.object({ k: id }),
        copies: { from: { by: "name" } },
        onDelete: { from: "cascade", to: "cascade" },
      }),
    },
  });
};

let engine: TestEngine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

const open = async (shards?: number, options: { readonly onRequest?: () => void } = {}, table = engine.freshTableName("begins")) => {
  const db = modelIn(table, shards).connect({ transport: engine.transport, ...options });
  await db.table.create();
  return { table, db };
};

test("a deletion without a deadline takes as long as its writes do", async () => {
  const { db, table } = await open();
  await db.load([
    { node: "post", row: { id: "p" } },
    { node: "user", row: { id: "u", name: "Ann" } },
    ...Array.from({ length: 400 }, (_, k) => ({
      edge: "likes" as const,
      from: { id: "u" },
      to: { id: "p" },
      attributes: { k: String(k) },
    })),
  ]);
  let now = Date.now();
  const send: Transport["send"] = (operation, input, options) => {
    if (operation === "TransactWriteItems") now += 5_000;
    return engine.transport.send(operation, input, options);
  };
  const slow = modelIn(table, undefined).connect({
    transport: { send, close: () => undefined },
    advanced: { effects: { ...systemEffects, now: () => now } },
  });
  expect(await slow.post.delete({ id: "p" }, { indexLag: 0, lease: 600_000 })).toMatchObject({ ok: true });
  expect(now).toBeGreaterThan(Date.now() + 60_000);
  expect(await db.jobs.list()).toEqual([]);
});

test.each([undefined, 4])(
  "a node whose copies a node counts is changed while that is being deleted (shards: %s)",
  { timeout: 60_000 },
  async (shards) => {
    const { db, table } = await open(shards);
    await db.post.create({ id: "p" }).orThrow();
    for (const user of ["u", "v"]) {
      await db.user.create({ id: user, name: "Bob" }).orThrow();
      for (const k of ["1", "2"]) await db.likes.link({ id: user }, { id: "p" }, { k }).orThrow();
    }
    for (let at = 0; at < 100; at++) await db.note.create({ id: "p" }, { n: String(at), words: 1 }).orThrow();
    const stop = new AbortController();
    let sent = 0;
    const { db: dying } = await open(shards, { onRequest: () => void (++sent === 6 && stop.abort()) }, table);
    sent = 0;
    await dying.post
      .delete({ id: "p" }, { indexLag: 0 })
      .run({ signal: stop.signal })
      .catch(() => undefined);
    expect(await db.jobs.list()).toMatchObject([{ kind: "delete" }]);
    expect(await db.user.update({ id: "u" }, { name: "Ann" })).toMatchObject({ ok: true });
    expect(await db.user.put({ id: "v", name: "Ann" })).toMatchObject({ ok: true });
    // What is new is still refused: the deletion would not see it.
    expect(await db.likes.link({ id: "u" }, { id: "p" }, { k: "3" })).toMatchObject({ reason: "endMissing" });
    expect(await db.note.create({ id: "p" }, { n: "x", words: 10 })).toMatchObject({ reason: "endMissing" });
    await db.jobs.resumeAll({ indexLag: 0, takeOver: true } as never).catch(() => undefined);
    await db.post.delete({ id: "p" }, { indexLag: 0 });
    await db.post.create({ id: "p" }).orThrow();
    expect(await db.post.get({ id: "p" })).toMatchObject({ byAnn: 0, long: 0, words: 0 });
    expect(await verify(db, { settle: 5 })).toMatchObject({ clean: true });
  },
);

test("a part without its node may change, but not begin to count", async () => {
  const { db } = await open();
  expect(await db.note.create({ id: "p" }, { n: "1", words: 10 })).toMatchObject({ reason: "endMissing", id: { id: "p" } });
  // It adds nothing to either attribute.
  await db.note.create({ id: "p" }, { n: "1", words: 0 }).orThrow();
  expect(await db.note.update({ id: "p" }, { n: "1" }, { words: 5 })).toMatchObject({ reason: "endMissing", id: { id: "p" } });
  await db.post.create({ id: "p" }).orThrow();
  await db.note.update({ id: "p" }, { n: "1" }, { words: 12 }).orThrow();
  expect(await db.post.get({ id: "p" })).toMatchObject({ long: 1, words: 12 });
  expect(await verify(db, { settle: 5 })).toMatchObject({ clean: true });
});

test("an edge that counts for nothing yet needs its node in a load as well", async () => {
  const { db } = await open();
  const [user, like] = [
    { node: "user", row: { id: "u", name: "Bob" } },
    { edge: "likes", from: { id: "u" }, to: { id: "p" }, attributes: { k: "1" } },
  ] as const;
  expect(await db.load([user])).toMatchObject({ failed: 0 });
  expect(await db.load([like])).toMatchObject({ failures: [{ row: 0, error: { details: { reason: "endMissing", end: "to" } } }] });
  expect(await db.load([like, { node: "post", row: { id: "p" } }])).toMatchObject({ failed: 0 });
  await db.user.update({ id: "u" }, { name: "Ann" }).orThrow();
  expect(await db.post.get({ id: "p" })).toMatchObject({ byAnn: 1 });
});
