import { expect, test } from "vitest";
import { z } from "zod";
import { checkModel } from "../check-model.ts";
import { edge, type GraphDefinition, node, part, summarize } from "../definition.ts";
import { average, count, type DerivedAttribute, distinct, max, sum } from "../derived.ts";

const id = z.string();
const buys = (more: object = {}) =>
  edge({ from: "customer", to: "product", schema: z.object({ note: z.string(), shop: z.string() }), ...more } as never);
const model = (derived: Readonly<Record<string, DerivedAttribute>>, of: unknown = buys(), more: object = {}): GraphDefinition => ({
  table: "Summaries",
  nodes: {
    customer: node({ key: "CUSTOMER#{id}", schema: z.object({ id }), ...more }),
    product: node({ key: "PRODUCT#{id}", schema: z.object({ id }) }),
  },
  edges: {
    buys: summarize(of as ReturnType<typeof edge>, derived),
    ordered: edge({ from: "customer", to: "product", schema: z.object({ order: z.string(), amount: z.number() }), key: ["order"] }),
    returned: edge({ from: "product", to: "customer", symmetric: false }),
    knows: edge({ from: "customer", to: "customer", symmetric: true }),
  },
  parts: { room: part({ of: "product", key: "R#{room}", schema: z.object({ room: z.string() }) }) },
});
const messages = (...given: Parameters<typeof model>): readonly string[] =>
  checkModel(model(...given)).map(({ place, message }) => `${place}: ${message}`);

test("what the stream can keep is accepted", () => {
  const all = {
    orders: count({ along: "ordered" }),
    spent: sum({ along: "ordered", of: "amount", where: { amount: { gte: 1 } }, within: 60 }),
    returns: count({ against: "returned" }),
    either: count({ between: "returned" }),
  };
  expect(messages(all)).toEqual([]);
});

test.each<readonly [string, Parameters<typeof model>, string]>([
  [
    "a name that every object has",
    [{ toString: count({ along: "ordered" }) } as never],
    'buys.derived.toString: "toString" is a member of every object',
  ],
  ["no source", [{ n: count({ in: "ordered" }) }], "give one of `along`, `against` and `between`"],
  ["an unknown edge", [{ n: count({ along: "orderd" }) }], 'buys.derived.n: "orderd" is not an edge of the model. Did you mean "ordered"?'],
  ["itself", [{ n: count({ along: "buys" }) }], '"buys" cannot summarize itself'],
  ["other ends", [{ n: count({ along: "returned" }) }], 'no "returned" lies along a "buys"'],
  ["an edge without direction between others", [{ n: count({ along: "knows" }) }], 'no "knows" lies along a "buys"'],
  [
    "a transaction",
    [{ n: count({ along: "ordered", freshness: "transaction" }) }],
    "a transaction cannot keep it: an edge may be linked after those that it summarizes",
  ],
  ["no freshness", [{ n: count({ along: "ordered", freshness: "bach" as "batch" }) }], '"bach" is not a freshness. Did you mean "batch"?'],
  ["shards", [{ n: count({ along: "ordered", shards: 4 }) }], "shards are for a count, sum or average of a node"],
  ["no attribute", [{ n: distinct({ along: "ordered" }) }], "distinct needs `of`"],
  ["an unknown attribute", [{ n: max({ along: "ordered", of: "amuont" }) }], '"amuont" is not an attribute here. Did you mean "amount"?'],
  ["an unknown condition", [{ n: count({ along: "ordered", where: { amuont: 1 } }) }], '"amuont" is not an attribute here'],
  ["a sum of texts", [{ n: average({ along: "ordered", of: "order" }) }], '"order" is text by its schema'],
  [
    "a reference",
    [{ n: count({ along: "ordered" }) }, edge({ from: "customer", to: "product", stored: "reference" })],
    "has no item to keep it in",
  ],
  [
    "a key that the others lack",
    [{ n: count({ along: "ordered" }) }, buys({ key: ["shop"] })],
    '"shop" in the key of "buys" is not an attribute of "ordered"',
  ],
  ["something else", [{ n: 3 as never }], "this is not a derived attribute"],
])("%s is refused", (_, given, says) => {
  expect(messages(...given)).toEqual([expect.stringContaining(says)]);
});

test("a name that is taken is refused", () => {
  expect(messages({ note: count({ along: "ordered" }) })).toContainEqual(
    expect.stringContaining('"note" is an attribute of "buys" already'),
  );
});

test("an edge without direction is summarized from both ends", () => {
  const given = model({});
  const knows = summarize(edge({ from: "customer", to: "customer", symmetric: true }), { n: count({ along: "wrote" }) });
  const wrote = edge({ from: "customer", to: "customer" });
  expect(checkModel({ ...given, edges: { ...given.edges, knows, wrote } }).map(({ message }) => message)).toEqual([
    expect.stringContaining("write `between`"),
  ]);
});

test("a node has none, and a transaction cannot count what the stream keeps on edges", () => {
  const along = { derived: { n: count({ along: "ordered", freshness: "stream" }) } };
  expect(messages({}, buys(), along)).toEqual([expect.stringContaining("`along` is for derived attributes of an edge")]);
  const over = (freshness: "transaction" | "stream") => ({ derived: { spent: sum({ out: "buys", of: "spent", freshness }) } });
  const spent = { spent: sum({ along: "ordered", of: "amount" }) };
  const cascading = buys({ onDelete: { from: "cascade", to: "cascade" } });
  expect(messages(spent, cascading, over("transaction"))).toEqual([expect.stringContaining('"spent" is written by the stream or a job')]);
  expect(messages(spent, cascading, over("stream"))).toEqual([]);
});

test("a circle of edges is refused", () => {
  const given = model({});
  const one = summarize(edge({ from: "customer", to: "product" }), { n: sum({ along: "two", of: "m" }) });
  const two = summarize(edge({ from: "customer", to: "product" }), { m: sum({ along: "one", of: "n" }) });
  expect(checkModel({ ...given, edges: { ...given.edges, one, two } }).map(({ message }) => message)).toEqual([
    expect.stringContaining("it depends on itself"),
    expect.stringContaining("it depends on itself"),
  ]);
});
