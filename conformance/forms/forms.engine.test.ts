import fc from "fast-check";
import { afterAll, beforeAll, describe, test } from "vitest";
import { ruleNames } from "../../packages/edgetable/src/planner/rule-names.ts";
import { openEngine, type TestEngine } from "../engines/open-engine.ts";
import { testRuns, testSeed } from "../engines/property-runs.ts";
import { histories, type Command } from "./commands.ts";
import { forms, type Place } from "./model.ts";
import { regressions } from "./regressions.ts";
import { runHistory } from "./run-history.ts";

const seed = testSeed();
const runs = testRuns(4);
const time = 60_000 + runs * 1000;

const places: readonly (readonly [string, Place])[] = [
  ["own layout", { own: true }],
  ["adopted layout", { own: false, projection: "ALL", shards: 3 }],
  ["adopted layout, indexes of keys alone", { own: false, projection: "KEYS_ONLY", shards: 1 }],
  ["adopted layout, indexes of some attributes", { own: false, projection: ["kind", "km", "Size"], shards: 2 }],
];

let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

const run = async (place: Place, rulesOff: readonly string[], history: readonly Command[]): Promise<void> => {
  const table = engine.freshTableName("forms");
  const db = forms(table, place).connect({ transport: engine.transport, cursorSecret: "forms".padEnd(43, "-"), advanced: { rulesOff } });
  await db.table.create();
  await runHistory(db, place, history);
  await engine.transport.send("DeleteTable", { TableName: table });
};

describe.each(places)("ids, references and indexes of every form answer as the naive graph does, %s", (_, place) => {
  describe.each([
    ["with every rule", []],
    ["with no rule", ruleNames],
  ] as const)("%s", (_name, rulesOff) => {
    test.each(regressions.map((history, at) => [at, history] as const))("shrunk failure %i", (_at, history) =>
      run(place, rulesOff, history),
    );

    test(`random histories (seed ${seed})`, { timeout: 2 * time }, async () => {
      const property = fc.asyncProperty(histories, async (history) => {
        await run(place, rulesOff, history);
      });
      // A failure is told in time, shrunk as far as the time allows.
      await fc.assert(property, { seed, numRuns: runs, interruptAfterTimeLimit: time, markInterruptAsFailure: true });
    });
  });
});
