import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { defineGraph, edge, node, type SentRequest } from "../index.ts";

const text = z.string();
const nodes = {
  place: node({ key: "PLACE#{country}#{city}", schema: z.object({ country: text, city: text }) }),
  person: node({ key: "PERSON#{personId}", schema: z.object({ personId: text, age: z.number() }) }),
};
const edges = {
  livesIn: edge({ from: "person", to: "place", ends: "unchecked" }),
  knows: edge({ from: "person", to: "person", ends: "unchecked" }),
  near: edge({ from: "place", to: "place", ends: "unchecked" }),
};
const graphOf = (table: string) =>
  defineGraph({
    table,
    nodes,
    edges,
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      indexes: { byCountry: { partitionKey: "CP", sortKey: "CS" } },
      nodes: { place: { keys: { SK: "META" } }, person: { keys: { SK: "META" } } },
      edges: {
        livesIn: { keys: { SK: "LIVES#{to}", CP: "LIVES#{to.country}", CS: "{to.city}#{from}" } },
        knows: { keys: { SK: "KNOWS#{to}" } },
        near: { keys: { SK: "NEAR#{to}", CP: "NEAR#{from.country}", CS: "{from.city}#{to}" } },
      },
    },
  });

let engine: TestEngine;
let table = "";
let sent: SentRequest[] = [];
let db: ReturnType<ReturnType<typeof graphOf>["connect"]>;

const person = (personId: string) => ({ personId });
const place = (country: string, city: string) => ({ country, city });

beforeAll(async () => {
  engine = await openEngine();
  table = engine.freshTableName("walkwithin");
  db = graphOf(table).connect({ transport: engine.transport, cursorSecret: "s".padEnd(43, "-"), onRequest: (one) => sent.push(one) });
  await db.table.create();
  for (const [at, [id, country, city]] of (
    [
      ["a", "UK", "Bath"],
      ["b", "UK", "Leeds"],
      ["c", "UK", "Leeds"],
      ["d", "US", "Leeds"],
    ] as const
  ).entries()) {
    await db.person.create({ personId: id, age: 10 * at });
    await db.livesIn.put(person(id), place(country, city)).orThrow();
  }
  for (const [from, to] of ["ab", "bd", "cd", "da"].map((one) => Array.from(one))) await db.knows.put(person(from!), person(to!)).orThrow();
  await db.near.put(place("UK", "Bath"), place("UK", "Leeds")).orThrow();
  await db.near.put(place("UK", "Leeds"), place("US", "Leeds")).orThrow();
});
afterAll(() => engine.close());

const uk = () => db.place.within({ country: "UK" });

const partitions = (): readonly string[] =>
  sent
    .map(({ input }) => (input as { ExpressionAttributeValues: Record<string, { S: string }> }).ExpressionAttributeValues[":p"]!.S)
    .toSorted();

test("a walk starts at all nodes below a level with one Query", async () => {
  sent = [];
  const walk = uk().in("livesIn").out("knows");
  expect((await walk.groupCount()).items).toEqual([
    { id: person("d"), count: 2 },
    { id: person("b"), count: 1 },
  ]);
  expect(partitions()).toEqual(["LIVES#UK", "PERSON#a", "PERSON#b", "PERSON#c"]);
  expect(sent[0]?.input).toEqual({
    TableName: table,
    IndexName: "byCountry",
    KeyConditionExpression: "#p = :p",
    ProjectionExpression: "PK, SK",
    ExpressionAttributeNames: { "#p": "CP" },
    ExpressionAttributeValues: { ":p": { S: "LIVES#UK" } },
    Limit: 10_000,
    ReturnConsumedCapacity: "TOTAL",
  });
  expect((await uk().in("livesIn").walk().nodes()).items).toEqual(["a", "b", "c"].map((id, at) => ({ ...person(id), age: 10 * at })));
});

test("the start is named by the given fields", async () => {
  expect((await uk().in("livesIn").walk().paths()).items).toEqual(
    ["a", "b", "c"].map((id) => [
      { type: "place", country: "UK" },
      { type: "person", ...person(id) },
    ]),
  );
});

test('except("start") and except("passed") leave out the nodes of the level', async () => {
  const near = uk().out("near").walk();
  expect((await near.ids()).items).toEqual([place("UK", "Leeds"), place("US", "Leeds")]);
  expect((await near.except("start").ids()).items).toEqual([place("US", "Leeds")]);
  expect((await near.except("passed").ids()).items).toEqual([place("US", "Leeds")]);
  expect((await near.except([place("US", "Leeds")]).ids()).items).toEqual([place("UK", "Leeds")]);
});

test("it keeps to its budget, and continues from a cursor", async () => {
  for (const budget of [{ requests: 1 }, { breadth: 1 }]) {
    const found: object[] = [];
    let cursor: string | undefined;
    do {
      sent = [];
      const part = await uk().in("livesIn").out("knows").ids({ budget, cursor });
      if ("requests" in budget) expect(sent).toHaveLength(1);
      found.push(...part.items);
      cursor = part.next;
    } while (cursor !== undefined);
    expect(found).toEqual([person("b"), person("d")]);
  }
  await expect(
    uk()
      .in("livesIn")
      .walk()
      .ids({ budget: { breadth: 1 }, supernode: "refuse" })
      .run(),
  ).rejects.toMatchObject({
    code: "traverse.supernode",
    details: { node: { type: "place", id: { country: "UK" } } },
  });
});

test("a level that no key begins with is refused with advice, also in Edgetable's own layout", async () => {
  const own = defineGraph({ table: "Table", nodes, edges }).connect({ transport: engine.transport });
  const instead = 'Add such an index to your own layout, or find the nodes with db.find("place") and start at each of them.';
  const all = own.place.within({ country: "UK" });
  const none = "none has a partition key made only of";
  await expect(async () => all.in("livesIn").walk().ids().explain()).rejects.toThrow(`${none} to.country. ${instead}`);
  await expect(async () => all.out("near").walk().ids().explain()).rejects.toThrow(`${none} from.country. ${instead}`);
  await expect(async () => uk().in("near").walk().ids().explain()).rejects.toThrow(`${none} to.country. ${instead}`);
});

test("it must start with a hop: other starts are refused with advice", () => {
  const level = uk() as unknown as ReturnType<typeof db.place>;
  for (const begin of [
    () => level.walk(),
    () => level.neighbourhood({ out: "near" }, 2),
    () => level.suggest({ out: "near" }, { top: 1 }),
  ]) {
    expect(begin).toThrow(expect.objectContaining({ code: "traverse.start" }));
    expect(begin).toThrow(/A walk from all of "place" below a level begins with a hop/);
  }
  expect(() => db.place.within({ countri: "UK" } as never)).toThrow(/Did you mean "country"/);
});
