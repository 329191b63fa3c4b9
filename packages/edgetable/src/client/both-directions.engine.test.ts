import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { defineGraph, edge, node, type SentRequest } from "../index.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

const person = node({ key: "PERSON#{id}", schema: z.object({ id: z.string() }) });
const team = node({ key: "TEAM#{name}", schema: z.object({ name: z.string() }) });

test("neighbours in either direction are read from the far end of each edge, and missing ones named from there", async () => {
  const graph = defineGraph({
    table: engine.freshTableName("both"),
    nodes: { person, team },
    edges: { knows: edge({ from: ["person", "team"], to: "person", ends: "unchecked" }) },
  });
  const sent: SentRequest[] = [];
  const db = graph.connect({ transport: engine.transport, onRequest: (request) => sent.push(request) });
  await db.table.create();
  await db.batch([db.person.put({ id: "a" }), db.person.put({ id: "b" }), db.team.put({ name: "t" })]);
  await db.knows.link({ type: "person", id: "a" }, { id: "b" });
  await db.knows.link({ type: "person", id: "c" }, { id: "a" });
  await db.knows.link({ type: "team", name: "t" }, { id: "a" });
  const known = db.person({ id: "a" }).both("knows");
  sent.length = 0;

  const { value, missing } = await known.entries().report();
  expect(sent.map(({ operation, index }) => [operation, index])).toEqual([
    ["Query", undefined],
    ["Query", "reverse"],
    ["BatchGetItem", undefined],
  ]);
  expect(sent[2]?.input).toMatchObject({
    RequestItems: { [graph.catalog.table]: { Keys: ["PERSON#b", "PERSON#c", "TEAM#t"].map((pk) => ({ pk: { S: pk }, sk: { S: "#" } })) } },
  });
  expect(value).toEqual([
    { edge: { from: { type: "person", id: "a" }, to: { type: "person", id: "b" } }, node: { kind: "person", row: { id: "b" } } },
    { edge: { from: { type: "person", id: "c" }, to: { type: "person", id: "a" } }, node: undefined },
    { edge: { from: { type: "team", name: "t" }, to: { type: "person", id: "a" } }, node: { kind: "team", row: { name: "t" } } },
  ]);
  expect(missing).toEqual([{ type: "person", id: "c" }]);
  expect(await known.nodes()).toEqual([
    { kind: "person", row: { id: "b" } },
    { kind: "team", row: { name: "t" } },
  ]);
  expect((await known.page({ of: "nodes", limit: 2 })).items).toEqual([{ kind: "person", row: { id: "b" } }]);
  expect((await known.entries().explain()).requests.at(-1)).toMatchObject({
    operation: "BatchGetItem",
    after: 'the "to" or "from" of each edge',
  });
});
