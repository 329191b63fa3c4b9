import type { ShardCountAnswer } from "@edgetable/studio";
import { startEngine, type LocalEngine } from "@edgetable/local";
import { createLeanTransport, defineGraph, node, type Transport } from "edgetable";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { readOnly } from "./read-only.ts";
import { countShards, isSharded, shardsAnswer } from "./shards.ts";

const text = z.string();
const { signal } = new AbortController();
const graph = defineGraph({
  table: "Shards",
  nodes: {
    person: node({ key: "PERSON#{personId}", schema: z.object({ personId: text, name: text, photo: text }) }),
    place: node({ key: "PLACE#{placeId}", schema: z.object({ placeId: text, country: text, name: text }) }),
  },
  indexes: { byName: { entries: { person: "name", place: { by: ["country", "name"], split: 1 } }, shards: 2 } },
});
// Two kinds in the same shards: an adopted layout with keys of its own.
const shop = defineGraph({
  table: "Shop",
  nodes: {
    order: node({ key: "O#{orderId}", schema: z.object({ orderId: text }) }),
    refund: node({ key: "R#{refundId}", schema: z.object({ refundId: text }) }),
  },
  layout: {
    partitionKey: "pk",
    sortKey: "sk",
    indexes: { all: { partitionKey: "gpk", sortKey: "gsk" } },
    nodes: {
      order: { keys: { sk: "order", gpk: "all#{orderId:shard(2)}", gsk: "O#{orderId}" } },
      refund: { keys: { sk: "refund", gpk: "all#{refundId:shard(2)}", gsk: "R#{refundId}" } },
    },
  },
});

let engine: LocalEngine;
let transport: Transport;
const sent: unknown[] = [];

beforeAll(async () => {
  engine = await startEngine();
  const { endpoint } = engine;
  const inner = createLeanTransport({ endpoint });
  transport = readOnly({
    send: (operation, input, options) => {
      sent.push({ operation, ...input });
      return inner.send(operation, input, options);
    },
    close: () => inner.close(),
  });
  const [people, sales] = [graph.connect({ endpoint }), shop.connect({ endpoint })];
  await people.table.create();
  await sales.table.create();
  // Four of these are more than a megabyte.
  const photo = "x".repeat(300_000);
  for (let at = 0; at < 12; at++) await people.person.create({ personId: `P${at}`, name: `Person ${at}`, photo });
  for (let at = 0; at < 6; at++) await people.place.create({ placeId: `L${at}`, country: at < 4 ? "PT" : "IS", name: `Place ${at}` });
  for (let at = 0; at < 9; at++) await sales.order.create({ orderId: `${at}` });
  for (let at = 0; at < 3; at++) await sales.refund.create({ refundId: `${at}` });
  await people.close();
  await sales.close();
});
afterAll(async () => {
  await transport.close();
  await engine.stop();
});

test("the shards of an index by the model alone; those that depend on a value, beside a partition", () => {
  sent.length = 0;
  expect([undefined, "reverse", "byName"].map((index) => isSharded(graph.catalog, index))).toEqual([false, false, true]);
  expect(shardsAnswer(graph, "byName", undefined)).toEqual({
    groups: [
      {
        kinds: [{ kind: "node", name: "person", sortPrefix: "" }],
        template: "person#{personId:shard(2)}",
        count: 2,
        shards: [
          { shard: 0, partition: "person#0" },
          { shard: 1, partition: "person#1" },
        ],
      },
      { kinds: [{ kind: "node", name: "place", sortPrefix: "" }], template: "place#{country}#{placeId:shard(2)}", count: 2 },
    ],
  });
  const { groups } = shardsAnswer(graph, "byName", "place#PT#1");
  expect(groups.map(({ shards }) => shards?.map(({ partition }) => partition))).toEqual([["place#PT#0", "place#PT#1"]]);
  expect(() => shardsAnswer(graph, "none", undefined)).toThrow('There is no index "none".');
  expect(sent).toEqual([]);
});

test("a count is one Query of a megabyte for each partition, and goes on where it stopped", async () => {
  sent.length = 0;
  const first = await countShards(
    graph,
    transport,
    { index: "byName", of: ["person#0", "person#1"].map((partition) => ({ partition, sortPrefix: "" })) },
    signal,
  );
  expect(sent).toMatchObject(
    ["person#0", "person#1"].map((S) => ({
      operation: "Query",
      IndexName: "byName",
      Select: "COUNT",
      KeyConditionExpression: "#p = :p",
      ExpressionAttributeValues: { ":p": { S } },
    })),
  );
  expect(first.cost).toEqual({ requests: 2, readUnits: expect.any(Number) });
  expect(first.cost.readUnits).toBeGreaterThan(200);
  expect(first.counts.every(({ items }) => items <= 4)).toBe(true);
  let items = first.counts.reduce((sum, one) => sum + one.items, 0);
  for (const [at, partition] of ["person#0", "person#1"].entries())
    for (let cursor = first.counts[at]?.next; cursor !== undefined;) {
      const more: ShardCountAnswer = await countShards(
        graph,
        transport,
        { index: "byName", of: [{ partition, sortPrefix: "", cursor }] },
        signal,
      );
      items += more.counts[0]?.items ?? 0;
      cursor = more.counts[0]?.next;
    }
  expect(items).toBe(12);
});

test("kinds in the same shards are counted one by one by the beginning of their sort keys", async () => {
  const { groups } = shardsAnswer(shop, "all", undefined);
  expect(groups).toMatchObject([
    {
      kinds: [
        { name: "order", sortPrefix: "O#" },
        { name: "refund", sortPrefix: "R#" },
      ],
      count: 2,
    },
  ]);
  const of = groups.flatMap(({ kinds, shards = [] }) =>
    kinds.flatMap(({ sortPrefix }) => shards.map(({ partition }) => ({ partition, sortPrefix }))),
  );
  const { counts } = await countShards(shop, transport, { index: "all", of }, signal);
  expect(counts.slice(0, 2).reduce((sum, { items }) => sum + items, 0)).toBe(9);
  expect(counts.slice(2).reduce((sum, { items }) => sum + items, 0)).toBe(3);
});

test("what is no count is refused", async () => {
  const one = { partition: "person#0", sortPrefix: "" };
  for (const body of [
    null,
    {},
    { of: [7] },
    { of: [{ partition: "x" }] },
    { of: Array.from({ length: 65 }, () => one) },
    { index: "none", of: [one] },
    { of: [{ ...one, cursor: "bnVsbA" }] },
  ])
    await expect(countShards(graph, transport, body, signal)).rejects.toMatchObject({ code: "cli.usage" });
});
