import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { defineGraph, edge, node, part, type SentRequest } from "../index.ts";
import { verify } from "../verify/index.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

// A number is read as `number` or, beyond 2^53, as `bigint`.
const number = z.union([z.number(), z.bigint()]);

const open = async () => {
  const sent: SentRequest[] = [];
  const graph = defineGraph({
    table: engine.freshTableName("numbers"),
    nodes: {
      box: node({
        key: "BOX#{id}",
        schema: z.object({ id: z.string(), sorted: number.optional(), plain: number.optional(), sizes: z.set(number).optional() }),
      }),
    },
    indexes: { bySorted: { entries: { box: { by: "sorted:number", sparse: true } } } },
  });
  const db = graph.connect({ transport: engine.transport, onRequest: (request) => sent.push(request) });
  await db.table.create();
  return { db, sent };
};

const expressionOf = ({ input }: SentRequest): unknown => (input as { readonly UpdateExpression: string }).UpdateExpression;

test.each([
  [0.1, 0.2, 0.3],
  [2 ** 53 - 1, 2, 2n ** 53n + 1n],
  [undefined, 10n ** 20n + 1n, 10n ** 20n + 1n],
])("%s and %s are %s, whether an index sorts by the attribute or not", async (before, delta, sum) => {
  const { db, sent } = await open();
  await db.box.create({ id: "a", sorted: before, plain: before }).orThrow();
  sent.length = 0;
  await db.box.update({ id: "a" }, { add: { sorted: delta } }).orThrow();
  await db.box.update({ id: "a" }, { add: { plain: delta } }).orThrow();
  expect(sent.map(({ operation }) => operation)).toEqual(["GetItem", "UpdateItem", "UpdateItem"]);
  // A key is computed from the sum, which takes a read; where no key holds it, DynamoDB adds.
  expect(sent.slice(1).map(expressionOf)).toEqual([expect.stringMatching(/^SET /), expect.stringMatching(/^ADD /)]);
  expect(await db.box.get({ id: "a" })).toEqual({ id: "a", sorted: sum, plain: sum });
  expect(await db.find("box").where({ sorted: sum }).count()).toBe(1);
});

test.each([
  [2n ** 53n, 2 ** 53],
  [10n ** 21n, 1e21],
  [2n ** 53n + 1n, 2n ** 53n + 1n],
  [0.5, 0.5],
])("%s in a key is read as %s wherever the key is", async (n, read) => {
  const graph = defineGraph({
    table: engine.freshTableName("keys"),
    nodes: { box: node({ key: "BOX#{n:number}", schema: z.object({ n: number, same: number }) }) },
    parts: { slot: part({ of: "box", key: "SLOT#{at:number}", schema: z.object({ at: number }) }) },
    edges: { beside: edge({ from: "box", to: "box", schema: z.object({ far: number }), orderBy: "far:number" }) },
  });
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  await db.box.create({ n, same: n }).orThrow();
  await db.slot.create({ n }, { at: n }).orThrow();
  await db.beside.link({ n }, { n }, { far: n }).orThrow();
  expect(await db.box.get({ n: read })).toEqual({ n: read, same: n });
  expect(await db.box({ n }).parts("slot").all()).toEqual([{ n: read, at: read }]);
  expect(await db.box({ n }).in("beside").edges()).toEqual([{ from: { n: read }, to: { n: read }, far: n }]);
  expect(await db.box({ n }).out("beside").out("beside").ids()).toMatchObject({ items: [{ n: read }] });
});

test("a set may hold small and large numbers, as they are read, and go into another table", async () => {
  const [{ db, sent }, other] = [await open(), await open()];
  const sizes = new Set([1, 1n, 2n ** 60n, 0.5]);
  await db.box.put({ id: "a", sizes }).orThrow();
  const item = (sent.at(-1)!.input as { Item: { sizes: unknown } }).Item;
  expect(item.sizes).toEqual({ NS: ["1", "1152921504606846976", "0.5"] });
  await db.box.update({ id: "a" }, { add: { sizes: new Set([7n, 2n ** 61n, 0.25]) } }).orThrow();
  const all = new Set([1, 2n ** 60n, 0.5, 7, 2n ** 61n, 0.25]);
  expect(await db.box.get({ id: "a" })).toEqual({ id: "a", sizes: all });
  expect(await other.db.load(db.scan())).toMatchObject({ failed: 0 });
  expect(await other.db.box.get({ id: "a" })).toEqual({ id: "a", sizes: all });
});

test.each([Number.NaN, Number.POSITIVE_INFINITY])("%s is nothing to add, whether an index sorts by the attribute or not", async (delta) => {
  const { db, sent } = await open();
  sent.length = 0;
  for (const add of [{ sorted: delta }, { plain: delta }]) {
    await expect(async () => db.box.update({ id: "a" }, { add })).rejects.toMatchObject({
      code: "plan.invalidOption",
      message: expect.stringContaining(`\`add\` takes a finite number or a Set for "${Object.keys(add)[0]}"`),
    });
  }
  expect(sent).toEqual([]);
});

// Schemas that take one of the two forms alone.
const oneForm = () =>
  defineGraph({
    table: engine.freshTableName("oneForm"),
    nodes: {
      meter: node({
        key: "METER#{id}",
        schema: z.object({
          id: z.string(),
          total: z.number(),
          exact: z.bigint().optional(),
          sizes: z.set(z.number()).optional(),
          by: z.record(z.string(), z.number()).optional(),
        }),
      }),
    },
    parts: { reading: part({ of: "meter", key: "READING#{at}", schema: z.object({ at: z.string(), value: z.number() }) }) },
    edges: {
      feeds: edge({
        from: "meter",
        to: "meter",
        schema: z.object({ units: z.number(), rank: z.number() }),
        orderBy: "rank:number",
        validate: "row",
      }),
    },
    indexes: { byTotal: { entries: { meter: { by: "total:number" } } } },
  });

