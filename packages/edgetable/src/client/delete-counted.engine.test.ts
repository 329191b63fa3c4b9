import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { isEdgetableError } from "../errors/edgetable-error.ts";
import { average, count, defineGraph, edge, node, part, sum } from "../index.ts";
import { startEngine, type TestEngine } from "../test-support/engine.ts";
import type { Transport } from "../transport/transport.ts";

const id = z.string();
const note = { of: "post", key: "NOTE#{k}", schema: z.object({ k: z.string(), words: z.int() }) } as const;
const modelIn = (table: string) =>
  defineGraph({
    table,
    nodes: {
      user: node({ key: "USER#{id}", schema: z.object({ id }) }),
      post: node({
        key: "POST#{id}",
        schema: z.object({ id, title: z.string() }),
        derived: { n: count({ parts: "note" }) },
      }),
      page: node({
        key: "PAGE#{id}",
        schema: z.object({ id, title: z.string() }),
        derived: { n: count({ parts: "line" }) },
      }),
      photo: node({
        key: "PHOTO#{id}",
        schema: z.object({ id, title: z.string() }),
        derived: {
          n: count({ parts: "tag" }),
          words: sum({ parts: "tag", of: "words" }),
          mean: average({ parts: "tag", of: "words" }),
          likes: count({ in: "likes" }),
        },
      }),
    },
    parts: {
      note: part(note),
      line: part({ ...note, of: "page", owner: "checked" }),
      tag: part({ ...note, of: "photo" }),
    },
    edges: { likes: edge({ from: "user", to: "photo", onDelete: { from: "cascade", to: "cascade" } }) },
  });

let engine: TestEngine;
let table = "";
const quick = { indexLag: 0 };
beforeAll(async () => {
  engine = await startEngine();
  table = engine.freshTableName("counted");
  await modelIn(table).connect({ transport: engine.transport }).table.create();
});
afterAll(() => engine.stop());

/** Lets a program act just before another's request of a number; tells how many that one sent. */
const interleaved = (transport: Transport, at: number, act: () => Promise<unknown>): Transport & { sent: number } => {
  const through = {
    ...transport,
    sent: 0,
    send: async (operation: never, input: never, options: never) => {
      if (++through.sent === at) await act();
      return transport.send(operation, input, options);
    },
    close: () => Promise.resolve(),
  };
  return through as never;
};

const kinds = [
  { post: "post", part: "note", says: "parts that need no node" },
  { post: "page", part: "line", says: "parts that check their node" },
  { post: "photo", part: "tag", says: "parts that need no node, and edges" },
] as const;
const writers = ["put", "create", "part.put", "part.create", "part.put,put", "put,part.put", "part.delete,put", "transact"];

const outcomeOf = async (act: () => PromiseLike<unknown>): Promise<string> => {
  try {
    const outcome = (await act()) as { readonly ok?: boolean; readonly reason?: string };
    return outcome.ok === false ? (outcome.reason ?? "") : "ok";
  } catch (error) {
    if (!isEdgetableError(error)) throw error;
    return error.code;
  }
};

let round = 0;
describe.each(kinds)("a deletion of a node that counts $says", (kind) => {
  test.each(writers)("ends with true counts, whenever another program does %s", async (does) => {
    for (let at = 1; at <= 8; at++) {
      const one = { id: `p${++round}` };
      // oxlint-disable-next-line typescript/no-explicit-any -- one program for three node types
      const db = modelIn(table).connect({ transport: engine.transport }) as any;
      const [posts, notes] = [db[kind.post], db[kind.part]];
      await posts.create({ ...one, title: "old" }).orThrow();
      for (const k of ["1", "2"]) await notes.create(one, { k, words: 5 }).orThrow();
      const acts: Readonly<Record<string, () => PromiseLike<unknown>>> = {
        put: () => posts.put({ ...one, title: "new" }),
        create: () => posts.create({ ...one, title: "new" }),
        "part.put": () => notes.put(one, { k: "3", words: 7 }),
        "part.create": () => notes.create(one, { k: "3", words: 7 }),
        "part.delete": () => notes.delete(one, { k: "1" }),
        transact: () => db.transact([posts.put({ ...one, title: "new" }), notes.put(one, { k: "3", words: 7 })]),
      };
      const told: string[] = [];
      const transport = interleaved(engine.transport, at, async () => {
        for (const name of does.split(",")) told.push(await outcomeOf(acts[name]!));
      });
      // oxlint-disable-next-line typescript/no-explicit-any -- one program for three node types
      const deleter = modelIn(table).connect({ transport }) as any;
      told.push(await outcomeOf(() => deleter[kind.post].delete(one, quick)));
      if (transport.sent < at) break;
      // A node that is gone counts from zero when it is written anew: then nothing of the old one may be left.
      if (!(await posts.get(one, { consistent: true }))) await posts.create({ ...one, title: "anew" }).orThrow();
      const parts = await db[kind.post](one).parts(kind.part).all();
      const { n } = await posts.get(one, { consistent: true });
      expect.soft(n, `before request ${at} of ${transport.sent}: ${told.join(", ")}`).toBe(parts.length);
    }
  });
});

test("a deletion of many counted edges tells its progress, and keeps it in its job, after each transaction", async () => {
  const db = modelIn(table).connect({ transport: engine.transport });
  await db.photo.create({ id: "liked", title: "" }).orThrow();
  const users = Array.from({ length: 130 }, (_, at) => ({ id: `fan${at}` }));
  await db.load(users.map((row) => ({ node: "user", row }) as const));
  const { failures } = await db.load(users.map((from) => ({ edge: "likes", from, to: { id: "liked" } }) as const));
  expect(failures).toEqual([]);
  const told: number[] = [];
  await db.photo.delete({ id: "liked" }, { ...quick, onProgress: ({ items }) => void told.push(items) }).orThrow();
  expect([...new Set(told)]).toEqual([0, 19, 38, 57, 76, 95, 114, 130]);
  expect(await db.photo.get({ id: "liked" })).toBeUndefined();
});
