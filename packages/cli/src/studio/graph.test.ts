import { startEngine, type LocalEngine } from "@edgetable/local";
import { createLeanTransport, defineGraph, edge, node, type Transport } from "edgetable";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { readGraph } from "./graph.ts";

const id = z.string();
const graph = defineGraph({
  table: "Whole",
  nodes: {
    person: node({ key: "PERSON#{id}", schema: z.object({ id }) }),
    tag: node({ key: "TAG#{id}", schema: z.object({ id }), stored: false }),
  },
  edges: {
    knows: edge({ from: "person", to: "person", symmetric: true }),
    has: edge({ from: "person", to: "tag" }),
    paid: edge({ from: "person", to: "person", key: ["year"], schema: z.object({ year: z.int() }), stored: "twice" }),
  },
});

let engine: LocalEngine;
let transport: Transport;
let db: ReturnType<typeof graph.connect>;
beforeAll(async () => {
  engine = await startEngine();
  transport = createLeanTransport({ endpoint: engine.endpoint });
  db = graph.connect({ transport });
  await db.table.create();
});
afterAll(async () => {
  await db.close();
  await transport.close();
  await engine.stop();
});

test("each edge comes once, parallel ones with their keys, and nodes without an item with their edges", async () => {
  const [a, b] = [{ id: "a" }, { id: "b" }];
  for (const person of [a, b]) await db.person.put(person).orThrow();
  await db.knows.put(b, a).orThrow();
  await db.knows.put(a, a).orThrow();
  await db.has.put(a, { id: "red" }).orThrow();
  for (const year of [2023, 2024]) await db.paid.put(b, a, { year }).orThrow();
  const { nodes, links, next } = await readGraph(graph, transport, undefined, new AbortController().signal);
  expect(next).toBeUndefined();
  const [from, to] = [
    { type: "person", id: b },
    { type: "person", id: a },
  ];
  expect(links).toHaveLength(5);
  expect(links).toEqual(
    expect.arrayContaining([
      { edge: "knows", from: to, to: from },
      { edge: "knows", from: to, to },
      { edge: "has", from: to, to: { type: "tag", id: { id: "red" } } },
      { edge: "paid", from, to, key: { year: 2023 } },
      { edge: "paid", from, to, key: { year: 2024 } },
    ]),
  );
  expect(nodes.map(({ type, id: own, partition }) => [type, own["id"], partition]).toSorted()).toEqual([
    ["person", "a", "PERSON#a"],
    ["person", "b", "PERSON#b"],
    ["tag", "red", "TAG#red"],
  ]);
});
