import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  commonNeighbours,
  components,
  degrees,
  hops,
  kCore,
  pageRank,
  recommend,
  runOnSpark,
  triangles,
  type Lake,
  type Program,
} from "./index.ts";
import { comparable, hasSpark, python } from "./test-support/spark.ts";
import { networkLake, type NetworkLake } from "./test-support/network-lake.ts";

/** Both engines return the same rows for the same programs. */

let network: NetworkLake;
let lake: Lake;
beforeAll(async () => {
  const links = Array.from({ length: 160 }, (_, at) => [`p${(at * 7919) % 37}`, `p${(at * at * 31 + 5) % 41}`] as const);
  const distinct = [...new Map(links.map((link) => [link.join(), link])).values()];
  network = await networkLake(
    Array.from({ length: 41 }, (_, at) => `p${at}`),
    distinct,
  );
  lake = network.lake;
});
afterAll(() => network?.close());

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

describe.runIf(hasSpark)("Spark", () => {
  test("returns the same rows as DuckDB, for every job", async () => {
    const steps: string[] = [];
    const results = await runOnSpark(lake.folder, programs(), { python, onProgress: ({ job }) => steps.push(job) });
    for (const [at, program] of programs().entries())
      expect(comparable(results[at]!), program.job).toEqual(comparable(await lake.run(program)));
    expect(new Set(steps)).toEqual(new Set(programs().map(({ job }) => job)));
  }, 300_000);

  test("names the statement that it rejects", async () => {
    const program: Program = {
      job: "wrong",
      what: "",
      steps: [{ kind: "table", name: "x", select: "select nope from page" }],
      result: { table: "x", orderBy: "nope" },
    };
    await expect(runOnSpark(lake.folder, [program], { python })).rejects.toMatchObject({
      code: "analytics.sql",
      message: expect.stringContaining("nope"),
    });
  }, 300_000);
});

test("a Python without pyspark is reported with what to install", async () => {
  await expect(runOnSpark(lake.folder, [degrees(lake)], { python: "python3" })).rejects.toMatchObject({
    code: "analytics.engine",
    message: expect.stringContaining("pip install pyspark==4.3.0"),
  });
});

test("two programs of one job do not share a folder for their results", async () => {
  const both = [hops(lake, { from: "select node from page" }), hops(lake, { from: "select node from page", direction: "in" })];
  await expect(runOnSpark(lake.folder, both, { python: "no-such-python", out: "results" })).rejects.toMatchObject({
    code: "plan.invalidOption",
    message: expect.stringContaining('Two programs are of the job "hops"') as string,
  });
});

test("a missing Python is reported", async () => {
  await expect(runOnSpark(lake.folder, [degrees(lake)], { python: "no-such-python" })).rejects.toMatchObject({
    code: "analytics.engine",
    message: expect.stringContaining("no-such-python did not start"),
  });
});
