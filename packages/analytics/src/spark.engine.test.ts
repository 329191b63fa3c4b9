import { spawnSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineGraph, edge, node } from "edgetable";
import { startEngine } from "@edgetable/local";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import {
  commonNeighbours,
  components,
  degrees,
  extract,
  hops,
  kCore,
  openLake,
  pageRank,
  recommend,
  runOnSpark,
  triangles,
  type Lake,
  type Program,
} from "./index.ts";

/** The same programs on both engines give the same rows. Needs a Python with pyspark 4 in EDGETABLE_PYTHON, and Java 17. */
const python = process.env["EDGETABLE_PYTHON"];
const hasSpark = python !== undefined && spawnSync(python, ["-c", "import pyspark"]).status === 0;

const network = defineGraph({
  table: "Network",
  nodes: { page: node({ key: "PAGE#{pageId}", schema: z.object({ pageId: z.string() }) }) },
  edges: { linksTo: edge({ from: "page", to: "page", schema: z.object({}) }) },
});

let folder: string;
let lake: Lake;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spark-"));
  const engine = await startEngine();
  const db = network.connect({ endpoint: engine.endpoint });
  await db.table.create();
  const pairs = Array.from({ length: 160 }, (_, at) => [(at * 7919) % 37, (at * at * 31 + 5) % 41] as const);
  await db.load(Array.from({ length: 41 }, (_, at) => ({ node: "page" as const, row: { pageId: `p${at}` } })));
  await db.load(
    [...new Set(pairs.map(String))].map((text) => {
      const [from, to] = text.split(",");
      return { edge: "linksTo" as const, from: { pageId: `p${from}` }, to: { pageId: `p${to}` } };
    }),
  );
  await extract(db, { into: join(folder, "lake") });
  await engine.stop();
  lake = await openLake(join(folder, "lake"));
});
afterAll(async () => {
  lake?.close();
  await rm(folder, { recursive: true, force: true });
});

const programs = (): readonly Program[] => [
  degrees(lake),
  pageRank(lake, { rounds: 5 }),
  components(lake),
  triangles(lake),
  kCore(lake, { k: 3 }),
  hops(lake, { from: "select node from page where page_id = 'p1'" }),
  commonNeighbours(lake),
  recommend(lake, { top: 3 }),
];

/** Sums of doubles differ in their last digits, by the order in which they are added; counts come as wider whole numbers. */
const comparable = (rows: readonly object[]): unknown =>
  rows.map((row) =>
    Object.fromEntries(
      Object.entries(row).map(([name, value]: readonly [string, unknown]) => [
        name,
        typeof value === "number" ? Number(value.toPrecision(10)) : String(value),
      ]),
    ),
  );

describe.runIf(hasSpark)("Spark", () => {
  test("gives what DuckDB gives, for every job", async () => {
    const steps: string[] = [];
    const results = await runOnSpark(join(folder, "lake"), programs(), { python: python!, onProgress: ({ job }) => steps.push(job) });
    for (const [at, program] of programs().entries())
      expect(comparable(results[at]!), program.job).toEqual(comparable(await lake.run(program)));
    expect(new Set(steps)).toEqual(new Set(programs().map(({ job }) => job)));
  }, 300_000);

  test("says which statement it refuses", async () => {
    const program: Program = {
      job: "wrong",
      what: "",
      steps: [{ kind: "table", name: "x", select: "select nope from page" }],
      result: { table: "x", orderBy: "nope" },
    };
    await expect(runOnSpark(join(folder, "lake"), [program], { python: python! })).rejects.toMatchObject({
      code: "analytics.sql",
      message: expect.stringContaining("nope"),
    });
  }, 300_000);
});

test("a Python without pyspark is told with what to install", async () => {
  await expect(runOnSpark(join(folder, "lake"), [degrees(lake)], { python: "python3" })).rejects.toMatchObject({
    code: "analytics.engine",
    message: expect.stringContaining("pip install pyspark==4.3.0"),
  });
});

test("a Python that is not there is told", async () => {
  await expect(runOnSpark(join(folder, "lake"), [degrees(lake)], { python: "no-such-python" })).rejects.toMatchObject({
    code: "analytics.engine",
    message: expect.stringContaining("no-such-python did not start"),
  });
});
