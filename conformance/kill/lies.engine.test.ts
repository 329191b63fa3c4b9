import { createFaultTransport, seededRandom, virtualClock } from "@edgetable/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openEngine, type TestEngine } from "../engines/open-engine.ts";
import { testRuns, testSeed } from "../engines/property-runs.ts";
import { connect, connectBefore, INDEX_LAG, scenarios, workUntilDone } from "./scenarios.ts";
import { tableContent } from "./table-content.ts";

const rounds = testRuns(2);
const seed = testSeed();

let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

/** Does the work over a transport that lies, on virtual time, and gives what the table holds. */
const lied = async (kind: string, roundSeed: number): Promise<readonly string[]> => {
  const scenario = scenarios[kind]!;
  const table = engine.freshTableName(`lies-${kind}`);
  const honest = connect(table, { transport: engine.transport });
  await honest.table.create();
  const clock = virtualClock({ start: Date.now(), seed: roundSeed });
  // What is there before is written through the liar too, so that its indexes may still not show it.
  const transport = createFaultTransport(engine.transport, {
    seed: roundSeed,
    rates: {
      throttleTable: 0.03,
      internalErrorBefore: 0.02,
      internalErrorAfter: 0.03,
      resetAfter: 0.03,
      unprocessed: 0.3,
      transactionConflict: 0.05,
      transactionInProgressAfter: 0.03,
      shortPage: 0.2,
      emptyPage: 0.05,
    },
    lag: { milliseconds: INDEX_LAG, rate: 0.7, torn: true },
    latency: [0, 8],
    effects: clock,
  });
  // Tokens of transactions come from it, and the engine remembers those of every scenario.
  const random = seededRandom(roundSeed * 100 + Object.keys(scenarios).indexOf(kind));
  const options = { transport, advanced: { effects: { now: () => clock.now(), sleep: clock.sleep, random } }, retry: { attempts: 30 } };
  const db = connect(table, options);
  await scenario.prepare(db, connectBefore(table, options));
  await workUntilDone(scenario, db, clock.sleep);
  const items = await tableContent(engine.transport, table);
  scenario.check(items);
  expect(items.filter((item) => item.includes('{"S":"~job"}'))).toEqual([]);
  await engine.transport.send("DeleteTable", { TableName: table });
  return items;
};

test.each(Object.keys(scenarios))(
  "%s: throttled, reset, unprocessed and shown the past, it ends with the same table",
  async (kind) => {
    const first = await lied(kind, seed);
    for (let round = 1; round < rounds; round++) expect(await lied(kind, seed + round), `seed ${seed + round}`).toEqual(first);
  },
  300_000 + rounds * 60_000,
);
