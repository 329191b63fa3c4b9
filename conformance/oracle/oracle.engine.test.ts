import fc from "fast-check";
import { afterAll, beforeAll, describe, test } from "vitest";
import { readRuleNames } from "../../packages/edgetable/src/planner/rule-names.ts";
import { openEngine, type TestEngine } from "../engines/open-engine.ts";
import { histories } from "./commands.ts";
import { adopted, social } from "./model.ts";
import { regressions } from "./regressions.ts";
import { runHistory, type Subject } from "./run-history.ts";

const seed = Number(process.env["EDGETABLE_SEED"] ?? Date.now() % 1_000_000);
const runs = Number(process.env["EDGETABLE_RUNS"] ?? 20);

const time = 120_000 + runs * 1000;
const variants: readonly (readonly [string, readonly string[]])[] = [
  ["with every rule", []],
  ["with no rule", readRuleNames],
  ...readRuleNames.map((name) => [`without ${name}`, [name]] as const),
];

const layouts = [
  // Ids with characters below the delimiter, which only escaped keys can order.
  { name: "own layout", layout: undefined, ids: ["a", "a b", "ab", "b!", "é#"], exactOrder: true },
  { name: "adopted layout", layout: adopted, ids: ["a", "b", "ab", "ba", "é"], exactOrder: false },
] as const;

let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

let scopes = 0;
const nextScope = (): string => `${(scopes++).toString(36)}-`;

describe.each(layouts)("the library answers as the naive graph does, $name", ({ layout, ids, exactOrder }) => {
  describe.each(variants)("%s", (_, rulesOff) => {
    let subject: Omit<Subject, "scope">;
    beforeAll(async () => {
      const table = engine.freshTableName("oracle");
      const db = social(table, layout).connect({ transport: engine.transport, cursorSecret: "oracle", rulesOff });
      await db.table.create();
      subject = { db, ids, exactOrder };
    });

    test.each(regressions.map((history, at) => [at, history] as const))("shrunk failure %i", async (_at, history) => {
      await runHistory({ ...subject, scope: nextScope() }, history);
    });

    test(`random histories (seed ${seed})`, { timeout: time }, async () => {
      const property = fc.asyncProperty(histories, async (history) => {
        await runHistory({ ...subject, scope: nextScope() }, history);
      });
      // A failure is told in time, shrunk as far as the time allows.
      await fc.assert(property, { seed, numRuns: runs, interruptAfterTimeLimit: time / 2, markInterruptAsFailure: true });
    });
  });
});
