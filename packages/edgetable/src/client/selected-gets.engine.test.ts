import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { systemEffects } from "../executor/session.ts";
import { defineGraph, node, type Read, type SentRequest } from "../index.ts";

const text = z.string();
const person = node({
  key: "PERSON#{personId}",
  schema: z.object({ personId: text, name: text, age: z.int().optional(), note: text, until: z.int().optional() }),
  version: true,
  ttl: "until",
});

let engine: TestEngine;
const sent: SentRequest[] = [];
let clock = 0;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());
beforeEach(() => {
  clock = Date.UTC(2030, 0, 1);
});

const shown = () => sent.map(({ operation, input }) => ({ operation, input }));

/** The answer of a call, which sends what it explained. */
const ask = async <T>(call: () => Read<T>): Promise<T> => {
  const { requests } = await call().explain();
  sent.length = 0;
  const answer = await call();
  expect(shown()).toEqual(requests.map(({ operation, input }) => ({ operation, input })));
  return answer;
};

const onRequest = (request: SentRequest): void => void sent.push(request);

const openPeople = async () => {
  const indexes = { byName: { entries: { person: "name" } } } as const;
  const graph = defineGraph({ table: engine.freshTableName("selected"), nodes: { person }, indexes });
  const effects = { ...systemEffects, now: () => clock };
  const db = graph.connect({ transport: engine.transport, advanced: { effects }, onRequest });
  await db.table.create();
  await db.person.create({ personId: "a", name: "Ann", age: 30, note: "long" }).orThrow();
  await db.person.create({ personId: "b", name: "Bob", note: "long", until: clock / 1000 + 10 }).orThrow();
  return { db, table: graph.catalog.table };
};

test("a get fetches the selected attributes, and what tells the item's kind, version and expiry", async () => {
  const { db, table } = await openPeople();
  expect(await ask(() => db.person.get({ personId: "a" }, { select: ["name", "age"] }))).toEqual({ name: "Ann", age: 30, version: 1 });
  const input = {
    TableName: table,
    Key: { pk: { S: "PERSON#a" }, sk: { S: "#" } },
    ProjectionExpression: "pk, sk, #0, #1, #2, #3, #4",
    ExpressionAttributeNames: { "#0": "type", "#1": "name", "#2": "age", "#3": "version", "#4": "until" },
    ReturnConsumedCapacity: "TOTAL",
  };
  expect(shown()).toEqual([{ operation: "GetItem", input }]);
  expect(await ask(() => db.person({ personId: "a" }).get({ select: ["personId"], consistent: true }))).toEqual({
    personId: "a",
    version: 1,
  });
  expect(shown()[0]?.input).toMatchObject({ ConsistentRead: true });
  // Absent attributes are absent from the row.
  expect(Object.keys((await db.person.get({ personId: "b" }, { select: ["age"] })) ?? {})).toEqual(["version"]);
  expect(await db.person.get({ personId: "c" }, { select: ["age"] })).toBeUndefined();
});

test("forms of one call with other selections have plans of their own", async () => {
  const { db } = await openPeople();
  const get = (select?: readonly ("name" | "note")[]) => db.person.get({ personId: "a" }, { select });
  expect(await get(["name"])).toEqual({ name: "Ann", version: 1 });
  expect(await get(["note"])).toEqual({ note: "long", version: 1 });
  expect(await get(["note", "name", "note"])).toEqual({ note: "long", name: "Ann", version: 1 });
  expect(await get()).toEqual({ personId: "a", name: "Ann", age: 30, note: "long", version: 1 });
});

test("getMany keeps the order of the ids, though the ids are not selected", async () => {
  const { db, table } = await openPeople();
  const ids = ["b", "x", "a", "b"].map((personId) => ({ personId }));
  const [ann, bob] = [
    { name: "Ann", version: 1 },
    { name: "Bob", version: 1 },
  ];
  expect(await ask(() => db.person.getMany(ids, { select: ["name"] }))).toEqual([bob, undefined, ann, bob]);
  expect(shown()).toHaveLength(1);
  const asked = {
    ProjectionExpression: "pk, sk, #0, #1, #2, #3",
    ExpressionAttributeNames: { "#0": "type", "#1": "name", "#2": "version", "#3": "until" },
  };
  expect(shown()).toMatchObject([{ operation: "BatchGetItem", input: { RequestItems: { [table]: asked } } }]);
});

test("expired nodes stay hidden where their time is not selected", async () => {
  const { db } = await openPeople();
  clock += 11_000;
  expect(await db.person.get({ personId: "b" }, { select: ["name"] })).toBeUndefined();
  expect(await db.person.getMany([{ personId: "b" }, { personId: "a" }], { select: ["name"] })).toEqual([
    undefined,
    { name: "Ann", version: 1 },
  ]);
});

test("a write at a selected version moves the node in its index", async () => {
  const { db } = await openPeople();
  const read = await db.person.get({ personId: "a" }, { select: ["age"] });
  const { version } = read as unknown as { readonly version: number };
  expect(await db.person.update({ personId: "a" }, { name: "Zoe" }, { ifVersion: version })).toMatchObject({ ok: true });
  expect(await db.person.update({ personId: "a" }, { name: "Eve" }, { ifVersion: version })).toMatchObject({ reason: "versionConflict" });
  expect(await db.find("person").where({ name: "Zoe" }).rows()).toMatchObject([{ personId: "a", age: 30, note: "long" }]);
  expect(await db.find("person").where({ name: "Ann" }).rows()).toEqual([]);
});

