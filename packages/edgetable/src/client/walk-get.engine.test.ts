import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { defineGraph, edge, node } from "../index.ts";

const text = z.string();
const graphOf = (table: string) =>
  defineGraph({
    table,
    nodes: { person: node({ key: "PERSON#{personId}", schema: z.object({ personId: text }) }) },
    edges: {
      knows: edge({ from: "person", to: "person", schema: z.object({ since: text }), ends: "unchecked" }),
      likes: edge({ from: "person", to: "person", schema: z.object({ how: text }), key: ["how"], ends: "unchecked" }),
    },
  });

let engine: TestEngine;
let table = "";
beforeAll(async () => {
  engine = await openEngine();
  table = engine.freshTableName("walkget");
  const db = graphOf(table).connect({ transport: engine.transport });
  await db.table.create();
  for (const [from = "", to = "", since = ""] of ["ab1", "ac1", "ad1", "bx1", "cx2", "cy3", "dz4", "xa5", "xb6"].map((one) =>
    Array.from(one),
  )) {
    await db.knows.put({ personId: from }, { personId: to }, { since }).orThrow();
    await db.likes.put({ personId: from }, { personId: to }, { how: since }).orThrow();
  }
});
afterAll(() => engine.close());

const person = (personId: string) => ({ personId });
const open = (rulesOff: readonly string[] = []) =>
  graphOf(table).connect({ transport: engine.transport, advanced: { rulesOff } }).person(person("a"));
const key = (from: string, to: string) => ({ pk: { S: `PERSON#${from}` }, sk: { S: `knows#PERSON#${to}` } });

interface Asked<T> {
  report(): Promise<{ readonly value: T; readonly requests: readonly { readonly operation: string; readonly input: unknown }[] }>;
}

/** The answer, and the requests after the first one, which finds the three nodes that a knows. */
const asked = async <T>(call: Asked<T>) => {
  const { value, requests } = await call.report();
  return { value, later: requests.slice(1).map(({ operation, input }) => ({ operation, input })) };
};

test("edges to a few known nodes are read by their keys, from all nodes in one request", async () => {
  const walk = open()
    .out("knows")
    .out("knows")
    .among([person("x"), person("y")]);
  const { value, later } = await asked(walk.groupCount());
  expect(value.items).toEqual([
    { id: person("x"), count: 2 },
    { id: person("y"), count: 1 },
  ]);
  expect(later).toEqual([
    {
      operation: "BatchGetItem",
      input: {
        RequestItems: { [table]: { Keys: ["b", "c", "d"].flatMap((from) => [key(from, "x"), key(from, "y")]) } },
        ReturnConsumedCapacity: "TOTAL",
      },
    },
  ]);
  const listed = await asked(
    open(["check-ends-by-get"])
      .out("knows")
      .out("knows")
      .among([person("x"), person("y")])
      .groupCount(),
  );
  expect(listed.value.items).toEqual(value.items);
  expect(listed.later.map(({ operation }) => operation)).toEqual(["Query", "Query", "Query"]);
});

test("conditions apply to edges that are read by their keys", async () => {
  const walk = open()
    .out("knows")
    .out("knows")
    .where({ since: { gte: "2" } })
    .among([person("x")]);
  const { value, later } = await asked(walk.groupCount());
  expect(value.items).toEqual([{ id: person("x"), count: 1 }]);
  expect(later.map(({ operation }) => operation)).toEqual(["BatchGetItem"]);
});

test("against the edge's direction, the key of the far end is read", async () => {
  const { value, later } = await asked(
    open()
      .out("knows")
      .in("knows")
      .among([person("x")])
      .ids(),
  );
  expect(value.items).toEqual([person("x")]);
  expect(later).toMatchObject([
    { operation: "BatchGetItem", input: { RequestItems: { [table]: { Keys: ["b", "c", "d"].map((to) => key("x", to)) } } } },
  ]);
});

test("edges are listed if that is expected to be cheaper, or if parallel edges have key parts", async () => {
  const many = Array.from({ length: 60 }, (_, at) => person(`n${at}`));
  const wide = await asked(open().out("knows").out("knows").among(many).ids());
  expect(wide.later.map(({ operation }) => operation)).toEqual(["Query", "Query", "Query"]);
  const few = [person("b"), person("c")];
  const one = await open().walk().out("knows").among(few).ids().report();
  expect(one.value.items).toEqual(few);
  expect(one.requests.map(({ operation }) => operation)).toEqual(["Query"]);
  const parallel = await asked(
    open()
      .out("knows")
      .out("likes")
      .among([person("x")])
      .count(),
  );
  expect(parallel.value.count).toBe(2);
  expect(parallel.later.map(({ operation }) => operation)).toEqual(["Query", "Query", "Query"]);
});

