import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Item, Transport } from "edgetable";
import { openEngine, type TestEngine } from "../engines/open-engine.ts";
import { testRuns, testSeed } from "../engines/property-runs.ts";
import { wild } from "../oracle/model.ts";
import type { Db } from "./ask.ts";
import { cases, checkCase } from "./check-graph.ts";
import { scopeOf } from "./node-ids.ts";
import { slowed } from "./slow-engine.ts";

const seed = testSeed();
// A single case may have no walk that reads counts.
const runs = Math.max(2, testRuns(4));
const time = 60_000 + runs * 4_000;

let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

let scopes = 0;
const PERSONS = 6;

interface Batch {
  readonly Responses?: Readonly<Record<string, readonly Item[]>>;
}

/** A transport that takes the kept counts of some nodes out of answers, as if a migration had not come to them. */
const forgetting = (transport: Transport, taken: () => void): Transport => ({
  ...transport,
  send: async (operation, input, options) => {
    const output = await transport.send(operation, input, options);
    if (operation !== "BatchGetItem") return output;
    taken();
    const { Responses = {}, ...rest } = output as Batch;
    const without = ({ following: _following, works: _works, followers: _followers, ranks: _ranks, ...item }: Item): Item => item;
    const left = Object.entries(Responses).map(([table, items]) => [table, items.map((item, at) => (at % 3 === 1 ? without(item) : item))]);
    return { ...rest, Responses: Object.fromEntries(left) } as typeof output;
  },
});

describe.each([
  ["of every node", false],
  ["of some nodes", true],
])("walks take kept counts %s, and answer as the naive evaluator does", (_, forgets) => {
  test(`random graphs and walks (seed ${seed})`, { timeout: 2 * time }, async () => {
    let batches = 0;
    const taken = (): void => {
      batches++;
    };
    const { transport, ...rest } = slowed(engine.transport);
    const model = wild(engine.freshTableName("kept"), undefined, true);
    // The tokens of transactions are drawn by the clock and by chance, which stand still in the slow engine.
    const draws = model.connect({ transport: engine.transport }) as Db;
    const db = model.connect({
      ...rest,
      transport: forgets ? forgetting(transport, taken) : transport,
      onRequest: ({ operation }) => (operation === "BatchGetItem" ? taken() : undefined),
      cursorSecret: "kept".padEnd(43, "-"),
    }) as Db;
    await draws.table.create();
    const property = fc.asyncProperty(cases(false), async (one) => {
      await checkCase(db, scopeOf(scopes++, true), one, { draws, persons: PERSONS, references: false });
    });
    await fc.assert(property, { seed, numRuns: runs, interruptAfterTimeLimit: time, markInterruptAsFailure: true });
    expect(batches).toBeGreaterThan(0);
  });
});
