import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { defineGraph, edge, node, part } from "../index.ts";

const text = z.string();
const USERS = 400;
const POSTS = 3000;

// Every expectation is true of the rows below.
const graphOf = (table: string) =>
  defineGraph({
    table,
    nodes: {
      user: node({
        key: "U#{userId}",
        schema: z.object({ userId: text, country: text, region: text, city: text, age: z.int(), bio: text }),
        expect: {
          bytes: 700,
          count: USERS,
          rowsPerValue: { country: 200, region: 40, city: 4, age: 8 },
          rowsPerRange: { age: 40, city: 10 },
        },
      }),
      post: node({
        key: "P#{postId}",
        schema: z.object({ postId: text, topic: text, words: text }),
        expect: { bytes: 450, count: POSTS, rowsPerValue: { topic: 300 } },
      }),
    },
    edges: {
      likes: edge({
        from: "user",
        to: "post",
        orderBy: "at:number",
        schema: z.object({ at: z.int(), why: text }),
        ends: "unchecked",
        expect: { from: 30, to: 4, bytes: 320, rowsPerValue: { why: 1200 } },
      }),
      follows: edge({ from: "user", to: "user", ends: "unchecked", expect: { from: 6, to: 6, bytes: 160 } }),
      // Nine of ten lead to five posts with 216 each: 1,200 edges, whose degrees' squares add up to 233,400.
      cites: edge({
        from: "user",
        to: "post",
        ends: "unchecked",
        expect: { from: 3, to: 1200 / 125, reached: { to: 233_400 / 1200 }, bytes: 140 },
      }),
      famous: edge({
        from: "user",
        to: "post",
        schema: z.object({ why: text }),
        ends: "unchecked",
        expect: { from: 1500, to: 1, bytes: 220 },
      }),
    },
    parts: {
      note: part({
        of: "user",
        key: "NOTE#{n:3}",
        schema: z.object({ n: z.int(), body: text }),
        expect: { bytes: 600, count: 25 * 20, perNode: 20 },
      }),
    },
    indexes: {
      byPlace: { entries: { user: ["country", "region", "city"] } },
      byAge: { entries: { user: "age:number" }, shards: 4 },
      byTopic: { entries: { post: "topic" } },
      byWhy: { entries: { likes: "why" }, projection: "KEYS_ONLY" },
    },
  });

let engine: TestEngine;
let db: ReturnType<ReturnType<typeof graphOf>["connect"]>;

beforeAll(async () => {
  engine = await openEngine();
  db = graphOf(engine.freshTableName("predict")).connect({ transport: engine.transport, cursorSecret: "s".padEnd(43, "-") });
  await db.table.create();
  const place = (at: number) => ({ country: `c${at % 2}`, region: `r${at % 10}`, city: `t${String(at % 100).padStart(2, "0")}` });
  await db.load(
    Array.from({ length: USERS }, (_, at) => ({
      node: "user" as const,
      row: { userId: `u${at}`, ...place(at), age: 20 + (at % 50), bio: "b".repeat(480) },
    })),
  );
  await db.load(
    Array.from({ length: POSTS }, (_, at) => ({
      node: "post" as const,
      row: { postId: `p${at}`, topic: `topic${at % 10}`, words: "w".repeat(330) },
    })),
  );
  const load = async (edges: readonly unknown[]): Promise<unknown> => db.load(edges as never, { strict: true });
  const user = (at: number) => ({ userId: `u${at % USERS}` });
  const post = (at: number) => ({ postId: `p${at % POSTS}` });
  await load(
    Array.from({ length: USERS * 30 }, (_, at) => ({
      edge: "likes",
      from: user(Math.floor(at / 30)),
      to: post(at),
      attributes: { at, why: `${"y".repeat(150)}${at % 10}` },
    })),
  );
  await load(
    Array.from({ length: USERS * 6 }, (_, at) => ({
      edge: "follows",
      from: user(Math.floor(at / 6)),
      to: user(at * 7 + 1),
      attributes: {},
    })),
  );
  await load(
    Array.from({ length: USERS * 3 }, (_, at) => ({
      edge: "cites",
      from: user(Math.floor(at / 3)),
      to: post(at % 10 === 0 ? at + 5 : at % 5),
      attributes: {},
    })),
  );
  await load(
    Array.from({ length: 1500 }, (_, at) => ({ edge: "famous", from: user(0), to: post(at), attributes: { why: "y".repeat(120) } })),
  );
  await load(
    Array.from({ length: 25 * 20 }, (_, at) => ({
      part: "note",
      owner: user(Math.floor(at / 20)),
      row: { userId: `u${Math.floor(at / 20)}`, n: at % 20, body: "n".repeat(500) },
    })),
  );
}, 120_000);
afterAll(() => engine.close());

