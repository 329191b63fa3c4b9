import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { count, defineGraph, edge, max, node, sum } from "edgetable";
import { startEngine, type LocalEngine } from "@edgetable/local";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { degrees, derive, extract, openLake, rollUp, rollUpHierarchy, validate, type Lake } from "../index.ts";

/** What a batch job makes of values is what transactions make of them: each `Later` has a twin that they keep. */
const batch = { freshness: "batch" } as const;
const Level = { Low: 0, High: 1 } as const;
const counted = <T extends object>(where: T) => ({ in: "paid", where }) as const;
const half = counted({ points: { gt: 2.5 } });
const exactly = counted({ points: 2.5 });
const word = counted({ mixed: "5" });
const begins = counted({ mixed: { beginsWith: '"q' } });
const few = counted({ mixed: { lt: 10 } });
const other = counted({ mixed: { ne: "5" } });
const several = counted({ mixed: { in: ["5", 7, true] } });
const path = counted({ path: "a\\b'c" });
const stars = z.literal([1, 2, 3, 4.5]);
const graph = defineGraph({
  table: "Values",
  nodes: {
    payer: node({
      key: "P#{id}",
      schema: z.object({
        id: z.string(),
        price: z.string(),
        below: z.int(),
        level: z.enum(Level),
        nick: z.union([z.string(), z.number()]).optional(),
      }),
    }),
    shop: node({
      key: "S#{id}",
      schema: z.object({ id: z.string() }),
      derived: {
        half: count(half),
        halfLater: count({ ...half, ...batch }),
        exactly: count(exactly),
        exactlyLater: count({ ...exactly, ...batch }),
        word: count(word),
        wordLater: count({ ...word, ...batch }),
        begins: count(begins),
        beginsLater: count({ ...begins, ...batch }),
        few: count(few),
        fewLater: count({ ...few, ...batch }),
        other: count(other),
        otherLater: count({ ...other, ...batch }),
        several: count(several),
        severalLater: count({ ...several, ...batch }),
        path: count(path),
        pathLater: count({ ...path, ...batch }),
        stars: sum({ in: "paid", of: "stars" }),
        starsLater: sum({ in: "paid", of: "stars", ...batch }),
        starsMost: max({ in: "paid", of: "stars", ...batch }),
      },
    }),
    a_b: node({ key: "X#{id}", schema: z.object({ id: z.string() }), derived: { c: count({ out: "odd", ...batch }) } }),
    a: node({
      key: "Y#{id}",
      schema: z.object({ id: z.string() }),
      derived: { b_c: count({ in: "odd", ...batch }), "how-many": count({ in: "odd", ...batch }) },
    }),
  },
  edges: {
    paid: edge({
      from: "payer",
      to: "shop",
      schema: z.object({
        points: z.int().optional(),
        mixed: z.union([z.string(), z.number(), z.boolean()]).optional(),
        path: z.string().optional(),
        stars: stars.optional(),
        amount: z.int().optional(),
      }),
      onDelete: { from: "cascade", to: "cascade" },
    }),
    paidOnce: edge({
      from: "payer",
      to: "shop",
      copies: { from: { nick: "nick" } },
      onDelete: { from: "cascade", to: "cascade" },
    }),
    under: edge({ from: "payer", to: "payer", schema: z.object({}) }),
    odd: edge({ from: "a_b", to: "a" }),
    links: edge({ from: "shop", to: "shop", key: ["no"], schema: z.object({ no: z.int() }) }),
  },
});

let engine: LocalEngine;
let folder: string;
let lake: Lake;
const connect = () => graph.connect({ endpoint: engine.endpoint });
const relake = async (): Promise<void> => {
  lake?.close();
  const into = join(folder, "points=9", "lake");
  await extract(connect(), { into, memoryLimit: "256MB" });
  lake = await openLake(into, { memoryLimit: "256MB", threads: 1 });
};
const mixed = ["5", 5, "abc", '"quoted"', 7, 30, true, undefined] as const;

