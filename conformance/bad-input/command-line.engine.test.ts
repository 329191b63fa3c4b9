import { spawn } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openEngine, type TestEngine } from "../engines/open-engine.ts";
import { scan } from "./refusal.ts";

/** Bad input of the command line, as a user of the built program meets it. `npm test` builds it first. */
const root = fileURLToPath(new URL("../../", import.meta.url));
const program = join(root, "packages/cli/bin/edgetable.js");

let engine: TestEngine;
let folder: string;
let table: string;

const modelSource = (name: string): string => `
import { defineGraph, node } from "edgetable";
import { z } from "zod";
export const shop = defineGraph({ table: ${JSON.stringify(name)}, nodes: { item: node({ key: "ITEM#{id}", schema: z.object({ id: z.string(), price: z.number() }) }) } });
`;

beforeAll(async () => {
  engine = await openEngine();
  table = engine.freshTableName("shop");
  // Inside the workspace, so that the model finds its packages.
  await mkdir(join(root, ".cache"), { recursive: true });
  folder = await mkdtemp(join(root, ".cache/bad-input-"));
  await writeFile(join(folder, "model.ts"), modelSource(table));
  await writeFile(join(folder, "broken.ts"), "export const shop = defineGraph({ table: \n");
  await writeFile(join(folder, "empty.ts"), "export const shop = 1;\n");
  await writeFile(join(folder, "items.csv"), "id,price\nA,1\nB,cheap\n,3\nD,4\n");
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
  await engine.close();
});

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

const run = (...args: readonly string[]): Promise<Ended> =>
  new Promise((resolve, reject) => {
    const env = { ...process.env, AWS_ACCESS_KEY_ID: "local", AWS_SECRET_ACCESS_KEY: "local", AWS_REGION: "us-east-1", NO_COLOR: "1" };
    const child = spawn(process.execPath, [program, ...args], { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
    let [out, err] = ["", ""];
    child.stdout.on("data", (chunk: Buffer) => (out += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => (err += chunk.toString()));
    child.once("error", reject).once("close", (code) => resolve({ code, out, err }));
  });

const flat = (text: string): string => text.replaceAll(/\s+/g, " ");

test.each([
  ["that is not there", "nothing.ts", "nothing.ts"],
  ["that does not parse", "broken.ts", "broken.ts"],
  ["that exports no graph", "empty.ts", "exports no graph. Export the result of defineGraph"],
])("a model file %s: cli.modelUnreadable, exit code 3", async (_, model, says) => {
  const { code, out, err } = await run("check", "--model", model);
  expect(flat(err)).toContain("cli.modelUnreadable · docs/errors.md#climodelunreadable");
  expect(flat(err)).toContain(says);
  expect([code, out]).toEqual([3, ""]);
});

test("an option that there is not: cli.usage, exit code 2", async () => {
  const { code, err } = await run("check", "--modle", "model.ts");
  expect(flat(err)).toContain("--modle");
  expect(err).toContain("cli.usage");
  expect(code).toBe(2);
});

test("CSV rows that do not fit are told with line, column and value; the rest goes on; exit code 1", async () => {
  await run("table", "create", "--model", "model.ts", "--endpoint", engine.endpoint);
  const { code, out, err } = await run("load", "items.csv", "--node", "item", "--model", "model.ts", "--endpoint", engine.endpoint);
  const said = flat(out + err);
  expect(said).toMatch(/line 3\b.*price.*"cheap"/);
  expect(said).toMatch(/line 4\b.*id/);
  expect(code).toBe(1);
  expect((await scan({ transport: engine.transport, name: table })).join().match(/ITEM#[A-Z]/g)).toEqual(["ITEM#A", "ITEM#D"]);
});

test("with --strict the first of them stops the load: load.invalidRow", async () => {
  const { code, err } = await run("load", "items.csv", "--strict", "--node", "item", "--model", "model.ts", "--endpoint", engine.endpoint);
  expect(err).toContain("load.invalidRow");
  expect(flat(err)).toMatch(/line 3\b.*price.*"cheap"/);
  expect(code).toBe(1);
});

test("an engine that is not there is named, with what to do: exit code 4", async () => {
  const { code, err } = await run("get", "item", "A", "--model", "model.ts", "--endpoint", "http://127.0.0.1:1");
  expect(flat(err)).toContain("127.0.0.1:1");
  expect(flat(err)).toContain("edgetable dev");
  expect(err).toContain("execute.connection");
  expect(code).toBe(4);
});
