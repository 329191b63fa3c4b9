import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineGraph, node } from "edgetable";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import type { BatchRecord, BatchResult } from "../batch-record.ts";
import { toExactJson } from "../output/json.ts";
import { resultFiles } from "./results.ts";

const text = z.string();
const { catalog } = defineGraph({
  table: "Results",
  nodes: {
    student: node({ key: "STUDENT#{studentId}", schema: z.object({ studentId: text }) }),
    place: node({ key: "PLACE#{country}#{rank:3}", schema: z.object({ country: text, rank: z.int() }) }),
  },
});
let folder: string;
const path = (name: string): string => join(folder, name);
const recordOf = (result: BatchResult): string => {
  const times = { extractedAt: "2026-05-01T00:00:00.000Z", beganAt: "2026-05-02T00:00:00.000Z", milliseconds: 1200 };
  const record: BatchRecord = {
    record: "edgetable batch",
    job: "page-rank",
    what: "The importance of each node",
    options: "--edges follows",
    engine: "duckdb",
    ...times,
    result,
  };
  return toExactJson(record);
};
const files = () => resultFiles(catalog, folder);

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "edgetable-results-"));
  writeFileSync(path("secret.txt"), "student:S1\n");
  mkdirSync(path("folder.csv"));
  writeFileSync(
    path("rows.json"),
    recordOf({
      kind: "rows",
      count: 5000,
      rows: [{ node: "student:S%2F1", rank: 0.25, wide: 9_007_199_254_740_993n }, { node: "town:X" }],
    }),
  );
  writeFileSync(path("ranks.csv"), 'node,rank\nstudent:S1,0.5\n"place:PT/=7","<b>\n"\n');
  writeFileSync(path("ranks.jsonl"), '{"node":"student:S1","__proto__":{"x":1}}\n{"node":"student:S2"}\n');
  // DuckDB writes an object on each line in .json, too.
  writeFileSync(path("lines.json"), '{"node":"student:S1"}\n{"node":"student:S2"}\n');
  writeFileSync(path("printed.json"), '[{"node":"student:S1"}]');
  writeFileSync(path("other.json"), "[7]");
  writeFileSync(path("ranks.parquet"), "PAR1");
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("what is in the folder: records, files of rows, and what cannot be shown with its reason", async () => {
  const { folder: named, results } = await files().list();
  expect(named).toBe(folder);
  expect(Object.fromEntries(results.map(({ file, problem, count }) => [file, problem ?? count ?? "file"]))).toEqual({
    "rows.json": 5000,
    "ranks.csv": "file",
    "ranks.jsonl": "file",
    "lines.json": 2,
    "printed.json": 1,
    "other.json": "It is neither a record of edgetable batch nor a list of rows.",
    "ranks.parquet": "file",
  });
  expect(results.find(({ file }) => file === "rows.json")).toMatchObject({ job: "page-rank", at: Date.UTC(2026, 4, 2) });
  expect(await resultFiles(catalog, undefined).list()).toEqual({ results: [] });
});

test("a record: its facts, and its rows with the nodes that they name", async () => {
  expect(await files().read("rows.json")).toMatchObject({
    job: "page-rank",
    options: "--edges follows",
    milliseconds: 1200,
    count: 5000,
    columns: ["node", "rank", "wide"],
    rows: [
      {
        cells: { rank: 0.25, wide: 9_007_199_254_740_993n },
        nodes: { node: { type: "student", id: { studentId: "S/1" }, partition: "STUDENT#S/1" } },
      },
      { cells: { node: "town:X" }, nodes: {} },
    ],
  });
});

test("files of rows, whatever they hold", async () => {
  const { rows, count } = await files().read("ranks.csv");
  expect(count).toBe(2);
  expect(rows[1]).toEqual({
    cells: { node: "place:PT/=7", rank: "<b>\n" },
    nodes: { node: { type: "place", id: { country: "PT", rank: 7 }, partition: "PLACE#PT#007" } },
  });
  for (const file of ["ranks.jsonl", "lines.json", "printed.json"])
    expect((await files().read(file)).rows[0]?.nodes["node"]).toMatchObject({ type: "student" });
  expect(({} as { readonly x?: number }).x).toBeUndefined();
  const one = resultFiles(catalog, path("ranks.csv"));
  expect((await one.list()).results.map(({ file }) => file)).toEqual(["ranks.csv"]);
  await expect(one.read("ranks.jsonl")).rejects.toMatchObject({ code: "cli.usage" });
});

test("a record leads to the file that its job wrote, and to no file that is none of rows", async () => {
  writeFileSync(path("written.json"), recordOf({ kind: "file", count: 2, file: path("ranks.csv") }));
  expect((await files().read("written.json")).rows).toHaveLength(2);
  writeFileSync(path("written.json"), recordOf({ kind: "file", count: 2, file: path("secret.txt") }));
  expect((await files().read("written.json")).rows).toEqual([]);
  rmSync(path("written.json"));
});

test("a validation with its differences", async () => {
  const example = {
    kind: "wrongAggregate" as const,
    definition: "student",
    item: { node: "student:S1" },
    attribute: "friends",
    stored: 3,
    expected: 2,
    reason: "It holds 3.",
  };
  const kinds = [{ kind: "wrongAggregate" as const, what: "wrong aggregates", isHarmless: false, count: 40, examples: [example] }];
  writeFileSync(path("validate.json"), recordOf({ kind: "validation", report: { clean: false, rows: 9, kinds } }));
  expect(await files().read("validate.json")).toMatchObject({
    count: 40,
    differences: [{ what: "wrong aggregates", count: 40 }],
    columns: ["node", "attribute", "stored", "expected", "reason", "definition", "kind"],
    rows: [{ nodes: { node: { partition: "STUDENT#S1" } } }],
  });
  rmSync(path("validate.json"));
});

test.each(["../secret.txt", "secret.txt", "folder.csv", "none.csv", "", undefined, "/etc/passwd"])("%j is no result", async (file) => {
  await expect(files().read(file)).rejects.toMatchObject({ code: "cli.usage", message: expect.stringContaining("There is no result") });
});

test("of a long file the beginning is read, in whole lines", async () => {
  writeFileSync(path("long.csv"), `node,text\n${`student:S1,${"x".repeat(1000)}\n`.repeat(5000)}`);
  const { rows, count } = await files().read("long.csv");
  expect(rows).toHaveLength(1000);
  expect(count).toBeUndefined();
  // The last of them is within a quoted cell.
  writeFileSync(path("long.csv"), `node,text\n${`student:S1,"a\n${"x".repeat(6000)}"\n`.repeat(1000)}`);
  const quoted = await files().read("long.csv");
  expect(quoted.rows.length).toBeGreaterThan(600);
  expect(quoted.rows.every(({ cells }) => (cells["text"] as string).length === 6002)).toBe(true);
  rmSync(path("long.csv"));
});
