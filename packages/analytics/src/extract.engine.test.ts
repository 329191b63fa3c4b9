import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { defineGraph, edge, node } from "edgetable";
import { startEngine, type LocalEngine } from "@edgetable/local";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { bundleWorker } from "../../../conformance/kill/bundle-worker.ts";
import { extract, openLake } from "./index.ts";
import { network } from "./test-support/network-lake.ts";

const rows = 45_000;
const words = (page: z.ZodObject = z.object({ pageId: z.string(), words: z.int() })) =>
  defineGraph({
    table: "Network",
    nodes: { page: node({ key: "PAGE#{pageId}", schema: page as z.ZodObject<{ pageId: z.ZodString; words: z.ZodInt }> }) },
    edges: { linksTo: edge({ from: "page", to: "page", schema: z.object({}) }) },
  });

let engine: LocalEngine;
let folder: string;
const connect = (graph = words()) => graph.connect({ endpoint: engine.endpoint });

beforeAll(async () => {
  engine = await startEngine();
  const db = connect();
  await db.table.create();
  await db.load(Array.from({ length: rows }, (_, at) => ({ node: "page" as const, row: { pageId: `p${at}`, words: at } })));
});
afterAll(() => engine.stop());
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "extract-"));
  return () => rm(folder, { recursive: true, force: true });
});

const counts = async (into: string): Promise<unknown> => {
  const lake = await openLake(into);
  const [row] = await lake.query("select count(*) as pages, count(distinct page_id) as distinct_pages, sum(words) as words from page");
  lake.close();
  return row;
};
const all = { pages: BigInt(rows), distinct_pages: BigInt(rows), words: (BigInt(rows) * BigInt(rows - 1)) / 2n };

test("an interrupted extraction goes on where it stood, and gives every row once", async () => {
  const into = join(folder, "lake");
  const stop = new AbortController();
  const interrupted = extract(connect(), {
    into,
    signal: stop.signal,
    // Rows are committed by the twenty thousand. Progress is reported once a second, so the pace leaves several reports
    // between there and the last row.
    onProgress: ({ rows: read }) => read > 25_000 && stop.abort(),
    unitsPerSecond: 40,
  });
  await expect(interrupted).rejects.toMatchObject({ code: "execute.aborted" });
  expect(existsSync(into)).toBe(false);
  const report = await extract(connect(), { into });
  expect(report.resumed).toBe(true);
  // What was read before is not read again.
  expect(report.scan.items).toBeLessThan(rows);
  expect(await counts(into)).toEqual(all);
  expect(await readdir(folder)).toEqual(["lake"]);
});

test("an extraction that read all rows and could not write the lake leaves none behind that would come twice", async () => {
  const into = join(folder, "lake");
  const db = connect();
  let asked = 0;
  const failing = {
    scan: db.scan,
    get catalog() {
      // Asked for once to stage rows, and again to write the lake.
      if (++asked > 1) throw new Error("no room for the lake");
      return db.catalog;
    },
  };
  await expect(extract(failing, { into })).rejects.toThrow("no room for the lake");
  expect(existsSync(into)).toBe(false);
  const report = await extract(db, { into });
  expect(report).toMatchObject({ resumed: false, tables: expect.arrayContaining([expect.objectContaining({ name: "page", rows })]) });
  expect(await counts(into)).toEqual(all);
});

