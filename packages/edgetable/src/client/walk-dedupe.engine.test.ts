import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { defineGraph, edge, node } from "../index.ts";

const graphOf = (table: string) =>
  defineGraph({
    table,
    nodes: { person: node({ key: "{id}", schema: z.object({ id: z.string() }) }) },
    edges: { knows: edge({ from: "person", to: "person", ends: "unchecked" }) },
  });

let engine: TestEngine;
let table = "";
beforeAll(async () => {
  engine = await openEngine();
  table = engine.freshTableName("dedupe");
  const db = graphOf(table).connect({ transport: engine.transport });
  await db.table.create();
  // Two paths from a to d, and a cycle back.
  for (const [from, to] of ["ab", "ac", "bd", "cd", "da"]) await db.knows.put({ id: from as string }, { id: to as string }).orThrow();
});
afterAll(() => engine.close());

const walkOf = (rulesOff: readonly string[]) =>
  graphOf(table)
    .connect({ transport: engine.transport, advanced: { rulesOff } })
    .person({ id: "a" })
    .walk()
    .repeat({ out: "knows" }, { depth: 4, emit: "all" })
    .dedupe();

const kindsOf = (explained: { readonly plan: { readonly steps: readonly { readonly kind: string }[] } }): readonly string[] =>
  explained.plan.steps.map(({ kind }) => kind);

test("a walk that gives each node once drops its dedupe step, with the same answer and requests", async () => {
  const ids = walkOf([]).except("start").ids();
  const stepped = walkOf(["drop-dedupe"]).except("start").ids();
  expect(kindsOf(await ids.explain())).toEqual(["hop", "except"]);
  expect(kindsOf(await stepped.explain())).toEqual(["hop", "dedupe", "except"]);
  const [left, right] = [await ids.report(), await stepped.report()];
  expect(left.value.items.map(({ id }) => id)).toEqual(["b", "c", "d"]);
  expect(right.value.items).toEqual(left.value.items);
  // Requests of one frontier are answered in any order.
  const sent = ({ requests }: typeof left): readonly string[] => requests.map(({ input }) => JSON.stringify(input)).toSorted();
  expect(sent(left)).toEqual(sent(right));
});

test("a walk that counts paths keeps its dedupe step", async () => {
  const count = walkOf([]).count();
  expect(kindsOf(await count.explain())).toEqual(["hop", "dedupe"]);
  expect((await count).count).toBe(4);
});
