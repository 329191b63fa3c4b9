import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startEngine, type LocalEngine } from "@edgetable/local";
import { createLeanTransport, type Transport } from "edgetable";
import { createFolder, run, type Folder } from "../test-support/lab.ts";

/** A table that other applications write to, too. */
const model = `
import { defineGraph, edge, node } from "edgetable";
import { z } from "zod";

export const shop = defineGraph({
  table: "Shop",
  nodes: { user: node({ key: "USER#{id}", schema: z.object({ id: z.string(), name: z.string() }), unique: ["name"] }) },
  edges: { knows: edge({ from: "user", to: "user", symmetric: true }) },
  layout: { partitionKey: "PK", sortKey: "SK", nodes: { user: { keys: { PK: "USER#{id}", SK: "USER" } } },
    edges: { knows: { keys: { PK: "USER#{from.id}", SK: "KNOWS#{to.id}" } } } },
});
`;

let folder: Folder;
let engine: LocalEngine;
let transport: Transport;
const verify = (...argv: readonly string[]) => run(["verify", "--endpoint", engine.endpoint, ...argv], { cwd: folder.path });

beforeAll(async () => {
  engine = await startEngine();
  transport = createLeanTransport({ endpoint: engine.endpoint });
  folder = createFolder({
    "edgetable.ts": model,
    "data.json": JSON.stringify({
      nodes: { user: Array.from({ length: 300 }, (_, at) => ({ id: `${at}`, name: `Ann ${at}` })) },
      edges: { knows: [{ from: { id: "1" }, to: { id: "2" } }] },
    }),
  });
  await run(["table", "create", "--endpoint", engine.endpoint], { cwd: folder.path });
  await run(["load", "data.json", "--endpoint", engine.endpoint], { cwd: folder.path });
});
afterAll(async () => {
  folder.remove();
  await transport.close();
  await engine.stop();
});

test("says in the last line that nothing was found", async () => {
  expect(await verify()).toEqual({
    code: 0,
    out: "Shop: nothing found in 602 items\n",
    err: expect.stringMatching(/^9 requests, [\d.]+ RCU\n$/),
  });
});

test("reports what differs, prints the writes of a repair, and repairs", async () => {
  const put = (item: object) => transport.send("PutItem", { TableName: "Shop", Item: item as never });
  await put({ PK: { S: "USER#7" }, SK: { S: "USER" }, id: { S: "8" }, name: { S: "Ann 7" } });
  for (let at = 0; at < 12; at++) await put({ PK: { S: `ORDER#${at}` }, SK: { S: "ORDER" } });
  await transport.send("DeleteItem", { TableName: "Shop", Key: { PK: { S: "USER#2" }, SK: { S: "KNOWS#1" } } });

  const { code, out } = await verify();
  expect(code).toBe(1);
  expect(out).toContain('drift  1 time  an attribute that repeats a value of the key and differs from it\n  PK = "USER#7", SK = "USER": ');
  expect(out).toContain("oneSided  1 time  an edge with only one of its two copies\n");
  expect(out).toContain("unclaimed  12 times  an item that the model does not describe\n");
  expect(out.match(/PK = "ORDER#/g)).toHaveLength(10);
  expect(out).toContain("  … and 2 more\n");
  expect(out.trimEnd().split("\n").at(-1)).toBe("Shop: 14 findings in 613 items");

  const narrow = await run(["verify", "--endpoint", engine.endpoint], { cwd: folder.path, columns: 60 });
  expect(narrow.out).toContain("drift  1 time\n  an attribute that repeats a value of the key and differs\n  from it\n");
  for (const line of narrow.out.split("\n")) expect(line.length).toBeLessThanOrEqual(60);

  const json = await verify("--json", "--examples", "1");
  expect(JSON.parse(json.out)).toMatchObject({
    table: "Shop",
    clean: false,
    items: 613,
    kinds: [
      { kind: "drift", count: 1 },
      { kind: "oneSided" },
      { kind: "unclaimed", count: 12, examples: [{ reason: expect.any(String) }] },
    ],
  });

  const planned = await verify("--repair", "--dry-run");
  expect(planned.code).toBe(1);
  expect(planned.out).toMatch(/^drift: UpdateItem\n {2}key {5}PK = "USER#7", SK = "USER"\n {2}update {2}SET /m);
  expect(planned.out).toMatch(/^oneSided: TransactWriteItems\n {2}put {5}PK = "USER#2", SK = "KNOWS#1"\n {2}check {3}PK = /m);
  expect(planned.out).not.toContain("attribute_");

  expect(await verify("--repair")).toMatchObject({ code: 1, out: expect.stringContaining("Shop: 14 findings in 614 items, 2 repaired\n") });
  expect(await verify("--repair", "--delete-orphans")).toMatchObject({
    code: 0,
    out: expect.stringContaining("12 findings in 614 items, 12 repaired\n"),
  });
  expect(await verify()).toMatchObject({ code: 0, out: "Shop: nothing found in 602 items\n" });
});

test("keeps the state of a job in a file until it has ended", async () => {
  const { code, out } = await verify("--job", "nightly", "--state", "nightly.state");
  expect({ code, out }).toEqual({ code: 0, out: expect.stringMatching(/^Shop: nothing found in \d+ items\n$/) });
  expect(existsSync(join(folder.path, "nightly.state"))).toBe(false);
  const impossible = await verify("--job", "nightly", "--state", "edgetable.ts/state");
  expect(impossible).toMatchObject({ code: 2, err: expect.stringContaining("The state cannot be written") });
  // The job goes on with a file that can be written, and ends.
  expect(await verify("--job", "nightly", "--state", "nightly.state")).toMatchObject({ code: 0 });
});

test("stops after about --limit items, and reads no faster than --units a second", async () => {
  const began = performance.now();
  const { out, err } = await verify("--units", "10", "--limit", "400");
  expect(out).toMatch(/^Shop: nothing found in \d+ items, each checked by itself\n$/);
  const units = Number(/([\d.]+) RCU/.exec(err)?.[1]);
  // The last page is not waited for.
  expect(performance.now() - began).toBeGreaterThan((units / 10) * 1000 - 1500);
});

test.each([
  [["--dry-run"], "--dry-run needs --repair"],
  [["--state", "x"], "--state needs --job"],
  [["--delete-orphans"], "--delete-orphans needs --repair"],
  [["--repair", "--limit", "5"], "--limit checks items by themselves"],
  [["--differing", "perhaps"], "report, keep, mend"],
])("refuses %j", async (argv, message) => {
  expect(await verify(...argv)).toMatchObject({ code: 2, err: expect.stringContaining(message) });
});

test("fails with the service's error for a table that is not there", async () => {
  const other = createFolder({ "edgetable.ts": model.replaceAll("Shop", "Nowhere") });
  expect(await run(["verify", "--endpoint", engine.endpoint], { cwd: other.path })).toMatchObject({
    code: 4,
    err: expect.stringContaining("Nowhere"),
  });
  other.remove();
});
