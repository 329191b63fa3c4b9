import { expect, test } from "vitest";
import { z } from "zod";
import { defineGraph } from "../client/define-graph.ts";
import { node, part } from "../schema/definition.ts";
import type { Layout } from "../schema/layout.ts";
import { verify } from "../verify/index.ts";
import { fast, lab, openMigrationsLab } from "./migrations-lab.test-support.ts";

openMigrationsLab();

const text = z.string();
const byStatus = { gsi1: { partitionKey: "gsi1pk", sortKey: "gsi1sk" } };
const keys = { gsi1pk: "STATUS#{status}", gsi1sk: "{at}" };

interface Places {
  readonly order?: object;
  readonly line?: object;
  readonly layout?: Partial<Layout>;
}

/** Models of the same orders, whose layouts store attributes in different places. */
const model = ({ order, line, layout }: Places = {}) =>
  defineGraph({
    table: lab.table,
    nodes: { order: node({ key: "ORDER#{id}", schema: z.object({ id: text, status: text, at: text, team: text.optional() }) }) },
    parts: { line: part({ of: "order", key: "LINE#{no}", schema: z.object({ no: text, sku: text }) }) },
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      typeAttribute: "kind",
      ...layout,
      nodes: { order: { ...order, keys: { SK: "ORDER", ...(order as { keys?: object } | undefined)?.keys } } },
      parts: { line: line ?? {} },
    } as Layout,
  }).connect({ transport: lab.engine.transport });

const indexed = { order: { keys }, layout: { indexes: byStatus } };
const beside = {
  order: { keys: { ...keys, status: "{status}", at: "{at}" }, delimiters: { status: "\u0001", at: "\u0001" } },
  layout: { indexes: byStatus },
};
const both = { order: { keys, verbatim: ["status", "at"] }, layout: { indexes: byStatus } };

const begin = async (places: Places, recorded = true): Promise<void> => {
  const db = model(places);
  await db.table.create();
  if (recorded) await db.migrations.run({ ...fast, finish: true });
  await db.order.create({ id: "1", status: "open", at: "2024", team: "red" }).orThrow();
  await db.line.create({ id: "1" }, { no: "1", sku: "s" }).orThrow();
};

const refusalsOf = async (places: Places, inPlace = false): Promise<readonly string[]> =>
  (await model(places).migrations.plan({ inPlace })).refusals;

test.each([true, false])("an attribute would move into the keys of a new index: refused (table with a record: %s)", async (recorded) => {
  await begin({}, recorded);
  expect(await refusalsOf(indexed)).toEqual([
    expect.stringContaining('verbatim: ["status"] in the layout of "order"'),
    expect.stringContaining('verbatim: ["at"] in the layout of "order"'),
  ]);
  expect(await refusalsOf(indexed, true)).toEqual([]);
  await expect(model(indexed).migrations.run(fast)).rejects.toMatchObject({ code: "migrate.unsupported" });
  // Stored in both places, programs of either model write, and none of their writes is lost.
  const db = model(both);
  expect(await refusalsOf(both)).toEqual([]);
  await db.migrations.run(fast);
  await model().order.update({ id: "1" }, { status: "done" }).orThrow();
  expect(await db.migrations.run({ ...fast, finish: true })).toMatchObject({ complete: true });
  expect(await db.find("order").where({ status: "done" }).rows()).toEqual([{ id: "1", status: "done", at: "2024", team: "red" }]);
  expect(await verify(db, { settle: 0 })).toMatchObject({ clean: true });
});

test("an attribute that repeats a key is left out: refused while programs read it", async () => {
  await begin(both);
  const refusals = await refusalsOf(indexed);
  expect(refusals).toEqual([
    expect.stringContaining('Items of "order" hold "status" in "status" beside "gsi1pk"'),
    expect.stringContaining('Items of "order" hold "at" in "at" beside "gsi1sk"'),
  ]);
  await expect(model(indexed).migrations.run(fast)).rejects.toMatchObject({ code: "migrate.unsupported" });
  expect(await refusalsOf(indexed, true)).toEqual([]);
  await model(indexed).migrations.run({ ...fast, finish: true, inPlace: true });
  await model(indexed).order.update({ id: "1" }, { status: "done" }).orThrow();
  expect(await model(indexed).order.get({ id: "1" })).toMatchObject({ status: "done", at: "2024" });
  // On the way back the copy comes behind the key, for items that do not have it yet.
  expect(await refusalsOf(both)).toEqual([
    expect.stringContaining('Declare it after the key (keys: { "status": "{status}" } after the others)'),
    expect.stringContaining('Declare it after the key (keys: { "at": "{at}" } after the others)'),
  ]);
  expect(await refusalsOf(beside)).toEqual([]);
  expect(await refusalsOf({})).toEqual([expect.stringContaining("Keep the key."), expect.stringContaining("Keep the key.")]);
});

