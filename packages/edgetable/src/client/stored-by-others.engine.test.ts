import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { defineGraph, edge, node, part, type StrayItem } from "../index.ts";
import { decodeItem } from "../requests/decode-item.ts";
import { encodeValue } from "../requests/attribute-value.ts";
import { startEngine, type TestEngine } from "../test-support/engine.ts";
import { propertyRuns } from "../../../../conformance/engines/property-runs.ts";
import type { AttributeValue, Item } from "../transport/operations.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

const text = z.string();

/** Staff whose boss an index key carries; what projects they are in lies in their partition, found from the project by the index. */
const staffIn = (table: string) =>
  defineGraph({
    table,
    nodes: {
      person: node({
        key: "P#{id}",
        schema: z.object({ id: text, boss: text.optional(), level: z.number().optional(), note: text.optional() }),
      }),
      project: node({ key: "J#{id}", schema: z.looseObject({ id: text }) }),
    },
    parts: { skill: part({ of: "person", key: "SKILL#{n:3}", schema: z.object({ n: z.int(), at: text.optional() }) }) },
    edges: { in: edge({ from: "person", to: "project", schema: z.object({ role: text.optional(), year: z.int() }) }) },
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      indexes: { byBoss: { partitionKey: "G1PK", sortKey: "G1SK" } },
      nodes: {
        person: { keys: { SK: "{key}", G1PK: "BOSS#{boss}", G1SK: "L#{level:3}" }, sparse: ["G1PK", "G1SK"] },
        project: { keys: { SK: "{key}" } },
      },
      edges: { in: { keys: { SK: "{to}", G1PK: "{to}", G1SK: "Y#{year:4}" }, sparse: ["G1SK"] } },
    },
  });

const S = (value: string): AttributeValue => ({ S: value });
const person = (id: string, more: Item = {}): Item => ({ PK: S(`P#${id}`), SK: S(`P#${id}`), ...more });

const open = async (items: readonly Item[], options: object = {}) => {
  const graph = staffIn(engine.freshTableName("staff"));
  const db = graph.connect({ transport: engine.transport, ...options });
  await db.table.create();
  for (const Item of items) await engine.transport.send("PutItem", { TableName: graph.catalog.table, Item });
  return { db, table: graph.catalog.table };
};

test("what a key carries is read from the key, and the report and the scan name the copies that disagree", async () => {
  const { db } = await open([
    person("1", { G1PK: S("BOSS#x"), G1SK: S("L#007"), boss: S("y"), level: { N: "7" } }),
    person("2", { G1PK: S("BOSS#x"), G1SK: S("L#008"), boss: S("x"), level: S("008") }),
    person("3", { boss: S("z"), id: S("other") }),
  ]);
  const found = await db.find("person").where({ boss: "x" }).using("byBoss").rows().report();
  expect(found.value).toEqual([
    { id: "1", boss: "x", level: 7 },
    { id: "2", boss: "x", level: 8 },
  ]);
  const drift = { key: { PK: S("P#1"), SK: S("P#1") }, field: "boss", value: "x", copy: "y" };
  expect(found.drifted).toEqual({ items: 1, first: [drift] });
  // No key of an item that the index leaves out carries its boss.
  const third = await db.person.get({ id: "3" }).report();
  expect(third.value).toEqual({ id: "3", boss: "z" });
  expect(third.drifted).toMatchObject({ items: 1, first: [{ field: "id", value: "3", copy: "other" }] });
  const scan = db.scan();
  const rows: unknown[] = [];
  for await (const row of scan) rows.push(row);
  expect(rows).toContainEqual({ node: "person", row: { id: "1", boss: "x", level: 7 } });
  expect(scan.report().drifted).toMatchObject({ items: 2, first: expect.arrayContaining([drift]) as unknown });
  // A field that is removed is gone with its copy.
  await db.person.update({ id: "1" }, { remove: ["boss"] }).orThrow();
  expect(await db.person.get({ id: "1" })).toEqual({ id: "1", level: 7 });
});

