import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { defineGraph, node } from "../index.ts";
import { startEngine, type TestEngine } from "../test-support/engine.ts";

// No key holds null: a sparse index lacks the items that have it, and is not asked for them.

let engine: TestEngine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

const text = z.string();
const schema = z.object({ id: text, kind: text, by: text.nullable().optional() });

const layouts = {
  "the layout of the library": { rest: { indexes: { byKind: { entries: { thing: { by: ["kind", "by"], sparse: true } } } } } },
  "a layout of its own": {
    rest: {
      layout: {
        partitionKey: "PK",
        sortKey: "SK",
        indexes: { byKind: { partitionKey: "GPK", sortKey: "GSK" } },
        nodes: { thing: { keys: { SK: "THING", GPK: "K#{kind:lower}", GSK: "{by:lower}" }, sparse: ["GPK", "GSK"] } },
      },
    },
  },
} as const;

/** A search of a model made of variable parts, which has no types. */
interface Search {
  where(where: object): Search;
  using(index: string): Search;
  rows(): Promise<readonly { readonly id: string }[]>;
}

test.each(Object.entries(layouts))("a search for null does not ask a sparse index that lacks it: %s", async (_, { rest }) => {
  const graph = defineGraph({ table: engine.freshTableName(), nodes: { thing: node({ key: "THING#{id}", schema }) }, ...(rest as object) });
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  await db.thing.put({ id: "1", kind: "k", by: "ann" }).orThrow();
  await db.thing.put({ id: "2", kind: "k", by: null }).orThrow();
  await db.thing.put({ id: "3", kind: "k" }).orThrow();
  const search = (by: object | string | null) => (db.find as never as (kind: string) => Search)("thing").where({ kind: "k", by });
  const found = async (by: object | string | null) => (await search(by).rows()).map((row) => row.id);
  expect(await found("ann")).toEqual(["1"]);
  expect(await found({ in: ["ann", "eve"] })).toEqual(["1"]);
  for (const by of [null, { eq: null }, { in: ["ann", null] }, { in: [null] }])
    await expect(found(by)).rejects.toMatchObject({
      code: "plan.noIndex",
      message: expect.stringContaining('"byKind" is sparse') as unknown,
    });
  expect(await found({ in: ["ann", "bob"] })).toEqual(["1"]);
  expect(
    await search({ in: ["ann", null] })
      .using("byKind")
      .rows(),
  ).toHaveLength(1);
});
