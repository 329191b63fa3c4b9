import { afterAll, beforeAll, expect, test } from "vitest";
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
const open = (rulesOff: readonly string[] = []) => graphOf(table).connect({ transport: engine.transport, rulesOff }).person(person("a"));
const key = (from: string, to: string) => ({ pk: { S: `PERSON#${from}` }, sk: { S: `knows#PERSON#${to}` } });

interface Asked<T> {
  report(): Promise<{ readonly value: T; readonly requests: readonly { readonly operation: string; readonly input: unknown }[] }>;
}

/** The answer, and the requests after the first, which finds the three that a knows. */
const asked = async <T>(call: Asked<T>) => {
  const { value, requests } = await call.report();
  return { value, later: requests.slice(1).map(({ operation, input }) => ({ operation, input })) };
};

test("edges to a few known nodes are asked for by their keys, from all nodes in one request", async () => {
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

test("conditions hold for edges that were asked for by their keys", async () => {
  const walk = open()
    .out("knows")
    .out("knows")
    .where({ since: { gte: "2" } })
    .among([person("x")]);
  const { value, later } = await asked(walk.groupCount());
  expect(value.items).toEqual([{ id: person("x"), count: 1 }]);
  expect(later.map(({ operation }) => operation)).toEqual(["BatchGetItem"]);
});

test("against the edge, the far end's key is asked for", async () => {
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

test("edges are listed where that is no more requests, and where parallel ones have keys of their own", async () => {
  const many = Array.from({ length: 60 }, (_, at) => person(`n${at}`));
  const wide = await asked(open().out("knows").out("knows").among(many).ids());
  expect(wide.later.map(({ operation }) => operation)).toEqual(["Query", "Query", "Query"]);
  const one = await asked(
    open()
      .walk()
      .out("knows")
      .among([person("b")])
      .ids(),
  );
  expect(one.value.items).toEqual([person("b")]);
  expect(one.later).toEqual([]);
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
