import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { defineGraph, edge, node, type SentRequest } from "../index.ts";

const FANS = 3000;
const FRIENDS = 11;

let engine: TestEngine;
const sent: SentRequest[] = [];
// The table's record, which each connection reads once, is beyond the budget.
const note = (one: SentRequest): void => {
  if (one.operation !== "GetItem") sent.push(one);
};
let table = "";
const open = (rulesOff: readonly string[] = []) =>
  defineGraph({
    table,
    nodes: { person: node({ key: "{id}", schema: z.object({ id: z.string() }) }) },
    edges: { knows: edge({ from: "person", to: "person", ends: "unchecked" }) },
  }).connect({
    transport: engine.transport,
    cursorSecret: "s".padEnd(43, "-"),
    advanced: { rulesOff },
    onRequest: note,
  });

const id = (name: string) => ({ id: name });

// One node knows eleven, of which ten know a node that 3,000 others know, too.
beforeAll(async () => {
  engine = await openEngine();
  table = engine.freshTableName("allpaths");
  const db = open();
  await db.table.create();
  const link = (from: string, to: string) => ({ edge: "knows" as const, from: id(from), to: id(to) });
  await db.load([
    ...Array.from({ length: FRIENDS }, (_, at) => link("me", `f${at}`)),
    ...Array.from({ length: FRIENDS }, (_, at) => link(`f${at}`, at === 3 ? "nobody" : "star")),
    ...Array.from({ length: FANS }, (_, at) => link(`fan${at}`, "star")),
  ]);
});
afterAll(() => engine.close());

const middles = (items: readonly (readonly { readonly id: string }[])[]) => items.map((path) => path[1]?.id).toSorted();
const expected = Array.from({ length: FRIENDS }, (_, at) => `f${at}`)
  .filter((name) => name !== "f3")
  .toSorted();

test.each([
  ["to", () => open().person(id("me")).allPaths(id("star"), { out: "knows" }, { depth: 2 })],
  ["from", () => open().person(id("star")).allPaths(id("me"), { in: "knows" }, { depth: 2 })],
] as const)("all paths %s a node of many edges take about what the walk takes", async (_, ask) => {
  sent.length = 0;
  const { items, complete } = await ask();
  expect([middles(items), complete]).toEqual([expected, true]);
  // The edges of the one end, a look or two at those of the other, and those of the eleven.
  expect(sent.length).toBeLessThanOrEqual(FRIENDS + 3);
  expect(sent.reduce((sum, one) => sum + one.itemsRead, 0)).toBeLessThan(400);
  expect(sent.reduce((sum, one) => sum + one.readUnits, 0)).toBeLessThan(20);
});

test("without the rule they are read from the start only, and are the same", async () => {
  const { items } = await open(["smaller-side"]).person(id("me")).allPaths(id("star"), { out: "knows" }, { depth: 2 });
  expect(middles(items)).toEqual(expected);
});

test("a budget of requests stops them, and a continuation completes them", async () => {
  const found: string[] = [];
  let cursor: string | undefined;
  let parts = 0;
  do {
    sent.length = 0;
    const part = await open()
      .person(id("me"))
      .allPaths(id("star"), { out: "knows" }, { depth: 2, cursor, budget: { requests: 4 } });
    expect(sent.length).toBeLessThanOrEqual(4);
    found.push(...part.items.map((path) => path[1]?.id ?? ""));
    cursor = part.next;
    parts++;
  } while (cursor !== undefined && parts < 20);
  expect(found.toSorted()).toEqual(expected);
});
