import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { empty, errorOf, openLoadLab, slowly } from "../../client/load-lab.test-support.ts";
import type { LoadOptions } from "../../client/job-options.ts";
import { loadSettings } from "../../client/load-rows.ts";
import { writeOf } from "../../client/write-call.ts";
import { EdgetableError } from "../../errors/edgetable-error.ts";
import type { WriteLab } from "../../test-support/write-lab.ts";
import { openTemporaryFiles, tellsOpenFiles } from "../../test-support/temporary-files.ts";
import { runLoad } from "./load-rows.ts";
import type { LoadReport } from "./load-state.ts";

let lab: WriteLab;
let folder: string;
beforeAll(async () => {
  lab = await openLoadLab();
});
afterAll(() => lab.stop());
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "collisions-"));
  vi.stubEnv("TMPDIR", folder);
  await empty(lab);
});
afterEach(() => {
  vi.unstubAllEnvs();
  expect(readdirSync(folder)).toEqual([]);
  rmSync(folder, { recursive: true });
  if (tellsOpenFiles) expect(openTemporaryFiles()).toEqual([]);
});

interface CourseRow {
  readonly id: string;
  readonly n: number;
}

/** A load of courses whose keys are in a file, but for the first page. */
const loadBeyondMemory = (
  rows: Iterable<CourseRow> | AsyncIterable<CourseRow>,
  options: LoadOptions = {},
  pagesInMemory = 0,
): Promise<LoadReport> =>
  runLoad(
    lab.driver.session,
    { rows, toWrite: (row) => writeOf(lab.node("course").put(row as never)) },
    { job: undefined, settings: { ...loadSettings(options, true), pagesInMemory } },
  );

// Every seventh makes a key that a row long before has made, every other one of these with other values.
const courses = Array.from({ length: 950 }, (_, at): CourseRow => {
  const same = at % 7 === 6 && at > 400 && at < 800;
  return { id: `C${same ? at - 400 : at}`, n: same && at % 2 === 0 ? at - 400 : at };
});

const sentItems = (): readonly string[] =>
  lab.sent.flatMap(({ input }) => input.RequestItems.Load.map((one: unknown) => JSON.stringify(one)));

test("keys in a file: the same report, requests and items as with keys in memory", async () => {
  const loads = [];
  for (const pagesInMemory of [2048, 0]) {
    let opened = 0;
    const onProgress = (): void => {
      if (tellsOpenFiles) opened = openTemporaryFiles().length;
    };
    const report = await loadBeyondMemory(slowly(courses), { named: 1000, order: "kept", concurrency: 1, onProgress }, pagesInMemory);
    if (tellsOpenFiles) expect(opened).toBe(pagesInMemory ? 0 : 1);
    loads.push({ collisions: report.collisions, sent: sentItems(), items: await lab.items() });
    await empty(lab);
  }
  expect(loads[1]).toEqual(loads[0]);
  const again = courses.flatMap(({ id, n }, at) =>
    id === `C${at}` ? [] : [{ of: "course", key: [`COURSE#${id}`, "#"], rows: [at - 400, at], differs: n === at }],
  );
  expect(again.length).toBeGreaterThan(50);
  expect(loads[1]!.collisions.first).toEqual(again);
  expect(loads[1]!.sent).toHaveLength(950);
  expect(Object.keys(loads[1]!.items)).toHaveLength(950 - again.length);
});

test("refused: the load ends before the second row of a key is written, and the file is closed", async () => {
  const rows = courses.slice(0, 450);
  const second = rows.findIndex(({ id }, at) => id !== `C${at}`);
  const error = await errorOf(() => loadBeyondMemory(rows, { collisions: "refuse" }));
  expect(error.code).toBe("load.collision");
  expect(error.details).toMatchObject({ rows: [second - 400, second] });
  expect(Object.keys(await lab.items())).toHaveLength(second);
});

const manyRows = function* (at: number, act: () => void): Generator<CourseRow> {
  for (const [index, row] of courses.entries()) {
    if (index === at) act();
    yield row;
  }
};

test.each(["a source that throws", "a row that does not fit, strictly", "a signal", "a listener that throws", "a service that is gone"])(
  "%s: the file is closed at the load's end",
  async (kind) => {
    const leaving = new AbortController();
    let opened = 0;
    const act = (): void => {
      if (tellsOpenFiles) opened = openTemporaryFiles().length;
      if (kind === "a source that throws") throw new Error("no more");
      if (kind === "a signal") leaving.abort();
      if (kind === "a service that is gone")
        lab.hooks.before = () => {
          throw new EdgetableError("execute.connection", "gone");
        };
    };
    const fits = function* (): Generator<CourseRow> {
      for (const row of manyRows(900, act)) yield kind.startsWith("a row") && row.id === "C901" ? { id: "C901", n: 0.5 } : row;
    };
    const onCollision = (): void => {
      if (kind === "a listener that throws") throw new Error("enough");
    };
    const rows = kind === "a signal" ? slowly(fits()) : fits();
    await expect(loadBeyondMemory(rows, { strict: true, signal: leaving.signal, onCollision })).rejects.toThrow();
    if (tellsOpenFiles && kind !== "a listener that throws") expect(opened).toBe(1);
  },
);
