import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { count, defineGraph, edge, node } from "../index.ts";
import { startEngine, type TestEngine } from "../test-support/engine.ts";
import { verify } from "../verify/index.ts";

// Edges of which each takes many items of a transaction go with their node, however many there are.

let engine: TestEngine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

const id = z.string();
const EDGES = 60;

describe.each(["once", "twice"] as const)("stored %s", (stored) => {
  test.each([
    ["in the node's own item", {}, ["name"]],
    ["spread over counters", { shards: 64 }, undefined],
  ] as const)("a node whose edges are counted at both ends (%s) goes with all of them", { timeout: 60_000 }, async (_, spread, from) => {
    const graph = defineGraph({
      table: engine.freshTableName("many-items"),
      nodes: {
        user: node({ key: "USER#{id}", schema: z.object({ id, name: id }), derived: { given: count({ out: "likes", ...spread }) } }),
        post: node({ key: "POST#{id}", schema: z.object({ id }), derived: { likes: count({ in: "likes" }) } }),
      },
      edges: {
        likes: edge({
          from: "user",
          to: "post",
          onDelete: { from: "cascade", to: "restrict" },
          ...(stored === "twice" && { stored }),
          ...(from && { copies: { from } }),
        }),
      },
    });
    const db = graph.connect({ transport: engine.transport });
    await db.table.create();
    const posts = Array.from({ length: EDGES }, (_, at) => ({ id: `p${at}` }));
    const [ann, bob] = [{ id: "ann" }, { id: "bob" }];
    for (const user of [ann, bob]) await db.user.create({ ...user, name: user.id }).orThrow();
    await db.load([
      ...posts.map((row) => ({ node: "post" as const, row })),
      ...posts.flatMap((to) => [ann, bob].map((user) => ({ edge: "likes" as const, from: user, to, attributes: {} }))),
    ]);
    expect(await db.user.delete(ann, { indexLag: 0 })).toMatchObject({ ok: true });
    expect(await db.jobs.list()).toEqual([]);
    expect(await db.user(ann).out("likes").count()).toBe(0);
    expect((await db.post.getMany(posts)).map((post) => post?.likes)).toEqual(posts.map(() => 1));
    expect(await verify(db, { settle: 5 })).toMatchObject({ clean: true });
  });
});
