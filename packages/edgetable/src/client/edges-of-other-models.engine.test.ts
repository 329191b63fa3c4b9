import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { edge, node } from "../schema/definition.ts";
import type { Transport } from "../transport/transport.ts";
import { defineGraph } from "./define-graph.ts";

// Edges of a type that only another program's model has, or that the model has dropped, lie beside those that a call asks for.

const user = node({ key: "U#{id}", schema: z.object({ id: z.string() }) });
const schema = z.object({ w: z.int() });

let engine: TestEngine;
beforeAll(async () => (engine = await openEngine()));
afterAll(async () => engine.close());

describe.each([
  ["edges without an order", {}],
  ["edges in an order", { orderBy: "w:number" }],
] as const)("%s", (_, order) => {
  const table = `Others${"orderBy" in order ? "Ordered" : ""}`;
  const type = edge({ from: "user", to: "user", schema, ...order });
  const limited = edge({ from: "user", to: "user", schema, ...order, maxDegree: { to: 2 }, onDelete: { from: "cascade", to: "restrict" } });
  const queries: unknown[] = [];
  const watched = (): Transport => ({
    ...engine.transport,
    send: async (operation, input, options) => {
      if (operation === "Query") queries.push((input as { KeyConditionExpression?: string }).KeyConditionExpression);
      return engine.transport.send(operation, input, options);
    },
  });
  const wide = () =>
    defineGraph({ table, nodes: { user }, edges: { follows: type, blocks: type } }).connect({ transport: engine.transport });
  const narrow = () => defineGraph({ table, nodes: { user }, edges: { blocks: type } }).connect({ transport: watched() });

  beforeAll(async () => {
    const db = wide();
    await db.table.create();
    for (const id of ["a", "b", "c", "d", "e"]) await db.user.create({ id }).orThrow();
    for (const id of ["b", "c", "d", "e"]) await db.follows.link({ id }, { id: "a" }, { w: 1 }).orThrow();
    await db.blocks.link({ id: "b" }, { id: "a" }, { w: 2 }).orThrow();
  });

  test("are neither counted nor walked along", async () => {
    const db = narrow();
    const a = db.user({ id: "a" });
    expect(await a.in("blocks").count().report()).toMatchObject({ value: 1, strays: 0 });
    expect(queries.at(-1)).toMatch(/begins_with/);
    expect([...(await a.walk().in("blocks").ids())]).toEqual([{ id: "b" }]);
    expect(await a.walk().in("blocks").count()).toMatchObject({ count: 1 });
    expect([...(await a.neighbourhood({ in: "blocks" }, 1).ids())]).toHaveLength(1);
    expect([...(await a.dependents("blocks").ids())]).toHaveLength(1);
    expect((await db.user({ id: "e" }).shortestPath({ id: "a" }, { out: "blocks" })).items).toEqual([]);
    expect((await a.shortestPath({ id: "e" }, { in: "blocks" })).items).toEqual([]);
  });

  test("are left out of the degree that a limit counts, and do not restrict a deletion", async () => {
    const db = defineGraph({ table, nodes: { user }, edges: { blocks: limited } }).connect({ transport: engine.transport });
    expect(await db.blocks.link({ id: "c" }, { id: "a" }, { w: 3 })).toMatchObject({ ok: true });
    expect(await db.blocks.link({ id: "d" }, { id: "a" }, { w: 3 })).toMatchObject({ ok: false, reason: "degreeExceeded" });
    await db.blocks.unlink({ id: "c" }, { id: "a" });
    await db.blocks.unlink({ id: "b" }, { id: "a" });
    expect(await db.user.delete({ id: "a" })).toMatchObject({ ok: true });
  });
});
