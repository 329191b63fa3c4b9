import fc from "fast-check";
import { afterAll, beforeAll, describe, test } from "vitest";
import { ruleNames, walkRuleNames } from "../../packages/edgetable/src/planner/rule-names.ts";
import { openEngine, type TestEngine } from "../engines/open-engine.ts";
import { isNightly, ruleVariants, testRuns, testSeed } from "../engines/property-runs.ts";
import { wild, wildAdopted, withTagsAsNodes } from "../oracle/model.ts";
import type { Db } from "./ask.ts";
import { cases, checkCase } from "./check-graph.ts";
import { regressions } from "./regressions.ts";
import { scopeOf } from "./node-ids.ts";
import { slowed } from "./slow-engine.ts";

const seed = testSeed();
const runs = testRuns(8);

// More runs have more time.
const time = 60_000 + runs * 4_000;

let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

let scopes = 0;

const layouts = [
  { name: "own layout", layout: undefined, partTags: false, variants: ruleVariants(walkRuleNames, ruleNames) },
  { name: "own layout with tags that are parts", layout: undefined, partTags: true, variants: ruleVariants([], ruleNames) },
  { name: "adopted layout", layout: wildAdopted, partTags: false, variants: ruleVariants(walkRuleNames, ruleNames) },
] as const;

describe.each(layouts)("walks answer as the naive evaluator does, $name", ({ layout, partTags, variants }) => {
  describe.each(variants)("%s", (_, rulesOff) => {
    let db: Db;
    beforeAll(async () => {
      const connected = wild(engine.freshTableName("walks"), layout, false, partTags).connect({
        ...slowed(engine.transport, rulesOff),
        cursorSecret: "walks".padEnd(43, "-"),
      }) as Db;
      await connected.table.create();
      db = partTags ? withTagsAsNodes(connected) : connected;
    });

    // No past failure depended on a single rule: with one rule off, they are replayed nightly only.
    const replayed = rulesOff.length === 1 && !isNightly ? [] : regressions;
    test.each(replayed.map((one, at) => [at, one] as const))("shrunk failure %i", async (_at, one) => {
      await checkCase(db, scopeOf(scopes++, layout === undefined), one);
    });

    test(`random graphs and walks (seed ${seed})`, { timeout: 2 * time }, async () => {
      const property = fc.asyncProperty(cases(true), async (one) => {
        await checkCase(db, scopeOf(scopes++, layout === undefined), one);
      });
      // A failure is told in time, shrunk as far as the time allows.
      await fc.assert(property, { seed, numRuns: runs, interruptAfterTimeLimit: time, markInterruptAsFailure: true });
    });
  });
});
