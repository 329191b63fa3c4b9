import { expect, test } from "vitest";
import { z } from "zod";
import { defineGraph, edge, node } from "../index.ts";
import { shardsOf } from "./index.ts";

const text = z.string();
const graph = defineGraph({
  table: "People",
  nodes: {
    person: node({ key: "PERSON#{personId}", schema: z.object({ personId: text, name: text }) }),
    skill: node({ key: "SKILL#{skillId}", schema: z.object({ skillId: text }) }),
  },
  edges: { has: edge({ from: "person", to: "skill", schema: z.object({ area: text, level: text }) }) },
  indexes: {
    byName: { entries: { person: "name" }, shards: 3 },
    byArea: { entries: { has: { by: ["area", "level"], split: 1 }, person: { by: "name", shards: [4, 2] } }, shards: 2 },
  },
});

test("the shards of an index, while they grow those of both counts", () => {
  expect(shardsOf(graph, { index: "byName" })).toEqual([
    {
      kind: "node",
      name: "person",
      template: "person#{personId:shard(3)}",
      shards: 3,
      partitions: [0, 1, 2].map((shard) => ({ text: `person#${shard}`, shard })),
      sortPrefix: "",
    },
  ]);
  const growing = shardsOf(graph.catalog, { index: "byArea" }).find(({ name }) => name === "person");
  expect(growing?.partitions?.map(({ text: one }) => one)).toEqual(["person#0", "person#1", "person#2", "person#3"]);
});

test("shards that also depend on a value are those of one partition", () => {
  const [open] = shardsOf(graph, { index: "byArea" }).filter(({ name }) => name === "has");
  expect(open).toMatchObject({ kind: "edge", shards: 2, partitions: undefined });
  const [within, ...others] = shardsOf(graph, { index: "byArea", partition: "has#Café#1" });
  expect(within?.partitions).toEqual([
    { text: "has#Café#0", shard: 0 },
    { text: "has#Café#1", shard: 1 },
  ]);
  expect(others).toEqual([]);
});

test("what has no shards has none: the table of this layout, an unknown index, a key that no template made", () => {
  expect(shardsOf(graph)).toEqual([]);
  expect(shardsOf(graph, { index: "byAge" })).toEqual([]);
  expect(shardsOf(graph, { index: "byName", partition: "person#3" })).toEqual([]);
  expect(shardsOf(graph, { index: "byName", partition: "__proto__" })).toEqual([]);
});

test("an adopted layout: two kinds in the same shards, told apart by their sort keys", () => {
  const adopted = defineGraph({
    table: "Shop",
    nodes: {
      order: node({ key: "O#{orderId}", schema: z.object({ orderId: text, state: text }) }),
      refund: node({ key: "R#{refundId}", schema: z.object({ refundId: text, state: text }) }),
    },
    layout: {
      partitionKey: "pk",
      sortKey: "sk",
      indexes: { byState: { partitionKey: "gpk", sortKey: "gsk" } },
      shards: { hot: { count: 2, per: "state", hot: { open: 4 } } },
      nodes: {
        order: { keys: { sk: "order", gpk: "{state}#{orderId:shard(hot)}", gsk: "O#{orderId}" } },
        refund: { keys: { sk: "refund", gpk: "{state}#{refundId:shard(hot)}", gsk: "R#{refundId}" } },
      },
    },
  });
  const both = shardsOf(adopted, { index: "byState", partition: "open#1" });
  expect(both.map(({ name, sortPrefix, partitions }) => [name, sortPrefix, partitions?.length])).toEqual([
    ["order", "O#", 4],
    ["refund", "R#", 4],
  ]);
  expect(shardsOf(adopted, { index: "byState", partition: "done#1" })[0]?.partitions).toHaveLength(2);
});
