import { expect, test } from "vitest";
import { z } from "zod";
import { defineGraph } from "../client/define-graph.ts";
import { node } from "../schema/definition.ts";
import type { Item } from "../transport/operations.ts";
import { rewriteItem } from "./rewrite-item.ts";

const graph = defineGraph({
  table: "App",
  nodes: {
    user: node({
      key: "USER#{name}",
      schema: z.object({
        name: z.string(),
        score: z.number(),
        tags: z.set(z.string()).optional(),
        more: z.record(z.string(), z.unknown()).optional(),
      }),
    }),
  },
  layout: { partitionKey: "PK", sortKey: "SK", nodes: { user: { keys: { SK: "PROFILE", label: "{name}" } } } },
});

const item = (rest: Item = {}): Item => ({ PK: { S: "USER#ann" }, SK: { S: "PROFILE" }, label: { S: "ann" }, score: { N: "1" }, ...rest });

test("an item of the model makes itself again, whatever the order of sets and maps", () => {
  const whole = item({ tags: { SS: ["b", "a"] }, more: { M: { N: { S: "x" }, NS: { M: { b: { N: "1.50" }, a: { NULL: true } } } } } });
  expect(rewriteItem(graph, whole)).toMatchObject({ name: "user", differing: [], problem: undefined });
});

test("names what would change: copies, attributes that the model does not know, digits that a double does not hold", () => {
  const changed = item({ label: { S: "Ann" }, extra: { S: "x" }, score: { N: "0.1000000000000000000001" } });
  expect(rewriteItem(graph, changed)).toMatchObject({ name: "user", differing: ["label", "score", "extra"] });
});

test("says why an item is none of the model's, or cannot be written", () => {
  expect(rewriteItem(graph, { PK: { S: "X" }, SK: { S: "Y" } })).toEqual({
    name: undefined,
    item: undefined,
    differing: [],
    problem: "no type of the model has such keys",
  });
  const bare = defineGraph({
    table: "App",
    nodes: { user: node({ key: "USER#{name}", schema: z.object({ name: z.string(), at: z.string() }) }) },
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      indexes: { byTime: { partitionKey: "I" } },
      nodes: { user: { keys: { SK: "PROFILE", I: "AT#{at}" } } },
    },
  });
  expect(rewriteItem(bare, item({ I: { S: "AT_1" } })).problem).toContain("AT_1");
  expect(rewriteItem(bare, item()).problem).toContain('"at"');
});
