import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineGraph, edge, node, part } from "edgetable";
import { startEngine, type LocalEngine } from "@edgetable/local";
import { afterAll, beforeAll, beforeEach, afterEach, expect, test } from "vitest";
import { z } from "zod";
import { extract, openLake, writeBack, type Lake, type WriteBackReport } from "../index.ts";

/** Values of every kind, and edges with every kind of end, are compared and written as the table has them. */
const graph = defineGraph({
  table: "Written",
  nodes: {
    page: node({
      key: "P#{id}",
      dates: ["seen"],
      schema: z.object({
        id: z.string(),
        rank: z.number().nullable().optional(),
        size: z.int().nullable().optional(),
        vector: z.array(z.number()).optional(),
        seen: z.date().optional(),
        tags: z.set(z.string()).optional(),
      }),
    }),
  },
  parts: { line: part({ of: "page", key: "L#{no:4}", schema: z.object({ no: z.int() }) }) },
  edges: {
    near: edge({ from: "page", to: "page", symmetric: true, schema: z.object({ weight: z.number().optional() }) }),
    quotes: edge({ from: "page", to: "line", schema: z.object({ weight: z.number().optional() }) }),
  },
});

let engine: LocalEngine;
let folder: string;
let lake: Lake;
const connect = () => graph.connect({ endpoint: engine.endpoint });
const page = async () => connect().page.get({ id: "n" });
const write = (sql: string, to: object): Promise<WriteBackReport> =>
  writeBack(connect(), lake, sql, { to: to as never, unitsPerSecond: 10_000 });

beforeAll(async () => {
  engine = await startEngine();
  await connect().table.create();
});
afterAll(() => engine.stop());
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "written-"));
  const db = connect();
  await db.page.put({ id: "n", rank: null, size: null, vector: [0.1, 0.2], seen: new Date(1000) }).orThrow();
  await db.page.put({ id: "m", rank: 1 }).orThrow();
  await db.line.put({ id: "n" }, { no: 1 }).orThrow();
  await db.near.put({ id: "n" }, { id: "m" }, { weight: 1 }).orThrow();
  await db.quotes.put({ id: "m" }, { id: "n", no: 1 }, { weight: 1 }).orThrow();
  await extract(db, { into: join(folder, "lake"), memoryLimit: "256MB" });
  lake = await openLake(join(folder, "lake"), { memoryLimit: "256MB", threads: 1 });
});
afterEach(async () => {
  lake.close();
  await rm(folder, { recursive: true, force: true });
});

test("a stored null is no value that somebody else has written", async () => {
  const both = "select 'page:n' as node, 2.5 as rank, 7 as size";
  expect(await write(both, { page: { rank: "rank", size: "size" } })).toMatchObject({ written: 1, skipped: 0 });
  expect(await page()).toMatchObject({ rank: 2.5, size: 7 });
  await connect().page.update({ id: "n" }, { rank: 3 }).orThrow();
  expect(await write("select 'page:n' as node, 4 as rank", { page: { rank: "rank" } })).toMatchObject({ written: 0, skipped: 1 });
});

test("a list is written where any digit differs, and a date where any millisecond does", async () => {
  const list = "select 'page:n' as node, [0.1::double + 1e-14, 0.2] as vector";
  expect(await write(list, { page: { vector: "vector" } })).toMatchObject({ changes: 1, written: 1 });
  expect(await page()).toMatchObject({ vector: [0.1 + 1e-14, 0.2] });
  const date = (text: string) => write(`select 'page:n' as node, timestamp '${text}' as seen`, { page: { seen: "seen" } });
  expect(await date("1970-01-01 00:00:01.000123")).toMatchObject({ changes: 0 });
  expect(await date("1970-01-01 00:00:01.001999")).toMatchObject({ changes: 1, written: 1 });
  expect(await page()).toMatchObject({ seen: new Date(1001) });
});

test.each([
  ["timestamp 'infinity'", "seen"],
  ["timestamp '12024-01-01 00:00:00'", "seen"],
  ["['nan'::double]", "vector"],
  ["[1, '-infinity'::double]", "vector"],
])("%s is refused before anything is written", async (value, attribute) => {
  const sql = `select 'page:m' as node, null as result union all select 'page:n', ${value}`;
  await expect(write(sql, { page: { [attribute]: "result" } })).rejects.toMatchObject({
    code: "analytics.result",
    message: expect.stringContaining(`does not fit "${attribute}" of "page"`) as string,
  });
});

test("an edge without direction is found by its ends in either order, and given once", async () => {
  const [{ source, target } = {}] = await lake.query("select source, target from near");
  const turned = `select '${String(target)}' as source, '${String(source)}' as target, 7.0 as weight`;
  expect(await write(turned, { near: { weight: "weight" } })).toMatchObject({ matched: 1, written: 1 });
  expect(await connect().near.get({ id: "m" }, { id: "n" })).toMatchObject({ weight: 7 });
  const both = `${turned} union all select '${String(source)}', '${String(target)}', 8`;
  await expect(write(both, { near: { weight: "weight" } })).rejects.toMatchObject({
    message: expect.stringContaining("The result has several rows for") as string,
  });
});

test("an edge that leads to a part is written", async () => {
  const sql = "select source, target, 9 as weight from quotes";
  expect(await write(sql, { quotes: { weight: "weight" } })).toMatchObject({ matched: 1, written: 1 });
  expect(await connect().quotes.get({ id: "m" }, { id: "n", no: 1 })).toMatchObject({ weight: 9 });
});

test("an empty list is no members of a set: it takes the set away, and changes nothing where there is none", async () => {
  const tags = (list: string) => write(`select node, cast(${list} as varchar[]) as tags from page`, { page: { tags: "tags" } });
  expect(await tags("[]")).toMatchObject({ changes: 0, written: 0 });
  expect(await tags("['b', 'a', 'b']")).toMatchObject({ changes: 2, written: 2 });
  expect(await page()).toMatchObject({ tags: new Set(["a", "b"]) });
  await rm(join(folder, "lake"), { recursive: true });
  await extract(connect(), { into: join(folder, "lake"), memoryLimit: "256MB" });
  expect(await tags("[]")).toMatchObject({ changes: 2, written: 2 });
  expect(await page()).not.toHaveProperty("tags");
});
