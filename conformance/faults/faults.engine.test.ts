import fc from "fast-check";
import { afterAll, beforeAll, describe, test } from "vitest";
import { openEngine, type TestEngine } from "../engines/open-engine.ts";
import { testRuns, testSeed, testTime } from "../engines/property-runs.ts";
import { histories } from "./commands.ts";
import type { Place } from "./clients.ts";
import { adoptedStormy } from "./model.ts";
import { regressions } from "./regressions.ts";
import { demandTruth } from "./run-history.ts";

const seed = testSeed();
const runs = testRuns(20);

let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

const layouts = [
  { name: "own layout", layout: undefined },
  { name: "adopted layout", layout: adoptedStormy },
] as const;

describe.each(layouts)("under production's weather the table keeps its word, $name", ({ layout }) => {
  const place = (): Place => ({ transport: engine.transport, table: engine.freshTableName("storm"), layout });

  test.each(regressions.map((history, at) => [at, history] as const))("shrunk failure %i", async (_, history) => {
    await demandTruth(place(), history);
  });

  test(`random histories of several clients (seed ${seed})`, { timeout: testTime(600_000) }, async () => {
    const property = fc.asyncProperty(histories, async (history) => {
      await demandTruth(place(), history);
    });
    await fc.assert(property, { seed, numRuns: runs, interruptAfterTimeLimit: testTime(400_000) });
  });
});
