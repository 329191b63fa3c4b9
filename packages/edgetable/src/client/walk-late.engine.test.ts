import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { defineGraph, edge, EdgetableError, node, type Transport } from "../index.ts";

const graphOf = (table: string) =>
  defineGraph({
    table,
    nodes: { person: node({ key: "{id}", schema: z.object({ id: z.string() }) }) },
    edges: { knows: edge({ from: "person", to: "person", ends: "unchecked" }) },
  });

let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

// The first answer comes at once; every other request ends by its timeout.
const stalling = (transport: Transport, sent: string[]): Transport => ({
  send: async (operation, input, options) => {
    sent.push(operation);
    if (sent.length === 1) return transport.send(operation, input, options);
    await new Promise((resolve) => setTimeout(resolve, options?.timeout));
    throw new EdgetableError("execute.timeout", `${operation}: no answer`, { retryable: true });
  },
  close: () => undefined,
});

test("a walk that its deadline ends gives what it found, though the way on can no longer be sealed", async () => {
  const table = engine.freshTableName("late");
  const db = graphOf(table).connect({ transport: engine.transport });
  await db.table.create();
  for (const [from, to] of ["ab", "bc", "cd"]) await db.knows.put({ id: from as string }, { id: to as string }).orThrow();
  // The deadline is for requests: what walks load at their first call may take longer on a busy machine.
  await db.person({ id: "a" }).walk().out("knows").ids();
  const sent: string[] = [];
  const slow = graphOf(table).connect({ transport: stalling(engine.transport, sent) });
  const walk = slow.person({ id: "a" }).walk().repeat({ out: "knows" }, { depth: 3, emit: "all" }).ids();
  const found = await walk.run({ deadline: 200 });
  expect(sent.slice(0, 2)).toEqual(["Query", "Query"]);
  expect(found).toMatchObject({ items: [{ id: "b" }], complete: false, stopped: { by: "time" }, next: undefined });
});
