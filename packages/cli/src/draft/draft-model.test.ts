import type { AttributeValue } from "edgetable";
import { expect, test } from "vitest";
import { draftModel } from "./draft-model.ts";
import { draftText } from "./draft-text.ts";
import type { RawItem, SampledTable } from "./sample.ts";

type Plain = Readonly<Record<string, string | number | AttributeValue>>;

const raw = (item: Plain): RawItem =>
  Object.fromEntries(
    Object.entries(item).map(([name, value]) => [
      name,
      typeof value === "string" ? { S: value } : typeof value === "number" ? { N: String(value) } : value,
    ]),
  );

const drafted = (items: readonly Plain[], table: Partial<SampledTable> = {}) => {
  const report = draftModel({
    name: "App",
    partitionKey: "PK",
    sortKey: "SK",
    types: {},
    indexes: { GSI1: { partitionKey: "GSI1PK", sortKey: "GSI1SK" } },
    settings: {},
    ...table,
    items: items.map(raw),
  });
  expect(report).toMatchObject({ findings: [], misfits: [], rewritten: items.length });
  return report.draft;
};

test("roles follow from the sort key: none of its own, another node's key, anything else", () => {
  const { nodes, parts, edges } = drafted([
    { PK: "USER#ann", SK: "USER#ann" },
    { PK: "USER#ben", SK: "USER#ben" },
    { PK: "TEAM#red", SK: "TEAM#red" },
    { PK: "TEAM#blue", SK: "TEAM#blue" },
    { PK: "USER#ann", SK: "TEAM#red" },
    { PK: "USER#ben", SK: "TEAM#blue" },
    { PK: "USER#ann", SK: "NOTE#1" },
    { PK: "USER#ben", SK: "NOTE#2" },
  ]);
  expect(Object.entries(nodes).map(([name, { key }]) => [name, key])).toEqual([
    ["user", "USER#{userId}"],
    ["team", "TEAM#{teamId}"],
  ]);
  expect(parts).toMatchObject({ note: { of: "user", key: "NOTE#{noteId}" } });
  expect(edges).toMatchObject({ userTeam: { from: "user", to: "team" } });
});

test("fields take the names of the attributes that repeat them, in the format of the key", () => {
  const { nodes, layout } = drafted([
    { PK: "ISSUE#web#000012", SK: "META", repo: "web", number: 12 },
    { PK: "ISSUE#app#000345", SK: "META", repo: "app", number: 345 },
  ]);
  expect(nodes).toMatchObject({ issue: { key: "ISSUE#{repo}#{number:6}" } });
  expect(layout).toMatchObject({
    types: { number: "N" },
    nodes: { issue: { keys: { SK: "META", repo: "{repo}", number: "{number:number}" } } },
  });
});

test("an attribute that repeats a field only in some items is one of its own", () => {
  const { nodes } = drafted([
    { PK: "USER#ann", SK: "META", owner: "ann" },
    { PK: "USER#ben", SK: "META", owner: "ann" },
    { PK: "USER#eve", SK: "META" },
  ]);
  expect(nodes).toMatchObject({ user: { key: "USER#{userId}", schema: { userId: "z.string()", owner: "z.string().optional()" } } });
});

test("index keys that some items lack are sparse, and have a field of their own", () => {
  const { layout, nodes } = drafted([
    { PK: "GAME#1", SK: "META", GSI1PK: "OPEN", GSI1SK: "2024-01-02" },
    { PK: "GAME#2", SK: "META", GSI1PK: "OPEN", GSI1SK: "2024-01-03" },
    { PK: "GAME#3", SK: "META" },
  ]);
  expect(layout).toMatchObject({ nodes: { game: { keys: { GSI1PK: "OPEN", GSI1SK: "{gsi1skValue}" }, sparse: ["GSI1SK", "GSI1PK"] } } });
  expect(nodes["game"]?.schema).toMatchObject({ gsi1skValue: "z.string().optional()" });
});

test("kinds with keys of one form are told apart by the type attribute", () => {
  const { nodes, layout } = drafted([
    { PK: "ACCOUNT#ann", SK: "ACCOUNT#ann", type: "user", name: "Ann" },
    { PK: "ACCOUNT#ben", SK: "ACCOUNT#ben", type: "user", name: "Ben" },
    { PK: "ACCOUNT#guild", SK: "ACCOUNT#guild", type: "organization", members: 2 },
  ]);
  expect(Object.keys(nodes)).toEqual(["user", "organization"]);
  expect(layout).toMatchObject({ typeAttribute: "type", sharedIds: true });
});