beforeAll(async () => {
  engine = await startEngine();
  folder = await mkdtemp(join(tmpdir(), "values-"));
  const db = connect();
  await db.table.create();
  for (const id of ["s1", "s2"]) await db.shop.create({ id }).orThrow();
  for (const [n, one] of mixed.entries()) {
    await db.payer.create({ id: `p${n}`, price: `${n}.5`, below: n, level: n % 2 === 0 ? Level.Low : Level.High }).orThrow();
    const attributes = {
      points: n,
      path: n < 3 ? "a\\b'c" : "ab'c",
      ...(one === undefined ? {} : { mixed: one }),
      ...(n === 0 ? { stars: 1 as const } : n === 1 ? { stars: 3 as const } : {}),
      amount: n,
    } as const;
    await db.paid.link({ id: `p${n}` }, { id: "s1" }, attributes).orThrow();
    await db.payer.update({ id: `p${n}` }, { nick: n === 0 ? "zero" : n }).orThrow();
  }
  await db.under.link({ id: "p1" }, { id: "p0" }, {}).orThrow();
  await db.a_b.create({ id: "1" }).orThrow();
  for (const id of ["1", "2"]) {
    await db.a.create({ id }).orThrow();
    await db.odd.link({ id: "1" }, { id }).orThrow();
  }
  for (const no of [1, 2, 3]) await db.links.link({ id: "s1" }, { id: "s2" }, { no }).orThrow();
  await relake();
});
afterAll(async () => {
  lake?.close();
  await engine.stop();
  await rm(folder, { recursive: true, force: true });
});

const shop = async () => (await connect().shop.get({ id: "s1" })) as Readonly<Record<string, unknown>>;

test("batch attributes equal those of transactions, whatever the types of the compared values", async () => {
  await derive(connect(), lake, { unitsPerSecond: 10_000 });
  const row = await shop();
  const twins = Object.keys(row).filter((name) => name.endsWith("Later"));
  const values = twins.map((name) => [name, row[name]]);
  expect(values).toEqual(twins.map((name) => [name, row[name.slice(0, -"Later".length)]]));
  expect(row).toMatchObject({ halfLater: 5, exactlyLater: 0, wordLater: 1, beginsLater: 1, fewLater: 2, severalLater: 3, pathLater: 3 });
  expect(row).toMatchObject({ starsLater: 4, starsMost: 3 });
  await relake();
  expect(await validate(lake, graph.catalog)).toMatchObject({ clean: true });
});

test.each(["p0", "p1"])("a copy is compared by its value where the values of its node's type are of several types (%s)", async (id) => {
  await connect().paidOnce.link({ id }, { id: "s1" }).orThrow();
  await relake();
  expect(await validate(lake, graph.catalog)).toMatchObject({ clean: true });
  await connect().paidOnce.unlink({ id }, { id: "s1" }).orThrow();
});

test("a sum that gets a fraction keeps it, though the values until now were whole numbers", async () => {
  await connect().paid.link({ id: "p2" }, { id: "s2" }, { stars: 3 }).orThrow();
  await connect().paid.relink({ id: "p2" }, { id: "s1" }, { stars: 4.5 }).orThrow();
  await relake();
  await derive(connect(), lake, { unitsPerSecond: 10_000 });
  expect(await shop()).toMatchObject({ stars: 8.5, starsLater: 8.5, starsMost: 4.5 });
});

test("attributes of any name have a column of their own in the result", async () => {
  expect(await connect().a_b.get({ id: "1" })).toMatchObject({ c: 2 });
  expect(await connect().a.get({ id: "2" })).toMatchObject({ b_c: 1, "how-many": 1 });
});

test("a roll-up keeps fractions of texts, and may pass over edges with attributes of any name", async () => {
  const [sums] = await lake.run(rollUp(lake, { node: "payer", sum: "price", along: [{ edge: "paid" }] }));
  expect(sums).toMatchObject({ node: "shop:s1", total: 32, rows_summed: 8n });
  const tree = await lake.run(rollUpHierarchy(lake, { node: "payer", sum: "below", edge: "under" }));
  expect(tree.find(({ node: at }) => at === "payer:p0")).toMatchObject({ total: 1n, rows_summed: 2n });
});

test("the folders above a lake are no columns of its tables", async () => {
  expect(await lake.query("select count(distinct points) as n from paid")).toEqual([{ n: 8n }]);
  expect(lake.tables.find(({ name }) => name === "payer")?.columns.find(({ name }) => name === "level")?.type).toBe("integer");
});

test("a job's own tables do not hide those of the lake from the next one", async () => {
  const before = await lake.run(degrees(lake, { edges: ["links"] }));
  expect(before).toHaveLength(2);
  const { components, kCore } = await import("../index.ts");
  await lake.run(components(lake, { edges: ["links"] }));
  await lake.run(kCore(lake, { edges: ["links"], k: 1 }));
  expect(await lake.run(degrees(lake, { edges: ["links"] }))).toEqual(before);
  expect(await lake.query("select count(*) as n from links")).toEqual([{ n: 3n }]);
});