test("an attribute that only a key carries is read from the key", async () => {
  const city = node({ key: "CITY#{country}#{city}", schema: z.object({ country: text, city: text, rank: z.int(), size: z.int() }) });
  const graph = defineGraph({
    table: engine.freshTableName("carried"),
    nodes: { city },
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      indexes: { byRank: { partitionKey: "GPK", sortKey: "GSK" } },
      nodes: { city: { keys: { PK: "C#{country}", SK: "CITY#{city}", GPK: "RANKS", GSK: "{rank:6}" } } },
    },
  });
  const db = graph.connect({ transport: engine.transport, onRequest });
  await db.table.create();
  const lisbon = { country: "PT", city: "Lisbon" };
  await db.city.put({ ...lisbon, rank: 1, size: 5 }).orThrow();
  expect(await ask(() => db.city.get(lisbon, { select: ["rank"] }))).toEqual({ rank: 1 });
  expect(await db.city.get(lisbon, { select: ["city", "size"] })).toEqual({ city: "Lisbon", size: 5 });
  // An item of another application, which lacks the index's key and holds a copy of what it carries.
  const Item = { PK: { S: "C#PT" }, SK: { S: "CITY#Porto" }, rank: { N: "2" }, size: { N: "4" } };
  await engine.transport.send("PutItem", { TableName: graph.catalog.table, Item });
  expect(await db.city.get({ country: "PT", city: "Porto" }, { select: ["rank"] })).toEqual({ rank: 2 });
});

test("a key with more than the id is found by a Query of the selected attributes", async () => {
  const log = node({ key: "LOG#{logId}", schema: z.object({ logId: text, at: text, body: text, title: text }), version: true });
  const graph = defineGraph({
    table: engine.freshTableName("beyond"),
    nodes: { log },
    layout: { partitionKey: "PK", sortKey: "SK", nodes: { log: { keys: { PK: "LOG#{logId}", SK: "AT#{at}" } } } },
  });
  const db = graph.connect({ transport: engine.transport, onRequest });
  await db.table.create();
  await db.log.put({ logId: "1", at: "2020", body: "long", title: "T" }).orThrow();
  expect(await ask(() => db.log.get({ logId: "1" }, { select: ["title"] }))).toEqual({ title: "T", version: 1 });
  expect(shown()).toMatchObject([{ operation: "Query", input: { ProjectionExpression: expect.not.stringContaining("body") as string } }]);
  expect(await ask(() => db.log.get({ logId: "1" }, { select: ["at"], given: { at: "2020" } }))).toEqual({ at: "2020", version: 1 });
  expect(shown()).toMatchObject([{ operation: "GetItem" }]);
});

test("kinds that only an index key tells apart are told apart", async () => {
  const schema = z.object({ id: text, name: text });
  const graph = defineGraph({
    table: engine.freshTableName("kinds"),
    nodes: { student: node({ key: "{id}", schema }), teacher: node({ key: "{id}", schema }) },
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      sharedIds: true,
      indexes: { byKind: { partitionKey: "Kind", sortKey: "KindId" } },
      nodes: {
        student: { keys: { SK: "META", Kind: "STUDENT#ALL", KindId: "{id}" } },
        teacher: { keys: { SK: "META", Kind: "TEACHER#ALL", KindId: "{id}" } },
      },
    },
  });
  const db = graph.connect({ transport: engine.transport, onRequest });
  await db.table.create();
  await db.teacher.create({ id: "7", name: "T" }).orThrow();
  expect(await db.teacher.get({ id: "7" }, { select: ["name"] })).toEqual({ name: "T" });
  expect(await db.student.get({ id: "7" }, { select: ["name"] })).toBeUndefined();
});

test("a Query tells kinds apart by an index key that the selection does not name", async () => {
  const schema = z.object({ id: text, at: text, name: text });
  const graph = defineGraph({
    table: engine.freshTableName("queried"),
    nodes: { student: node({ key: "{id}", schema }), teacher: node({ key: "{id}", schema }) },
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      sharedIds: true,
      indexes: { byKind: { partitionKey: "Kind", sortKey: "KindId" } },
      nodes: {
        student: { keys: { SK: "AT#{at}", Kind: "STUDENT#ALL", KindId: "{id}" } },
        teacher: { keys: { SK: "AT#{at}", Kind: "TEACHER#ALL", KindId: "{id}" } },
      },
    },
  });
  const db = graph.connect({ transport: engine.transport, onRequest });
  await db.table.create();
  await db.teacher.put({ id: "7", at: "2020", name: "T" }).orThrow();
  expect(await db.teacher.get({ id: "7" }, { select: ["name"] })).toEqual({ name: "T" });
  expect(await db.student.get({ id: "7" }, { select: ["name"] })).toBeUndefined();
});

test("a selection names known attributes, one at least", async () => {
  const { db } = await openPeople();
  const get = (select: unknown) => () => db.person.get({ personId: "a" }, { select: select as readonly "name"[] });
  expect(get(["nmae"])).toThrow('"nmae" is not an attribute of the node "person". Did you mean "name"?');
  expect(get([])).toThrow('Name at least one attribute of "person" in select, or leave it out.');
  expect(get("name")).toThrow('Expected an array of attribute names, such as ["name"]');
  expect(get([["name"]])).toThrow("Expected attribute names");
});