describe("at a node with many edges", () => {
  const FANS = 40;
  const fan = (at: number) => ({ personId: `f${at}` });
  const crowd = () =>
    defineGraph({
      table: crowdTable,
      nodes: { person: node({ key: "PERSON#{personId}", schema: z.object({ personId: text }) }) },
      edges: {
        knows: edge({ from: "person", to: "person", ends: "unchecked", expect: { from: 5000, to: 3 } }),
        friend: edge({ from: "person", to: "person", symmetric: true, ends: "unchecked", expect: { from: 5000 } }),
      },
    });
  let crowdTable = "";
  const star = (rulesOff: readonly string[] = []) =>
    crowd().connect({ transport: engine.transport, cursorSecret: "s".padEnd(43, "-"), advanced: { rulesOff } });
  const budget = { breadth: 10 };
  beforeAll(async () => {
    crowdTable = engine.freshTableName("crowd");
    const db = star();
    await db.table.create();
    const fans = Array.from({ length: FANS }, (_, at) => [
      { edge: "knows" as const, from: person("star"), to: fan(at), attributes: {} },
      { edge: "friend" as const, from: fan(at), to: person("star"), attributes: {} },
    ]);
    const some = [33, 38].map((at) => ({ edge: "knows" as const, from: person("b"), to: fan(at), attributes: {} }));
    const friends = [34, 39].map((at) => ({ edge: "friend" as const, from: person("b"), to: fan(at), attributes: {} }));
    await db.load([...fans.flat(), ...some, ...friends], { strict: true });
  });

  test("a test for one edge reads one key instead of listing up to the breadth", async () => {
    const walk = (rulesOff: readonly string[] = []) =>
      star(rulesOff)
        .person(person("star"))
        .walk()
        .out("knows")
        .among([fan(38), person("nobody")]);
    const { value, requests, cost } = await walk().ids({ budget }).report();
    expect(value).toMatchObject({ items: [fan(38)], complete: true });
    expect(requests.map(({ operation, input }) => ({ operation, input }))).toEqual([
      {
        operation: "BatchGetItem",
        input: {
          RequestItems: { [crowdTable]: { Keys: [key("star", "f38"), key("star", "nobody")] } },
          ReturnConsumedCapacity: "TOTAL",
        },
      },
    ]);
    expect(await walk().explain()).toMatchObject({
      cost: { requests: 1, readUnits: 1 },
      requests: [{ operation: "BatchGetItem", times: 1 }],
    });
    // DynamoDB Local counts the absent edge as nothing.
    expect(cost.requests).toBe(1);
    expect(await walk(["check-ends-by-get"]).ids({ budget })).toMatchObject({ complete: false, stopped: { by: "breadth" } });
    expect(await walk(["check-ends-by-get"]).ids()).toMatchObject({ items: [fan(38)], complete: true });
  });

  test.each([
    ["knows", { out: "knows" }, [fan(33), fan(38)]],
    ["friend", { both: "friend" }, [fan(34), fan(39)]],
  ] as const)("common neighbours are looked for among those that are left (%s)", async (name, hop, found) => {
    const ask = (rulesOff: readonly string[] = []) =>
      star(rulesOff)
        .person(person("b"))
        .common(hop, [person("star")], { budget });
    const { value, requests } = await ask().report();
    expect(value).toMatchObject({ items: found, complete: true });
    expect(requests.map(({ operation }) => operation)).toEqual(["Query", "BatchGetItem"]);
    expect(requests[1]?.input).toEqual({
      RequestItems: {
        [crowdTable]: {
          Keys: found.map(({ personId }) => ({ pk: { S: "PERSON#star" }, sk: { S: `${name}#PERSON#${personId}` } })),
        },
      },
      ReturnConsumedCapacity: "TOTAL",
    });
    const listed = await ask(["check-ends-by-get"]).report();
    expect(listed.value).toMatchObject({ complete: false, stopped: { by: "breadth" } });
  });
});
