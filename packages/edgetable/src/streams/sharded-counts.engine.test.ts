import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { average, count, defineGraph, edge, node, type SentRequest, sum } from "../index.ts";
import { startEngine, type TestEngine } from "../test-support/engine.ts";
import type { Item } from "../transport/operations.ts";
import { verify } from "../verify/index.ts";
import { contentOf } from "../verify/lab.test-support.ts";
import { readCounters, rollUpCounters } from "./index.ts";

const id = z.string();
const modelIn = (table: string, shards: number | undefined = 4) =>
  defineGraph({
    table,
    nodes: {
      person: node({ key: "PERSON#{id}", schema: z.strictObject({ id }) }),
      post: node({
        key: "POST#{id}",
        schema: z.strictObject({ id }),
        derived: {
          likes: count({ in: "likes", ...(shards && { shards }) }),
          points: sum({ in: "likes", of: "stars", ...(shards && { shards }) }),
          mean: average({ in: "likes", of: "stars", ...(shards && { shards }) }),
        },
      }),
    },
    edges: {
      likes: edge({
        from: "person",
        to: "post",
        schema: z.strictObject({ stars: z.number().optional() }),
        onDelete: { from: "cascade", to: "cascade" },
      }),
    },
    indexes: { byLikes: { entries: { post: "likes:number" } } },
  });

let engine: TestEngine;
let table: string;
let db: ReturnType<ReturnType<typeof modelIn>["connect"]>;
const sent: SentRequest[] = [];
beforeAll(async () => {
  engine = await startEngine();
  table = engine.freshTableName("sharded");
  db = modelIn(table).connect({ transport: engine.transport, onRequest: (one) => sent.push(one) });
  await db.table.create();
});
afterAll(() => engine.stop());

let round = 0;
let post = { id: "" };
const people = (number: number): readonly { readonly id: string }[] =>
  Array.from({ length: number }, (_, at) => ({ id: `p${round}-${at}` }));
beforeEach(async () => {
  round++;
  post = { id: `post${round}` };
  await db.post.create(post).orThrow();
  for (const one of people(12)) await db.person.create(one).orThrow();
  sent.length = 0;
});
const countersOf = async (of: { readonly id: string }) =>
  [...(await contentOf(engine.transport, table)).values()].filter(
    (item) => "~counter" in item && (item["~node"] as { S: string }).S.includes(`"${of.id}"`),
  );
const verified = async () => {
  const { kinds, clean } = await verify(db, { settle: 5 });
  return { clean, found: Object.fromEntries(kinds.map(({ kind, count: all }) => [kind, all])) };
};

