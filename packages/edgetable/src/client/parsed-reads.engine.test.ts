import { afterAll, beforeAll, expect, test } from "vitest";
import * as v from "valibot";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { defineGraph, edge, node, part, type SentRequest, type StrayItem } from "../index.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

const text = z.string();
const before = { personId: text, name: text };
// What the schemas have become: attributes with defaults, and a transform that accepts its own output.
const person = z.object({
  personId: text,
  name: text.toLowerCase(),
  level: z.int().default(1),
  tags: z.array(text).default(["new"]),
  email: text.optional(),
});
const knows = z.object({ since: text, trust: z.int().default(5) });
const note = z.object({ noteId: text, words: text.transform((words) => words.trim()), stars: z.int().default(0) });

const openTwice = async () => {
  const table = engine.freshTableName("parsed");
  const loose = z.looseObject({});
  const indexes = {
    byName: { entries: { person: "name" } },
    names: { entries: { person: "name" }, projection: ["name", "level"] },
  } as const;
  const old = defineGraph({
    table,
    nodes: {
      person: node({
        key: "PERSON#{personId}",
        schema: z.object({ ...before, email: text.optional(), level: z.unknown().optional() }),
        unique: ["email"],
      }),
    },
    parts: { note: part({ of: "person", key: "NOTE#{noteId}", schema: z.looseObject({ noteId: text, words: text }) }) },
    edges: { knows: edge({ from: "person", to: "person", schema: loose }) },
    indexes,
  }).connect({ transport: engine.transport });
  await old.table.create();
  const sent: SentRequest[] = [];
  const model = (reads: "parsed" | "stored") =>
    defineGraph({
      table,
      nodes: { person: node({ key: "PERSON#{personId}", schema: person, unique: ["email"], reads }) },
      parts: { note: part({ of: "person", key: "NOTE#{noteId}", schema: note, reads }) },
      edges: { knows: edge({ from: "person", to: "person", schema: knows, reads }) },
      indexes,
    }).connect({ transport: engine.transport, onRequest: (one) => sent.push(one) });
  const rows = async (...people: readonly object[]): Promise<void> => {
    for (const row of people) await old.person.put(row as never).orThrow();
  };
  await rows({ personId: "a", name: "Ann", email: "ann@x.org" }, { personId: "b", name: "Bob", level: 7 }, { personId: "c", name: "Cy" });
  await old.knows.link({ personId: "a" }, { personId: "b" }, { since: "2020" }).orThrow();
  await old.knows.link({ personId: "a" }, { personId: "c" }, { since: "2021", trust: 9 }).orThrow();
  await old.note.put({ personId: "a" }, { noteId: "1", words: " hello " }).orThrow();
  await old.note.put({ personId: "a" }, { noteId: "2", words: "bye", stars: 3 }).orThrow();
  return { old, rows, db: model("parsed"), stored: model("stored"), sent };
};

const ann = { personId: "a", name: "ann", level: 1, tags: ["new"], email: "ann@x.org" };
const bob = { personId: "b", name: "bob", level: 7, tags: ["new"] };
const cy = { personId: "c", name: "cy", level: 1, tags: ["new"] };

