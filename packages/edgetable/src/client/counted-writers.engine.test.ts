import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { average, count, defineGraph, edge, node, part, sum } from "../index.ts";
import { readCounters } from "../streams/index.ts";
import { startEngine, type TestEngine } from "../test-support/engine.ts";
import type { Transport } from "../transport/transport.ts";

const id = z.string();
const stars = z.union([z.number(), z.string()]).optional();
const places = { onDelete: { from: "cascade", to: "cascade" } } as const;
const modelIn = (table: string) =>
  defineGraph({
    table,
    nodes: {
      person: node({
        key: "PERSON#{id}",
        schema: z.object({ id }),
        derived: {
          likes: count({ out: "likes", shards: 2 }),
          given: sum({ out: "likes", of: "stars", shards: 2 }),
          mean: average({ out: "likes", of: "stars", shards: 2 }),
        },
      }),
      post: node({
        key: "POST#{id}",
        schema: z.object({ id }),
        derived: {
          likes: count({ in: "likes" }),
          good: count({ in: "likes", where: { mood: "good" } }),
          points: sum({ in: "likes", of: "stars" }),
          notes: count({ parts: "note" }),
          words: sum({ parts: "note", of: "words" }),
        },
      }),
    },
    edges: { likes: edge({ from: "person", to: "post", schema: z.object({ stars, mood: z.string().optional() }), ...places }) },
    parts: { note: part({ of: "post", key: "NOTE#{k}", schema: z.object({ k: id, words: z.number().optional() }) }) },
  });

type Db = ReturnType<ReturnType<typeof modelIn>["connect"]>;
type Act = (db: Db) => PromiseLike<unknown>;
let [ann, at] = [{ id: "" }, { id: "" }];
const k = { k: "1" };

let engine: TestEngine;
let db: Db;
beforeAll(async () => {
  engine = await startEngine();
  db = modelIn(engine.freshTableName("writers")).connect({ transport: engine.transport });
  await db.table.create();
});
afterAll(() => engine.stop());

const writes: Readonly<Record<string, Act>> = {
  "a link": (on) => on.likes.link(ann, at, { stars: 3 }),
  "a put": (on) => on.likes.put(ann, at, { stars: 7 }),
  "a put in a transaction": (on) => on.transact([on.likes.put(ann, at, { stars: 7 }), on.note.put(at, { ...k, words: 4 })]),
  "a load": (on) => on.load([{ edge: "likes", from: ann, to: at, attributes: { stars: 8 } }]),
  "a relink": (on) => on.likes.relink(ann, at, { stars: 5 }),
  "a relink that adds": (on) => on.likes.relink(ann, at, { add: { stars: 5 } }),
  "a relink of another attribute": (on) => on.likes.relink(ann, at, { mood: "good" }),
  "an upsert": (on) => on.likes.upsert(ann, at, { stars: 9 }, { stars: 6 }),
  "an unlink": (on) => on.likes.unlink(ann, at),
  "a put of a part": (on) => on.note.put(at, { ...k, words: 5 }),
  "a put of a part without words": (on) => on.note.put(at, k),
  "a load of a part": (on) => on.load([{ part: "note", owner: at, row: { ...k, words: 5 } }]),
  "an update of a part": (on) => on.note.update(at, k, { words: 6 }),
  "a deletion of the source": (on) => on.person.delete(ann, { indexLag: 0 }),
  "a deletion of the target": (on) => on.post.delete(at, { indexLag: 0 }),
};
const meanwhile: Readonly<Record<string, Act>> = {
  "a deletion": (on) => on.transact([on.likes.unlink(ann, at), on.note.delete(at, k)]),
  "a removal of attributes": (on) =>
    on.transact([on.likes.relink(ann, at, { remove: ["stars", "mood"] }), on.note.update(at, k, { remove: ["words"] })]),
  "other values": (on) => on.transact([on.likes.put(ann, at, { stars: "many", mood: "good" }), on.note.put(at, { ...k, words: 100 })]),
};
const starts: readonly { readonly stars?: number | string; readonly mood?: string; readonly words?: number }[] = [
  {},
  { stars: 10, mood: "good", words: 2 },
  { stars: "few", words: 0 },
];
let round = 0;

/** A program that another one comes before, at its first write of an edge or part. */
const interleaved = (transport: Transport, act: Act): Transport => {
  let hasActed = false;
  return {
    ...transport,
    send: async (operation, input, options) => {
      if (!hasActed && /Write|Put|Update|Delete/.test(operation) && /likes#POST|NOTE#/.test(JSON.stringify(input))) {
        hasActed = true;
        await act(db);
      }
      return transport.send(operation, input, options);
    },
    close: () => Promise.resolve(),
  };
};

const number = (value: unknown): number => (typeof value === "number" ? value : 0);
/** What is kept of the post and of the counters, and what the edge and the part make. */
const countedAndMade = async (): Promise<readonly [counted: object, made: object]> => {
  const [like, note] = [await db.likes.get(ann, at, { consistent: true }), await db.note.get(at, k, { consistent: true })];
  const post = await db.post.get(at, { consistent: true });
  const counters = await readCounters(db, "person", ann);
  const stars = number(like?.stars);
  const made = {
    ...(counters && { likes: like ? 1 : 0, given: stars, ...(typeof like?.stars === "number" && { mean: stars }) }),
    ...(post && {
      post: {
        ...at,
        likes: like ? 1 : 0,
        good: like?.mood === "good" ? 1 : 0,
        points: stars,
        notes: note ? 1 : 0,
        words: number(note?.words),
      },
    }),
  };
  return [{ ...counters, ...(post && { post }) }, made];
};

describe.each(Object.entries(writes))("%s", (_, write) => {
  test.each(Object.entries(meanwhile))("counts what is there when it arrives after %s", async (_, act) => {
    for (const { words, ...attributes } of starts) {
      round++;
      [ann, at] = [{ id: `ann${round}` }, { id: `post${round}` }];
      const note = { ...k, ...(words !== undefined && { words }) };
      await db.transact([db.person.put(ann), db.post.put(at)]).orThrow();
      await db.transact([db.likes.put(ann, at, attributes), db.note.put(at, note)]).orThrow();
      const program = modelIn(db.catalog.table).connect({ transport: interleaved(engine.transport, act) });
      try {
        await write(program);
      } catch (error) {
        // Nothing can be added to a text.
        expect(error).toMatchObject({ code: "execute.rejected" });
      }
      const [counted, made] = await countedAndMade();
      expect(counted, JSON.stringify({ ...attributes, words })).toEqual(made);
    }
  });
});
