import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { defineGraph, edge, node, part } from "../index.ts";
import { startEngine, type TestEngine } from "../test-support/engine.ts";
import { verify } from "../verify/index.ts";

// A copy of a field of the node's id: nothing in the node can change it.

let engine: TestEngine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

const text = z.string();
const onDelete = { from: "cascade", to: "cascade" } as const;
const modelIn = (table: string, freshness: "transaction" | "stream") =>
  defineGraph({
    table,
    nodes: {
      word: node({ key: "WORD#{wordId}", schema: z.object({ wordId: text }) }),
      topic: node({ key: "TOPIC#{topicId}", schema: z.object({ topicId: text }) }),
    },
    parts: {
      sense: part({ of: "word", key: "SENSE#{no}", schema: z.object({ no: text }), copies: { word: { of: "wordId", freshness } } }),
    },
    edges: {
      checked: edge({ from: "word", to: "topic", copies: { from: { word: { of: "wordId", freshness } } }, onDelete }),
      open: edge({
        from: "word",
        to: "topic",
        ends: "unchecked",
        schema: z.object({ n: z.int().optional() }),
        copies: { from: { word: { of: "wordId", freshness } } },
      }),
      twice: edge({
        from: "word",
        to: "topic",
        stored: "twice",
        ends: "unchecked",
        copies: { from: { word: { of: "wordId", freshness } }, to: { topic: { of: "topicId", freshness } } },
      }),
    },
  });

const [from, to] = [{ wordId: "a" }, { topicId: "t" }];

test.each(["transaction", "stream"] as const)("every write makes a copy (%s) of a field of the node's id", async (freshness) => {
  const db = modelIn(engine.freshTableName("ids"), freshness).connect({ transport: engine.transport });
  await db.table.create();
  for (const wordId of ["a", "b"]) await db.word.create({ wordId }).orThrow();
  await db.topic.create(to).orThrow();
  await db.open.link(from, to, {}).orThrow();
  await db.open.put(from, to, { n: 1 }).orThrow();
  await db.open.upsert(from, to, { n: 2 }, { n: 3 }).orThrow();
  await db.open.relink(from, to, { n: 4 }).orThrow();
  await db.twice.link(from, to).orThrow();
  await db.twice.put(from, to).orThrow();
  await db.checked.link(from, to).orThrow();
  await db.checked.put(from, to).orThrow();
  await db.sense.put(from, { no: "1" }).orThrow();
  await db.transact([db.open.put({ wordId: "b" }, to, {}), db.sense.create({ wordId: "b" }, { no: "1" })]).orThrow();
  // With the node in the same transaction.
  await db
    .transact([db.word.create({ wordId: "c" }), db.open.link({ wordId: "c" }, to, {}), db.checked.link({ wordId: "c" }, to)])
    .orThrow();
  const rows = (["checked", "open", "twice"] as const).flatMap((name) =>
    ["d", "e"].map((wordId) => ({ edge: name, from: { wordId }, to, attributes: {} })),
  );
  const words = ["d", "e"].flatMap((wordId) => [
    { node: "word" as const, row: { wordId } },
    { part: "sense" as const, owner: { wordId }, row: { no: "1" } },
  ]);
  for (const ends of ["checked", "unchecked"] as const) {
    const { failures } = await db.load([...words, ...rows], { ends });
    expect(failures).toEqual([]);
  }
  const topic = db.topic(to);
  for (const name of ["checked", "open", "twice"] as const)
    for (const one of await topic.in(name).edges()) expect(one).toMatchObject({ word: one.from.wordId });
  for (const one of await topic.in("twice").edges()) expect(one).toMatchObject({ topic: "t" });
  // A node that is not there gives no copy.
  await db.open.link({ wordId: "none" }, to, {}).orThrow();
  expect(await db.open.get({ wordId: "none" }, to)).not.toHaveProperty("word");
  expect((await verify(db, { settle: 0, staleAfter: 0 })).clean).toBe(true);
});
