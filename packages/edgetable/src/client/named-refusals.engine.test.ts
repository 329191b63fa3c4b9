import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { defineGraph } from "./define-graph.ts";
import { edge, node, part } from "../schema/definition.ts";
import { startEngine, type TestEngine } from "../test-support/engine.ts";

const text = z.string();

let engine: TestEngine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

test("the error of a write that did not happen names the row, whichever write it was", async () => {
  const db = defineGraph({
    table: engine.freshTableName("named-refusals"),
    nodes: {
      tenant: node({ key: "TENANT#{tenantId}", schema: z.object({ tenantId: text, name: text }) }),
      flat: node({ key: "FLAT#{street}#{number:number}", schema: z.object({ street: text, number: z.int(), rooms: z.int().optional() }) }),
    },
    parts: { meter: part({ of: "flat", key: "METER#{meterId}", schema: z.object({ meterId: text, at: z.int().optional() }) }) },
    edges: { rents: edge({ from: "tenant", to: "flat", schema: z.object({ since: text, rent: z.int() }), key: ["since"] }) },
  }).connect({ transport: engine.transport });
  await db.table.create();
  const ann = { tenantId: "ann" };
  const home = { street: "Elm", number: 4 };
  const key = { since: "2024" };
  await db.transact([db.tenant.create({ ...ann, name: "Ann" }), db.flat.create(home), db.meter.create(home, { meterId: "m" })]).orThrow();
  await db.rents.link(ann, home, { ...key, rent: 900 }).orThrow();
  const edgeName = '{"from":{"tenantId":"ann"},"to":{"street":"Elm","number":4},"since":"2024"}';
  const nobody = { tenantId: "bob" };
  const refused = {
    'create of "tenant" {"tenantId":"ann"}': db.tenant.create({ ...ann, name: "Ann" }),
    'put of "tenant" {"tenantId":"ann"}': db.tenant.put({ ...ann, name: "A" }, { if: { name: "Bob" } }),
    'update of "tenant" {"tenantId":"bob"}': db.tenant.update(nobody, { name: "Bob" }),
    'delete of "tenant" {"tenantId":"bob"}': db.tenant.delete(nobody),
    'check of "flat" {"street":"Elm","number":4}': db.flat.check(home, { exists: false }),
    'upsert of "tenant" {"tenantId":"ann"}': db.tenant.upsert({ ...ann, name: "Ann" }, { name: "A" }, { if: { name: "Bob" } }),
    'create of "meter" {"street":"Elm","number":4,"meterId":"m"}': db.meter.create(home, { meterId: "m" }),
    'update of "meter" {"street":"Elm","number":4,"meterId":"x"}': db.meter.update(home, { meterId: "x" }, { at: 1 }),
    [`link of "rents" ${edgeName}`]: db.rents.link(ann, home, { ...key, rent: 1 }),
    [`relink of "rents" ${edgeName}`]: db.rents.relink(ann, home, { rent: 1 }, { key, if: { rent: 1 } }),
    [`unlink of "rents" ${edgeName}`]: db.rents.unlink(ann, home, { key, if: { rent: 1 } }),
    [`upsert of "rents" ${edgeName}`]: db.rents.upsert(ann, home, { ...key, rent: 1 }, { rent: 2 }, { if: { rent: 1 } }),
  };
  for (const [name, call] of Object.entries(refused)) await expect(call.orThrow(), name).rejects.toThrow(`The ${name} did not happen: `);
});
