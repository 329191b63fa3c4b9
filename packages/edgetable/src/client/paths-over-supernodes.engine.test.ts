import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { defineGraph, edge, node, type PathsOptions, type SentRequest } from "../index.ts";

const FANS = 5000;

let engine: TestEngine;
const sent: SentRequest[] = [];
// The table's record, which each connection reads once, is beyond the budget.
const note = (one: SentRequest): void => {
  if (one.operation !== "GetItem") sent.push(one);
};
let table = "";
const open = ({ expect: expected, rulesOff = [] }: { readonly expect?: object; readonly rulesOff?: readonly string[] } = {}) =>
  defineGraph({
    table,
    nodes: { person: node({ key: "{id}", schema: z.object({ id: z.string(), age: z.int() }) }) },
    edges: { knows: edge({ from: "person", to: "person", ends: "unchecked", ...(expected && { expect: expected }) }) },
  }).connect({
    transport: engine.transport,
    cursorSecret: "s".padEnd(43, "-"),
    advanced: { rulesOff },
    onRequest: note,
  });

const id = (name: string) => ({ id: name });

// 5,000 lead to one node and 5,000 come from another. Each is two nodes away from one that has few edges, and on a cycle of three.
const chains = [
  ["near", "a", "b", "known"],
  ["known", "c", "d", "known"],
  ["knowing", "e", "f", "far"],
  ["knowing", "g", "h", "knowing"],
];

beforeAll(async () => {
  engine = await openEngine();
  table = engine.freshTableName("supernodes");
  const db = open();
  await db.table.create();
  const link = (from: string, to: string) => ({ edge: "knows" as const, from: id(from), to: id(to) });
  await db.load([
    ...chains.flatMap((names) => names.slice(1).map((to, at) => link(names[at]!, to))),
    ...Array.from({ length: FANS }, (_, at) => link(`fan${at}`, "known")),
    ...Array.from({ length: FANS }, (_, at) => link("knowing", `fan${at}`)),
    ...["near", "a", "b", "known", "far"].map((name) => ({ node: "person" as const, row: { id: name, age: 30 } })),
  ]);
}, 120_000);
afterAll(() => engine.close());

type Db = ReturnType<typeof open>;
type Paths = Iterable<readonly { readonly id: string }[]>;
const texts = (items: Paths): readonly string[] => [...items].map((path) => path.map((one) => one.id).join(" "));
const price = () => ({
  requests: sent.length,
  units: sent.reduce((sum, one) => sum + one.readUnits, 0),
});

// The whole of a supernode takes 62.5 units or more, and the search from the other end three.
const MOST_UNITS = 8;

const cases = [
  [
    "a path to it",
    "near a b known",
    (db: Db, options?: PathsOptions) => db.person(id("near")).shortestPath(id("known"), { out: "knows" }, options),
  ],
  [
    "a path to it, from it",
    "known b a near",
    (db: Db, options?: PathsOptions) => db.person(id("known")).shortestPath(id("near"), { in: "knows" }, options),
  ],
  [
    "a path from it",
    "knowing e f far",
    (db: Db, options?: PathsOptions) => db.person(id("knowing")).shortestPath(id("far"), { out: "knows" }, options),
  ],
  [
    "a path from it, to it",
    "far f e knowing",
    (db: Db, options?: PathsOptions) => db.person(id("far")).shortestPath(id("knowing"), { in: "knows" }, options),
  ],
  [
    "all paths of the least length",
    "near a b known",
    (db: Db, options?: PathsOptions) => db.person(id("near")).shortestPaths(id("known"), { out: "knows" }, options),
  ],
  [
    "all paths",
    "near a b known",
    (db: Db, options?: PathsOptions) => db.person(id("near")).allPaths(id("known"), { out: "knows" }, { depth: 3, ...options }),
  ],
  [
    "all paths, from it",
    "known b a near",
    (db: Db, options?: PathsOptions) => db.person(id("known")).allPaths(id("near"), { in: "knows" }, { depth: 3, ...options }),
  ],
  ["a cycle to it", "known c d known", (db: Db, options?: PathsOptions) => db.person(id("known")).cycle({ out: "knows" }, options)],
  [
    "a cycle to it, backwards",
    "known d c known",
    (db: Db, options?: PathsOptions) => db.person(id("known")).cycle({ in: "knows" }, options),
  ],
  ["a cycle from it", "knowing g h knowing", (db: Db, options?: PathsOptions) => db.person(id("knowing")).cycle({ out: "knows" }, options)],
  [
    "a cycle from it, backwards",
    "knowing h g knowing",
    (db: Db, options?: PathsOptions) => db.person(id("knowing")).cycle({ in: "knows" }, options),
  ],
] as const;

