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

test("a node is called by the last word of its key", () => {
  const { nodes } = drafted([
    { PK: "TENANT#a", SK: "PROFILE" },
    { PK: "TENANT#b", SK: "PROFILE" },
    { PK: "TENANT#a#USER#ann", SK: "PROFILE" },
    { PK: "TENANT#b#USER#ben", SK: "PROFILE" },
    { PK: "TENANT#a#COURSE#1", SK: "DETAILS" },
    { PK: "TENANT#b#COURSE#2", SK: "DETAILS" },
  ]);
  expect(Object.keys(nodes).toSorted()).toEqual(["course", "tenant", "user"]);
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

test("keys of another program may begin as those of Edgetable's own items do", () => {
  const logins = ["1", "2", "3"].flatMap((id) => [
    { PK: `USER#${id}`, SK: "PROFILE", name: `n${id}` },
    { PK: `USER#${id}`, SK: `~LOGIN#${id}a`, at: "x" },
    { PK: `USER#${id}`, SK: `~LOGIN#${id}b`, at: "y" },
  ]);
  const own = [
    { PK: "USER#1", SK: "~degree#likes#out", "~count": 3 },
    { PK: "~unique#user#name#ann", SK: "#", "~owner": '["1"]' },
    { PK: "~job", SK: "load", "~kind": "load" },
    { PK: "~model", SK: "#" },
  ];
  const table = { name: "App", partitionKey: "PK", sortKey: "SK", types: {}, indexes: {}, settings: {} };
  const report = draftModel({ ...table, items: [...logins, ...own].map(raw) });
  expect(report).toMatchObject({ items: logins.length, own: own.length });
  expect(report.findings.join()).toContain('"~LOGIN#{loginId}" begins with "~", which only keys of Edgetable\'s own items do');
  const bare = draftModel({ ...table, items: ["~1", "~2"].map((PK) => raw({ PK, SK: "A", name: "n" })) });
  expect(bare).toMatchObject({ items: 2, own: 0, rewritten: 0 });
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

test("an item under a fixed sort key beside items under values, without a type attribute, is told apart by an attribute", () => {
  const header = (id: string, name: string) => ({ account: id, event: "HEADER", name });
  const entry = (id: string, event: string, amount: number) => ({ account: id, event, amount });
  const { nodes, parts, layout } = drafted(
    [header("a", "Ann"), header("b", "Ben"), entry("a", "2025-01-02.1", 5), entry("a", "2025-01-03.1", 6), entry("b", "2025-01-02.1", 7)],
    { partitionKey: "account", sortKey: "event", indexes: {} },
  );
  expect(nodes).toMatchObject({ header: { key: "{account}" } });
  expect(parts).toMatchObject({ appItem: { of: "header", key: "{event}", schema: { amount: "z.number()" } } });
  expect(layout).not.toHaveProperty("sharedIds");
  const [ofHeader, ofEntry] = [layout.nodes?.["header"]?.match, layout.parts?.["appItem"]?.match];
  expect([ofHeader, ofEntry]).toEqual([{ name: { exists: true } }, { name: { exists: false } }]);
  expect(parts["appItem"]?.schema).toMatchObject({ name: "z.string().optional()" });
});

test("the condition of an index key is a state, not an id of the item", () => {
  const offered = (account: string, offer: string, status: string) => ({
    PK: `ACCOUNT#${account}`,
    SK: `OFFER#${offer}`,
    account,
    offer,
    channel: offer === "7" ? "mail" : "web",
    status,
    ...(status === "new" ? {} : { GSI1PK: `ACCOUNT#${account}`, GSI1SK: status }),
  });
  const { layout } = drafted([
    { PK: "ACCOUNT#1", SK: "ACCOUNT#1", account: "1" },
    { PK: "ACCOUNT#2", SK: "ACCOUNT#2", account: "2" },
    { PK: "OFFER#7", SK: "OFFER#7", offer: "7" },
    { PK: "OFFER#8", SK: "OFFER#8", offer: "8" },
    offered("1", "7", "accepted"),
    offered("2", "7", "accepted"),
    offered("1", "8", "new"),
    offered("2", "8", "new"),
  ]);
  expect(layout.edges).toMatchObject({
    accountOffer: { when: { GSI1PK: { status: "accepted" }, GSI1SK: { status: "accepted" } } },
  });
});

const versions = (...ids: readonly string[]): readonly Plain[] =>
  ids.flatMap((id) => [
    { PK: id, SK: "VERSION#0", state: "latest", GSI1PK: `LATEST#${id}`, GSI1SK: "META" },
    { PK: id, SK: "VERSION#2024-01-02", state: "old" },
  ]);

test("a key under a condition may hold a field that the table's keys hold", () => {
  const [part] = Object.values(drafted(versions("red", "blue")).layout.parts ?? {});
  expect(part).toMatchObject({ when: { GSI1PK: { state: "latest" }, GSI1SK: { state: "latest" } } });
  expect(part).not.toHaveProperty("sparse");
});

test("where one key of an index has a field of its own, the other has no condition", () => {
  const [part] = Object.values(drafted(versions("d1", "d2")).layout.parts ?? {});
  expect(part).toMatchObject({ keys: { GSI1PK: "LATEST#{latestId}", GSI1SK: "META" }, sparse: ["GSI1PK", "GSI1SK"] });
  expect(part).not.toHaveProperty("when");
});

test("a name that ends in a number is no kind of its own", () => {
  const thread = (forum: string, subject: string) => ({ forum, subject, message: `On ${subject}` });
  const { nodes, parts } = drafted(
    [thread("Lambda", "Cold starts"), thread("S3", "Limits"), thread("S3", "Prices"), thread("EC2", "Sizes"), thread("Queues", "Order")],
    { partitionKey: "forum", sortKey: "subject", indexes: {} },
  );
  expect(Object.values(nodes)).toMatchObject([{ key: "{forum}", stored: false }]);
  expect(Object.values(parts)).toMatchObject([{ key: "{subject}" }]);
});

test("a partition key with a number in it is a value, though the sample has one of it", () => {
  const { nodes, parts } = drafted([
    { PK: "player001", SK: "#METADATA#player001", type: "Player", name: "Ann" },
    { PK: "player001", SK: "TASK#1", type: "Task", done: 0 },
    { PK: "player001", SK: "TASK#2", type: "Task", done: 1 },
  ]);
  expect(Object.values(nodes)).toMatchObject([{ schema: { name: "z.string()" } }]);
  expect(parts).toMatchObject({ task: { of: Object.keys(nodes)[0], key: "TASK#{taskId}" } });
});

test("the draft does not depend on the order of attributes", () => {
  const items: readonly Plain[] = ["1", "2"].map((id) => ({ PK: `ORDER#${id}`, SK: "ORDER", zone: id, b: "x", id, a: "y" }));
  const reversed = items.map((item) => Object.fromEntries(Object.entries(item).toReversed()));
  expect(JSON.stringify(drafted(reversed))).toBe(JSON.stringify(drafted(items)));
});

test("of several attributes that repeat a field, the one that fits the kind names it, and a comment says so", () => {
  const { nodes, layout } = drafted([
    { PK: "P#1", SK: "METADATA", type: "PRODUCT", categoryId: "1", productId: "1", GSI1PK: "C#1", GSI1SK: "P#1" },
    { PK: "P#2", SK: "METADATA", type: "PRODUCT", categoryId: "2", productId: "2", GSI1PK: "C#2", GSI1SK: "P#2" },
    { PK: "BRAND#1", SK: "METADATA", type: "BRAND" },
  ]);
  expect(nodes["product"]).toMatchObject({ key: "P#{productId}" });
  expect(nodes["product"]?.doubts).toEqual([
    "PK repeats productId and categoryId in every item; productId is taken.",
    "GSI1PK repeats categoryId and productId in every item; categoryId is taken.",
  ]);
  expect(layout.nodes).toMatchObject({ product: { keys: { GSI1PK: "C#{categoryId}", GSI1SK: "{key}" } } });
});

test("numbers that a double cannot hold are bigints, in keys and sets too", () => {
  const [large, larger] = ["1234567890123456789", "1234567890123456790"];
  const keyed = { partitionKey: "id", types: { id: "N" as const }, indexes: {} };
  const numbers = (...all: readonly string[]) => all.map((id) => ({ id: { N: id }, name: `of ${id}` }));
  const { sortKey: _sortKey, ...alone } = { sortKey: undefined, ...keyed };
  for (const [items, type] of [
    [numbers(large, larger), "z.bigint()"],
    [numbers(large, "12"), "z.union([z.bigint(), z.number()])"],
    [numbers("13", "12"), "z.number()"],
  ] as const)
    expect(Object.values(drafted(items, { ...alone, sortKey: undefined as never }).nodes)).toMatchObject([{ schema: { id: type } }]);
  const { nodes } = drafted([
    { PK: "T#a", SK: "META", all: { NS: [large] }, some: { NS: [large, "1"] }, none: { NS: ["1"] } },
    { PK: "T#b", SK: "META", all: { NS: [larger] }, some: { NS: ["1", larger] }, none: { NS: ["2"] } },
  ]);
  expect(nodes).toMatchObject({
    t: { schema: { all: "z.set(z.bigint())", some: "z.set(z.union([z.bigint(), z.number()]))", none: "z.set(z.number())" } },
  });
});
