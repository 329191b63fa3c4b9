import fc from "fast-check";
import { afterAll, beforeAll, describe, test } from "vitest";
import { readRuleNames } from "../../packages/edgetable/src/planner/rule-names.ts";
import { openEngine, type TestEngine } from "../engines/open-engine.ts";
import { isNightly, ruleVariants, testRuns, testSeed } from "../engines/property-runs.ts";
import { findHistories } from "./find-commands.ts";
import { findable } from "./find-model.ts";
import { runFindHistory } from "./run-find-history.ts";

const seed = testSeed();
const runs = testRuns(4);
const time = 60_000 + runs * 10_000;

const growths = [[1, 2, 8, 64], [4, 16], [3, 6, 12], [64]];
// Rules do not depend on the number of shards: with one rule off, one growth is enough, except nightly.
const cases = ruleVariants(readRuleNames).map(([name, rulesOff], at) => ({
  name,
  rulesOff,
  growths: rulesOff.length === 1 && !isNightly ? [growths[at % growths.length]!] : growths,
}));

let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

const layouts = [
  { layout: "own layout", own: true },
  { layout: "adopted layout", own: false },
];

describe.each(layouts)("a search finds what a look at everything finds, $layout", ({ own }) => {
  describe.each(cases)("$name", ({ rulesOff, growths: tried }) => {
    test.each(tried.map((counts) => [counts.join(", "), counts] as const))(
      `over %s shards (seed ${seed})`,
      async (_name, counts) => {
        const property = fc.asyncProperty(findHistories, async (history) => {
          const table = engine.freshTableName("find");
          await findable(table, { counts: counts.slice(0, 1), own })
            .connect({ transport: engine.transport })
            .table.create();
          await runFindHistory({ transport: engine.transport, table, rulesOff, counts, own }, history);
          await engine.transport.send("DeleteTable", { TableName: table });
        });
        // A failure is told in time, shrunk as far as the time allows.
        await fc.assert(property, { seed, numRuns: runs, interruptAfterTimeLimit: time });
      },
      2 * time,
    );
  });
});
