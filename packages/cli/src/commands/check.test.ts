import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startEngine, type LocalEngine } from "@edgetable/local";
import { createLeanTransport, type Transport } from "edgetable";
import { createFolder, run, type Folder } from "../test-support/lab.ts";

/** A table that other applications write to: one copy disagrees with its key, one item fits no type. */
const model = `
import { defineGraph, edge, node } from "edgetable";
import { z } from "zod";

export const shop = defineGraph({
  table: "Shop",
  nodes: { user: node({ key: "USER#{id}", schema: z.object({ id: z.string(), name: z.string() }) }) },
  edges: { knows: edge({ from: "user", to: "user", symmetric: true }) },
  layout: { partitionKey: "PK", sortKey: "SK", nodes: { user: { keys: { PK: "USER#{id}", SK: "USER" } } },
    edges: { knows: { keys: { PK: "USER#{from.id}", SK: "KNOWS#{to.id}" } } } },
});
`;

let folder: Folder;
let engine: LocalEngine;
let transport: Transport;
const check = (...argv: readonly string[]) => run(["check", "--endpoint", engine.endpoint, ...argv], { cwd: folder.path });

beforeAll(async () => {
  engine = await startEngine();
  transport = createLeanTransport({ endpoint: engine.endpoint });
  folder = createFolder({
    "edgetable.ts": model,
    "data.json": JSON.stringify({
      nodes: { user: Array.from({ length: 300 }, (_, at) => ({ id: `${at}`, name: "Ann" })) },
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

describe("check --data", () => {
  test("finds nothing in a table that fits the model", async () => {
    const { code, out, err } = await check("--data");
    expect({ code, err }).toEqual({ code: 0, err: expect.stringMatching(/^302 items read, \d+(\.\d+)? RCU\n$/) });
    expect(out).not.toContain("data.");
    expect(out).toMatch(/edgetable\.ts: 0 errors, /);
  });

  test("reports unreadable items, drifted copies and edges that lack a copy, with counts and examples", async () => {
    const put = (item: object) => transport.send("PutItem", { TableName: "Shop", Item: item as never });
    await put({ PK: { S: "USER#7" }, SK: { S: "USER" }, id: { S: "8" }, name: { S: "Ann" } });
    for (let at = 0; at < 12; at++) await put({ PK: { S: `ORDER#${at}` }, SK: { S: "ORDER" } });
    await transport.send("DeleteItem", { TableName: "Shop", Key: { PK: { S: "USER#2" }, SK: { S: "KNOWS#1" } } });

    const { code, out } = await check("--data");
    expect(code).toBe(1);
    expect(out).toContain("error  Shop  data.unreadable\n  12 items cannot be read with this model:\n");
    expect(out).toMatch(/ {2}PK = "ORDER#\d+", SK = "ORDER": the model has nothing of this form\n/);
    expect(out.match(/PK = "ORDER#/g)).toHaveLength(10);
    expect(out).toContain(
      'error  Shop  data.drifted\n  1 item has an attribute that differs from its key:\n  PK = "USER#7", SK = "USER": id is "7" in the key',
    );
    expect(out).toContain("warning  Shop  data.unevenEdge\n  1 edge has a copy that is missing or incomplete.\n");

    const json = await check("--data", "--json");
    expect(json.code).toBe(1);
    expect(JSON.parse(json.out)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ rule: "data.unreadable", severity: "error", table: "Shop", count: 12 }),
        expect.objectContaining({
          rule: "data.drifted",
          count: 1,
          examples: [expect.objectContaining({ key: { PK: { S: "USER#7" }, SK: { S: "USER" } }, field: "id", value: "7", copy: "8" })],
        }),
        expect.objectContaining({ rule: "data.unevenEdge", severity: "warning", count: 1 }),
      ]),
    );
  });

  test("stops after about --limit items", async () => {
    const { err } = await check("--data", "--limit", "5");
    expect(err).toContain("--limit stopped the scan");
  });

  test("reads no faster than --units per second", async () => {
    const began = performance.now();
    const { err } = await check("--data", "--units", "10");
    const units = Number(/([\d.]+) RCU/.exec(err)?.[1]);
    expect(performance.now() - began).toBeGreaterThan((units / 10) * 1000 - 100);
  });

  test.each(["--units", "--limit"])("rejects %s without --data", async (flag) => {
    expect(await check(flag, "5")).toMatchObject({ code: 2, err: expect.stringContaining(`${flag} needs --data`) });
  });

  test("sends nothing without --data", async () => {
    expect(await run(["check", "--endpoint", "http://127.0.0.1:1"], { cwd: folder.path })).toMatchObject({ code: 0, err: "" });
  });
});
