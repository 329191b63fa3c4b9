import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { average, count, createLeanTransport, defineGraph, distinct, edge, max, node, sum, summarize } from "edgetable";
import { refreshFacts } from "edgetable/streams";
import { verify } from "edgetable/verify";
import { startEngine, type LocalEngine } from "@edgetable/local";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { derive, derived, extract, openLake, runOnSpark, validate, validation } from "../index.ts";
import { comparable, hasSpark, python } from "../test-support/spark.ts";

const id = z.string();
/** Each attribute that the stream keeps has a twin that a batch job computes. */
const batch = { freshness: "batch" } as const;
const anyEnds = { onDelete: { from: "cascade", to: "cascade" } } as const;
const shop = defineGraph({
  table: "Shop",
  nodes: {
    customer: node({
      key: "CUSTOMER#{id}",
      schema: z.object({ id }),
      derived: { spent: sum({ out: "buys", of: "spent", freshness: "stream" }) },
    }),
    product: node({ key: "PRODUCT#{id}", schema: z.object({ id }) }),
  },
  edges: {
    ordered: edge({
      from: ["customer", "product"],
      to: "product",
      schema: z.object({ order: z.string(), amount: z.number(), at: z.date().optional(), shop: z.string().optional() }),
      key: ["order"],
      dates: ["at"],
      ...anyEnds,
    }),
    buys: summarize(edge({ from: "customer", to: "product", version: true, ...anyEnds }), {
      orders: count({ along: "ordered" }),
      large: count({ along: "ordered", where: { amount: { gte: 10 } } }),
      spent: sum({ along: "ordered", of: "amount" }),
      mean: average({ along: "ordered", of: "amount" }),
      last: max<Date>({ along: "ordered", of: "at" }),
      ordersLater: count({ along: "ordered", ...batch }),
      largeLater: count({ along: "ordered", where: { amount: { gte: 10 } }, ...batch }),
      spentLater: sum({ along: "ordered", of: "amount", ...batch }),
      meanLater: average({ along: "ordered", of: "amount", ...batch }),
      lastLater: max<Date>({ along: "ordered", of: "at", ...batch }),
    }),
    buysIn: summarize(
      edge({ from: "customer", to: "product", schema: z.object({ shop: z.string() }), key: ["shop"], stored: "twice", ...anyEnds }),
      { orders: count({ along: "ordered" }), ordersLater: count({ along: "ordered", ...batch }) },
    ),
    wrote: edge({ from: "customer", to: "customer", schema: z.object({ n: z.string(), topic: z.string() }), key: ["n"], ...anyEnds }),
    met: edge({ from: "customer", to: "customer", symmetric: true, ...anyEnds }),
    follows: summarize(edge({ from: "customer", to: "customer", stored: "twice", ...anyEnds }), {
      sent: count({ along: "wrote" }),
      received: count({ against: "wrote" }),
      both: count({ between: "wrote" }),
      met: count({ along: "met" }),
      bothLater: count({ between: "wrote", ...batch }),
    }),
    knows: summarize(edge({ from: "customer", to: "customer", symmetric: true, ...anyEnds }), {
      letters: count({ between: "wrote" }),
      topics: distinct({ between: "wrote", of: "topic" }),
      met: count({ between: "met" }),
      topicsLater: distinct({ between: "wrote", of: "topic", ...batch }),
    }),
  },
});

let engine: LocalEngine;
let folder: string;
const connect = () => shop.connect({ endpoint: engine.endpoint });
const [ann, bob, tea, jam] = ["ann", "bob", "tea/ü", "jam"].map((name) => ({ id: name })) as [
  { id: string },
  { id: string },
  { id: string },
  { id: string },
];
let lakes = 0;
const openNew = async () => {
  const into = join(folder, `lake${++lakes}`);
  await extract(connect(), { into });
  return openLake(into);
};