test("an attribute that repeats the table's key may be left out: rows have it from the key", async () => {
  const inKey = (verbatim: readonly string[]): Places => ({ line: { keys: { SK: "LINE#{no}#{sku}" }, verbatim } });
  await begin(inKey(["sku"]));
  expect(await refusalsOf(inKey([]))).toEqual([]);
});

test("an index goes that alone holds an attribute: refused, until items hold it beside the key", async () => {
  await begin(indexed);
  expect(await refusalsOf({})).toEqual([
    expect.stringContaining('Items of "order" hold "status" only in "gsi1pk", and the model reads it from "status": rows would lack it.'),
    expect.stringContaining('Items of "order" hold "at" only in "gsi1sk"'),
  ]);
  expect(await refusalsOf({}, true)).toHaveLength(2);
  expect(await refusalsOf(both)).toHaveLength(2);
  const db = model(beside);
  await db.migrations.run({ ...fast, finish: true });
  expect(await db.load(db.scan())).toMatchObject({ rows: 2, failed: 0 });
  expect(await refusalsOf({})).toEqual([]);
  await model().migrations.run({ ...fast, finish: true });
  expect(await model().order.get({ id: "1" })).toEqual({ id: "1", status: "open", at: "2024", team: "red" });
});

test.each<[string, Places, string]>([
  [
    "another stored name",
    { order: { attributes: { team: "Team" } } },
    '"team" of "order" is stored as "team", and the model stores it as "Team"',
  ],
  ["another stored name in a part", { line: { attributes: { sku: "SKU" } } }, '"sku" of "line" is stored as "sku"'],
  ["no type", { order: { type: false } }, 'Items of "order" are of the type "order", and the model looks for none'],
  ["the type elsewhere", { layout: { typeAttribute: "Type" } }, 'Items hold their type in "kind", and the model looks in "Type"'],
  ["another type", { order: { type: "ORD" } }, 'Items of "order" are of the type "order", and the model looks for "ORD"'],
])("%s: refused, unless the table has always been so", async (_, places, says) => {
  await begin({});
  expect(await refusalsOf(places)).toEqual([expect.stringContaining(says)]);
  expect(await refusalsOf(places, true)).toEqual([]);
  // The way back is refused alike. A kind may get a type: items without one are found.
  const db = model(places);
  await db.migrations.run({ ...fast, finish: true, inPlace: true });
  expect(await db.migrations.plan()).toMatchObject({ steps: [], refusals: [] });
  expect(await refusalsOf({})).toHaveLength(says.endsWith("none") ? 0 : 1);
  expect(await refusalsOf({}, true)).toEqual([]);
});

test("a key that is only written, under a condition, or of a new attribute moves nothing", async () => {
  await begin({});
  const written = { gsi1pk: "STATUS#{status:written}", gsi1sk: "{at:written}" };
  expect(await refusalsOf({ order: { keys: written }, layout: { indexes: byStatus } })).toEqual([]);
  expect(await refusalsOf({ order: { keys, when: { gsi1pk: { status: "open" } } }, layout: { indexes: byStatus } })).toEqual([]);
});

test.each([true, false])("an index by a key that items have moves nothing (table with a record: %s)", async (recorded) => {
  await begin({}, recorded);
  const byKey: Places = { layout: { indexes: { gsi1: { partitionKey: "SK", sortKey: "PK" } } } };
  expect(await refusalsOf(byKey)).toEqual([]);
  expect(await model(byKey).migrations.run({ ...fast, finish: true })).toMatchObject({ complete: true });
  expect(await verify(model(byKey), { settle: 0 })).toMatchObject({ clean: true });
});

test("without a record, a further index by the keys of one that is there moves nothing", async () => {
  await begin(indexed, false);
  const more: Places = { ...indexed, layout: { indexes: { ...byStatus, gsi2: { partitionKey: "gsi1sk", sortKey: "gsi1pk" } } } };
  expect(await refusalsOf(more)).toEqual([]);
  expect(await model(more).migrations.run({ ...fast, finish: true })).toMatchObject({ complete: true });
});
