import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openEngine, type TestEngine } from "../engines/open-engine.ts";
import { histories } from "./commands.ts";
import { runHistory } from "./run-history.ts";
import { sabotages } from "./sabotage.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

// Enough for each fault to show itself; the seed is fixed, so that it always does.
const sample = fc.sample(histories, { seed: 5, numRuns: 40 });

test.each(sabotages)("the checker complains when $name", { timeout: 60_000 }, async ({ sabotage, complaint }) => {
  for (const history of sample) {
    const place = { transport: engine.transport, table: engine.freshTableName("sabotage"), layout: undefined, sabotage };
    const { complaints } = await runHistory(place, history);
    if (complaints.some((one) => complaint.test(one))) return;
  }
  expect.fail("no history made the checker complain");
});
