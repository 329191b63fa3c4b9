import { randomInt } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../../conformance/engines/open-engine.ts";
import { defineGraph, edge, node } from "../../index.ts";
import { createFaultTransport, virtualClock } from "@edgetable/testing";

let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

/** A node with an edge that goes with it, and a client that loses the answer to one request. The clock has a seed of its own, so that tokens differ. */
const open = async (lost: readonly number[]) => {
  const graph = defineGraph({
    table: engine.freshTableName("endings"),
    nodes: { user: node({ key: "USER#{id}", schema: z.object({ id: z.string() }) }) },
    edges: { knows: edge({ from: "user", to: "user", onDelete: { from: "cascade", to: "cascade" } }) },
  });
  const plain = graph.connect({ transport: engine.transport });
  await plain.table.create();
  await plain.transact([plain.user.create({ id: "a" }), plain.user.create({ id: "b" })]);
  await plain.knows.link({ id: "b" }, { id: "a" }).orThrow();
  const effects = virtualClock({ seed: randomInt(2 ** 31) });
  const lying = createFaultTransport(engine.transport, { script: lost.map((n) => ({ fault: "timeoutAfter", n })), effects });
  return { lying, db: graph.connect({ transport: lying, advanced: { effects } }), plain };
};

test("a deletion reports success if its last answer is lost for longer than its lease is valid", async () => {
  const whole = await open([]);
  await whole.db.user.delete({ id: "a" }, { lease: 1000 }).orThrow();
  const last = whole.lying.requests;
  const { lying, db, plain } = await open([last]);
  expect(await db.user.delete({ id: "a" }, { lease: 1000 })).toMatchObject({ ok: true, row: { id: "a" } });
  expect(lying.log).toMatchObject([{ operation: "TransactWriteItems", n: last }]);
  expect(await plain.user.get({ id: "a" })).toBeUndefined();
  expect(await plain.user({ id: "b" }).out("knows").count()).toBe(0);
  expect(await plain.jobs.list()).toEqual([]);
});