test("rows come as their schemas make them, from every read, by the requests of rows as they are stored", async () => {
  const { db, stored, sent } = await openTwice();
  const a = { personId: "a" };
  const inputs = async (call: () => PromiseLike<unknown>): Promise<unknown> => {
    sent.length = 0;
    await call();
    return sent.map(({ operation, input }) => ({ operation, input }));
  };
  expect(await inputs(() => db.person.get(a))).toEqual(await inputs(() => stored.person.get(a)));
  expect(await inputs(() => db.person(a).out("knows").entries())).toEqual(await inputs(() => stored.person(a).out("knows").entries()));
  expect(await stored.person.get(a)).toEqual({ personId: "a", name: "Ann", email: "ann@x.org" });

  expect(await db.person.get(a)).toEqual(ann);
  expect(await db.person.getMany([{ personId: "c" }, a, { personId: "x" }])).toEqual([cy, ann, undefined]);
  expect(await db.person.by({ email: "ann@x.org" })).toEqual(ann);
  const toBob = { from: a, to: { personId: "b" }, since: "2020", trust: 5 };
  const toCy = { from: a, to: { personId: "c" }, since: "2021", trust: 9 };
  expect(await db.knows.get(a, { personId: "b" })).toEqual(toBob);
  expect(await db.person(a).out("knows").edges()).toEqual([toBob, toCy]);
  expect(await db.person(a).out("knows").nodes()).toEqual([bob, cy]);
  expect(await db.person(a).out("knows").entries()).toEqual([
    { edge: toBob, node: bob },
    { edge: toCy, node: cy },
  ]);
  const notes = [
    { personId: "a", noteId: "1", words: "hello", stars: 0 },
    { personId: "a", noteId: "2", words: "bye", stars: 3 },
  ];
  expect(await db.person(a).parts("note").all()).toEqual(notes);
  expect(await db.note.get(a, { noteId: "1" })).toEqual(notes[0]);
  expect(await db.person(a).collection()).toEqual({ node: ann, edges: { knows: [toBob, toCy] }, parts: { note: notes } });
  expect(await db.find("person").where({ name: "Bob" }).using("byName").rows()).toEqual([bob]);
  expect((await db.person(a).out("knows").in("knows").nodes()).items).toEqual([ann]);
  expect((await db.person(a).walk().out("knows").nodes()).items).toEqual([bob, cy]);
  const listed: unknown[] = [];
  for await (const one of db.person(a).parts("note")) listed.push(one);
  expect(listed).toEqual(notes);
});

test("conditions, counts and index keys go by what is stored", async () => {
  const { db } = await openTwice();
  expect(
    await db
      .person({ personId: "a" })
      .parts("note")
      .where({ stars: { exists: false } })
      .all(),
  ).toMatchObject([{ noteId: "1", stars: 0 }]);
  expect(await db.person({ personId: "a" }).out("knows").where({ trust: 5 }).count()).toBe(0);
  expect(await db.find("person").where({ name: "bob" }).using("byName").rows()).toEqual([]);
});

test("of a selection, and of an index with a part of the attributes, each attribute is parsed alone", async () => {
  const { db } = await openTwice();
  expect(await db.person.get({ personId: "a" }, { select: ["name", "level"] })).toEqual({ name: "ann", level: 1 });
  expect(await db.person({ personId: "a" }).out("knows").select("trust").edges()).toMatchObject([{ trust: 5 }, { trust: 9 }]);
  expect(await db.person({ personId: "a" }).parts("note").select("words").all()).toEqual([{ words: "hello" }, { words: "bye" }]);
  // `tags` is not in the index: it gets no default there, which would look like what is stored.
  const [one] = await db.find("person").where({ name: "Ann" }).using("names").rows();
  expect(one).toEqual({ personId: "a", name: "ann", level: 1 });
});

test("a row that does not fit is a stray, and pages are filled without it", async () => {
  const { db, old, rows } = await openTwice();
  await rows({ personId: "d", name: "Di", level: "high" });
  await old.note
    .put({ personId: "a" }, { noteId: "11", words: 5 as never })
    .orThrow()
    .catch(() => undefined);
  await old.knows.link({ personId: "d" }, { personId: "a" }, { since: 5 }).orThrow();
  await old.knows.link({ personId: "d" }, { personId: "b" }, { since: "2022" }).orThrow();
  await old.knows.link({ personId: "b" }, { personId: "d" }, { since: "2023" }).orThrow();
  const page = await db.person({ personId: "d" }).out("knows").page({ limit: 1 }).report();
  expect(page.value.items).toMatchObject([{ to: { personId: "b" }, trust: 5 }]);
  expect(page.strays).toBe(1);
  const strays: StrayItem[] = [];
  expect(await db.person.get({ personId: "d" }).run({ onStray: (stray) => strays.push(stray) })).toBeUndefined();
  expect(
    (
      await db
        .person({ personId: "b" })
        .walk()
        .out("knows")
        .nodes()
        .run({ onStray: (stray) => strays.push(stray) })
    ).items,
  ).toEqual([]);
  const key = { pk: { S: "PERSON#d" }, sk: { S: "#" } };
  expect(strays).toMatchObject([
    { key, item: { level: { S: "high" } } },
    { key, item: key },
  ]);
  expect(strays[0]?.reason).toMatch(/^"person" does not fit its schema: "level": /);
  await expect(db.person.get({ personId: "d" }).run({ onStray: "throw" })).rejects.toMatchObject({ code: "schema.invalidValue" });
  const entries = await db.person({ personId: "b" }).out("knows").entries().report();
  expect([entries.value[0]?.node, entries.strays]).toEqual([undefined, 1]);
});

