import { expect, test } from "vitest";
import { z } from "zod";
import { count, defineGraph, edge, node, part, sum, summarize } from "../index.ts";
import { repairsBefore } from "./chain.ts";
import type { SeenRow } from "./see-item.ts";

const id = z.string();
const stream = { freshness: "stream" } as const;
const kept = { onDelete: { from: "cascade", to: "cascade" } } as const;

const { catalog } = defineGraph({
  table: "Chained",
  nodes: {
    author: node({ key: "AUTHOR#{id}", schema: z.object({ id }), derived: { posts: count({ out: "wrote", ...stream }) } }),
    post: node({ key: "POST#{id}", schema: z.object({ id, words: z.int() }) }),
    reader: node({
      key: "READER#{id}",
      schema: z.object({ id }),
      derived: {
        reads: count({ out: "reads", ...stream }),
        busy: count({ out: "follows", where: { or: [{ posts: { gt: 9 } }, { posts: 0 }] }, ...stream } as never),
        spent: sum({ out: "buys", of: "spent", ...stream }),
      },
    }),
  },
  edges: {
    wrote: edge({ from: "author", to: "post", copies: { to: ["words"] }, ...kept }),
    reads: edge({ from: "reader", to: "post", ...kept }),
    follows: edge({ from: "reader", to: "author", copies: { to: { posts: { of: "posts", ...stream } } }, ...kept }),
    ordered: edge({ from: "reader", to: "post", schema: z.object({ n: z.string(), price: z.number() }), key: ["n"], ...kept }),
    buys: summarize(edge({ from: "reader", to: "post", ...kept }), { spent: sum({ along: "ordered", of: "price" }) }),
  },
  parts: {
    note: part({ of: "author", key: "NOTE#{n:3}", schema: z.object({ n: z.int() }), copies: { posts: { of: "posts", ...stream } } }),
  },
});

test("an item waits for as many repairs as its attributes follow from, one after the other", () => {
  const waits = ["author", "post", "reader", "wrote", "reads", "follows", "ordered", "buys", "note"].map((definition) => [
    definition,
    repairsBefore(catalog, { kind: "row", shape: { definition } } as SeenRow),
  ]);
  expect(Object.fromEntries(waits)).toEqual({
    author: 0,
    post: 0,
    // A condition on a copy of a count.
    reader: 2,
    wrote: 0,
    reads: 0,
    follows: 1,
    ordered: 0,
    buys: 0,
    note: 1,
  });
});
