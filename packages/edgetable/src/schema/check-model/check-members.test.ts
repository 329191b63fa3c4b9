import { describe, expect, test } from "vitest";
import { checkModel } from "../check-model.ts";
import { cases, inLayout, item, joined, model, reverse, team, user, withEdge, type Loose } from "./cases.test-support.ts";

const wrong = (given: ReturnType<typeof model>, place: string, ...says: readonly string[]) =>
  ({ model: given, rule: "setting", place, says }) as const;
const entry = (settings: unknown, index: Loose = {}) => model({ indexes: { byName: { entries: { user: settings }, ...index } } });

// What the types refuse, plain JavaScript hands in.
describe("settings that there are none of", () => {
  cases({
    "of a node": wrong(model({ nodes: { user: user({ uniqe: ["name"] }) } }), "nodes.user", '"uniqe"', 'Did you mean "unique"?'),
    "of a part": wrong(model({ parts: { item: item({ unique: ["note"] }) } }), "parts.item", '"unique"', "Known: "),
    "of an edge": wrong(withEdge({ orderby: "at" }), "edges.joins", 'Did you mean "orderBy"?'),
    "of what is expected": wrong(model({ nodes: { user: user({ expect: { byts: 1 } }) } }), "nodes.user.expect", 'Did you mean "bytes"?'),
    "of what a deletion does": wrong(withEdge({ onDelete: { form: "cascade" } }), "edges.joins.onDelete", 'Did you mean "from"?'),
    "of a graph": wrong(model({ indxes: {} }), "model", 'Did you mean "indexes"?'),
    "of an index": wrong(entry("name", { shard: 4 }), "indexes.byName", 'Did you mean "shards"?'),
    "of an entry": wrong(entry({ by: "name", spars: true }), "indexes.byName.entries.user", 'Did you mean "sparse"?'),
    "of shards": wrong(entry({ by: "name", shards: { count: 2, hott: {} } }), "indexes.byName.entries.user.shards", 'Did you mean "hot"?'),
    "of a layout": wrong(inLayout({ typeAttribut: "T" }), "layout", 'Did you mean "typeAttribute"?'),
    "of an index's layout": wrong(
      inLayout({ indexes: { gsi: { partitionKey: "A", sortkey: "B" } } }),
      "layout.indexes.gsi",
      'Did you mean "sortKey"?',
    ),
    "of a node's layout": wrong(inLayout({ nodes: { user: { key: {} } } }), "layout.nodes.user", 'Did you mean "keys"?'),
    "of a mirror": wrong(
      inLayout({ indexes: reverse, edges: { joins: { mirror: { sprase: [] } } } }, { edges: withEdge({ stored: "twice" }).edges }),
      "layout.edges.joins.mirror",
      'Did you mean "sparse"?',
    ),
    "of a sharding": wrong(inLayout({ shards: { hot: { count: 2, par: "name" } } }, joined), "layout.shards.hot", 'Did you mean "per"?'),
  });
});

describe("settings of another kind", () => {
  cases({
    "a word for a switch": wrong(
      model({ nodes: { user: user({ version: "false" }) } }),
      "nodes.user",
      'Expected a boolean for version, got "false"',
    ),
    "a name for a list": wrong(model({ nodes: { user: user({ unique: "name" }) } }), "nodes.user", "array of attributes for unique"),
    "a word for an entry's switch": wrong(
      entry({ by: "name", sparse: "no" }),
      "indexes.byName.entries.user",
      "Expected a boolean for sparse",
    ),
    "a projection": wrong(entry("name", { projection: "KEYS" }), "indexes.byName", 'There is no projection "KEYS"'),
    "an owner": wrong(
      model({ parts: { item: item({ owner: "check" }) } }),
      "parts.item",
      'There is no owner "check". Known: checked, unchecked.',
    ),
    "a text for an object": wrong(
      withEdge({ maxDegree: 3 }),
      "edges.joins",
      "Expected an object for maxDegree, such as { from: … }, got 3.",
    ),
  });
});

test("all are told at once, with what else is wrong", () => {
  const findings = checkModel({
    ...withEdge({ symetric: true, stord: "twice", orderBy: "att" }),
    nodes: { user: user({ uniqe: [], versoin: true, expect: { byts: 1, cuont: 2 }, ttl: "until" }), team: team() },
  });
  expect(findings.map(({ place, message }) => `${place} ${message.split('"')[1]}`)).toEqual([
    "nodes.user uniqe",
    "nodes.user versoin",
    "nodes.user.expect byts",
    "nodes.user.expect cuont",
    "edges.joins symetric",
    "edges.joins stord",
    "nodes.user.ttl until",
    "edges.joins.orderBy att",
  ]);
});