beforeAll(async () => {
  engine = await startEngine();
  folder = await mkdtemp(join(tmpdir(), "summaries-"));
  const db = connect();
  await db.table.create();
  for (const one of [ann, bob]) await db.customer.create(one).orThrow();
  for (const one of [tea, jam]) await db.product.create(one).orThrow();
  await db.buys.link(ann, tea).orThrow();
  await db.buys.link(ann, jam).orThrow();
  await db.buysIn.link(ann, tea, { shop: "north" }).orThrow();
  await db.buysIn.link(ann, tea, { shop: "south" }).orThrow();
  for (const [order, amount] of [
    ["1", 4],
    ["2", 12.5],
    ["3", 0.1],
  ] as const)
    await db.ordered
      .link({ type: "customer", ...ann }, tea, { order, amount, ...(order === "3" ? {} : { at: new Date(1000 * amount), shop: "north" }) })
      .orThrow();
  // Between other nodes, one of another type with the same id.
  await db.ordered.link({ type: "customer", ...bob }, tea, { order: "1", amount: 100 }).orThrow();
  await db.ordered.link({ type: "product", ...tea }, tea, { order: "1", amount: 100 }).orThrow();
  await db.follows.link(ann, bob).orThrow();
  await db.knows.link(bob, ann).orThrow();
  await db.knows.link(ann, ann).orThrow();
  await db.met.link(ann, bob).orThrow();
  await db.met.link(ann, ann).orThrow();
  for (const n of ["1", "2", "3"]) await db.wrote.link(ann, bob, { n, topic: n === "1" ? "a" : "b" }).orThrow();
  await db.wrote.link(bob, ann, { n: "1", topic: "b" }).orThrow();
  await db.wrote.link(ann, ann, { n: "1", topic: "diary" }).orThrow();
  await refreshFacts(db);
});
afterAll(async () => {
  await engine.stop();
  await rm(folder, { recursive: true, force: true });
});

const judge = async () => (await verify(connect(), { staleAfter: 0, settle: 0 })).kinds.flatMap(({ examples }) => examples);
/** What `verify` and `validate` say alike. */
const brief = ({
  kind,
  definition,
  attribute,
  stored,
  expected,
}: {
  readonly kind: string;
  readonly definition?: string | undefined;
  readonly attribute?: string | undefined;
  readonly stored?: unknown;
  readonly expected?: unknown;
}) => [kind, definition, attribute, stored, expected].map((one) => (one instanceof Date ? one.toISOString() : String(one))).join(" ");

test("what the stream keeps on edges is found right, and a batch job computes the same, by DuckDB and by Spark", async () => {
  const db = connect();
  expect(await db.buys.get(ann, tea)).toMatchObject({ orders: 3, large: 1, spent: 16.6, last: new Date(12500) });
  expect(await db.buysIn.get(ann, tea, { key: { shop: "north" } })).toMatchObject({ orders: 2 });
  expect(await db.buysIn.get(ann, tea, { key: { shop: "south" } })).toMatchObject({ orders: 0 });
  expect(await db.follows.get(ann, bob)).toMatchObject({ sent: 3, received: 1, both: 4, met: 1 });
  expect(await db.knows.get(ann, bob)).toMatchObject({ letters: 4, topics: 2, met: 1 });
  expect(await db.knows.get(ann, ann)).toMatchObject({ letters: 1, topics: 1, met: 1 });
  expect(await judge()).toEqual([]);
  let lake = await openNew();
  // What no batch job has computed yet differs; nothing else does.
  const early = (await validate(lake, shop.catalog, { examples: 100 })).kinds.flatMap(({ examples }) => examples);
  expect([...new Set(early.map(({ kind, attribute }) => `${kind} ${attribute?.slice(-5)}`))]).toEqual(["wrongAggregate Later"]);
  const program = derived(lake, shop.catalog);
  if (hasSpark) expect(comparable((await runOnSpark(lake.folder, [program], { python }))[0]!)).toEqual(comparable(await lake.run(program)));
  // Two `buys`, two `buysIn`, one `follows`, two `knows`.
  expect(await derive(db, lake, { unitsPerSecond: 10_000 })).toMatchObject({ matched: 7, changes: 7, written: 7, skipped: 0 });
  const rows = [
    await db.buys.get(ann, tea),
    await db.buys.get(ann, jam),
    await db.buysIn.get(ann, tea, { key: { shop: "north" } }),
    await db.buysIn.get(ann, tea, { key: { shop: "south" } }),
    ...(await db.product(tea).in("buysIn").edges()),
    await db.follows.get(ann, bob),
    ...(await db.customer(bob).in("follows").edges()),
    await db.knows.get(ann, bob),
    await db.knows.get(bob, ann),
    await db.knows.get(ann, ann),
  ] as readonly Readonly<Record<string, unknown>>[];
  const twins = rows.flatMap((row) =>
    Object.keys(row).flatMap((name) => (name.endsWith("Later") ? [[row, name.slice(0, -5)] as const] : [])),
  );
  expect(twins).toHaveLength(17);
  for (const [row, name] of twins) expect([name, row[`${name}Later`]]).toEqual([name, row[name]]);
  // No write of a user's.
  expect(await db.buys.get(ann, tea)).toMatchObject({ version: 1 });
  expect(await judge()).toEqual([]);
  lake.close();
  lake = await openNew();
  expect(await validate(lake, shop.catalog)).toMatchObject({ clean: true, kinds: [] });
  expect(await derive(db, lake)).toMatchObject({ matched: 7, changes: 0 });
  lake.close();
}, 300_000);

