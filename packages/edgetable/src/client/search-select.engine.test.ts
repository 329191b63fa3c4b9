import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { defineGraph, edge, node } from "../index.ts";

const text = z.string();
const graphOf = (table: string) =>
  defineGraph({
    table,
    nodes: {
      person: node({
        key: "PERSON#{personId}",
        schema: z.object({ personId: text, name: text, age: z.int(), note: text, homeId: text.optional() }),
      }),
      place: node({ key: "PLACE#{placeId}", schema: z.object({ placeId: text, country: text, city: text }) }),
    },
    edges: {
      bornIn: edge({
        from: "person",
        to: "place",
        schema: z.object({ country: text, city: text, weight: z.int(), at: text }),
        orderBy: "at",
        ends: "unchecked",
      }),
      livesIn: edge({ from: "person", to: "place", stored: "reference", by: { placeId: "homeId" } }),
    },
    indexes: { byValue: { entries: { person: "name", place: ["country", "city"], bornIn: ["country", "city"] }, shards: 2 } },
  });

let engine: TestEngine;
let table: string;
const inputs: Readonly<Record<string, unknown>>[] = [];
const open = (rulesOff: readonly string[] = []) =>
  graphOf(table).connect({
    transport: {
      send: async (operation, input, options) => {
        inputs.push(JSON.parse(JSON.stringify(input).replaceAll(table, "T")) as never);
        return engine.transport.send(operation, input, options);
      },
      close: () => undefined,
    },
    cursorSecret: "s".padEnd(43, "-"),
    advanced: { rulesOff },
  });

const ann = { personId: "a" };
const austin = { placeId: "1" };
beforeAll(async () => {
  engine = await openEngine();
  table = engine.freshTableName("select");
  const db = open();
  await db.table.create();
  await db.person.create({ ...ann, name: "Ann", age: 30, note: "long", homeId: "1" }).orThrow();
  await db.person.create({ personId: "b", name: "Bob", age: 40, note: "long" }).orThrow();
  await db.place.create({ ...austin, country: "USA", city: "Austin" }).orThrow();
  await db.bornIn.link(ann, austin, { country: "USA", city: "Austin", weight: 3, at: "1990" }).orThrow();
});
afterAll(() => engine.close());

test("only the named attributes are sent, beside what tells and orders the rows", async () => {
  const search = open()
    .find("person")
    .where({ name: { gte: "B" } })
    .select("age");
  // The first search of a connection reads the record of the model.
  await search.rows();
  inputs.length = 0;
  expect(await search.rows()).toEqual([{ age: 40 }]);
  expect(inputs).toEqual(
    ["person#0", "person#1"].map((partition) => ({
      TableName: "T",
      IndexName: "byValue",
      KeyConditionExpression: "byValuePk = :p AND byValueSk >= :s",
      ProjectionExpression: "pk, sk, byValuePk, byValueSk, #0, #1",
      ExpressionAttributeNames: { "#0": "type", "#1": "age" },
      ExpressionAttributeValues: inputs.find((input) => JSON.stringify(input).includes(`"${partition}"`))?.["ExpressionAttributeValues"],
      ReturnConsumedCapacity: "TOTAL",
    })),
  );
  expect((await search.explain()).requests[0]?.input).toMatchObject({ ProjectionExpression: "pk, sk, byValuePk, byValueSk, #0, #1" });
  expect(await search.first()).toEqual({ age: 40 });
  expect(await search.count()).toBe(1);
  const page = await open().find("person").select("name").page({ limit: 1 });
  expect(page.items).toEqual([{ name: "Ann" }]);
  expect((await open().find("person").select("name").page({ limit: 1, cursor: page.next })).items).toEqual([{ name: "Bob" }]);
  const walked = [];
  for await (const row of open().find("person").select("personId", "age")) walked.push(row);
  expect(walked).toEqual([
    { personId: "a", age: 30 },
    { personId: "b", age: 40 },
  ]);
});

test.each([[[]], [["filter-on-server"]], [["push-conditions-into-search"]]])(
  "conditions hold on what is not selected, with rules off %j",
  async (rulesOff) => {
    const db = open(["count-on-server", ...rulesOff]);
    const bob = db
      .find("person")
      .where({ name: { gte: "A" }, age: { gte: 35 } })
      .using("byValue")
      .select("note");
    expect(await bob.rows()).toEqual([{ note: "long" }]);
    expect(
      await db
        .find("person")
        .where({ name: "Bob", age: { in: [40] } })
        .using("byValue")
        .select("note")
        .rows(),
    ).toEqual([{ note: "long" }]);
  },
);

test("edges keep their ends, and rows of several kinds say of which they are", async () => {
  const db = open();
  const born = db
    .find("bornIn")
    .where({ country: "USA", weight: { in: [3] } })
    .select("city");
  expect(await born.rows()).toEqual([{ from: ann, to: austin, city: "Austin" }]);
  expect(await born.sources()).toMatchObject([{ name: "Ann", note: "long" }]);
  expect(await born.entries("to")).toEqual([
    { edge: { from: ann, to: austin, city: "Austin" }, node: { ...austin, country: "USA", city: "Austin" } },
  ]);
  expect(await db.find(["place", "bornIn"]).select("city").rows()).toEqual([
    { kind: "bornIn", row: { from: ann, to: austin, city: "Austin" } },
    { kind: "place", row: { city: "Austin" } },
  ]);
  expect(() => db.find("person").select("nam" as "name")).toThrowError(/"nam" is not an attribute of the node "person".*"name"/);
});

test("neighbours are read as narrowly where there are conditions", async () => {
  for (const rulesOff of [[], ["filter-on-server"], ["filter-on-server", "push-conditions-into-keys"]]) {
    const db = open(rulesOff);
    inputs.length = 0;
    const edges = db
      .person(ann)
      .out("bornIn")
      .where({ weight: { gte: 3 }, at: { gte: "1980" } })
      .select("city");
    expect(await edges.edges()).toEqual([{ from: ann, to: austin, city: "Austin" }]);
    // The first read of an index looks at the record of the model too.
    expect(inputs.find((input) => "IndexName" in input)).toHaveProperty("ProjectionExpression");
    expect(await edges.nodes()).toMatchObject([{ city: "Austin" }]);
    expect(await db.person(ann).out("livesIn").select("to").edges()).toEqual([{ from: ann, to: austin }]);
    expect(await edges.entries()).toMatchObject([{ edge: { city: "Austin" }, node: { country: "USA" } }]);
  }
});
