import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { defineGraph, edge, node, type SentRequest } from "../index.ts";

const text = z.string();

/** Edges to a person are sharded by their source, which is a person too. */
const graphOf = (table: string, shards: string) =>
  defineGraph({
    table,
    nodes: { person: node({ key: "PERSON#{personId}", schema: z.object({ personId: text }) }) },
    edges: { knows: edge({ from: "person", to: "person", schema: z.object({ since: text }), ends: "unchecked" }) },
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      indexes: { byTarget: { partitionKey: "GP", sortKey: "GS" } },
      nodes: { person: { keys: { SK: "META" } } },
      edges: { knows: { keys: { SK: "KNOWS#{to}", GP: `{to}#{from.personId:shard(${shards})}`, GS: "KNOWS#{from}" } } },
    },
  });

let engine: TestEngine;
let table = "";
let sent: SentRequest[] = [];

const person = (personId: string) => ({ personId });
const open = (shards: string) =>
  graphOf(table, shards).connect({ transport: engine.transport, cursorSecret: "s".padEnd(43, "-"), onRequest: (one) => sent.push(one) });

// Everybody knows z, and a knows everybody.
const people = ["a", "b", "c", "d", "e", "f"];

beforeAll(async () => {
  engine = await openEngine();
  table = engine.freshTableName("walkshards");
  const db = open("2");
  await db.table.create();
  for (const [at, one] of people.entries()) {
    await db.knows.put(person(one), person("z"), { since: `200${at}` }).orThrow();
    await db.knows.put(person("a"), person(one), { since: `201${at}` }).orThrow();
  }
});
afterAll(() => engine.close());

const partitions = (): readonly string[] =>
  sent
    .filter(({ operation }) => operation === "Query")
    .map(({ input }) => (input as { ExpressionAttributeValues: Record<string, { S: string }> }).ExpressionAttributeValues[":p"]!.S)
    .toSorted();

const letters = (ids: Iterable<{ readonly personId: string }>): string =>
  [...ids]
    .map(({ personId }) => personId)
    .toSorted()
    .join("");

test("a hop against a sharded edge reads every shard, also if both ends have the same type", async () => {
  const db = open("2");
  sent = [];
  expect(letters(await db.person(person("z")).in("knows").ids())).toBe("abcdef");
  expect(partitions()).toEqual(["PERSON#z#0", "PERSON#z#1"]);
  sent = [];
  expect(letters(await db.person(person("z")).walk().in("knows").ids())).toBe("abcdef");
  const asked = (partition: string, limit: number) => ({
    TableName: table,
    IndexName: "byTarget",
    KeyConditionExpression: "#p = :p AND begins_with(#s, :s)",
    ProjectionExpression: "PK, SK",
    ExpressionAttributeNames: { "#p": "GP", "#s": "GS" },
    ExpressionAttributeValues: { ":p": { S: partition }, ":s": { S: "KNOWS#PERSON#" } },
    Limit: limit,
    ReturnConsumedCapacity: "TOTAL",
  });
  // Three of six are in the first.
  expect(sent.map(({ input }) => input)).toEqual([asked("PERSON#z#0", 10_000), asked("PERSON#z#1", 9997)]);
});

test("every node of a frontier is read in each of its shards", async () => {
  sent = [];
  const walk = open("2").person(person("a")).out("knows").in("knows").except("start");
  expect(letters(await walk.ids())).toBe("bcdef");
  expect(partitions()).toEqual(["PERSON#a", ...Array.from("abcdefz").flatMap((one) => [`PERSON#${one}#0`, `PERSON#${one}#1`])].toSorted());
});

test("a walk continues after its shards grew: it reads the new shards, and nothing twice", async () => {
  const first = await open("2|8")
    .person(person("z"))
    .walk()
    .in("knows")
    .count({ budget: { requests: 1 } });
  expect(first).toMatchObject({ complete: false, stopped: { by: "requests", hop: 1, left: { nodes: 1, sample: [{ id: person("z") }] } } });
  await open("8|2").knows.put(person("g"), person("z"), { since: "2020" }).orThrow();
  sent = [];
  const rest = await open("8|2").person(person("z")).walk().in("knows").count({ cursor: first.next });
  expect(rest).toMatchObject({ complete: true, count: people.length + 1 });
  expect(partitions()).toEqual([1, 2, 3, 4, 5, 6, 7].map((shard) => `PERSON#z#${shard}`));
});

test("a cursor that points to a removed shard is refused", async () => {
  const walk = (shards: string) => open(shards).person(person("z")).walk().in("knows");
  const { next } = await walk("2").ids({ budget: { requests: 1 } });
  await expect(walk("1").ids({ cursor: next }).run()).rejects.toMatchObject({
    code: "cursor.outgrown",
    details: { partition: "PERSON#z#1" },
  });
});