test("an item that cannot be read is passed over by every read and counted, or ends it, or is told of", async () => {
  const foreign: Item = person("9", { G1PK: S("BOSS#x"), G1SK: S("L#unknown") });
  const { db } = await open([
    person("1", { G1PK: S("BOSS#x"), G1SK: S("L#007") }),
    foreign,
    { PK: S("J#1"), SK: S("J#1") },
    { PK: S("P#1"), SK: S("J#1"), G1PK: S("J#1"), G1SK: S("Y#2020") },
    { PK: S("P#9"), SK: S("J#1"), G1PK: S("J#1"), G1SK: S("Y#May") },
  ]);
  const one = { id: "1", boss: "x", level: 7 };
  const project = { id: "1" };
  const reads = {
    find: () => db.find("person").where({ boss: "x" }).using("byBoss"),
    get: () => db.person.get({ id: "9" }),
    getMany: () => db.person.getMany([{ id: "1" }, { id: "9" }]),
    page: () => db.find("person").where({ boss: "x" }).using("byBoss").page({ limit: 10 }),
    count: () =>
      db
        .find("person")
        .where({ boss: "x", level: { gte: 0 } })
        .count(),
    edges: () => db.project(project).in("in").edges(),
    nodes: () => db.project(project).in("in").nodes(),
    collection: () => db.person({ id: "9" }).collection(),
    walk: () => db.project(project).walk().in("in").nodes(),
  };
  expect(await reads.find().rows()).toEqual([one]);
  expect(await reads.get()).toBeUndefined();
  expect(await reads.getMany()).toEqual([one, undefined]);
  expect((await reads.page()).items).toEqual([one]);
  expect(await reads.edges()).toEqual([{ from: { id: "1" }, to: project, year: 2020 }]);
  expect(await reads.nodes()).toEqual([one]);
  expect((await reads.find().rows().report()).strays).toBe(1);
  expect((await reads.edges().report()).strays).toBe(1);
  expect((await reads.get().report()).strays).toBe(1);
  expect((await reads.collection().report()).strays).toBe(2);
  expect((await reads.walk().report()).strays).toBeGreaterThan(0);

  const calls = [reads.find().rows(), reads.get(), reads.getMany(), reads.page(), reads.edges(), reads.nodes(), reads.collection()];
  for (const call of calls) await expect(call.run({ onStray: "throw" })).rejects.toMatchObject({ code: "keys.unreadable" });
  const told: StrayItem[] = [];
  await reads
    .find()
    .rows()
    .run({ onStray: (stray) => told.push(stray) });
  expect(told.map(({ item, key }) => [item, key])).toEqual([[foreign, { PK: S("P#9"), SK: S("P#9") }]]);
  expect(told[0]?.reason).toContain('it does not read as "person": "G1SK" is "L#unknown"');
});

test("a row holds what the model knows; the rest stays in the item, and is shown where it is asked for", async () => {
  const stored = person("1", { note: S("n"), former: S("left the schema"), newerPk: S("person#4") });
  const { db, table } = await open([stored, { PK: S("J#1"), SK: S("J#1"), more: S("kept") }]);
  expect(await db.person.get({ id: "1" })).toEqual({ id: "1", note: "n" });
  expect(await db.person.get({ id: "1" }).run({ unknown: "show" })).toEqual({
    id: "1",
    note: "n",
    former: "left the schema",
    newerPk: "person#4",
  });
  // A schema that keeps what it does not know says that all of it belongs to the row.
  expect(await db.project.get({ id: "1" })).toEqual({ id: "1", more: "kept" });
  expect(await db.person.update({ id: "1" }, { note: "m", boss: "b", level: 1 }).orThrow()).toMatchObject({
    row: { id: "1", note: "m", boss: "b", level: 1 },
  });
  const { Item: item } = await engine.transport.send("GetItem", { TableName: table, Key: { PK: S("P#1"), SK: S("P#1") } });
  expect(item).toEqual({ ...stored, note: S("m"), G1PK: S("BOSS#b"), G1SK: S("L#001") });
  const scanned: unknown[] = [];
  for await (const row of db.scan({ only: ["person"], unknown: "show" })) scanned.push(row);
  expect(scanned).toMatchObject([{ row: { former: "left the schema", newerPk: "person#4" } }]);
});