test("a node that is read again after an interruption has the reference that it has then", async () => {
  const notes = defineGraph({
    table: "Notes",
    nodes: {
      page: node({ key: "PAGE#{pageId}", schema: z.object({ pageId: z.string() }) }),
      note: node({ key: "NOTE#{noteId}", schema: z.object({ noteId: z.string(), aboutId: z.string().optional() }) }),
    },
    edges: { about: edge({ from: "note", to: "page", stored: "reference", by: { pageId: "aboutId" }, ends: "unchecked" }) },
  });
  const db = notes.connect({ endpoint: engine.endpoint });
  await db.table.create();
  for (const noteId of ["kept", "led", "freed"]) await db.note.create({ noteId, aboutId: "a" }).orThrow();
  await db.note.create({ noteId: "late" }).orThrow();
  const into = join(folder, "lake");
  const position = Buffer.from(JSON.stringify(["Notes", 1, 1, { 0: null }])).toString("base64url");
  const failing = {
    catalog: db.catalog,
    scan: (settings: Parameters<typeof db.scan>[0]) => {
      const scan = db.scan(settings);
      const rows = async function* () {
        yield* scan;
        throw new Error("interrupted");
      };
      return Object.assign(rows(), { report: () => ({ ...scan.report(), position }) });
    },
  };
  await expect(extract(failing as never, { into })).rejects.toThrow("interrupted");
  await db.note.update({ noteId: "led" }, { aboutId: "b" }).orThrow();
  await db.note.update({ noteId: "freed" }, { remove: ["aboutId"] }).orThrow();
  await db.note.update({ noteId: "late" }, { aboutId: "c" }).orThrow();
  expect(await extract(db, { into })).toMatchObject({ resumed: true });
  const lake = await openLake(into);
  expect(await lake.query("select source, target from about order by source")).toEqual([
    { source: "note:kept", target: "page:a" },
    { source: "note:late", target: "page:c" },
    { source: "note:led", target: "page:b" },
  ]);
  lake.close();
});

test("an older lake is replaced by the new one when that is complete", async () => {
  const into = join(folder, "lake");
  await extract(connect(), { into });
  const report = await extract(connect(), { into });
  expect(report).toMatchObject({ resumed: false, unfit: {} });
  expect(await counts(into)).toEqual(all);
});

test("a folder that holds something else is left alone", async () => {
  const into = join(folder, "mine");
  await mkdir(into);
  await writeFile(join(into, "thesis.txt"), "x");
  await expect(extract(connect(), { into })).rejects.toMatchObject({
    code: "analytics.lake",
    message: expect.stringContaining("holds no lake"),
  });
  expect(await readdir(into)).toEqual(["thesis.txt"]);
});

test("a disk that is full ends the extraction with what to do, and the next call completes it", async () => {
  const packageFolder = fileURLToPath(new URL("../dist", import.meta.url));
  const worker = new URL("test-support/extract-worker.ts", import.meta.url);
  const program = await bundleWorker(worker, packageFolder, ["@duckdb/node-api", "ion-js"]);
  const into = join(folder, "lake");
  try {
    // No file may grow beyond 600 KB.
    const orders = [process.execPath, program.path, JSON.stringify({ endpoint: engine.endpoint, into })];
    const { stdout } = await promisify(execFile)("bash", ["-c", 'ulimit -f 600 && exec "$0" "$@"', ...orders]);
    expect(JSON.parse(stdout)).toEqual({
      code: "analytics.engine",
      message: expect.stringMatching(/^DuckDB ran out of room: .*File too large.* free disk space\.$/s),
    });
  } finally {
    await program.remove();
  }
  expect(existsSync(into)).toBe(false);
  const db = network.connect({ endpoint: engine.endpoint });
  await extract(db, { into });
  await db.close();
  const lake = await openLake(into);
  expect(await lake.query("select count(*) as pages, count(distinct page_id) as distinct_pages from page")).toEqual([
    { pages: BigInt(rows), distinct_pages: BigInt(rows) },
  ]);
  lake.close();
});

describe("a value that does not fit its column", () => {
  const texts = words(z.object({ pageId: z.string(), words: z.string() }));

  test("ends the extraction and is named", async () => {
    await expect(extract(connect(texts), { into: join(folder, "lake") })).rejects.toMatchObject({
      code: "analytics.column",
      message: expect.stringContaining('A value of "page" does not fit the column page.words, which the schema makes text'),
    });
  });

  test("is left out and counted where that is asked for", async () => {
    const into = join(folder, "lake");
    expect((await extract(connect(texts), { into, unfit: "null" })).unfit).toEqual({ "page.words": rows });
  });
});
