import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import { defineGraph, edge, node } from "edgetable";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../engines/open-engine.ts";
import { programsOf, root } from "./extract.ts";

/** The page compares libraries by programs that do the same: each of them runs, on the real package. */
const programs = programsOf("docs/coming-from.md");
const cache = join(root, ".cache");
let engine: TestEngine;
let folder: string;

beforeAll(async () => {
  engine = await openEngine();
  mkdirSync(cache, { recursive: true });
  folder = mkdtempSync(join(cache, "coming-from-"));
});
afterAll(async () => {
  await engine.close();
  rmSync(folder, { recursive: true, force: true });
});

/** A table as the programs expect it: keys pk and sk, and the index reverse. */
const freshTable = async (): Promise<string> => {
  const table = engine.freshTableName();
  const place = node({ key: "PLACE#{placeId}", schema: z.object({ placeId: z.string() }) });
  const db = defineGraph({
    table,
    nodes: { place },
    edges: {
      near: edge({ from: "place", to: "place" }),
      next: edge({ from: "place", to: "place", orderBy: "at", schema: z.object({ at: z.string() }) }),
    },
  }).connect({ endpoint: engine.endpoint });
  await db.table.create();
  await db.close();
  // The programs have other models than the table was made for: it must not say so.
  const { Items = [] } = await engine.transport.send("Scan", { TableName: table });
  for (const { pk, sk } of Items) await engine.transport.send("DeleteItem", { TableName: table, Key: { pk: pk!, sk: sk! } });
  return table;
};

test("the page has a program for each library", () => {
  expect(programs.map(({ name }) => name)).toEqual(["edgetable", "electrodb", "dynamodb-toolbox", "onetable"]);
});

test.each(programs.map((program) => [program.name, program] as const))(
  "the program of %s runs, with the same result",
  async (name, { code }) => {
    const table = await freshTable();
    const [source, program] = [join(folder, `${name}.ts`), join(folder, `${name}.mjs`)];
    writeFileSync(source, code.replaceAll('"Education"', JSON.stringify(table)));
    await build({
      entryPoints: [source],
      outfile: program,
      bundle: true,
      platform: "node",
      format: "esm",
      conditions: ["edgetable-source"],
      external: ["@aws-sdk/*", "electrodb", "dynamodb-toolbox", "dynamodb-onetable", "zod"],
    });
    const environment = { AWS_REGION: "eu-central-1", AWS_ACCESS_KEY_ID: "local", AWS_SECRET_ACCESS_KEY: "local" };
    const { stdout } = await promisify(execFile)(process.execPath, [program], {
      env: { ...process.env, ...environment, ENDPOINT: engine.endpoint, NODE_NO_WARNINGS: "1" },
    });
    expect(stdout).toBe("Bob 2026-01-01 -\nAnn 2026-01-02 A\n0 seats left\n");
  },
);
