import { afterAll, beforeAll, describe, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { defineGraph, edge, node, type SentRequest } from "../index.ts";

const text = z.string();

const graphOf = (table: string) =>
  defineGraph({
    table,
    nodes: {
      person: node({ key: "PERSON#{personId}", schema: z.object({ personId: text, name: text.optional() }) }),
      post: node({ key: "POST#{postId}", schema: z.object({ postId: text, title: text }) }),
    },
    edges: {
      follows: edge({ from: "person", to: "person", schema: z.object({ muted: z.boolean().optional() }) }),
      wrote: edge({ from: "person", to: "post", schema: z.object({ at: text, kind: text }), orderBy: "at" }),
      liked: edge({ from: "person", to: "post", schema: z.object({ at: text }) }),
    },
  });

let engine: TestEngine;
let sent: SentRequest[] = [];
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

const person = (personId: string) => ({ personId });

/** Each of b, c and d wrote some posts; ties of one moment among them. a follows b, c and d, and d muted. */
const open = async () => {
  const db = graphOf(engine.freshTableName("feed")).connect({
    transport: engine.transport,
    cursorSecret: "test".padEnd(43, "-"),
    onRequest: (request) => sent.push(request),
  });
  await db.table.create();
  for (const personId of "abcde".split("")) await db.person.create({ personId }).orThrow();
  for (const [to, muted] of [
    ["b", false],
    ["c", false],
    ["d", true],
  ] as const)
    await db.follows.link(person("a"), person(to), { muted }).orThrow();
  const rows: unknown[] = [];
  const posts: { readonly at: string; readonly by: string; readonly postId: string }[] = [];
  for (const [who, count, every] of [
    ["b", 9, 1],
    ["c", 4, 2],
    ["d", 5, 3],
    ["e", 3, 1],
  ] as const) {
    for (let n = 0; n < count; n++) {
      const at = `2026-01-${String(1 + n * every).padStart(2, "0")}`;
      const postId = `${who}${n}`;
      rows.push({ node: "post", row: { postId, title: `of ${who}` } });
      rows.push({ edge: "wrote", from: person(who), to: { postId }, attributes: { at, kind: n % 2 === 0 ? "long" : "short" } });
      posts.push({ at, by: who, postId });
    }
  }
  await db.load(rows as never, { strict: true });
  // By time and then by post: both stand in the sort key.
  const newest = (of: readonly string[]): readonly string[] =>
    posts
      .filter(({ by }) => of.includes(by))
      .toSorted((x, y) => (x.at === y.at ? (x.postId < y.postId ? 1 : -1) : x.at < y.at ? 1 : -1))
      .map(({ postId }) => postId);
  return { db, newest };
};

const operations = (): readonly string[] => sent.map(({ operation }) => operation);

describe("a feed", () => {
  let db: Awaited<ReturnType<typeof open>>["db"];
  let newest: Awaited<ReturnType<typeof open>>["newest"];
  beforeAll(async () => {
    ({ db, newest } = await open());
  });
  const feed = () => db.person(person("a")).out("follows");

  test("merges the newest edges of the followed: the walk, one Query for each, one BatchGetItem", async () => {
    sent = [];
    const { value, cost } = await feed().feed({ out: "wrote" }, { limit: 5 }).report();
    expect(value.items.map(({ edge: { to } }) => to.postId)).toEqual(newest(["b", "c", "d"]).slice(0, 5));
    expect(value.items[0]).toEqual({
      edge: { from: person("d"), to: { postId: "d4" }, at: "2026-01-13", kind: "long" },
      node: { postId: "d4", title: "of d" },
    });
    expect(value).toMatchObject({ nodes: 3, left: 0, previous: undefined, stopped: undefined });
    expect(operations()).toEqual(["Query", "Query", "Query", "Query", "BatchGetItem"]);
    expect(cost.requests).toBe(5);
    for (const { input } of sent.slice(1, 4)) expect(input).toMatchObject({ IndexName: "ordered", ScanIndexForward: false, Limit: 6 });
    expectTypeOf(value.items[0]!.node!.title).toEqualTypeOf<string>();
  });

  test.each([1, 2, 3, 4, 7, 18, 50])("pages of %i are the whole, forward and back", async (limit) => {
    const all: string[] = [];
    const pages: string[][] = [];
    let cursor: string | undefined;
    let previous: string | undefined;
    do {
      const page = await feed().feed({ out: "wrote" }, { limit, cursor, of: "ids" });
      expectTypeOf(page.items[0]!.postId).toEqualTypeOf<string>();
      pages.push(page.items.map(({ postId }) => postId));
      all.push(...page.items.map(({ postId }) => postId));
      ({ next: cursor, previous } = page);
    } while (cursor);
    expect(all).toEqual(newest(["b", "c", "d"]));
    for (let at = pages.length - 2; at >= 0 && previous; at--) {
      const page = await feed().feed({ out: "wrote" }, { limit, cursor: previous, of: "ids" });
      expect(page.items.map(({ postId }) => postId)).toEqual(pages[at]);
      ({ previous } = page);
    }
  });

  test("conditions are those of the walk and of the merged edges", async () => {
    const loud = feed().where({ muted: false });
    const { items } = await loud.feed({ out: "wrote", where: { kind: "long", at: { lt: "2026-01-07" } } }, { of: "edges" });
    expect(items.map(({ to }) => to.postId)).toEqual(["c2", "b4", "b2", "c0", "b0"]);
    const nodes = await loud.feed({ out: "wrote" }, { of: "nodes", limit: 2 });
    expect(nodes.items.map(({ title }) => title)).toEqual(["of b", "of b"]);
    const own = await db.person(person("e")).walk().feed({ out: "wrote" }, { of: "ids" });
    expect(own.items).toHaveLength(3);
    expect((await db.person(person("e")).out("follows").feed({ out: "wrote" })).items).toEqual([]);
  });

  test("a cursor holds when people are followed, unfollowed and write between two pages", async () => {
    const lab = await open();
    const mine = (options: { readonly cursor?: string | undefined }) =>
      lab.db
        .person(person("a"))
        .out("follows")
        .feed({ out: "wrote" }, { limit: 6, of: "ids", ...options });
    const first = await mine({});
    await lab.db.follows.link(person("a"), person("e"), {}).orThrow();
    await lab.db.follows.unlink(person("a"), person("d")).orThrow();
    await lab.db.post.create({ postId: "b99", title: "new" }).orThrow();
    await lab.db.wrote.link(person("b"), { postId: "b99" }, { at: "2026-02-01", kind: "long" }).orThrow();
    const rest: string[] = [];
    for (let cursor = first.next; cursor;) {
      const page = await mine({ cursor });
      rest.push(...page.items.map(({ postId }) => postId));
      cursor = page.next;
    }
    const given = first.items.map(({ postId }) => postId);
    const behind = lab.newest(["b", "c", "e"]).filter((postId) => !given.includes(postId));
    expect(given).toEqual(lab.newest(["b", "c", "d"]).slice(0, 6));
    // What is older than the last row given, of those who are followed now.
    expect(rest).toEqual(behind.filter((postId) => postId !== "b99"));
  });

  test("explain() prices the walk, a Query for each node and the nodes of the page", async () => {
    const explained = await feed().feed({ out: "wrote" }, { limit: 20 }).explain();
    expect(explained).toMatchObject({ kind: "feed", consistency: "eventual", walk: { kind: "walk" } });
    expect(explained.requests).toMatchObject([
      { operation: "Query", times: 1 },
      { operation: "Query", times: 10, after: "the walk" },
      { operation: "BatchGetItem", times: 1, after: "the merge" },
    ]);
    expect(explained.cost.requests).toBe(12);
    expect((await feed().feed({ out: "wrote" }, { of: "ids", nodes: 4 }).explain()).cost.requests).toBe(5);
  });

  test("too many nodes are refused, or a sample is taken and said", async () => {
    await expect(feed().feed({ out: "wrote" }, { nodes: 2 })).rejects.toMatchObject({
      code: "traverse.supernode",
      message: expect.stringContaining("more than 2 nodes"),
    });
    const sample = await feed().feed({ out: "wrote" }, { nodes: 2, beyond: "sample", of: "ids", limit: 50 });
    expect(sample).toMatchObject({ nodes: 2, left: 1 });
    expect(sample.items.map(({ postId }) => postId)).toEqual(newest(["b", "c"]));
  });

  test("a budget that ends early says what is missing, or makes a short page", async () => {
    await expect(feed().feed({ out: "wrote" }, { budget: { requests: 3 } })).rejects.toMatchObject({ code: "plan.invalidOption" });
    const ids: string[] = [];
    let cursor: string | undefined;
    do {
      sent = [];
      const page = await feed().feed({ out: "wrote" }, { limit: 50, cursor, of: "ids", budget: { requests: 4 } });
      expect(sent.length).toBeLessThanOrEqual(4);
      ids.push(...page.items.map(({ postId }) => postId));
      cursor = page.next;
    } while (cursor);
    expect(ids).toEqual(newest(["b", "c", "d"]));
  });

  test("what is no feed is refused", async () => {
    expect(() => feed().feed({ out: "liked" })).toThrow(/declare orderBy of "liked"/);
    // @ts-expect-error a feed takes one edge type
    expect(() => feed().feed({ out: ["wrote", "liked"] })).toThrow(/name one edge instead of "wrote", "liked"/);
    // @ts-expect-error a feed takes one direction
    expect(() => feed().feed({ both: "follows" })).toThrow(/use \{ out: "follows" \} or/);
    // @ts-expect-error there is no such edge
    expect(() => feed().feed({ out: "wrot" })).toThrow(/Did you mean "wrote"/);
    // @ts-expect-error there is no such attribute
    expect(() => feed().feed({ out: "wrote", where: { att: "x" } })).toThrow(/"att" is not an attribute/);
    expect(() => feed().feed({} as never)).toThrow(/exactly one direction/);
    expect(() => feed().feed({ out: "wrote" }, { limit: 0 })).toThrow(/limit is 0/);
    expect(() => feed().feed({ out: "wrote" }, { nodes: 5000 })).toThrow(/nodes is 5000/);
    const { next } = await feed().feed({ out: "wrote" }, { limit: 1 });
    await expect(feed().where({ muted: true }).feed({ out: "wrote" }, { cursor: next })).rejects.toMatchObject({ code: "cursor.invalid" });
  });
});

test("edges of one moment to one target are each given once, however the pages are cut", async () => {
  const db = graphOf(engine.freshTableName("feedties")).connect({ transport: engine.transport, cursorSecret: "test".padEnd(43, "-") });
  await db.table.create();
  const writers = ["b", "c", "d"];
  const rows: unknown[] = ["a", ...writers].map((personId) => ({ node: "person", row: { personId } }));
  for (const postId of ["p", "q"]) rows.push({ node: "post", row: { postId, title: "t" } });
  for (const who of writers) {
    rows.push({ edge: "follows", from: person("a"), to: person(who), attributes: {} });
    for (const postId of ["p", "q"]) rows.push({ edge: "wrote", from: person(who), to: { postId }, attributes: { at: "1", kind: "k" } });
  }
  await db.load(rows as never, { strict: true });
  for (const limit of [1, 2, 4, 5]) {
    const given: string[] = [];
    let cursor: string | undefined;
    do {
      const { items, next } = await db.person(person("a")).out("follows").feed({ out: "wrote" }, { limit, cursor, of: "edges" });
      given.push(...items.map(({ from, to }) => `${from.personId} ${to.postId}`));
      cursor = next;
    } while (cursor);
    expect(given).toEqual(["d q", "c q", "b q", "d p", "c p", "b p"]);
  }
});
