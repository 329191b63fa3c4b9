import { spawn } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createLeanTransport, EdgetableError } from "edgetable";
import { startEngine, type LocalEngine } from "@edgetable/local";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { bundleWorker, type WorkerProgram } from "../../../../conformance/kill/bundle-worker.ts";
import { components, extract, openLake, pageRank, saveResults, writeBack, type Lake, type WriteBackReport } from "../index.ts";
import { rankedPages } from "../test-support/ranked-pages.ts";

let engine: LocalEngine;
let folder: string;
let lake: Lake;
let program: WorkerProgram;
const pages = 60;
const at = (n: number): Date => new Date(Date.UTC(2024, 0, 1 + n));
const id = (n: number) => ({ site: n % 2 === 0 ? "a/b: c" : "=1", at: at(n) });
const db = () => rankedPages.connect({ endpoint: engine.endpoint });
type Db = ReturnType<typeof db>;

beforeAll(async () => {
  engine = await startEngine();
  const packageFolder = fileURLToPath(new URL("../../dist", import.meta.url));
  program = await bundleWorker(new URL("../test-support/kill-worker.ts", import.meta.url), packageFolder, ["@duckdb/node-api", "ion-js"]);
});
afterAll(async () => {
  await program.remove();
  await engine.stop();
});

const extracted = async (connection: Db): Promise<Lake> => {
  await extract(connection, { into: join(folder, "lake"), memoryLimit: "256MB" });
  return openLake(join(folder, "lake"), { memoryLimit: "256MB", threads: 1 });
};

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "write-back-"));
  const connection = db();
  await connection.table.create();
  for (let n = 0; n < pages; n++) await connection.page.create(id(n)).orThrow();
  await connection.load([
    ...Array.from({ length: pages }, (_, n) => ({ edge: "linksTo", from: id(n), to: id((n * 7 + 1) % pages), attributes: {} }) as const),
    { node: "site", row: { siteId: "S" } },
    { edge: "cites", from: { type: "site", siteId: "S" }, to: { siteId: "S" }, attributes: { year: 2020 } },
    { edge: "cites", from: { type: "page", ...id(0) }, to: { siteId: "S" }, attributes: { year: 2021 } },
    { part: "comment", owner: id(1), row: { n: 3 } },
  ]);
  lake = await extracted(connection);
  await connection.close();
});
afterEach(async () => {
  lake.close();
  const connection = db();
  await connection.table.delete();
  await connection.close();
  await rm(folder, { recursive: true, force: true });
});

const ranks = () => pageRank(lake, { edges: ["linksTo"] });
const rank = { to: { page: { rank: "rank" } }, unitsPerSecond: 100_000 };
const stored = async (connection: Db) =>
  Promise.all(
    Array.from({ length: pages }, async (_, n) => (await connection.page(id(n)).get()) as { rank?: number; version: number } | undefined),
  );
/** Each page was created, then ranked once. */
const expectRankedOnce = async (connection: Db): Promise<void> => {
  const rows = await stored(connection);
  expect(rows.map((row) => row?.version)).toEqual(Array.from({ length: pages }, () => 2));
  expect(rows.every((row) => (row?.rank ?? 0) > 0)).toBe(true);
};

test("results are written onto nodes, and only once", async () => {
  const connection = db();
  const progress: unknown[] = [];
  const report = await writeBack(connection, lake, ranks(), { ...rank, onProgress: (one) => progress.push(one) });
  expect(report).toEqual({
    matched: pages,
    changes: pages,
    written: pages,
    already: 0,
    skipped: 0,
    skippedItems: [],
    resumed: false,
    writeUnits: pages,
  });
  expect(progress.at(-1)).toEqual({ changes: pages, done: pages });
  const rows = await stored(connection);
  const wanted = new Map((await lake.run(ranks())).map((row) => [row["node"], row["rank"]]));
  expect(rows.map((row) => row?.rank).toSorted()).toEqual([...wanted.values()].toSorted());
  await expectRankedOnce(connection);
  // The lake is now older than the table: everything is there already.
  expect(await writeBack(connection, lake, ranks(), rank)).toMatchObject({ written: 0, already: pages, skipped: 0 });
  expect(await connection.jobs.list()).toEqual([]);
  expect((await readdir(join(lake.folder, ".write-back"))).length).toBe(0);
  // A new lake has no changes, within the last digits.
  lake.close();
  lake = await extracted(connection);
  expect(await writeBack(connection, lake, ranks(), { ...rank, tolerance: 1e-9 })).toMatchObject({ matched: pages, changes: 0 });
});