test("a batch job writes only what is its own, and only onto edges that are there", async () => {
  const db = connect();
  expect(() => db.buys.relink(ann, tea, { ordersLater: 1 } as never)).toThrow(expect.objectContaining({ code: "schema.derivedAttribute" }));
  await db.jobs.run("own", {}, async (job) => {
    const ends = { from: ann, to: tea };
    await expect(job.setDerived("buys", ends, { orders: 1 })).rejects.toMatchObject({
      message: expect.stringContaining('"orders" of "buys" is not kept in batch. These are: ordersLater,') as string,
    });
    await expect(job.setDerived("buy", ends, {})).rejects.toMatchObject({
      message: 'There is no node or edge "buy". Did you mean "buys"?',
    });
    await expect(job.setDerived("buysIn", ends, { ordersLater: 1 })).rejects.toMatchObject({ code: "schema.invalidValue" });
    expect(await job.setDerived("buys", { from: bob, to: tea }, { ordersLater: 1 })).toMatchObject({ ok: false, reason: "notFound" });
    expect(await job.setDerived("buys", ends, { ordersLater: 1 }, { ordersLater: 7 })).toMatchObject({
      ok: false,
      reason: "conditionFailed",
    });
  });
});

test("differences on edges are reported as `verify` reports them, by DuckDB and by Spark", async () => {
  const transport = createLeanTransport({ endpoint: engine.endpoint });
  const { Items = [] } = await transport.send("Scan", { TableName: "Shop" });
  const spoil = async (pk: string, sk: RegExp, names: readonly string[], attributes: object) => {
    const item = Items.find((one) => (one["pk"] as { S: string }).S === pk && sk.test((one["sk"] as { S: string }).S));
    const kept = Object.fromEntries(Object.entries(item!).filter(([name]) => !names.includes(name)));
    await transport.send("PutItem", { TableName: "Shop", Item: { ...kept, ...attributes } });
  };
  await spoil("CUSTOMER#ann", /^buys#PRODUCT#tea/, ["last"], { orders: { N: "7" }, spent: { N: "16.7" } });
  await spoil("CUSTOMER#ann", /^buys#PRODUCT#jam/, [], { last: { S: "2020-01-01T00:00:00.000Z" } });
  await spoil("CUSTOMER#ann", /^follows#/, ["both"], {});
  await spoil("CUSTOMER#bob", /^~follows#/, ["both"], {});
  for (const [pk, sk] of [
    ["CUSTOMER#ann", /^knows#CUSTOMER#bob/],
    ["CUSTOMER#bob", /^knows#/],
  ] as const)
    await spoil(pk, sk, [], { topics: { N: "9" } });
  await spoil("CUSTOMER#ann", /^buysIn#.*south/, [], { orders: { N: "1" } });
  await spoil("PRODUCT#tea/ü", /^~buysIn#.*south/, [], { orders: { N: "1" } });
  await transport.close?.();
  const lake = await openNew();
  const { clean, kinds } = await validate(lake, shop.catalog);
  expect(clean).toBe(false);
  const found = kinds.flatMap(({ examples }) => examples);
  expect(found.find(({ attribute }) => attribute === "orders")).toMatchObject({
    kind: "staleFact",
    item: { source: "customer:ann", target: "product:tea%2F%C3%BC" },
    definition: "buys",
    stored: 7n,
    expected: 3n,
    reason: '"orders" holds 7; the edges of "ordered" between its ends make 3.',
  });
  // Of an edge without direction, `verify` names each of its two items.
  expect([...new Set(found.map(brief))].toSorted()).toEqual([...new Set((await judge()).map(brief))].toSorted());
  expect(found.map(({ definition, attribute }) => `${definition}.${attribute}`).toSorted()).toEqual([
    "buys.last",
    "buys.last",
    "buys.orders",
    "buys.spent",
    "buysIn.orders",
    "customer.spent",
    "follows.both",
    "knows.topics",
  ]);
  const program = validation(lake, shop.catalog);
  const rows = await lake.run(program);
  expect(rows.map(({ kind, definition, attribute }) => [kind, definition, attribute].join())).toEqual(
    found.map(({ kind, definition, attribute }) => [kind, definition, attribute].join()).toSorted(),
  );
  expect(rows).toContainEqual({
    kind: "staleFact",
    definition: "buysIn",
    attribute: "orders",
    item: "customer:ann > product:tea%2F%C3%BC > south",
    stored: "1",
    expected: "0",
  });
  if (hasSpark) expect((await runOnSpark(lake.folder, [program], { python }))[0]).toEqual(rows);
  lake.close();
}, 300_000);
