import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { defineGraph, edge, node, type SentRequest } from "../index.ts";

const text = z.string();
const graphOf = (table: string) =>
  defineGraph({
    table,
    nodes: {
      user: node({ key: "USER#{id}", schema: z.object({ id: text, age: z.number().optional(), name: text }) }),
      post: node({ key: "POST#{id}", schema: z.object({ id: text, title: text, name: text }) }),
      tag: node({ key: "TAG#{id}", schema: z.object({ id: text }) }),
    },
    edges: { likes: edge({ from: "user", to: ["user", "post", "tag"] }) },
  });

let engine: TestEngine;
let sent: SentRequest[] = [];
let db: ReturnType<ReturnType<typeof graphOf>["connect"]>;
beforeAll(async () => {
  engine = await openEngine();
  db = graphOf(engine.freshTableName("kinds")).connect({ transport: engine.transport, onRequest: (request) => sent.push(request) });
  await db.table.create();
  await db.user.create({ id: "ada", name: "Ada" }).orThrow();
  await db.user.create({ id: "bob", name: "x", age: 7 }).orThrow();
  await db.user.create({ id: "eve", name: "y" }).orThrow();
  await db.post.create({ id: "p", title: "P", name: "x" }).orThrow();
  await db.tag.create({ id: "t" }).orThrow();
  for (const to of [
    { type: "user", id: "bob" },
    { type: "user", id: "eve" },
    { type: "post", id: "p" },
    { type: "tag", id: "t" },
  ] as const)
    await db.likes.link({ id: "ada" }, to).orThrow();
});
afterAll(() => engine.close());

const liked = () => db.user({ id: "ada" }).out("likes");
const shown = (found: Iterable<{ readonly type?: string; readonly id: string }>): readonly string[] =>
  [...found].map(({ type, id }) => `${type}:${id}`).toSorted();

describe("a filter of nodes along an edge to several kinds", () => {
  test.each([
    ["an attribute of one kind", { title: "P" }, ["post:p"]],
    ["one that two kinds have", { name: "x" }, ["post:p", "user:bob"]],
    ["a comparison that a missing attribute would pass", { age: { ne: 5 } }, ["user:bob", "user:eve"]],
    ["an optional attribute that is not there", { age: { exists: false } }, ["user:eve"]],
    ["two attributes, which one kind has", { name: "x", title: "P" }, ["post:p"]],
  ] as const)("keeps, by %s, nodes of the kinds that have it", async (_, filter, expected) => {
    const where = filter as { readonly name: string };
    expect(shown(await liked().walk().whereNode(where).ids())).toEqual(expected);
    expect(shown(await db.user({ id: "ada" }).walk().repeat({ out: "likes", whereNode: where }, { depth: 1 }).ids())).toEqual(expected);
    expect((await liked().walk().whereNode(where).nodes()).items).toHaveLength(expected.length);
  });

  test("does not read nodes of another type", async () => {
    sent = [];
    await liked()
      .walk()
      .whereNode({ title: "P" } as never)
      .ids();
    const batch = sent.find(({ operation }) => operation === "BatchGetItem")?.input;
    expect(JSON.stringify(batch)).not.toMatch(/USER|TAG/);
  });

  test("applies to each node of a path", async () => {
    const to = { type: "post", id: "p" } as const;
    const hop = { out: "likes", whereNode: { title: "P" } } as const;
    expect([...(await db.user({ id: "ada" }).shortestPath(to, hop))]).toHaveLength(1);
    const tag = { type: "tag", id: "t" } as const;
    expect([...(await db.user({ id: "ada" }).shortestPath(tag, hop))]).toEqual([]);
  });

  test("is refused if no type has the attribute", () => {
    expect(() =>
      liked()
        .walk()
        .whereNode({ titel: "P" } as never),
    ).toThrow('"titel" is not an attribute of the node "user".');
    expect(() =>
      liked()
        .walk()
        .whereNode({ title: "P", age: 7 } as never),
    ).toThrow("is not an attribute of the node");
  });
});

describe("nodes of several kinds", () => {
  const expected = [
    { kind: "post", row: { id: "p", title: "P", name: "x" } },
    { kind: "tag", row: { id: "t" } },
    { kind: "user", row: { id: "bob", name: "x", age: 7 } },
    { kind: "user", row: { id: "eve", name: "y" } },
  ];
  const sorted = <T>(list: Iterable<T>): readonly T[] => [...list].toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));

  test("carry their kind in lists, entries, pages and walks", async () => {
    expect(sorted(await liked().nodes())).toEqual(expected);
    expect(sorted((await liked().entries()).map(({ node: found }) => found))).toEqual(expected);
    expect(sorted((await liked().page({ of: "nodes" })).items)).toEqual(expected);
    expect(sorted((await liked().page({ of: "entries" })).items.map(({ node: found }) => found))).toEqual(expected);
    expect(sorted((await liked().walk().nodes()).items)).toEqual(expected);
    expect(sorted((await liked().walk().whereNode({ name: "x" }).nodes()).items)).toEqual([expected[0], expected[2]]);
    const titles = (await liked().nodes()).flatMap((one) => (one.kind === "post" ? [one.row.title] : []));
    expect(titles).toEqual(["P"]);
  });

  test("are read and changed by the end of an edge, which carries its type", async () => {
    const ends = (await liked().edges()).flatMap(({ to }) => (to.type === "post" ? [to] : []));
    expect(ends).toEqual([{ type: "post", id: "p" }]);
    for (const end of ends) {
      expect(await db.post(end).get()).toEqual({ id: "p", title: "P", name: "x" });
      expect(await db.post.update(end, { title: "P" })).toMatchObject({ ok: true });
    }
    expect(() => db.user({ type: "post", id: "p" } as never)).toThrow('"type" is not part of the id of "user"');
  });

  test("are plain rows if the call leads to one type, whatever types the other end has", async () => {
    const [ada] = await db.post({ id: "p" }).in("likes").nodes();
    expect(ada).toEqual({ id: "ada", name: "Ada" });
    expect((await liked().in("likes").nodes()).items).toEqual([ada]);
  });

  test("carry it along an edge in both directions too, and after a filter that keeps one type", async () => {
    const both = await db.user({ id: "bob" }).both("likes").nodes();
    expect(both).toEqual([{ kind: "user", row: { id: "ada", name: "Ada" } }]);
    const named: string | undefined = both[0]?.kind === "user" ? both[0].row.name : undefined;
    expect(named).toBe("Ada");
    const walked = await liked().walk().whereNode({ title: "P" }).nodes();
    expect(walked.items).toEqual([expected[0]]);
  });
});