test("items that changed after the extraction are left alone and named", async () => {
  const connection = db();
  await connection.page.update(id(3), { title: "changed" }).orThrow();
  await connection.page.delete(id(4)).orThrow();
  const report = await writeBack(connection, lake, ranks(), rank);
  expect(report).toMatchObject({ changes: pages, written: pages - 2, skipped: 2 });
  expect(report.skippedItems).toEqual(
    expect.arrayContaining([
      { definition: "page", item: { node: "page:%3D1/=@2024-01-04T00:00:00.000Z" }, reason: "versionConflict" },
      { definition: "page", item: { node: "page:a%2Fb%3A%20c/=@2024-01-05T00:00:00.000Z" }, reason: "notFound" },
    ]),
  );
  expect(await connection.page(id(3)).get()).toMatchObject({ title: "changed", version: 2 });
  expect(await connection.page(id(4)).get()).toBeUndefined();
  // By the attribute's own value, a change of another attribute does not matter.
  expect(await writeBack(connection, lake, ranks(), { ...rank, given: "value" })).toMatchObject({
    written: 1,
    already: pages - 2,
    skipped: 1,
  });
});

test("edges, parts and nodes without a version are written on condition of what they held", async () => {
  const connection = db();
  const weights = "select source, target, 0.5e0 as w from links_to";
  expect(await writeBack(connection, lake, weights, { to: { linksTo: { weight: "w" } } })).toMatchObject({ written: pages, skipped: 0 });
  const [first] = await connection.page(id(0)).out("linksTo").entries();
  expect(first?.edge).toMatchObject({ weight: 0.5 });
  const cites = "select source, target, year, cast(year as double) as w from cites";
  expect(await writeBack(connection, lake, cites, { to: { cites: { weight: "w" } } })).toMatchObject({ written: 2 });
  const scores = "select owner, n, 12345678901234567890 as s from comment";
  expect(await writeBack(connection, lake, scores, { to: { comment: { score: "s" } } })).toMatchObject({ written: 1 });
  const sites = "select node, 'g' as g, 1.5e0 as r from site";
  expect(await writeBack(connection, lake, sites, { to: { site: { group: "g", rank: "r" } } })).toMatchObject({ written: 1 });
  expect(await connection.site({ siteId: "S" }).get()).toEqual({ siteId: "S", group: "g", rank: 1.5 });
  // Somebody wrote another value since.
  await connection.site.update({ siteId: "S" }, { rank: 9 }).orThrow();
  expect(await writeBack(connection, lake, sites, { to: { site: { rank: "r" } } })).toMatchObject({ written: 0, skipped: 1 });
  const kept: unknown[] = [];
  for await (const row of connection.scan({ only: ["cites", "comment"] })) kept.push("attributes" in row ? row.attributes : row.row);
  expect(kept).toEqual(
    expect.arrayContaining([
      { year: 2020, weight: 2020 },
      { year: 2021, weight: 2021 },
      { n: 3, score: 12345678901234567890n },
    ]),
  );
});

test("rows without a result keep their values, or lose them where that is asked for", async () => {
  const connection = db();
  await writeBack(connection, lake, ranks(), rank);
  lake.close();
  lake = await extracted(connection);
  const none = "select node, 1e0 as rank from page where false";
  expect(await writeBack(connection, lake, none, rank)).toMatchObject({ changes: 0 });
  expect(await writeBack(connection, lake, none, { ...rank, absent: "remove" })).toMatchObject({ written: pages });
  expect((await stored(connection)).every((row) => row !== undefined && !("rank" in row))).toBe(true);
});

interface Ending {
  readonly signal: NodeJS.Signals | null;
  readonly code: number | null;
  readonly out: string;
}

const runWorker = (orders: object): Promise<Ending> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [program.path, JSON.stringify(orders)], { stdio: ["ignore", "pipe", "inherit"] });
    let out = "";
    child.stdout.on("data", (chunk: Buffer) => (out += chunk.toString()));
    child.once("error", reject);
    child.once("close", (code, signal) => resolve({ signal, code, out }));
  });

