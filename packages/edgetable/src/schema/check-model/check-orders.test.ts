import { expect, test } from "vitest";
import { z } from "zod";
import { checkModel } from "../check-model.ts";
import { type AnyEdge, edge, node, summarize } from "../definition.ts";
import { average, count, distinct, max, min, sum } from "../derived.ts";

const id = z.string();
const messages = (likes: AnyEdge): readonly string[] =>
  checkModel({
    table: "Orders",
    nodes: {
      user: node({ key: "USER#{id}", schema: z.object({ id }) }),
      post: node({
        key: "POST#{id}",
        schema: z.object({ id, title: id, at: id.optional(), place: id.default("none"), rank: z.number().nullable() }),
        derived: { seen: count({ in: "saw" }), best: max({ in: "saw", of: "stars", freshness: "stream" }) },
      }),
    },
    edges: {
      likes,
      saw: edge({ from: "user", to: "post", schema: z.object({ stars: z.number() }), onDelete: { from: "cascade", to: "cascade" } }),
    },
  }).map(({ place, message }) => `${place}: ${message}`);

const ends = { from: "user", to: "post" } as const;
const copied = (of: string, freshness: "stream" | "transaction", form = ""): AnyEdge =>
  edge({ ...ends, copies: { to: { copy: { of, freshness } } }, orderBy: `copy${form}` } as never);

const summaries = {
  times: count({ along: "saw" }),
  stars: sum({ along: "saw", of: "stars" }),
  kinds: distinct({ along: "saw", of: "stars" }),
  least: min({ along: "saw", of: "stars" }),
  best: max({ along: "saw", of: "stars" }),
  mean: average({ along: "saw", of: "stars", freshness: "stream" }),
  later: count({ along: "saw", freshness: "batch" }),
};

test.each(["times", "stars", "kinds"])("an order by %s of a summary is accepted", (field) => {
  expect(messages(summarize(edge(ends), summaries, { orderBy: `${field}:number` } as never))).toEqual([]);
});

test.each(["least", "best", "mean", "later"])("an order by %s, which a new edge lacks, is refused", (field) => {
  const found = messages(summarize(edge(ends), summaries, { orderBy: `${field}:number` } as never));
  expect(found).toEqual([expect.stringContaining(`edges.likes.orderBy: an edge has no "${field}" when it is linked`)]);
});

test.each([
  ["title", "stream", ""],
  ["place", "stream", ""],
  ["seen", "stream", ":number"],
  ["id", "stream", ""],
  ["at", "transaction", ""],
] as const)("an order by a copy of %s (%s) is accepted", (of, freshness, form) => {
  expect(messages(copied(of, freshness, form))).toEqual([]);
});

test.each([
  ["at", ""],
  ["rank", ":number"],
  ["best", ":number"],
])("an order by a copy of %s by the stream is refused, because a node may lack it", (of, form) => {
  const found = messages(copied(of, "stream", form));
  expect(found).toEqual([expect.stringContaining(`edges.likes.orderBy: "copy" is a copy of "${of}", which a "post" may lack`)]);
});
