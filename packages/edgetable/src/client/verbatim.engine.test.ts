import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { defineGraph, edge, node, part, type SentRequest } from "../index.ts";
import { startEngine, type TestEngine } from "../test-support/engine.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

const text = z.string();

/** Indexes on attributes that the application stores anyway, and names that stand beside the keys that contain them. */
const graphIn = (table: string) =>
  defineGraph({
    table,
    nodes: {
      user: node({
        key: "USER#{name}",
        schema: z.object({ name: text, city: text.optional(), age: z.int().optional(), born: z.date().optional() }),
        dates: ["born"],
      }),
    },
    parts: {
      order: part({
        of: "user",
        key: "ORDER#{number:6}",
        schema: z.object({ number: z.int(), status: z.enum(["open", "paid"]), at: text }),
      }),
    },
    edges: { follows: edge({ from: "user", to: "user", ends: "unchecked", schema: z.object({ at: text }) }) },
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      indexes: {
        byCity: { partitionKey: "city", sortKey: "years" },
        byBirth: { partitionKey: "city", sortKey: "born" },
        byStatus: { partitionKey: "status", sortKey: "at" },
        byNumber: { partitionKey: "number" },
      },
      nodes: { user: { attributes: { age: "years" }, verbatim: ["name"] } },
      parts: { order: { verbatim: { name: "name", number: "number" } } },
      edges: { follows: { keys: { SK: "FOLLOWS#{to.name}" }, verbatim: { follower: "from.name", followed: "to.name" } } },
    },
  });

const raw = (item: Readonly<Record<string, string | number>>) =>
  Object.fromEntries(Object.entries(item).map(([name, value]) => [name, typeof value === "string" ? { S: value } : { N: String(value) }]));

test("index keys that are attributes of the schema need no template, and rows may lack them", async () => {
  const table = engine.freshTableName("verbatim");
  const sent: SentRequest[] = [];
  const graph = graphIn(table);
  const db = graph.connect({ transport: engine.transport, onRequest: (one) => sent.push(one) });
  await db.table.create();
  expect(await db.table.diff()).toEqual([]);
  const stored = async (PK: string, SK: string) =>
    (await engine.transport.send("GetItem", { TableName: table, Key: raw({ PK, SK }) })).Item;

  await db.user.create({ name: "ann-1", city: "Oslo#West", age: 30, born: new Date(0) }).orThrow();
  expect(await stored("USER#ann-1", "USER#ann-1")).toEqual(
    raw({ PK: "USER#ann-1", SK: "USER#ann-1", name: "ann-1", city: "Oslo#West", years: 30, born: "1970-01-01T00:00:00.000Z" }),
  );
  await db.user.create({ name: "ben", age: 9 }).orThrow();
  expect(await stored("USER#ben", "USER#ben")).toEqual(raw({ PK: "USER#ben", SK: "USER#ben", name: "ben", years: 9 }));
  await db.order.create({ name: "ben" }, { number: 7, status: "open", at: "2024" }).orThrow();
  expect(await stored("USER#ben", "ORDER#000007")).toEqual(
    raw({ PK: "USER#ben", SK: "ORDER#000007", name: "ben", number: 7, status: "open", at: "2024" }),
  );
  await db.follows.link({ name: "ann-1" }, { name: "ben" }, { at: "2025" }).orThrow();
  expect(await stored("USER#ann-1", "FOLLOWS#ben")).toEqual(
    raw({ PK: "USER#ann-1", SK: "FOLLOWS#ben", follower: "ann-1", followed: "ben", at: "2025" }),
  );

  sent.length = 0;
  expect(
    await db
      .find("user")
      .where({ city: "Oslo#West", age: { gte: 18 } })
      .rows(),
  ).toMatchObject([{ name: "ann-1", age: 30 }]);
  expect(sent.at(-1)?.input).toMatchObject({
    IndexName: "byCity",
    KeyConditionExpression: "#p = :p AND #s >= :s",
    ExpressionAttributeValues: { ":p": { S: "Oslo#West" }, ":s": { N: "18" } },
  });
  expect(
    await db
      .find("user")
      .where({ city: "Oslo#West", born: new Date(0) })
      .rows(),
  ).toMatchObject([{ name: "ann-1", born: new Date(0) }]);
  expect(await db.find("order").where({ status: "open" }).rows()).toEqual([{ name: "ben", number: 7, status: "open", at: "2024" }]);
  expect(await db.find("order").where({ number: 7 }).using("byNumber").rows()).toHaveLength(1);

  // An update moves the entry, and removes it with its attribute.
  await db.order.update({ name: "ben" }, { number: 7 }, { status: "paid" }).orThrow();
  expect(await db.find("order").where({ status: "open" }).rows()).toEqual([]);
  expect(await db.find("order").where({ status: "paid" }).rows()).toHaveLength(1);
  await db.user.update({ name: "ann-1" }, { remove: ["age"] }).orThrow();
  expect(await db.find("user").where({ city: "Oslo#West" }).using("byCity").rows()).toEqual([]);
  expect(await db.user.get({ name: "ann-1" })).toEqual({ name: "ann-1", city: "Oslo#West", born: new Date(0) });
  await db.user.update({ name: "ben" }, { city: "Rome", age: 10 }).orThrow();
  expect(await db.find("user").where({ city: "Rome" }).using("byCity").rows()).toEqual([{ name: "ben", city: "Rome", age: 10 }]);
});

test("a name that is no field is refused, and a template that is given stands", () => {
  const model = (layout: object) => () =>
    defineGraph({
      table: "Verbatim",
      nodes: { user: node({ key: "USER#{name}", schema: z.object({ name: text, city: text }) }) },
      layout: { partitionKey: "PK", sortKey: "SK", indexes: { byCity: { partitionKey: "city" } }, ...layout },
    });
  expect(model({ nodes: { user: { verbatim: ["nam"] } } })).toThrow(/\{nam\} is not an attribute of "user".*name/);
  expect(model({ nodes: { user: { verbatim: { label: "town" } } } })).toThrow(/\{town\} is not an attribute/);
  expect(model({ nodes: { user: { verbatim: 5 } } })).toThrow(/verbatim/);
  const { catalog } = model({ nodes: { user: { keys: { city: "CITY#{city}" } } } })();
  expect(catalog.shapesById["user"]?.keys["city"]?.source).toBe("CITY#{city}");
  expect(catalog.shapesById["user"]?.sparse).toEqual([]);
});
