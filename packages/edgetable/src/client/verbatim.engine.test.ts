import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { defineGraph, edge, node, part, type SentRequest } from "../index.ts";
import { startEngine, type TestEngine } from "../test-support/engine.ts";
import { verify } from "../verify/index.ts";

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

test("an attribute that repeats a field of an index key may be empty while the row is not in the index", async () => {
  const table = engine.freshTableName("empty");
  const schema = z.object({ id: text, state: text, title: text, note: text.optional() });
  const keys = { SK: "TASK", GSI1PK: "OPEN", GSI1SK: "{title}#{note}" };
  const graph = defineGraph({
    table,
    nodes: { task: node({ key: "TASK#{id}", schema }) },
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      indexes: { GSI1: { partitionKey: "GSI1PK", sortKey: "GSI1SK" } },
      nodes: {
        task: { keys, verbatim: { title: "title", Note: "note" }, sparse: ["GSI1PK", "GSI1SK"], when: { GSI1PK: { state: "open" } } },
      },
    },
  });
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  // As another program wrote it.
  const item = raw({ PK: "TASK#1", SK: "TASK", state: "done", title: "", Note: "" });
  await engine.transport.send("PutItem", { TableName: table, Item: item });
  const row = { id: "1", state: "done", title: "", note: "" };
  expect(await db.task.get({ id: "1" }).report()).toMatchObject({ value: row, strays: 0 });
  await db.task.update({ id: "1" }, { note: "n" }).orThrow();
  await db.task.update({ id: "1" }, { note: "" }).orThrow();
  await db.task.create({ ...row, id: "2" }).orThrow();
  expect(await db.task.getMany([{ id: "1" }, { id: "2" }])).toEqual([row, { ...row, id: "2" }]);
  expect(await db.task.update({ id: "2" }, { state: "left" }, { if: { title: "", note: "" } })).toMatchObject({ ok: true });
  expect(await db.task.update({ id: "2" }, { state: "done" }, { if: { title: { ne: "" } } })).toMatchObject({ ok: false });
  expect((await verify(db)).clean).toBe(true);
  const rows = [];
  for await (const one of db.scan()) rows.push(one);
  await db.table.delete();
  await db.table.create();
  expect((await db.load(rows)).failures).toEqual([]);
  // A key holds no empty text.
  await expect(db.task.update({ id: "1" }, { state: "open" })).rejects.toMatchObject({ code: "keys.empty" });
  await expect(db.task.put({ ...row, state: "open" })).rejects.toMatchObject({ code: "keys.empty" });
});

test.each([
  ["a boolean", z.boolean(), "boolean", true],
  ["an optional boolean", z.boolean().optional(), "boolean", true],
  ["a list", z.array(text), "array", ["a"]],
] as const)("%s cannot be repeated by an attribute, and the refusal says how an item keeps it", async (_, open, type, value) => {
  const table = engine.freshTableName("kept");
  const model = (item: object) =>
    defineGraph({
      table,
      nodes: { task: node({ key: "TASK#{id}", schema: z.object({ id: text, open }) }) },
      layout: {
        partitionKey: "PK",
        sortKey: "SK",
        indexes: { GSI1: { partitionKey: "GSI1PK", sortKey: "GSI1SK" } },
        nodes: { task: { ...item } },
      },
    });
  for (const verbatim of [["open"], { Open: "open" }])
    expect(() => model({ verbatim })).toThrow(`"open" is of type ${type}. Leave it out there`);
  const graph = model(type === "boolean" ? { keys: { GSI1PK: "{open:written}", GSI1SK: "{id}" }, sparse: ["GSI1PK", "GSI1SK"] } : {});
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  await db.task.create({ id: "1", open: value as never }).orThrow();
  const { Item } = await engine.transport.send("GetItem", { TableName: table, Key: raw({ PK: "TASK#1", SK: "TASK#1" }) });
  expect(Item?.["open"]).toEqual(type === "boolean" ? { BOOL: true } : { L: [{ S: "a" }] });
});

