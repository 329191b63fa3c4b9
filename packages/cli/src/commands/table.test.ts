import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { startEngine, type LocalEngine } from "@edgetable/local";
import { createFolder, educationModel, run, type Folder, type RunOptions } from "../test-support/lab.ts";

let folder: Folder;
let engine: LocalEngine;
beforeAll(async () => {
  engine = await startEngine();
  folder = createFolder({
    "edgetable.ts": educationModel,
    "other.ts": educationModel
      .replace('key: "STUDENT', 'mirror: true, key: "STUDENT')
      .replace("export const patterns", "const patterns")
      .replace(
        "parts: {",
        'layout: { partitionKey: "PK", sortKey: "SK", indexes: { reverse: { partitionKey: "SK", sortKey: "PK" } } },\n  parts: {',
      ),
  });
});
afterAll(async () => {
  folder.remove();
  await engine.stop();
});

const table = (argv: readonly string[], options: Partial<RunOptions> = {}) =>
  run(["table", ...argv, "--endpoint", engine.endpoint], { cwd: folder.path, ...options });
beforeEach(async () => void (await table(["delete", "--yes"])));

test("create creates the table once, and diff confirms it", async () => {
  expect(await table(["diff"])).toMatchObject({
    code: 1,
    out: `There is no table Education at ${engine.endpoint}. Create it: edgetable table create\n`,
  });
  expect(await table(["create"])).toMatchObject({ code: 0, out: "Created the table Education with its indexes reverse, ordered.\n" });
  expect(await table(["create"])).toMatchObject({ code: 0, out: "The table Education exists and matches the model.\n" });
  expect(await table(["diff"])).toMatchObject({ code: 0, out: "The table Education matches the model.\n" });
  expect(JSON.parse((await table(["diff", "--json"])).out)).toEqual({ table: "Education", exists: true, differences: [] });
});

test("create --stream says that the stream of an existing table is on", async () => {
  await table(["create"]);
  const out = "The table Education exists and matches the model. Its stream is on.\n";
  expect(await table(["create", "--stream"])).toMatchObject({ code: 0, out });
  expect(await table(["create", "--stream"])).toMatchObject({ code: 0, out });
});

test("diff lists each difference from the model, and create rejects the table", async () => {
  await table(["create"]);
  const diff = await table(["diff", "--model", "other.ts"], { columns: 80 });
  expect(diff.code).toBe(1);
  expect(diff.out).toContain("HASH PK, RANGE SK");
  expect(diff.out).toContain("HASH pk, RANGE sk");
  expect(diff.out).toContain("does not match the model");
  for (const line of diff.out.split("\n")) expect(line.length, line).toBeLessThanOrEqual(80);
  const create = await table(["create", "--model", "other.ts"]);
  expect(create).toMatchObject({ code: 1, out: "" });
  expect(create.err).toContain("table.mismatch · docs/errors.md#tablemismatch");
});

test("delete asks for the table's name, or requires --yes", async () => {
  await table(["create"]);
  expect(await table(["delete"])).toMatchObject({ code: 2, err: expect.stringContaining("pass --yes") });
  expect(await table(["delete"], { asks: true, input: "yes\n" })).toMatchObject({
    code: 1,
    out: "",
    err: expect.stringContaining("Nothing was deleted."),
  });
  expect((await table(["diff"])).code).toBe(0);
  expect(await table(["delete"], { asks: true, input: "Education\n" })).toMatchObject({ code: 0, out: "Deleted the table Education.\n" });
  expect(await table(["delete", "--yes", "--json"])).toMatchObject({ code: 1, out: expect.stringContaining('"deleted": false') });
});

test("Ctrl-C is a no to the question", async () => {
  await table(["create"]);
  const stopping = new AbortController();
  const asked = table(["delete"], {
    asks: true,
    silent: true,
    signal: stopping.signal,
    onErr: (text) => void (/Type its name/.test(text) && stopping.abort()),
  });
  expect(await asked).toMatchObject({ code: 130, out: "", err: expect.stringContaining("Nothing was deleted.") });
  expect((await table(["diff"])).code).toBe(0);
});
