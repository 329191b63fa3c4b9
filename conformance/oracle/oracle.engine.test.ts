import fc from "fast-check";
import { afterAll, beforeAll, describe, test } from "vitest";
import { readRuleNames } from "../../packages/edgetable/src/planner/rule-names.ts";
import { openEngine, type TestEngine } from "../engines/open-engine.ts";
import { ruleVariants, testRuns, testSeed } from "../engines/property-runs.ts";
import { inKeyOrder, realmNames } from "../hostile/names.ts";
import { undelimitedTexts, valueClasses, type Value } from "../hostile/values.ts";
import { histories, undelimitedHistories, type Command } from "./commands.ts";
import { wild, wildAdopted, withTagsAsNodes } from "./model.ts";
import { regressions } from "./regressions.ts";
import { runHistory, type Subject } from "./run-history.ts";

const seed = testSeed();
const runs = testRuns(12);

const time = 120_000 + runs * 1000;

const own = {
  layout: undefined,
  partTags: false,
  // Ids with characters below the delimiter, which only escaped keys can order.
  plain: ["a", "a b", "ab", "b!", "é#"],
  hostile: valueClasses,
  histories,
  exactOrder: true,
  variants: ruleVariants(readRuleNames),
} as const;

const layouts = [
  { ...own, name: "own layout" },
  { ...own, name: "own layout with tags that are parts", partTags: true, variants: ruleVariants([], readRuleNames) },
  {
    ...own,
    name: "adopted layout",
    layout: wildAdopted,
    plain: ["a", "b", "ab", "ba", "é"],
    hostile: undelimitedTexts.map((text) => [text]),
    histories: undelimitedHistories,
    exactOrder: false,
  },
] as const;

/** The five ids of a history: plain ones, or some that are hard to tell apart. */
type Pool = readonly (readonly Value[])[];
// Values that are easily taken for each other stand side by side.
const neighboursIn = (classes: Pool): fc.Arbitrary<Pool> =>
  fc
    .nat({ max: Math.max(0, classes.length - 8) })
    .chain((at) => fc.shuffledSubarray(classes.slice(at, at + 8), { minLength: 5, maxLength: 5 }));
const IDS = ["0", "1", "2", "3", "4"];

let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

let scopes = 0;
const nextScope = (): string => `${(scopes++).toString(36)}-`;

describe.each(layouts)(
  "the library answers as the naive graph does, $name",
  ({ layout, partTags, plain, hostile, histories, exactOrder, variants }) => {
    const plainPool: Pool = plain.map((id) => [id]);
    const pools: fc.Arbitrary<Pool> = fc.oneof(
      { weight: 1, arbitrary: fc.constant(plainPool) },
      { weight: 3, arbitrary: neighboursIn(hostile) },
    );

    describe.each(variants)("%s", (_, rulesOff) => {
      let subject: Omit<Subject, "scope" | "names">;
      beforeAll(async () => {
        const table = engine.freshTableName("oracle");
        const connected = wild(table, layout, false, partTags).connect({
          transport: engine.transport,
          cursorSecret: "oracle".padEnd(43, "-"),
          advanced: { rulesOff },
        });
        await connected.table.create();
        const db = partTags ? withTagsAsNodes(connected) : connected;
        subject = { db, ids: IDS, exactOrder };
      });
      const run = async (pool: Pool, history: readonly Command[]): Promise<void> => {
        const scope = nextScope();
        await runHistory({ ...subject, scope, names: realmNames(scope, inKeyOrder(pool)) }, history);
      };

      test.each(regressions.map((history, at) => [at, history] as const))("shrunk failure %i", async (_at, history) => {
        await run(plainPool, history);
      });

      test(`random histories (seed ${seed})`, { timeout: time }, async () => {
        const property = fc.asyncProperty(pools, histories, async (pool, history) => {
          await run(pool, history);
        });
        // A failure is told in time, shrunk as far as the time allows.
        await fc.assert(property, { seed, numRuns: runs, interruptAfterTimeLimit: time / 2, markInterruptAsFailure: true });
      });
    });
  },
);