test("a table without a sort key, with a number as its key, that expires", () => {
  const { nodes, layout } = drafted(
    [
      { id: 7, until: 1_800_000_000, data: { M: { a: { S: "x" } } } },
      { id: 12, until: 1_800_000_001, data: { L: [{ N: "1" }] } },
    ],
    { partitionKey: "id", sortKey: undefined as never, types: { id: "N" }, indexes: {}, ttl: "until" },
  );
  expect(layout).toEqual({ partitionKey: "id", types: { id: "N" } });
  expect(nodes).toMatchObject({
    app: {
      key: "{id:number}",
      ttl: "until",
      schema: { until: "z.number()", data: "z.union([z.array(z.number()), z.record(z.string(), z.unknown())])" },
    },
  });
});

test("hostile names and texts are quoted, and never end a comment", () => {
  const report = draftModel({
    name: "App",
    partitionKey: "PK",
    sortKey: "SK",
    types: {},
    indexes: {},
    settings: {},
    items: [{ PK: "{a}\n`${1}`#\u2028x", SK: "META", "a.b": "1", constructor: "2", "x y": "3", find: "4" }].map(raw),
  });
  expect(report).toMatchObject({ findings: [], misfits: [] });
  expect(draftText(report)).toContain('attributes: { aB: "a.b", constructor2: "constructor", xY: "x y" }');
});

test("a type attribute that is a set, and kinds without one", () => {
  const { layout, nodes } = drafted([
    { PK: "USER#ann", SK: "USER#ann", entity_type: { SS: ["person"] } },
    { PK: "TEAM#red", SK: "TEAM#red", entity_type: { SS: ["team"] } },
    { PK: "FRONTPAGE", SK: "FRONTPAGE", title: "Home" },
  ]);
  expect(Object.keys(nodes)).toEqual(["frontpage", "person", "team"]);
  expect(layout).toMatchObject({ typeAttribute: "entity_type", types: { entity_type: "SS" }, nodes: { frontpage: { type: false } } });
});

test("kinds under keys of one form are told apart by the words with which an attribute begins", () => {
  const document = (id: string, number: string, more: Plain) => ({ PK: "ACCOUNT#ann", SK: `DOC#${id}`, number, ...more });
  const items = [
    { PK: "ACCOUNT#ann", SK: "ACCOUNT#ann", name: "Ann" },
    document("1", "INV-1", { total: 5 }),
    document("2", "INV-2", { total: 6 }),
    document("3", "NOTE-1", { reason: "late" }),
    document("4", "NOTE-2", { reason: "wrong" }),
  ];
  const { layout, parts } = drafted(items);
  expect(parts).toMatchObject({ inv: { schema: { total: "z.number()" } }, note: { schema: { reason: "z.string()" } } });
  expect(layout.parts).toMatchObject({
    inv: { match: { number: { beginsWith: "INV-" } } },
    note: { match: { number: { beginsWith: "NOTE-" } } },
  });
  expect(layout).not.toHaveProperty("sharedIds");
});

test("values within attributes, and keys that items have in one state", () => {
  const order = (id: string, city: string, status: string) => ({
    PK: `ORDER#${id}`,
    SK: "ORDER",
    id,
    status,
    address: { M: { city: { S: city }, zip: { S: `${id}0` } } },
    ...(status === "done" ? {} : { GSI1PK: `CITY#${city}`, GSI1SK: `ORDER#${id}` }),
  });
  const { layout, nodes } = drafted([
    order("1", "Oslo", "open"),
    order("2", "Rome", "open"),
    order("3", "Oslo", "waiting"),
    order("4", "Rome", "done"),
    order("5", "Oslo", "done"),
    order("6", "Bonn", "waiting"),
  ]);
  expect(nodes).toMatchObject({ order: { key: "ORDER#{id}" } });
  expect(nodes["order"]?.schema).toHaveProperty("address");
  expect(layout.nodes).toMatchObject({
    order: {
      keys: { GSI1PK: "CITY#{address.city}", GSI1SK: "{key}" },
      when: { GSI1PK: { status: ["open", "waiting"] } },
    },
  });
  expect(layout.nodes?.["order"]).not.toHaveProperty("sparse");
});

test("index keys of several attributes are drafted as the table has them", () => {
  const match = (at: number, rest: Plain = {}) => ({ matchId: `m-${at}`, league: at % 2 ? "west" : "east", season: 2020 + at, ...rest });
  const { nodes, layout } = drafted([match(1, { round: "final" }), match(2, { round: "semi" }), match(3)], {
    partitionKey: "matchId",
    sortKey: undefined as never,
    types: { season: "N" },
    indexes: { byLeague: { partitionKey: ["league", "season"], sortKey: ["round", "matchId"] } },
  });
  expect(layout.indexes).toEqual({ byLeague: { partitionKey: ["league", "season"], sortKey: ["round", "matchId"] } });
  expect(Object.values(nodes)).toMatchObject([{ schema: { league: "z.string()", season: "z.number()", round: "z.string().optional()" } }]);
});
