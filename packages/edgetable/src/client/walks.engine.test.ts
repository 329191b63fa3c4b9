import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { defineGraph, edge, node, type QueryInput, type SentRequest } from "../index.ts";

const text = z.string();
const graphOf = (table: string) =>
  defineGraph({
    table,
    nodes: { person: node({ key: "PERSON#{personId}", schema: z.object({ personId: text }) }) },
    edges: {
      friend: edge({ from: "person", to: "person", symmetric: true, ends: "unchecked" }),
      owes: edge({ from: "person", to: "person", schema: z.object({ amount: z.number() }), ends: "unchecked" }),
    },
  });

let engine: TestEngine;
let sent: SentRequest[] = [];
let db: ReturnType<ReturnType<typeof graphOf>["connect"]>;

const friends = ["ab", "ac", "bd", "cd", "be", "df", "fg", "ag2"];
const debts = [
  ["a", "b", 1],
  ["a", "c", 2],
  ["b", "d", 4],
  ["c", "d", 8],
  ["d", "b", 16],
] as const;

const person = (personId: string) => ({ personId });

beforeAll(async () => {
  engine = await openEngine();
  const graph = graphOf(engine.freshTableName("answers"));
  db = graph.connect({ transport: engine.transport, cursorSecret: "test".padEnd(43, "-"), onRequest: (request) => sent.push(request) });
  await db.table.create();
  for (const [from = "", to = "", ...more] of friends) await db.friend.link(person(from), person(to + more.join(""))).orThrow();
  for (const [from, to, amount] of debts) await db.owes.link(person(from), person(to), { amount }).orThrow();
});
afterAll(() => engine.close());

const a = () => db.person(person("a"));
const letters = (ids: Iterable<object>): string => [...ids].map((id) => (id as { personId: string }).personId).join("");
const asked = async <T>(call: { run(): Promise<T> }): Promise<readonly [T, number]> => {
  sent = [];
  return [await call.run(), sent.length];
};

test("neighbourhood, to a depth", async () => {
  const [found, requests] = await asked(a().neighbourhood({ both: "friend" }, 2).ids());
  expect(letters(found)).toBe("bcg2de");
  expect(requests).toBe(4);
});

test("dependencies and dependents, to any depth", async () => {
  expect(letters(await a().dependencies("owes").ids())).toBe("bcd");
  expect(letters(await db.person(person("d")).dependents("owes").ids())).toBe("bca");
});

test("a walk continues after a closure", async () => {
  const walk = a().dependencies("owes");
  expect((await walk.rank({ in: "owes" }, { by: "degree", top: 1 })).items).toEqual([{ id: person("b"), count: 2, value: 2 }]);
  expect(letters(await walk.out("owes").ids())).toBe("db");
  expect(await walk.out("owes").ids({ budget: { depth: 3 } })).toMatchObject({ complete: false, stopped: { by: "depth", hop: 4 } });
});

test("common neighbours of two and more", async () => {
  const [found, requests] = await asked(a().common({ both: "friend" }, [person("d")]));
  expect(letters(found)).toBe("bc");
  expect(requests).toBe(2);
  const three = a().common({ both: "friend" }, [person("d"), person("e")]);
  expect(letters(await three)).toBe("b");
  const { requests: each, cost } = await three.explain();
  expect([each.map(({ input }) => (input as QueryInput).ExpressionAttributeValues?.[":p"]), cost.requests]).toEqual([
    [{ S: "PERSON#a" }, { S: "PERSON#d" }, { S: "PERSON#e" }],
    3,
  ]);
  const [short, few] = await asked(a().common({ both: "friend" }, [person("d"), person("e")], { budget: { requests: 2 } }));
  expect(few).toBe(2);
  expect(short).toMatchObject({
    items: [],
    complete: false,
    stopped: { by: "requests", left: { nodes: 1, sample: [{ id: person("e") }] } },
  });
});

test("suggestions leave out existing neighbours", async () => {
  const [found, requests] = await asked(a().suggest({ both: "friend" }, { top: 2 }));
  expect(found.items).toEqual([
    { id: person("d"), count: 2 },
    { id: person("e"), count: 1 },
  ]);
  expect(requests).toBe(4);
});