describe("sharded counts", () => {
  test("a link adds to a counter and leaves the node's item alone; the row follows when it is rolled up", async () => {
    const [ann] = people(1);
    const first = await db.likes.link(ann!, post, { stars: 4 }).orThrow();
    // The first edge of a counter makes it: edge, source, counter, and the node that has none yet.
    expect(first.atomic).toEqual({ kind: "transaction", items: 4 });
    await db.likes.unlink(ann!, post).orThrow();
    sent.length = 0;
    expect((await db.likes.link(ann!, post, { stars: 3 }).orThrow()).atomic).toEqual({ kind: "transaction", items: 3 });
    expect(JSON.stringify(sent.at(-1)!.input)).not.toContain(`POST#${post.id}"},"sk":{"S":"#`);
    expect(await db.post.get(post)).toMatchObject({ likes: 0, points: 0 });
    expect(await readCounters(db, "post", post)).toEqual({ likes: 1, points: 3, mean: 3 });
    expect(await rollUpCounters(db, "post", post)).toEqual({ likes: 1, points: 3, mean: 3 });
    expect(await db.post.get(post)).toEqual({ ...post, likes: 1, points: 3, mean: 3 });
    expect(
      (
        await db
          .find("post")
          .where({ likes: { gte: 1 } })
          .rows()
      ).map((one) => one.id),
    ).toContain(post.id);
  });

  test("many writers, relinks, puts and unlinks count right", async () => {
    const all = people(12);
    await Promise.all(all.map((one, at) => db.likes.link(one, post, { stars: at }).orThrow({ deadline: 60_000 })));
    await Promise.all(all.slice(0, 4).map((one) => db.likes.unlink(one, post).orThrow({ deadline: 60_000 })));
    await Promise.all(all.slice(4, 8).map((one) => db.likes.relink(one, post, { stars: 1 }).orThrow({ deadline: 60_000 })));
    await Promise.all(all.slice(6, 10).map((one) => db.likes.put(one, post, { stars: 2 }).orThrow({ deadline: 60_000 })));
    expect(await rollUpCounters(db, "post", post)).toEqual({ likes: 8, points: 1 + 1 + 2 + 2 + 2 + 2 + 10 + 11, mean: 31 / 8 });
    expect((await countersOf(post)).length).toBeGreaterThan(1);
    await db.post.put(post).orThrow();
    expect(await db.post.get(post)).toMatchObject({ likes: 8 });
    expect(await verified()).toEqual({ clean: true, found: {} });
  });

  test("an edge repeats its counter: a token makes a repeated request exact", async () => {
    const [ann] = people(1);
    await db.likes.link(ann!, post).orThrow();
    await db.likes.unlink(ann!, post).orThrow();
    sent.length = 0;
    await db.likes.link(ann!, post).orThrow();
    const { input } = sent.find(({ operation }) => operation === "TransactWriteItems")!;
    await engine.transport.send("TransactWriteItems", input as never);
    expect(await readCounters(db, "post", post)).toMatchObject({ likes: 1 });
  });

  test("a deletion takes the counters along, and a node of the same id begins anew", async () => {
    const all = people(6);
    for (const one of all) await db.likes.link(one, post, { stars: 1 }).orThrow();
    await rollUpCounters(db, "post", post);
    await db.post.delete(post).orThrow();
    expect(await countersOf(post)).toEqual([]);
    expect(await db.likes.link(all[0]!, post)).toMatchObject({ ok: false, reason: "endMissing", end: "to" });
    expect(await countersOf(post)).toEqual([]);
    await db.post.create(post).orThrow();
    await db.likes.link(all[0]!, post).orThrow();
    expect(await rollUpCounters(db, "post", post)).toEqual({ likes: 1, points: 0 });
    await db.person.delete(all[0]!).orThrow();
    expect(await rollUpCounters(db, "post", post)).toEqual({ likes: 0, points: 0 });
    expect(await verified()).toEqual({ clean: true, found: {} });
  });

  test("links beside a deletion leave neither edges nor counters", async () => {
    const all = people(12);
    await Promise.all(all.slice(0, 6).map((one) => db.likes.link(one, post).orThrow({ deadline: 60_000 })));
    const deleted = db.post.delete(post).orThrow();
    const late = await Promise.all(all.slice(6).map((one) => db.likes.link(one, post)));
    await deleted;
    expect(late.every((one) => one.ok || one.reason === "endMissing")).toBe(true);
    expect(await countersOf(post)).toEqual([]);
    expect(await db.post.get(post)).toBeUndefined();
    expect(await verified()).toEqual({ clean: true, found: {} });
  });

  test("an unknown node or one without such attributes is refused", async () => {
    await expect(readCounters(db, "person", { id: "x" })).rejects.toMatchObject({ code: "plan.invalidOption" });
    expect(await readCounters(db, "post", { id: "none" })).toBeUndefined();
    expect(await rollUpCounters(db, "post", { id: "none" })).toBeUndefined();
  });

  test("wrong counters, missing ones and those that nobody reads are found and mended", async () => {
    const all = people(12);
    await Promise.all(all.map((one) => db.likes.link(one, post, { stars: 2 }).orThrow({ deadline: 60_000 })));
    await rollUpCounters(db, "post", post);
    const [first, second] = await countersOf(post);
    const at = ({ pk, sk }: Item): Item => ({ pk: pk!, sk: sk! });
    await engine.transport.send("PutItem", { TableName: table, Item: { ...first!, "~count#likes": { N: "7" } } });
    await engine.transport.send("DeleteItem", { TableName: table, Key: at(second!) });
    await engine.transport.send("PutItem", {
      TableName: table,
      Item: {
        ...first!,
        pk: { S: `~counter#other${round}` },
        "~node": { S: JSON.stringify({ node: "post", over: "in.likes.9.0", id: post }) },
      },
    });
    await engine.transport.send("PutItem", {
      TableName: table,
      Item: {
        ...first!,
        pk: { S: `~counter#gone${round}` },
        "~node": { S: (first!["~node"] as { S: string }).S.replace(post.id, "gone") },
      },
    });
    expect((await verified()).found).toEqual({ wrongAggregate: 3, idleGuard: 2 });
    await verify(db, { settle: 5, repair: true });
    expect(await verified()).toEqual({ clean: true, found: {} });
    expect(await readCounters(db, "post", post)).toEqual({ likes: 12, points: 24, mean: 2 });
    expect(await db.post.get(post)).toMatchObject({ likes: 12, points: 24, mean: 2 });
  });

  test("a table whose nodes counted in their own items is migrated, and counts on", async () => {
    const other = engine.freshTableName("spread");
    const old = modelIn(other, 0).connect({ transport: engine.transport });
    await old.table.create();
    await old.post.create(post).orThrow();
    const all = people(12);
    for (const one of all) await old.person.create(one).orThrow();
    for (const one of all.slice(0, 6)) await old.likes.link(one, post, { stars: 1 }).orThrow();
    const now = modelIn(other, 4).connect({ transport: engine.transport });
    // Not filled yet: the row keeps what it had, and the counters say nothing.
    await now.likes.link(all[6]!, post, { stars: 1 }).orThrow();
    expect(await readCounters(now, "post", post)).toEqual({});
    expect(await rollUpCounters(now, "post", post)).toEqual({});
    expect(await now.post.get(post)).toMatchObject({ likes: 6 });
    const plan = await now.migrations.plan();
    expect(plan.steps.map(({ kind }) => kind)).toContain("derive");
    expect(await now.migrations.run({ finish: true })).toMatchObject({ complete: true });
    expect(await readCounters(now, "post", post)).toEqual({ likes: 7, points: 7, mean: 1 });
    expect(await now.post.get(post)).toMatchObject({ likes: 7, points: 7, mean: 1 });
    await now.likes.link(all[7]!, post).orThrow();
    await now.likes.unlink(all[0]!, post).orThrow();
    expect(await rollUpCounters(now, "post", post)).toEqual({ likes: 7, points: 6, mean: 1 });
    expect(await verify(now, { settle: 5 })).toMatchObject({ clean: true, kinds: [] });
  });
});

