import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { defineGraph, edge, EdgetableError, node, type ConnectOptions, type Transport } from "../index.ts";

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

// On a virtual clock, which a busy machine does not affect: the first answer comes at once, and every other
// request times out.
const stalling = (engine: Transport, sent: string[]): Pick<Required<ConnectOptions>, "transport" | "advanced"> => {
  let now = 0;
  const pass = (milliseconds: number): void => {
    now += milliseconds;
  };
  const send: Transport["send"] = async (operation, input, { timeout = 0 } = {}) => {
    sent.push(operation);
    if (sent.length === 1) return engine.send(operation, input);
    pass(timeout);
    throw new EdgetableError("execute.timeout", `${operation}: no answer`, { retryable: true });
  };
  const sleep = async (milliseconds: number): Promise<void> => pass(milliseconds);
  return { transport: { send, close: () => undefined }, advanced: { effects: { now: () => now, random: () => 0.5, sleep } } };
};

test("a walk that reaches its deadline returns what it found, even if no cursor can be sealed in time", async () => {
  const table = engine.freshTableName("late");
  const db = graphOf(table).connect({ transport: engine.transport });
  await db.table.create();
  for (const [from, to] of ["ab", "bc", "cd"]) await db.knows.put({ id: from as string }, { id: to as string }).orThrow();
  const sent: string[] = [];
  const slow = graphOf(table).connect(stalling(engine.transport, sent));
  const walk = slow.person({ id: "a" }).walk().repeat({ out: "knows" }, { depth: 3, emit: "all" }).ids();
  const found = await walk.run({ deadline: 200 });
  expect(sent.slice(0, 2)).toEqual(["Query", "Query"]);
  expect(found).toMatchObject({ items: [{ id: "b" }], complete: false, stopped: { by: "time" }, next: undefined });
});