describe("killed", () => {
  test("in the middle, time and again, it writes nothing twice and loses nothing", async () => {
    const orders = { endpoint: engine.endpoint, folder: lake.folder };
    for (const [dieAt, phase] of [
      [1, "before"],
      [9, "during"],
      [20, "after"],
    ] as const)
      expect(await runWorker({ ...orders, dieAt, phase })).toMatchObject({ signal: "SIGKILL" });
    const { code, out } = await runWorker({ ...orders, dieAt: 0 });
    expect(code).toBe(0);
    const report = JSON.parse(out) as WriteBackReport;
    expect(report).toMatchObject({ changes: pages, skipped: 0 });
    expect(report.already).toBeGreaterThan(0);
    expect(report.written + report.already).toBe(pages);
    const connection = db();
    await expectRankedOnce(connection);
    expect(await connection.jobs.list()).toEqual([]);
  });

  test("and its changes lost, they are found again", async () => {
    const orders = { endpoint: engine.endpoint, folder: lake.folder };
    await runWorker({ ...orders, dieAt: 30, phase: "after" });
    await rm(join(lake.folder, ".write-back"), { recursive: true });
    const { out } = await runWorker({ ...orders, dieAt: 0 });
    expect(JSON.parse(out)).toMatchObject({ changes: pages, skipped: 0 });
    await expectRankedOnce(db());
  });

  test("a newer lake supersedes what was left", async () => {
    await runWorker({ endpoint: engine.endpoint, folder: lake.folder, dieAt: 30, phase: "after" });
    const connection = db();
    expect(await connection.jobs.list()).toMatchObject([{ id: "write-back", kind: "custom" }]);
    await new Promise((resolve) => setTimeout(resolve, 300));
    lake.close();
    lake = await extracted(connection);
    const report = await writeBack(connection, lake, pageRank(lake), { ...rank, tolerance: 1e-9 });
    expect(report).toMatchObject({ already: 0, skipped: 0, resumed: false });
    expect(report.changes).toBeLessThan(pages);
    await expectRankedOnce(connection);
  });
});

test("an aborted write-back resumes", async () => {
  const stop = new AbortController();
  let writes = 0;
  const onRequest = ({ operation }: { readonly operation: string }): void => {
    if (operation === "UpdateItem" && ++writes === 20) stop.abort();
  };
  const watched = rankedPages.connect({ endpoint: engine.endpoint, onRequest });
  await expect(writeBack(watched, lake, ranks(), { ...rank, signal: stop.signal })).rejects.toMatchObject({ code: "execute.aborted" });
  const report = await writeBack(db(), lake, ranks(), rank);
  expect(report.written + report.already).toBe(pages);
  expect(report.already).toBeGreaterThan(0);
  await expectRankedOnce(db());
});

test("answers that are lost are settled by what the item holds", async () => {
  const inner = createLeanTransport({ endpoint: engine.endpoint });
  const lost = new Set<string>();
  const lossy = rankedPages.connect({
    retry: { baseDelay: 0 },
    transport: {
      send: async (operation, input, options) => {
        const output = await inner.send(operation, input, options);
        const text = JSON.stringify(input);
        // The first two answers for each page: the repeated request then meets the first one's effect.
        if (operation !== "UpdateItem" || text.includes('"~job"') || lost.has(`${text}2`)) return output;
        lost.add(lost.has(text) ? `${text}2` : text);
        throw new EdgetableError("execute.connection", "The connection was closed.", { retryable: true, details: { ambiguous: true } });
      },
      close: () => inner.close(),
    },
  });
  const report = await writeBack(lossy, lake, ranks(), rank);
  expect(lost.size).toBeGreaterThanOrEqual(pages);
  expect(report).toMatchObject({ changes: pages, skipped: 0 });
  expect(report.written + report.already).toBe(pages);
  await expectRankedOnce(db());
});