type Likes = Readonly<Record<"stored" | "copies", object>>;
const likesIn = (forms: Partial<Likes>, freshTable: string) =>
  defineGraph({
    table: freshTable,
    nodes: {
      person: node({ key: "PERSON#{id}", schema: z.object({ id, name: z.string() }) }),
      post: node({
        key: "POST#{id}",
        schema: z.object({ id }),
        derived: {
          likes: count({ in: "likes", shards: 2 }),
          strong: count({ in: "likes", shards: 2, where: { stars: { gt: 3n } } }),
          points: sum({ in: "likes", of: "stars", shards: 2 }),
        },
      }),
    },
    edges: {
      likes: edge({
        from: "person",
        to: "post",
        schema: z.object({ stars: z.number().optional(), mood: z.string().optional() }),
        onDelete: { from: "cascade", to: "cascade" },
        ...forms.stored,
        ...forms.copies,
      }),
    },
  });

describe.each<readonly [string, Partial<Likes>]>([
  ["", {}],
  [" that is stored twice", { stored: { stored: "twice" } }],
  [" with copies", { copies: { copies: { from: { name: "name" } } } }],
])("a change of an edge%s", (_, forms) => {
  test("counts by the attributes that it changes, and by no others", async () => {
    const graph = likesIn(forms, engine.freshTableName("changes"));
    const likes = graph.connect({ transport: engine.transport });
    const [ann, at] = [{ id: "ann" }, { id: "post" }];
    await likes.table.create();
    await likes.post.create(at).orThrow();
    await likes.person.create({ ...ann, name: "ann" }).orThrow();
    await likes.likes.link(ann, at, { stars: 5 }).orThrow();
    const all = { likes: 1, strong: 1, points: 5 };
    const changes: readonly (readonly [expected: object, change: () => PromiseLike<unknown>])[] = [
      [all, () => likes.likes.relink(ann, at, { mood: "good" }).orThrow()],
      [all, () => likes.likes.relink(ann, at, { remove: ["mood"] }).orThrow()],
      [all, () => likes.likes.upsert(ann, at, {}, { mood: "fine" }).orThrow()],
      [all, () => likes.transact([likes.likes.relink(ann, at, { mood: "best" })]).orThrow()],
      [all, () => likes.person.update(ann, { name: "bob" }).orThrow()],
      [all, () => likes.likes.put(ann, at, { stars: 5 }).orThrow()],
      [{ ...all, points: 6 }, () => likes.likes.relink(ann, at, { stars: 6 }).orThrow()],
      [{ likes: 1, strong: 0, points: 2 }, () => likes.likes.relink(ann, at, { add: { stars: -4 } }).orThrow()],
      [{ likes: 1, strong: 0, points: 0 }, () => likes.likes.relink(ann, at, { set: { mood: "bad" }, remove: ["stars"] }).orThrow()],
      [{ likes: 0, strong: 0, points: 0 }, () => likes.likes.unlink(ann, at).orThrow()],
    ];
    for (const [expected, change] of changes) {
      await change();
      expect(await readCounters(likes, "post", at), String(change)).toEqual(expected);
    }
    expect(await verify(likes, { settle: 5 })).toMatchObject({ clean: true, kinds: [] });
  });
});
