import fc from "fast-check";
import { afterAll, beforeAll, describe, test } from "vitest";
import { readRuleNames } from "../../packages/edgetable/src/planner/rule-names.ts";
import { openEngine, type TestEngine } from "../engines/open-engine.ts";
import { findHistories } from "./find-commands.ts";
import { findable } from "./find-model.ts";
import { runFindHistory } from "./run-find-history.ts";

const seed = Number(process.env["EDGETABLE_SEED"] ?? Date.now() % 1_000_000);
const runs = Number(process.env["EDGETABLE_RUNS"] ?? 20);

const variants: readonly (readonly [string, readonly string[]])[] = [
  ["with every rule", []],
  ["with no rule", readRuleNames],
  ...readRuleNames.map((name) => [`without ${name}`, [name]] as const),
];
const growths = [[1, 2, 8, 64], [4, 16], [3, 6, 12], [64]];

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
  describe.each(variants)("%s", (_, rulesOff) => {
    test.each(growths.map((counts) => [counts.join(", "), counts] as const))(
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
        await fc.assert(property, { seed, numRuns: Math.max(1, Math.ceil(runs / 5)), interruptAfterTimeLimit: 60_000 });
      },
      120_000,
    );
  });
});
