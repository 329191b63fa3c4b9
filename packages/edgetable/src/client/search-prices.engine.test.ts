import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { defineGraph, node, type SentRequest } from "../index.ts";

const ROWS = 600;
const REQUIRED = 4;

const schema = z.object({
  id: z.string(),
  priority: z.string(),
  size: z.int(),
  section: z.string().optional(),
  note: z.string().optional(),
  text: z.string(),
});

type Expected = NonNullable<Parameters<typeof node<"PKG#{id}", typeof schema>>[0]["expect"]>;

const graphOf = (table: string, expected?: Expected) =>
  defineGraph({
    table,
    nodes: {
      pkg: node({ key: "PKG#{id}", schema, ...(expected ? { expect: expected } : {}) }),
    },
    indexes: {
      bySize: { entries: { pkg: "size:number" } },
      byPriority: { entries: { pkg: "priority" } },
      bySection: { entries: { pkg: { by: "section", sparse: true } } },
    },
  });

const bytes = 1000;
const told: Expected = { bytes, count: ROWS, rowsPerValue: { priority: REQUIRED, size: 1, section: 3 } };

let engine: TestEngine;
let table = "";
const sent: SentRequest[] = [];
const open = (expected?: Expected) =>
  graphOf(table, expected).connect({ transport: engine.transport, cursorSecret: "s".padEnd(43, "-"), onRequest: (one) => sent.push(one) });

beforeAll(async () => {
  engine = await openEngine();
  table = engine.freshTableName("prices");
  const db = open();
  await db.table.create();
  await db.load(
    Array.from({ length: ROWS }, (_, at) => ({
      node: "pkg" as const,
      row: {
        id: `p${at}`,
        priority: at < REQUIRED ? "required" : `optional${at % 150}`,
        size: at,
        ...(at % 100 === 0 ? { section: `s${at % 200}` } : {}),
        text: "x".repeat(800),
      },
    })),
  );
});
afterAll(() => engine.close());

const queries = () => sent.filter(({ operation }) => operation === "Query").map(({ index, readUnits }) => [index, readUnits]);

describe("of two indexes that serve a search, it reads the cheaper one", () => {
  test.each([
    ["where the model says nothing: a value finds fewer rows than a range", undefined],
    ["where the model says how many rows a value finds", told],
  ])("%s", async (_, expected) => {
    const search = open(expected)
      .find("pkg")
      .where({ priority: "required", size: { gte: 0 } });
    sent.length = 0;
    expect((await search.rows()).map(({ id }) => id)).toEqual(["p0", "p1", "p2", "p3"]);
    expect(queries()).toEqual([["byPriority", 0.5]]);
    expect((await search.explain()).cost).toEqual({ requests: 1, readUnits: 0.5 });
  });

  test("where the model says that one value finds many rows, the range wins; and explain() shows both prices", async () => {
    const many: Expected = { bytes, count: ROWS, rowsPerValue: { priority: 500 }, rowsPerRange: { size: 2 } };
    const search = open(many)
      .find("pkg")
      .where({ priority: "required", size: { lt: 2 } });
    sent.length = 0;
    expect((await search.rows()).map(({ id }) => id)).toEqual(["p0", "p1"]);
    expect(queries()).toEqual([["bySize", 0.5]]);
    expect(await search.explain()).toMatchObject({
      cost: { requests: 1, readUnits: 0.5 },
      alternatives: [{ index: "byPriority", requests: 1, readUnits: 61.5 }],
    });
  });

  test("of equal prices, the one that is declared first", async () => {
    const same: Expected = { count: ROWS, rowsPerValue: { priority: 10, size: 10 } };
    const plan = await open(same).find("pkg").where({ priority: "required", size: 3 }).explain();
    expect(plan.requests[0]?.input).toMatchObject({ IndexName: "bySize" });
    expect(plan.alternatives).toEqual([{ index: "byPriority", requests: 1, readUnits: 0.5 }]);
  });
});

describe("a condition that no index holds never reads a whole index", () => {
  test.each([
    ["exists", { note: { exists: true } }],
    ["does not exist", { note: { exists: false } }],
    ["is not", { note: { ne: "x" } }],
    ["is not, of an index's own key", { priority: { ne: "x" } }],
    ["exists, of an index's own key", { priority: { exists: true } }],
    ["contains", { note: { contains: "x" } }],
    ["is one of", { note: { in: ["x"] } }],
    ["equals", { note: "x" }],
    ["ranges", { note: { gte: "x" } }],
  ] as const)("%s: it is refused, and what helps is named", async (_, condition) => {
    sent.length = 0;
    const search = open(told).find("pkg").where(condition);
    for (const ask of [() => search.rows(), () => search.count(), () => search.first(), () => search.page(), () => search.sum("size")])
      await expect(async () => ask()).rejects.toThrow(
        expect.objectContaining({ code: "plan.noIndex", message: expect.stringMatching(/No index finds "pkg".*(using\("|indexes: \{)/) }),
      );
    expect(sent).toEqual([]);
  });

  test("beside a condition that an index takes, it is filtered after reading", async () => {
    const search = open(told)
      .find("pkg")
      .where({ priority: "required", note: { exists: false } });
    expect(await search.count()).toBe(REQUIRED);
  });

  test("an index that is named is read whole, and predicted so; a search without conditions too", async () => {
    for (const search of [
      open(told)
        .find("pkg")
        .using("byPriority")
        .where({ note: { exists: false } }),
      open(told).find("pkg"),
    ]) {
      const { value, cost } = await search.count().report();
      expect(value).toBe(ROWS);
      const predicted = (await search.count().explain()).cost.readUnits;
      expect(cost.readUnits / predicted).toBeGreaterThan(0.5);
      expect(cost.readUnits / predicted).toBeLessThan(2);
    }
  });
});

describe("conditions that contradict each other send nothing, and explain() says so", () => {
  test.each([
    ["a range whose ends are crossed", { size: { gte: 5, lt: 3 } }],
    ["an open range of one value", { size: { gte: 5, lt: 5 } }],
    ["between, the wrong way around", { size: { between: [5, 3] } }],
    ["a value outside a range", { size: { eq: 5, gt: 7 } }],
    ["a value outside a list", { priority: { eq: "a", in: ["b", "c"] } }],
    ["two values", { priority: { eq: "a", beginsWith: "b" } }],
    ["a prefix outside a range", { priority: { beginsWith: "a", gte: "b" } }],
    ["a range of an attribute that no key takes", { priority: "required", text: { gt: "b", lt: "a" } }],
  ] as const)("%s", async (_, condition) => {
    const search = open().find("pkg").where(condition);
    expect(await search.explain()).toMatchObject({ requests: [], cost: { requests: 0, readUnits: 0 } });
    expect((await search.explain()).notes.join()).toContain("contradict each other");
    sent.length = 0;
    expect([await search.rows(), await search.count(), await search.first(), (await search.page()).items]).toEqual([[], 0, undefined, []]);
    expect(sent).toEqual([]);
  });

  test("a range that holds one value is read", async () => {
    const search = open()
      .find("pkg")
      .where({ size: { gte: 5, lte: 5 } });
    expect((await search.rows()).map(({ id }) => id)).toEqual(["p5"]);
  });
});