const BIG = 2n ** 53n + 1n;
/** A large number as it is stored, by its shortest decimal, and read. */
const asRead = (value: number): bigint => BigInt(String(value));

test("a row as read can be written back, whichever form its schema takes, and keeps all digits", async () => {
  const db = oneForm().connect({ transport: engine.transport });
  await db.table.create();
  await db.meter.create({ id: "a", total: 2 ** 53, exact: 7n, sizes: new Set([1, 2 ** 60]), by: { x: 2 ** 53 } }).orThrow();
  await db.meter.create({ id: "b", total: 1 }).orThrow();
  await db.meter.update({ id: "a" }, { add: { total: 1 } }).orThrow();
  await db.meter.update({ id: "a" }, { set: { "by.y": BIG as never } }).orThrow();
  await db.reading.create({ id: "a" }, { at: "1", value: 2 ** 60 }).orThrow();
  await db.feeds.link({ id: "a" }, { id: "b" }, { units: 2 ** 61, rank: 2 ** 55 }).orThrow();

  const read = await db.meter.get({ id: "a" });
  expect(read).toEqual({ id: "a", total: BIG, exact: 7, sizes: new Set([1, asRead(2 ** 60)]), by: { x: 2n ** 53n, y: BIG } });
  const reading = (await db.reading.get({ id: "a" }, { at: "1" }))!;
  const [feeds] = await db.meter({ id: "a" }).out("feeds").edges();
  expect([reading.value, feeds!.units, feeds!.rank]).toEqual([2 ** 60, 2 ** 61, 2 ** 55].map(asRead));

  const { from, to, ...attributes } = feeds!;
  const { at, value } = reading;
  await db.meter.put(read!).orThrow();
  await db.meter.upsert(read!, { total: read!.total }).orThrow();
  await db.meter.update({ id: "a" }, { total: read!.total, sizes: read!.sizes }).orThrow();
  await db.reading.put({ id: "a" }, { at, value }).orThrow();
  await db.feeds.put(from, to, attributes).orThrow();
  await db.feeds.relink(from, to, { units: attributes.units }).orThrow();
  await db.transact([db.meter.update({ id: "a" }, { exact: read!.exact! }), db.feeds.relink(from, to, { rank: feeds!.rank })]).orThrow();
  expect(await db.meter.get({ id: "a" })).toEqual(read);
  expect(await db.reading.get({ id: "a" }, { at: "1" })).toEqual(reading);
  expect(await db.feeds.get(from, to)).toEqual(feeds);
  await db.batch([db.meter.put(read!), db.reading.put({ id: "a" }, { at, value }), db.feeds.put(from, to, attributes)]);

  const other = oneForm().connect({ transport: engine.transport });
  await other.table.create();
  expect(await other.load(db.scan())).toMatchObject({ failed: 0 });
  expect(await other.meter.get({ id: "a" })).toEqual(read);
  expect(await verify(other)).toMatchObject({ clean: true });
});

test("filters, pages and walks take numbers beyond 2^53 as they are read", async () => {
  const db = oneForm().connect({ transport: engine.transport });
  await db.table.create();
  const totals = [1, 2 ** 53 - 1, 2n ** 53n, BIG, 2n ** 53n + 2n, 10n ** 37n + 1n, -BIG] as readonly number[];
  const sorted = totals.toSorted((a, b) => (a < b ? -1 : 1));
  for (const [at, total] of totals.entries()) await db.meter.put({ id: String(at), total }).orThrow();
  for (const [at, rank] of totals.entries()) await db.feeds.link({ id: "0" }, { id: String(at) }, { units: rank, rank }).orThrow();

  for (const total of totals) {
    expect(await db.find("meter").where({ total }).rows()).toMatchObject([{ total }]);
    const above = sorted.slice(sorted.indexOf(total));
    expect(
      (
        await db
          .find("meter")
          .where({ total: { gte: total } })
          .rows()
      ).map((one) => one.total),
    ).toEqual(above);
    expect(
      (
        await db
          .meter({ id: "0" })
          .out("feeds")
          .where({ rank: { gte: total } })
          .edges()
      ).map(({ rank }) => rank),
    ).toEqual(above);
    expect(
      (
        await db
          .meter({ id: "0" })
          .out("feeds")
          .where({ units: { gte: total } })
          .edges()
      ).map(({ units }) => units),
    ).toEqual(above);
    expect(await db.meter({ id: "0" }).walk().out("feeds").where({ units: total }).whereNode({ total }).nodes()).toMatchObject({
      items: [{ total }],
    });
    expect(await db.meter.update({ id: String(totals.indexOf(total)) }, { total }, { if: { total } })).toMatchObject({ ok: true });
  }
  for (const pages of [
    (cursor: string | undefined) => db.find("meter").using("byTotal").page({ limit: 2, cursor }),
    (cursor: string | undefined) => db.meter({ id: "0" }).out("feeds").page({ limit: 2, cursor }),
  ]) {
    const found: unknown[] = [];
    let cursor: string | undefined;
    do {
      const page = await pages(cursor);
      found.push(...page.items.map((one) => ("rank" in one ? one.rank : one.total)));
      cursor = page.next;
    } while (cursor !== undefined);
    expect(found).toEqual(sorted);
  }
});