test("an attribute that repeats a field holds its null", async () => {
  const table = engine.freshTableName("nulls");
  const schema = z.object({
    id: text,
    note: text.nullable(),
    grade: z.int().nullish(),
    due: z.date().nullish(),
    title: text.nullish(),
  });
  const own = { id: "1", note: null, grade: null, due: null, title: null };
  const graph = defineGraph({
    table,
    nodes: { task: node({ key: "TASK#{id}", schema, dates: ["due"] }) },
    parts: { step: part({ of: "task", key: "STEP#{number:3}", schema: z.object({ number: z.int(), note: text.nullable() }) }) },
    edges: { after: edge({ from: "task", to: "task", ends: "unchecked", schema: z.object({ note: text.nullish() }) }) },
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      indexes: { GSI1: { partitionKey: "GSI1PK", sortKey: "GSI1SK" } },
      nodes: {
        task: {
          keys: { GSI1PK: "TITLE#{title}", GSI1SK: "{note}#{id}" },
          verbatim: { Note: "note", Grade: "grade", Due: "due", title: "title" },
          sparse: ["GSI1PK", "GSI1SK"],
        },
      },
      parts: { step: { verbatim: { Note: "note" } } },
      edges: { after: { keys: { SK: "AFTER#{to.id}" }, verbatim: ["note"] } },
    },
  });
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  const stored = async (PK: string, SK: string) =>
    (await engine.transport.send("GetItem", { TableName: table, Key: raw({ PK, SK }) })).Item;

  expect(await db.task.create(own).orThrow()).toMatchObject({ row: own });
  const NULL = { NULL: true };
  expect(await stored("TASK#1", "TASK#1")).toEqual({
    ...raw({ PK: "TASK#1", SK: "TASK#1" }),
    Note: NULL,
    Grade: NULL,
    Due: NULL,
    title: NULL,
  });
  expect(await db.task.get({ id: "1" })).toEqual(own);
  await db.step.create({ id: "1" }, { number: 1, note: null }).orThrow();
  expect(await db.step.get({ id: "1" }, { number: 1 })).toEqual({ id: "1", number: 1, note: null });
  await db.after.link({ id: "1" }, { id: "2" }, { note: null }).orThrow();
  expect(await db.task({ id: "1" }).out("after").edges()).toMatchObject([{ note: null }]);
  expect((await verify(db)).clean).toBe(true);

  // An update sets null and takes it away; conditions tell it from a value and from none.
  const full = { note: "n", grade: 5, due: new Date(0), title: "t" };
  await db.task.update({ id: "1" }, full, { if: { note: null, grade: { in: [null, 1] }, due: null, title: { exists: true } } }).orThrow();
  expect(await db.task.get({ id: "1" })).toEqual({ id: "1", ...full });
  expect(await db.task.update({ id: "1" }, { note: "m" }, { if: { note: null } })).toMatchObject({ ok: false });
  expect(await db.task.update({ id: "1" }, { note: "m" }, { if: { grade: null } })).toMatchObject({ ok: false });
  const { note, grade, due, title } = own;
  await db.task.update({ id: "1" }, { note, grade, due, title }, { if: { note: { ne: null }, grade: { ne: null } } }).orThrow();
  expect(await db.task.get({ id: "1" })).toEqual(own);
  await db.task.update({ id: "1" }, { remove: ["grade", "title"] }).orThrow();
  expect(await db.task.get({ id: "1" })).toEqual({ id: "1", note, due });
  expect(await db.task.update({ id: "1" }, { due: new Date(5) }, { if: { grade: null } })).toMatchObject({ ok: false });
  await db.task.update({ id: "1" }, { due: new Date(5) }, { if: { grade: { exists: false }, due: null } }).orThrow();
  expect((await verify(db)).clean).toBe(true);

  expect(await db.load([{ node: "task", row: { ...own, id: "3" } }])).toMatchObject({ failures: [] });
  await db.task.put({ ...own, id: "4", note: "x", title: "t" }).orThrow();
  expect(await db.task.getMany([{ id: "3" }, { id: "4" }])).toMatchObject([
    { ...own, id: "3" },
    { grade: null, due: null, title: "t" },
  ]);
  expect(await db.find("task").where({ title: "t", grade: null }).using("GSI1").rows()).toMatchObject([{ id: "4" }]);
  expect(
    await db
      .find("task")
      .where({ title: "t", due: { ne: null } })
      .using("GSI1")
      .rows(),
  ).toEqual([]);
  expect(await db.task({ id: "1" }).out("after").where({ note: null }).edges()).toHaveLength(1);
});

test("a key that was not removed says nothing of a field that is null beside it", async () => {
  const table = engine.freshTableName("staleKey");
  const graph = defineGraph({
    table,
    nodes: { task: node({ key: "TASK#{id}", schema: z.object({ id: text, title: text.nullish(), rank: text.optional() }) }) },
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      indexes: { GSI1: { partitionKey: "GSI1PK", sortKey: "SK" } },
      nodes: { task: { keys: { SK: "TASK", GSI1PK: "{title}#{rank}" }, verbatim: ["title"], sparse: ["GSI1PK"] } },
    },
  });
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  await engine.transport.send("PutItem", {
    TableName: table,
    Item: { ...raw({ PK: "TASK#1", SK: "TASK", GSI1PK: "old#5" }), title: { NULL: true } },
  });
  expect(await db.task.get({ id: "1" })).toEqual({ id: "1", title: null, rank: "5" });
});
