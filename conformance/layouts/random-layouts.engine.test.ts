import { afterAll, beforeAll, test } from "vitest";
import { openEngine, type TestEngine } from "../engines/open-engine.ts";
import { testRuns, testSeed } from "../engines/property-runs.ts";
import { runHistory } from "./run-history.ts";

const seed = testSeed();
const runs = testRuns(40);
const STEPS = 30;

let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

test(
  `random adopted layouts answer as plain maps do (seed ${seed})`,
  async () => {
    for (let at = 0; at < runs; at++) await runHistory(engine, seed + at, STEPS);
  },
  60_000 + runs * 10_000,
);
