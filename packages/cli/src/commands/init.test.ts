import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createFolder, run, type Folder } from "../test-support/lab.ts";

let folder: Folder;
beforeEach(() => {
  folder = createFolder();
});
afterEach(() => folder.remove());

const init = (...argv: readonly string[]) => run(["init", ...argv], { cwd: folder.path });

test("makes a project whose model the other commands find", async () => {
  const { code, out, err } = await init("my-graph");
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(out).toMatch(/^Created a project in my-graph:\n[^]*\n {2}cd my-graph\n {2}npm install\n/);
  for (const command of ["patterns", "check"])
    expect(await run([command], { cwd: join(folder.path, "my-graph") })).toMatchObject({ code: 0 });
});

test("lists the files in the way, and writes nothing", async () => {
  folder.write("src/model.ts", "mine");
  const { code, out, err } = await init();
  expect({ code, out }).toEqual({ code: 2, out: "" });
  expect(err).toContain("error: This folder already has src/model.ts. Nothing was written. Give the name of another folder.\n  cli.usage");
  expect(readFileSync(join(folder.path, "src/model.ts"), "utf8")).toBe("mine");
});

test("as JSON names the folder and its files", async () => {
  mkdirSync(join(folder.path, "empty"));
  const { out } = await init("empty", "--json");
  expect(JSON.parse(out)).toEqual({ folder: join(folder.path, "empty"), files: expect.arrayContaining(["src/model.ts", ".gitignore"]) });
});

test("rejects a second folder and an empty name", async () => {
  expect(await init("a", "b")).toMatchObject({ code: 2, err: expect.stringContaining("Too many arguments") });
  expect(await init("")).toMatchObject({ code: 2, err: expect.stringContaining("Give the name of a folder") });
});