test("shortest paths, one or all, from both ends", async () => {
  const [all, requests] = await asked(a().shortestPaths(person("f"), { both: "friend" }));
  expect(all.items.map(letters)).toEqual(["abdf", "acdf"]);
  expect(requests).toBeLessThanOrEqual(4);
  const one = await a().shortestPath(person("f"), { both: "friend" });
  expect(one).toMatchObject({ complete: true });
  expect(one.items.map(letters)).toEqual(["abdf"]);
  expect((await a().shortestPath(person("z"), { both: "friend" })).items).toEqual([]);
  expect((await db.person(person("d")).shortestPaths(person("a"), { in: "owes" })).items.map(letters)).toEqual(["dba", "dca"]);
  expect(await a().shortestPaths(person("f"), { both: "friend" }, { budget: { requests: 2 } })).toMatchObject({
    complete: false,
    stopped: { by: "requests" },
  });
  expect(await a().shortestPaths(person("f"), { both: "friend" }, { budget: { depth: 2 } })).toMatchObject({
    items: [],
    complete: false,
    stopped: { by: "depth", hop: 3 },
  });
});

test("all paths, without repeated nodes", async () => {
  expect((await a().allPaths(person("d"), { out: "owes" })).items.map(letters)).toEqual(["abd", "acd"]);
  expect((await a().allPaths(person("b"), { out: "owes" })).items.map(letters)).toEqual(["ab", "acdb"]);
  expect(await a().allPaths(person("b"), { out: "owes" }, { limit: 1 })).toMatchObject({
    items: [[person("a"), person("b")]],
    complete: false,
    stopped: { by: "limit" },
  });
  expect(await a().allPaths(person("b"), { out: "owes" }, { budget: { depth: 1 } })).toMatchObject({
    items: [[person("a"), person("b")]],
    stopped: { by: "depth", hop: 2, left: { nodes: 1, sample: [{ id: person("c") }] } },
  });
});

test("a cycle, or none", async () => {
  expect((await db.person(person("b")).cycle({ out: "owes" })).items.map(letters)).toEqual(["bdb"]);
  expect((await a().cycle({ out: "owes" })).items).toEqual([]);
});

test("a subtree, level by level, with sums", async () => {
  const tree = await a().subtree({ out: "owes" }, { sum: "amount" });
  expect(tree.items).toEqual([
    { level: 1, nodes: 2, edges: 2, sum: 3 },
    { level: 2, nodes: 1, edges: 2, sum: 12 },
    { level: 3, nodes: 0, edges: 1, sum: 16 },
  ]);
  expect((await a().subtree({ out: "owes" }, { depth: 1 })).items).toEqual([{ level: 1, nodes: 2, edges: 2 }]);
});

test("a node in a cycle is not below itself", async () => {
  const graph = defineGraph({
    table: engine.freshTableName("cycle"),
    nodes: { a: node({ key: "A#{id}", schema: z.object({ id: z.string() }) }) },
    edges: { e: edge({ from: "a", to: "a" }) },
  });
  const own = graph.connect({ transport: engine.transport, cursorSecret: "0".repeat(32) });
  await own.table.create();
  for (const id of ["x", "y", "z"]) await own.a.put({ id });
  for (const [from = "", to = ""] of ["xy", "yx", "yz"]) await own.e.link({ id: from }, { id: to }).orThrow();
  const expected = [
    { level: 1, nodes: 1, edges: 1 },
    { level: 2, nodes: 1, edges: 2 },
  ];
  const x = own.a({ id: "x" });
  expect((await x.subtree({ out: "e" }, { depth: 2 })).items).toEqual(expected);
  expect((await x.subtree({ out: "e" })).items).toEqual([...expected, { level: 3, nodes: 0, edges: 0 }].filter(({ edges }) => edges > 0));
  expect((await x.walk().repeat({ out: "e" }, { depth: 4, emit: "all" }).dedupe().levels()).items.slice(0, 2)).toMatchObject(
    expected.map(({ level, nodes }) => ({ level, nodes })),
  );
  // A hop that is followed once may lead back.
  expect((await x.walk().out("e").out("e").levels()).items).toMatchObject([{ nodes: 2 }]);
});

test("nodes ranked by degree, or by a sum", async () => {
  const walk = a().neighbourhood({ both: "friend" }, 1);
  expect((await walk.rank({ both: "friend" }, { by: "degree", top: 2 })).items).toEqual([
    { id: person("b"), count: 3, value: 3 },
    { id: person("c"), count: 2, value: 2 },
  ]);
  expect((await walk.rank({ out: "owes" }, { by: { sum: "amount" }, top: 5 })).items).toEqual([
    { id: person("c"), count: 1, value: 8 },
    { id: person("b"), count: 1, value: 4 },
  ]);
});