describe("a node with 5,000 edges is read no further than the other end costs", () => {
  test.each(cases)("%s", async (_, path, ask) => {
    sent.length = 0;
    const { items, complete } = await ask(open());
    expect([texts(items), complete]).toEqual([[path], true]);
    const { requests, units } = price();
    expect(units).toBeLessThan(MOST_UNITS);
    expect(requests).toBeLessThanOrEqual(8);
  });

  test.each(cases.filter(([, path]) => /\bknown\b/.test(path)))(
    "not at all, if the model says what to expect: %s",
    async (_, path, ask) => {
      sent.length = 0;
      const { items } = await ask(open({ expect: { from: 2, to: FANS } }));
      expect(texts(items)).toEqual([path]);
      expect(price()).toEqual({ requests: 3, units: 1.5 });
    },
  );

  test("nodes that a path has to pass are read from the other end, too", async () => {
    sent.length = 0;
    const { items } = await open()
      .person(id("known"))
      .shortestPath(id("near"), { in: "knows", whereNode: { age: { gte: 18 } } }, { budget: { units: 200 } });
    expect(texts(items)).toEqual(["known b a near"]);
    expect(sent.reduce((sum, { itemsRead }) => sum + itemsRead, 0)).toBeLessThan(300);
  });

  test("a neighbour that nothing else tells is found among the first edges, or the search ends with the shorter side", async () => {
    sent.length = 0;
    expect(texts((await open().person(id("fan17")).shortestPath(id("known"), { out: "knows" })).items)).toEqual(["fan17 known"]);
    expect(price()).toEqual({ requests: 1, units: 0.5 });
    sent.length = 0;
    expect(texts((await open().person(id("known")).shortestPath(id("nobody"), { in: "knows" })).items)).toEqual([]);
    expect(price().units).toBeLessThan(MOST_UNITS);
  });
});

test("without the rule, paths are searched for from the start alone", async () => {
  const db = open({ rulesOff: ["smaller-side"] });
  for (const [name, path, ask] of cases) {
    // From a supernode that takes thousands of requests.
    const isWide = /from it, to it|^a path from it|from it$|cycle to it, backwards/.test(name);
    if (!isWide) expect(texts((await ask(db)).items), name).toEqual([path]);
  }
});

test.each(cases)("parts of one request each add up to the whole: %s", async (_, path, ask) => {
  sent.length = 0;
  await ask(open());
  const whole = price();
  const found: string[] = [];
  let cursor: string | undefined;
  sent.length = 0;
  do {
    const before = sent.length;
    const part = await ask(open(), { budget: { requests: 1 }, cursor });
    expect(sent.length - before).toBeLessThanOrEqual(1);
    found.push(...texts(part.items));
    cursor = part.next;
  } while (cursor !== undefined);
  expect(found).toEqual([path]);
  expect(price()).toEqual(whole);
});

test.each(["page", "sample", "refuse"] as const)(
  "the budget's breadth covers all turns of a node, with supernode %s",
  async (supernode) => {
    // Both ends have more edges than the breadth.
    const ask = (cursor?: string) =>
      open()
        .person(id("knowing"))
        .shortestPaths(id("known"), { out: "knows" }, { supernode, limit: 10_000, budget: { breadth: 300 }, cursor });
    sent.length = 0;
    if (supernode === "refuse") {
      await expect(ask()).rejects.toMatchObject({ code: "traverse.supernode", details: { breadth: 300 } });
      return;
    }
    const first = await ask();
    const read = sent.reduce((sum, { itemsRead }) => sum + itemsRead, 0);
    expect(first).toMatchObject({ complete: false, stopped: { by: "breadth" } });
    if (supernode === "page") {
      expect(read).toBeLessThanOrEqual(600);
      const items: string[] = [];
      let part = first;
      for (let parts = 0; part.next !== undefined && parts < 60; parts++) {
        part = await ask(part.next);
        items.push(...texts(part.items));
      }
      expect(items).toHaveLength(FANS);
    }
  },
);
