import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { defineGraph, edge, node, type Read, type SentRequest } from "../index.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

test("a get sends what it explained, also of an edge to one of several node types", async () => {
  const nodes = {
    person: node({ key: "PERSON#{id}", schema: z.object({ id: z.string() }) }),
    page: node({ key: "PAGE#{url}", schema: z.object({ url: z.string() }) }),
  };
  const likes = edge({ from: "person", to: ["person", "page"], ends: "unchecked" });
  const sent: SentRequest[] = [];
  const graph = defineGraph({ table: engine.freshTableName("explained"), nodes, edges: { likes } });
  const db = graph.connect({ transport: engine.transport, onRequest: (request) => void sent.push(request) });
  await db.table.create();
  const [ann, page] = [{ id: "Ann" }, { type: "page", url: "a.org" } as const];
  await db.likes.link(ann, page).orThrow();
  const calls: readonly (() => Read<unknown>)[] = [
    () => db.person.get(ann),
    () => db.person.getMany([ann, { id: "Bob" }, ann], { consistent: true }),
    () => db.likes.get(ann, page),
    () => db.likes.getMany(ann, [page, { type: "person", id: "Bob" }]),
    () => db.person(ann).has("likes", page),
  ];
  for (const call of calls) {
    sent.length = 0;
    const explained = await call().explain();
    await call();
    expect(sent.map(({ operation, input }) => ({ operation, input }))).toEqual(
      explained.requests.map(({ operation, input }) => ({ operation, input })),
    );
    expect(explained.cost.requests).toBe(1);
  }
  expect(await db.person(ann).has("likes", page)).toBe(true);
});