const misnamed: readonly (readonly [to: Record<string, Record<string, string>>, message: string])[] = [
  [{ page: { rnk: "rank" } }, 'has no attribute "rnk". Did you mean "rank"?'],
  [{ page: { rank: "rnk" } }, 'The result has no column "rnk". Did you mean "rank"?'],
  [{ page: { site: "rank" } }, '"site" of "page" cannot be written by a batch job: it is part of a key or counted'],
  [{ page: { version: "rank" } }, "cannot be written"],
  [{ linksTo: { weight: "rank" } }, 'The result has no column "source"'],
  [{}, "Name what to write"],
];
const unfit: readonly (readonly [value: string, page: Record<string, string>, message: string])[] = [
  ["'x'", { links: "r" }, '"links" of "page", which is of type integer: it is x for page:'],
  ["1.5", { links: "r" }, "it is 1.5 for page:"],
  ["'x'", { rank: "r" }, '"rank" of "page", which is of type number: it is x for page:'],
  ["'NaN'::double", { rank: "r" }, "it is nan for page:"],
  ["'-inf'::double", { rank: "r" }, "it is -inf for page:"],
  ["1e200", { rank: "r" }, "it is 1e+200 for page:"],
  ["'soon'", { seen: "r" }, '"seen" of "page", which is of type timestamp: it is soon for page:'],
];

// One lake for all of them: whatever is refused writes nothing.
test("names and values that do not fit are refused before anything is written", async () => {
  const connection = db();
  for (const [to, message] of misnamed)
    await expect(writeBack(connection, lake, ranks(), { to }), message).rejects.toMatchObject({
      code: "analytics.result",
      message: expect.stringContaining(message) as string,
    });
  for (const [value, page, message] of unfit)
    await expect(writeBack(connection, lake, `select node, ${value} as r from page`, { to: { page } }), message).rejects.toMatchObject({
      code: "analytics.result",
      message: expect.stringContaining(message) as string,
    });
  expect((await stored(connection)).every((row) => row?.version === 1)).toBe(true);
  expect(await connection.jobs.list()).toEqual([]);
});

test("lists become sets where the model has sets, and only once", async () => {
  const result = "select node, ['b', 'a', 'b'] as tags, [10, 9, 2.5] as sizes from page";
  const to = { to: { page: { tags: "tags", sizes: "sizes" } }, unitsPerSecond: 100_000 };
  const connection = db();
  expect(await writeBack(connection, lake, result, to)).toMatchObject({ written: pages });
  expect(await connection.page(id(3)).get()).toMatchObject({ tags: new Set(["a", "b"]), sizes: new Set([2.5, 9, 10]) });
  lake.close();
  lake = await extracted(connection);
  expect(await writeBack(connection, lake, result, to)).toMatchObject({ changes: 0 });
  const other = "select node, ['c'] as tags, []::double[] as sizes from page";
  expect(await writeBack(connection, lake, other, { ...to, given: "value" })).toMatchObject({ written: pages, skipped: 0 });
  const row = await connection.page(id(3)).get();
  expect(row).toMatchObject({ tags: new Set(["c"]) });
  expect(row).not.toHaveProperty("sizes");
});

test("two results for one item are refused, and so is another table's lake", async () => {
  const twice = "select node, 1e0 as rank from page union all select node, 2e0 as rank from page";
  await expect(writeBack(db(), lake, twice, rank)).rejects.toMatchObject({
    code: "analytics.result",
    message: expect.stringContaining("The result has several rows for page:") as string,
  });
  const other = { ...db(), catalog: { ...db().catalog, table: "Other" } };
  await expect(writeBack(other, lake, ranks(), rank)).rejects.toMatchObject({ code: "analytics.lake" });
  await expect(writeBack(db(), lake, "select nope from page", rank)).rejects.toMatchObject({ code: "analytics.sql" });
  await expect(writeBack(db(), lake, ranks(), { ...rank, tolerance: 2 })).rejects.toMatchObject({ code: "plan.invalidOption" });
});

test("results go to files of three formats", async () => {
  for (const name of ["ranks.parquet", "ranks.csv", "ranks.jsonl"])
    expect(await saveResults(lake, ranks(), join(folder, name))).toBe(pages);
  expect((await readFile(join(folder, "ranks.csv"), "utf8")).split("\n")[0]).toBe("node,rank");
  expect(await saveResults(lake, components(lake), join(folder, "groups.parquet"))).toBe(pages + 1);
  await expect(saveResults(lake, ranks(), "ranks.xlsx")).rejects.toMatchObject({ code: "plan.invalidOption" });
});