interface Priced {
  explain(): Promise<{ readonly cost: { readonly requests: number; readonly readUnits: number } }>;
  report(): Promise<{ readonly cost: { readonly requests: number; readonly readUnits: number } }>;
}

const u = () => db.user({ userId: "u7" });
const star = () => db.user({ userId: "u0" });

const calls: Readonly<Record<string, () => unknown>> = {
  get: () => u().get(),
  getMany: () => db.user.getMany(Array.from({ length: 120 }, (_, at) => ({ userId: `u${at}` }))),
  "find by a value": () => db.find("user").where({ country: "c1" }).rows(),
  "find by two levels": () => db.find("user").where({ country: "c1", region: "r3" }).rows(),
  "find by three levels": () => db.find("user").where({ country: "c1", region: "r3", city: "t13" }).rows(),
  "find by a range below a level": () =>
    db
      .find("user")
      .where({ country: "c1", region: "r3", city: { lt: "t30" } })
      .rows(),
  "find over shards": () => db.find("user").where({ age: 30 }).rows(),
  "find a range over shards": () =>
    db
      .find("user")
      .where({ age: { gte: 20, lt: 25 } })
      .rows(),
  count: () => db.find("post").where({ topic: "topic3" }).count(),
  list: () => db.find("user").using("byPlace").rows(),
  "list many": () => db.find("post").rows(),
  "count all": () => db.find("post").count(),
  page: () => db.find("post").where({ topic: "topic3" }).page({ limit: 20 }),
  limit: () => db.find("post").where({ topic: "topic3" }).limit(50).rows(),
  first: () => db.find("post").first(),
  filtered: () => db.find("user").where({ country: "c1", age: 31 }).rows(),
  "filtered page": () => db.find("user").where({ country: "c1", age: 31 }).page({ limit: 5 }),
  "find in an index of keys alone": () =>
    db
      .find("likes")
      .where({ why: `${"y".repeat(150)}3` })
      .count(),
  out: () => u().out("likes").edges(),
  "out, unordered": () => u().out("likes").unordered().edges(),
  "out, consistent": () => u().out("likes").unordered().consistent().edges(),
  "out, a page": () => u().out("likes").page({ limit: 5 }),
  in: () => db.post({ postId: "p7" }).in("likes").edges(),
  nodes: () => u().out("likes").nodes(),
  "out of a supernode": () => star().out("famous").edges(),
  "first of a supernode": () => star().out("famous").first(),
  "count of a supernode": () => star().out("famous").count(),
  parts: () => db.user({ userId: "u3" }).parts("note").all(),
  collection: () => star().collection(),
  "walk of one hop": () => u().out("likes").walk().ids(),
  "walk of two hops": () => u().out("follows").out("follows").ids(),
  "walk through hubs": () => u().out("cites").in("cites").ids(),
  "walk of three hops": () => u().out("follows").out("follows").out("likes").count(),
  "walk with nodes": () => u().out("follows").out("likes").nodes(),
};

describe("what explain() predicts is what is consumed, within two times, where expect is true", () => {
  test.each(Object.keys(calls))("%s", async (name) => {
    const call = (calls[name] as () => Priced)();
    const { cost: predicted } = await call.explain();
    const { cost } = await call.report();
    expect({ predicted, cost, ratio: cost.readUnits / predicted.readUnits }).toMatchObject({
      ratio: expect.toSatisfy((ratio: number) => ratio >= 0.5 && ratio <= 2) as number,
    });
    expect(cost.requests / predicted.requests).toBeGreaterThanOrEqual(0.5);
    expect(cost.requests / predicted.requests).toBeLessThanOrEqual(2);
  });
});