test("attributes may be called as what every JavaScript object has", async () => {
  const { db } = await open([
    {
      PK: S("J#1"),
      SK: S("J#1"),
      toString: S("mine"),
      map: { M: JSON.parse('{"__proto__":{"S":"x"},"constructor":{"N":"1"}}') as Item },
    } as Item,
    { PK: S("J#2"), SK: S("J#2") },
    JSON.parse('{"PK":{"S":"J#3"},"SK":{"S":"J#3"},"__proto__":{"M":{"admin":{"BOOL":true}}}}') as Item,
  ]);
  const first = await db.project.get({ id: "1" });
  expect(Object.keys(first as object).toSorted()).toEqual(["id", "map", "toString"]);
  expect(Object.keys(first?.["map"] as object).toSorted()).toEqual(["__proto__", "constructor"]);
  const third = await db.project.get({ id: "3" });
  expect(Object.getPrototypeOf(third)).toBe(Object.prototype);
  expect((third as { readonly admin?: boolean }).admin).toBeUndefined();
  const loose = db as unknown as {
    readonly project: { update: (id: object, changes: object, options?: object) => { run(): Promise<unknown> } };
  };
  expect(await loose.project.update({ id: "2" }, { seen: 1 }, { if: { constructor: { exists: true } } }).run()).toMatchObject({
    ok: false,
  });
  expect(await loose.project.update({ id: "2" }, { add: { valueOf: 2 } }).run()).toMatchObject({ ok: true });
  expect(await loose.project.update({ id: "2" }, { append: { hasOwnProperty: ["a"] } }).run()).toMatchObject({ ok: true });
  expect(Object.entries((await db.project.get({ id: "2" })) as object)).toEqual(
    expect.arrayContaining([
      ["valueOf", 2],
      ["hasOwnProperty", ["a"]],
    ]),
  );
  const strays: StrayItem[] = [];
  for await (const _ of db.scan({ onStray: (stray) => strays.push(stray) }));
  expect(strays.map(({ reason }) => reason)).toEqual(['it has an attribute "__proto__", which no row can hold']);
});

const hostile = fc.constantFrom(
  "__proto__",
  "constructor",
  "toString",
  "valueOf",
  "hasOwnProperty",
  "isPrototypeOf",
  "then",
  "length",
  "a",
  "é",
  "",
);
const leaf = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null));
const map = (member: fc.Arbitrary<AttributeValue>): fc.Arbitrary<AttributeValue> =>
  fc.array(fc.tuple(hostile, member), { maxLength: 4 }).map((entries) => ({ M: Object.fromEntries(entries) as Item }));
const value: fc.Arbitrary<AttributeValue> = fc.oneof(
  leaf.map((one) => encodeValue(one, "x")),
  map(leaf.map((one) => encodeValue(one, "x"))),
);
const plain = (one: AttributeValue): unknown =>
  "M" in one
    ? new Map(Object.entries(one.M).map(([name, member]) => [name, plain(member)]))
    : "S" in one
      ? one.S
      : "N" in one
        ? Number(one.N)
        : "BOOL" in one
          ? one.BOOL
          : null;
const asMap = (one: unknown): unknown =>
  typeof one === "object" && one !== null ? new Map(Object.entries(one).map(([name, member]) => [name, asMap(member)])) : one;

test("a row is the item's attributes, whatever they are called (against a Map)", () => {
  const { catalog } = staffIn("Staff");
  const { shape } = catalog.nodes["project"]!;
  fc.assert(
    fc.property(fc.array(fc.tuple(hostile, value), { maxLength: 6 }), (entries) => {
      const item = Object.fromEntries([...entries, ["PK", S("J#1")], ["SK", S("J#1")]]) as Item;
      const row = decodeItem(catalog, shape, item);
      const expected = new Map<string, unknown>([
        ["id", "1"],
        ...Object.entries(Object.fromEntries(entries)).map(([name, one]) => [name, plain(one)] as const),
      ]);
      expected.delete("__proto__");
      expect(asMap(row)).toEqual(expected);
      expect(Object.getPrototypeOf(row)).toBe(Object.prototype);
    }),
    propertyRuns(200),
  );
});

test("a write that needs nothing of an item which cannot be read is made, and tells no row", async () => {
  const { db, table } = await open([person("9", { G1PK: S("BOSS#x"), G1SK: S("L#unknown") })]);
  expect(await db.person.update({ id: "9" }, { note: "n" })).toMatchObject({ ok: true, row: undefined });
  const { Item: item } = await engine.transport.send("GetItem", { TableName: table, Key: { PK: S("P#9"), SK: S("P#9") } });
  expect(item).toMatchObject({ note: S("n") });
});
