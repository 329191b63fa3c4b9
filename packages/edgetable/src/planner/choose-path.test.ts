import { expect, test } from "vitest";
import { z } from "zod";
import { defineGraph, edge, node } from "../index.ts";

const text = z.string();

const graph = defineGraph({
  table: "Ratings",
  nodes: {
    user: node({ key: "U#{userId}", schema: z.object({ userId: text }) }),
    item: node({ key: "I#{itemId}", schema: z.object({ itemId: text }) }),
  },
  edges: {
    rated: edge({
      from: "user",
      to: "item",
      schema: z.object({ stars: text, day: text }),
      expect: { from: 1000, bytes: 400, rowsPerValue: { stars: 200, day: 10 } },
    }),
  },
  layout: {
    partitionKey: "pk",
    sortKey: "sk",
    typeAttribute: "type",
    indexes: {
      byStars: { partitionKey: "g1pk", sortKey: "g1sk" },
      byDay: { partitionKey: "g2pk", sortKey: "g2sk" },
    },
    nodes: { user: { keys: { sk: "#" } }, item: { keys: { sk: "#" } } },
    edges: {
      rated: {
        keys: {
          sk: "RATED#{to}",
          g1pk: "{from}",
          g1sk: "RATED#{stars}#{to}",
          g2pk: "{from}",
          g2sk: "RATED#{day}#{to}",
        },
      },
    },
  },
});

const db = graph.connect({
  endpoint: "http://127.0.0.1:1",
  credentials: { accessKeyId: "local", secretAccessKey: "local" },
  region: "local",
});

const indexOf = async (filter: { readonly stars?: string; readonly day?: string }): Promise<unknown> => {
  const { requests } = await db.user({ userId: "u" }).out("rated").where(filter).explain();
  const input = requests[0]?.input as { readonly IndexName?: string } | undefined;
  return input?.IndexName;
};

test("of several indexes at a node's edges the one at the lowest predicted price is read", async () => {
  expect(await indexOf({})).toBe(undefined);
  expect(await indexOf({ stars: "5" })).toBe("byStars");
  expect(await indexOf({ day: "2026-11-22" })).toBe("byDay");
  // Both indexes take one condition: 200 edges have five stars, and 10 are of a day.
  expect(await indexOf({ stars: "5", day: "2026-11-22" })).toBe("byDay");
});