test("a row that breaks a rule across attributes is a stray, except where a part of it is read", async () => {
  const schema = z.object({ id: text, low: z.int().default(1), high: z.int() }).refine(({ low, high }) => low <= high, {
    error: "low is above high",
    path: ["low"],
  });
  const span = node({ key: "SPAN#{id}", schema, reads: "parsed", validate: "row" });
  const graph = defineGraph({ table: engine.freshTableName("parsedRules"), nodes: { span } });
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  const older = graph.connect({ transport: engine.transport, validate: false });
  for (const [id, high] of [
    ["a", 0],
    ["b", 7],
  ] as const)
    await older.span.create({ id, high }).orThrow();
  expect(await db.span.getMany([{ id: "a" }, { id: "b" }])).toEqual([undefined, { id: "b", low: 1, high: 7 }]);
  const strays: StrayItem[] = [];
  await db.span.get({ id: "a" }).run({ onStray: (stray) => strays.push(stray) });
  expect(strays[0]?.reason).toContain("low is above high");
  await expect(db.span.get({ id: "a" }).run({ onStray: "throw" })).rejects.toMatchObject({ code: "schema.invalidValue" });
  // Each attribute fits its own schema.
  expect(await db.span.get({ id: "a" }, { select: ["low", "high"] })).toEqual({ low: 1, high: 0 });
  // The rule sees the row as its schema makes it, with the default.
  expect(
    await db.span
      .update({ id: "b" }, { high: 0 })
      .run()
      .catch(({ code }: { code: string }) => code),
  ).toBe("schema.invalidValue");
  await db.span.update({ id: "a" }, { high: 2 }).orThrow();
  expect(await db.span.get({ id: "a" })).toEqual({ id: "a", low: 1, high: 2 });
});

test("what identifies a row, its version and its times stay as they are stored", async () => {
  const schema = v.pipe(
    v.object({ itemId: v.pipe(v.string(), v.toLowerCase()), size: v.optional(v.number(), 3) }),
    v.check(() => true),
  );
  const graph = defineGraph({
    table: engine.freshTableName("parsedKeys"),
    nodes: { item: node({ key: "ITEM#{itemId}", schema, reads: "parsed", version: true, timestamps: true }) },
  });
  const writer = graph.connect({ transport: engine.transport, validate: false });
  await writer.table.create();
  await writer.item.create({ itemId: "BIG" } as never).orThrow();
  const db = graph.connect({ transport: engine.transport });
  expect(await db.item.get({ itemId: "BIG" })).toEqual({
    itemId: "BIG",
    size: 3,
    version: 1,
    created: expect.any(String),
    modified: expect.any(String),
  });
  expect(await db.item.getMany([{ itemId: "BIG" }])).toMatchObject([{ size: 3 }]);
});

test("an integer beyond 2^53 of a schema of numbers is a row, with all digits", async () => {
  const schema = z.object({ itemId: text, size: z.number(), unit: text.default("m") });
  const graph = defineGraph({
    table: engine.freshTableName("parsedNumbers"),
    nodes: { item: node({ key: "ITEM#{itemId}", schema, reads: "parsed" }) },
  });
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  const item = { pk: { S: "ITEM#1" }, sk: { S: "#" }, type: { S: "item" }, size: { N: "9007199254740993" } };
  await engine.transport.send("PutItem", { TableName: graph.catalog.table, Item: item });
  expect(await db.item.get({ itemId: "1" })).toEqual({ itemId: "1", size: 9007199254740993n, unit: "m" });
});

test("an asynchronous schema is refused, and writes store what they are given", async () => {
  const schema = z.object({
    itemId: text,
    size: z
      .int()
      .default(3)
      .refine(async () => true),
  });
  const graph = defineGraph({
    table: engine.freshTableName("parsedLate"),
    nodes: { item: node({ key: "ITEM#{itemId}", schema, reads: "parsed" }) },
  });
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  await db.item.create({ itemId: "1" }).orThrow();
  await expect(db.item.get({ itemId: "1" }).run()).rejects.toMatchObject({
    code: "schema.failed",
    message: expect.stringContaining('reads: "parsed" takes only synchronous schemas'),
  });
});
