import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { count, defineGraph, edge, node, part } from "../index.ts";
import { startEngine, type TestEngine } from "../test-support/engine.ts";
import type { AttributeValue } from "../transport/operations.ts";
import { verify } from "./index.ts";
import { contentOf } from "./lab.test-support.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

const text = z.string();

const open = async () => {
  const table = engine.freshTableName("keys");
  const graph = defineGraph({
    table,
    nodes: {
      user: node({ key: "USER#{id}", schema: z.object({ id: text, name: text }), derived: { posts: count({ out: "wrote" }) } }),
      post: node({ key: "POST#{id}", schema: z.object({ id: text }) }),
    },
    parts: { note: part({ of: "user", key: "NOTE#{n:3}", schema: z.object({ n: z.int() }), copies: { author: { of: "name" } } }) },
    edges: {
      wrote: edge({
        from: "user",
        to: "post",
        copies: { from: { author: { of: "name" } } },
        orderBy: "author",
        onDelete: { from: "cascade" },
      }),
    },
    indexes: { byAuthor: { entries: { note: "author" } }, byPosts: { entries: { user: "posts:number" } } },
  });
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  await db.user.create({ id: "u", name: "Ann" }).orThrow();
  await db.post.create({ id: "p" }).orThrow();
  await db.note.create({ id: "u" }, { n: 1 }).orThrow();
  await db.wrote.link({ id: "u" }, { id: "p" }).orThrow();
  return { db, table };
};

const places = {
  "a copy on an edge": { sort: "wrote#POST#p", attribute: "author", wrong: { S: "Bob" }, key: "gsi2sk", kind: "staleCopy" },
  "a copy on a part": { sort: "NOTE#001", attribute: "author", wrong: { S: "Bob" }, key: "byAuthorSk", kind: "staleCopy" },
  "a count": { sort: "#", attribute: "posts", wrong: { N: "7" }, key: "byPostsSk", kind: "wrongAggregate" },
} as const;

for (const [name, { sort, attribute, wrong, key, kind }] of Object.entries(places))
  describe(`where ${name} and an index key of it differ`, () => {
    const damaged = async (changes: Readonly<Record<string, AttributeValue>>) => {
      const { db, table } = await open();
      const at = JSON.stringify([{ S: "USER#u" }, { S: sort }]);
      const right = (await contentOf(engine.transport, table)).get(at)!;
      expect(right).toHaveProperty(key);
      await engine.transport.send("PutItem", { TableName: table, Item: { ...right, ...changes } });
      const { kinds } = await verify(db, { settle: 0 });
      expect(await verify(db, { settle: 0, repair: true })).toMatchObject({ clean: true });
      const { "~derived": _before, ...item } = right;
      const { "~derived": _after, ...now } = (await contentOf(engine.transport, table)).get(at)!;
      expect(now).toEqual(item);
      const found = kinds.flatMap((one) => one.examples.map((example) => [one.kind, example.attribute, example.expected]));
      return { found, right: right[key] as { readonly S: string } };
    };

    test("the one that is right is not said to be wrong", async () => {
      expect((await damaged({ [attribute]: wrong })).found).toEqual([[kind, attribute, attribute === "posts" ? 1 : "Ann"]]);
      const other = await damaged({ [key]: { S: "zzz#zzz" } });
      expect(other.found).toEqual([["indexKey", key, other.right.S]]);
    });

    test("both are named with what they should be where both are wrong", async () => {
      const { found, right } = await damaged({ [attribute]: wrong, [key]: { S: "zzz#zzz" } });
      expect(found.toSorted()).toEqual(
        [
          [kind, attribute, attribute === "posts" ? 1 : "Ann"],
          ["indexKey", key, right.S],
        ].toSorted(),
      );
    });
  });

test("a copy that is missing is told apart from one that is wrong", async () => {
  const { db, table } = await open();
  const right = (await contentOf(engine.transport, table)).get(JSON.stringify([{ S: "USER#u" }, { S: "wrote#POST#p" }]))!;
  const reasonFor = async (item: typeof right) => {
    await engine.transport.send("PutItem", { TableName: table, Item: item });
    const { kinds } = await verify(db, { settle: 0 });
    return kinds.find(({ kind }) => kind === "staleCopy")?.examples[0]?.reason;
  };
  expect(await reasonFor({ ...right, author: { S: "Bob" } })).toMatch(/^"author" copies "name" of a "user", which has another value now\./);
  const { author: _author, ...without } = right;
  expect(await reasonFor(without)).toMatch(/^"author" copies "name" of a "user", which it lacks\./);
});
