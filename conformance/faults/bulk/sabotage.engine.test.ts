import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openEngine, type TestEngine } from "../../engines/open-engine.ts";
import { bulkHistories } from "./commands.ts";
import { runBulk } from "./run-bulk.ts";
import { sabotages } from "./sabotage.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

// Enough for each fault to show itself; the seed is fixed, so that it always does.
const sample = fc.sample(bulkHistories, { seed: 5, numRuns: 40 }).map((history) => ({ ...history, notes: 0 }));

test.each(sabotages)("the checker complains when $name", { timeout: 120_000 }, async ({ sabotage, complaint }) => {
  for (const history of sample) {
    const { complaints } = await runBulk(
      { transport: engine.transport, table: engine.freshTableName("bulk"), layout: undefined, sabotage },
      history,
    );
    if (complaints.some((one) => complaint.test(one))) return;
  }
  expect.fail("no history made the checker complain");
});
