// Rows that are written before the node that they copy from, or at the same time.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { defineGraph, edge, node, part } from "../index.ts";
import { startEngine, type TestEngine } from "../test-support/engine.ts";
import { verify } from "../verify/index.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

const id = z.string();
const open = async (freshness: "transaction" | "immutable") => {
  const copies = { title: { of: "title", freshness } } as const;
  const graph = defineGraph({
    table: engine.freshTableName("absent"),
    nodes: {
      post: node({
        key: "POST#{id}",
        schema: z.object({ id, title: z.string(), seen: z.number().optional() }),
        ...(freshness === "immutable" && { immutable: ["title"] }),
      }),
      user: node({ key: "USER#{id}", schema: z.object({ id }) }),
    },
    parts: { note: part({ of: "post", key: "NOTE#{at}", schema: z.object({ at: id, words: z.number().optional() }), copies }) },
    edges: { likes: edge({ from: "user", to: "post", ends: "unchecked", copies: { to: copies } }) },
  });
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  return db;
};
type Opened = Awaited<ReturnType<typeof open>>;
const post = { id: "p" };
const user = { id: "u" };
const titles = async (db: Opened): Promise<unknown> => [
  (await db.note.get(post, { at: "1" }))?.title,
  (await db.likes.get(user, post))?.title,
];
const freshnesses = ["transaction", "immutable"] as const;

describe.each(freshnesses)("a part with a copy of freshness %s", (freshness) => {
  test("needs its node, which nothing would copy onto it later", async () => {
    const db = await open(freshness);
    const missing = { ok: false, reason: "endMissing", end: "owner", id: post };
    expect(await db.note.create(post, { at: "1" })).toMatchObject(missing);
    expect(await db.note.put(post, { at: "1" })).toMatchObject(missing);
    expect(await db.note.upsert(post, { at: "1" }, { words: 1 })).toMatchObject(missing);
    expect((await db.transact([db.user.create(user), db.note.create(post, { at: "1" })])).outcomes).toMatchObject([
      { reason: "rolledBack" },
      missing,
    ]);
    await db.transact([db.note.create(post, { at: "1" }), db.post.create({ ...post, title: "a" })]).orThrow();
    expect((await db.note.get(post, { at: "1" }))?.title).toBe("a");
  });

  test("has it whenever its node comes, while both are written at once", async () => {
    const db = await open(freshness);
    const nodes: readonly ((one: { readonly id: string }) => PromiseLike<unknown>)[] = [
      (one) => db.post.create({ ...one, title: "a" }),
      (one) => db.post.put({ ...one, title: "a" }),
      (one) => db.post.upsert({ ...one, title: "a" }, { seen: 1 }),
    ];
    const parts: readonly ((one: { readonly id: string }) => PromiseLike<unknown>)[] = [
      (one) => db.note.create(one, { at: "1" }),
      (one) => db.note.put(one, { at: "1" }),
      (one) => db.note.upsert(one, { at: "1" }, { words: 1 }),
    ];
    await Promise.all(
      nodes.flatMap((writeNode, i) =>
        parts.flatMap((writePart, j) =>
          [0, 1, 2, 3].map(async (k) => {
            const one = { id: `${i}-${j}-${k}` };
            await Promise.all([writeNode(one), writePart(one)]);
            const row = await db.note.get(one, { at: "1" });
            expect(row === undefined || row.title === "a").toBe(true);
          }),
        ),
      ),
    );
    expect((await verify(db, { settle: 0 })).kinds).toEqual([]);
  });
});

test("an edge whose ends are unchecked needs the node of a copy that nothing changes later", async () => {
  const db = await open("immutable");
  const missing = { ok: false, reason: "endMissing", end: "to", id: post };
  expect(await db.likes.link(user, post)).toMatchObject(missing);
  expect(await db.likes.put(user, post)).toMatchObject(missing);
  const other = await open("transaction");
  await other.likes.link(user, post).orThrow();
  await other.post.create({ ...post, title: "a" }).orThrow();
  expect((await other.likes.get(user, post))?.title).toBe("a");
});

const orders = [false, true].flatMap((reversed) => (["any", "kept"] as const).map((order) => ({ reversed, order })));
describe.each(freshnesses)("a load of rows with copies of freshness %s", (freshness) => {
  test.each(orders)("fills them in, reversed $reversed, order $order", async ({ reversed, order }) => {
    const db = await open(freshness);
    const rows = [
      { node: "post", row: { ...post, title: "a" } },
      { part: "note", owner: post, row: { at: "1" } },
      { edge: "likes", from: user, to: post, attributes: {} },
    ] as const;
    expect(await db.load(reversed ? rows.toReversed() : rows, { order })).toMatchObject({ failed: 0 });
    expect(await titles(db)).toEqual(["a", "a"]);
    expect((await verify(db, { settle: 0 })).kinds).toEqual([]);
  });
});
