import { expect, test } from "vitest";
import { z } from "zod";
import { average, count, defineGraph, edge, max, node, sum, summarize } from "../index.ts";
import { verify } from "../verify/index.ts";
import { factsLabOfFile } from "./facts-lab.test-support.ts";

const id = z.string();
const cascade = { onDelete: { from: "cascade", to: "cascade" } } as const;
/** A table of somebody else, in which every derived attribute stands in an index key that holds more. */
const modelIn = (table: string) =>
  defineGraph({
    table,
    nodes: {
      user: node({ key: "USER#{id}", schema: z.object({ id }) }),
      post: node({
        key: "POST#{id}",
        schema: z.object({ id, title: id.optional() }),
        derived: {
          likes: count({ in: "likes" }),
          mean: average({ in: "likes", of: "stars" }),
          seen: sum({ in: "likes", of: "stars", freshness: "stream" }),
          best: max({ in: "likes", of: "stars", freshness: "stream" }),
          total: sum({ in: "likes", of: "stars" }),
        },
      }),
    },
    edges: {
      likes: edge({ from: "user", to: "post", key: ["n"], schema: z.object({ n: id, stars: z.number().optional() }), ...cascade }),
      reads: summarize(edge({ from: "user", to: "post", ...cascade }), {
        likes: count({ along: "likes" }),
        best: max({ along: "likes", of: "stars" }),
      }),
    },
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      indexes: {
        inverse: { partitionKey: "G1PK", sortKey: "G1SK" },
        byLikes: { partitionKey: "G2PK", sortKey: "G2SK" },
        byMean: { partitionKey: "G3PK", sortKey: "G3SK" },
        bySeen: { partitionKey: "G4PK", sortKey: "G4SK" },
        byTotal: { partitionKey: "kind", sortKey: "total" },
        byBest: { partitionKey: "G5PK", sortKey: "G5SK" },
      },
      nodes: {
        post: {
          keys: {
            SK: "POST",
            kind: "POSTS",
            G2PK: "POSTS",
            G2SK: "{likes:number}#{id}",
            G3PK: "POSTS",
            G3SK: "{mean:number}#{id}",
            G4PK: "POSTS",
            G4SK: "{seen:number}#{id}",
            G5PK: "POSTS",
            G5SK: "{best:number}#{id}",
          },
          verbatim: ["total"],
          sparse: ["G3PK", "G3SK", "G5PK", "G5SK"],
        },
      },
      edges: {
        likes: { keys: { SK: "LIKES#{to.id}#{n}", G1PK: "{to}", G1SK: "LIKES#{from.id}#{n}" } },
        reads: {
          keys: { SK: "READS#{to.id}", G1PK: "{to}", G1SK: "READS#{from.id}", G2PK: "OF#{from.id}", G2SK: "{likes:number}#{to.id}" },
        },
      },
    },
  });

const lab = factsLabOfFile(modelIn);
const [ann, bob, first, second] = [{ id: "ann" }, { id: "bob" }, { id: "1" }, { id: "2" }];
const found = async () => (await verify(lab.opened().db, { settle: 10, staleAfter: 10 })).kinds;
const board = async (index: "byLikes" | "byMean" | "bySeen" | "byBest" | "byTotal") => {
  const rows = await lab.opened().db.find("post").using(index).reverse().rows();
  return rows.map((row) => row.id);
};

test("derived attributes that index keys of an adopted table hold are kept beside them, and the keys follow", async () => {
  const { db } = lab.opened();
  for (const one of [ann, bob]) await db.user.create(one).orThrow();
  for (const one of [first, second]) await db.post.create({ ...one, title: "t" }).orThrow();
  expect(await db.post.get(first)).toMatchObject({ likes: 0 });
  await db.reads.link(ann, second).orThrow();
  await db.likes.link(ann, first, { n: "1", stars: 5 }).orThrow();
  await db.likes.link(ann, second, { n: "1", stars: 1 }).orThrow();
  await db.likes.link(bob, second, { n: "1", stars: 2 }).orThrow();
  await lab.drain();
  expect(await db.post.get(first)).toEqual({ ...first, title: "t", likes: 1, mean: 5, seen: 5, best: 5, total: 5 });
  expect(await db.post.get(second)).toEqual({ ...second, title: "t", likes: 2, mean: 1.5, seen: 3, best: 2, total: 3 });
  expect(await db.reads.get(ann, second)).toMatchObject({ likes: 1, best: 1 });
  expect(await db.post(second).in("likes").count({ kept: "any" })).toBe(2);
  expect([await board("byLikes"), await board("byMean"), await board("bySeen"), await board("byBest")]).toEqual([
    ["2", "1"],
    ["1", "2"],
    ["1", "2"],
    ["1", "2"],
  ]);
  expect(await board("byTotal")).toEqual(["1", "2"]);
  expect(
    await db
      .find("post")
      .where({ likes: { gte: 2 } })
      .using("byLikes")
      .rows(),
  ).toHaveLength(1);
  expect(await found()).toEqual([]);

  await db.post.put({ ...second, title: "u" }).orThrow();
  await db.likes.unlink(ann, second, { key: { n: "1" } }).orThrow();
  await db.likes.unlink(ann, first, { key: { n: "1" } }).orThrow();
  await lab.drain();
  expect(await db.post.get(first)).toEqual({ ...first, title: "t", likes: 0, seen: 0, total: 0 });
  expect(await db.post.get(second)).toEqual({ ...second, title: "u", likes: 1, mean: 2, seen: 2, best: 2, total: 2 });
  expect(await db.reads.get(ann, second)).toEqual({ from: ann, to: second, likes: 0 });
  expect([await board("byLikes"), await board("byMean"), await board("bySeen"), await board("byBest")]).toEqual([
    ["2", "1"],
    ["2"],
    ["2", "1"],
    ["2"],
  ]);
  expect(await board("byTotal")).toEqual(["2", "1"]);
  expect(await found()).toEqual([]);
});
