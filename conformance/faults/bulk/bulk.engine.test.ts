import fc from "fast-check";
import { afterAll, beforeAll, test } from "vitest";
import { openEngine, type TestEngine } from "../../engines/open-engine.ts";
import { testRuns, testSeed } from "../../engines/property-runs.ts";
import type { Place } from "../clients.ts";
import { bulkHistories } from "./commands.ts";
import { regressions } from "./regressions.ts";
import { demandBulk } from "./run-bulk.ts";

const seed = testSeed();
const runs = testRuns(20);

let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

const place = (): Place => ({ transport: engine.transport, table: engine.freshTableName("bulk"), layout: undefined });

test.each(regressions.map((history, at) => [at, history] as const))("shrunk failure %i", async (_, history) => {
  await demandBulk(place(), history);
});

// More runs have more time.
const patience = Math.max(400_000, runs * 20_000);

test(`batches, loads and jobs of several clients under production's weather (seed ${seed})`, { timeout: patience + 200_000 }, async () => {
  const property = fc.asyncProperty(bulkHistories, async (history) => {
    await demandBulk(place(), history);
  });
  await fc.assert(property, { seed, numRuns: runs, interruptAfterTimeLimit: patience });
});
