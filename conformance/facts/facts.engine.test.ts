import { afterAll, beforeAll, expect, test } from "vitest";
import { openEngine, type TestEngine } from "../engines/open-engine.ts";
import { testRuns, testSeed } from "../engines/property-runs.ts";
import { openWorld, runHistory, type Sabotage } from "./run-history.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

const first = testSeed();
const runs = testRuns(20);

test(
  `facts are right after ${runs} random histories (seed ${first})`,
  async () => {
    const world = await openWorld(engine);
    for (let at = 0; at < runs; at++) {
      const { wrong, log } = await runHistory(world, { seed: first + at, writes: 25 });
      expect(wrong, `seed ${first + at}:\n${log.slice(-400).join("\n")}`).toEqual([]);
    }
  },
  runs * 30_000,
);

type Fields = Readonly<Record<string, unknown>> & {
  readonly ConditionExpression?: string;
  readonly ExpressionAttributeNames?: Readonly<Record<string, string>>;
};
interface Transaction {
  readonly TransactItems: readonly { readonly Update?: Fields }[];
}
const isMemo = ({ ExpressionAttributeNames = {} }: Fields): boolean => Object.values(ExpressionAttributeNames).includes("~contribution");

/** A memo is written whatever its revision. Rarer faults are found by the simulation in conformance/streams. */
const withoutRevisions: Sabotage = (operation, input) => {
  if (operation !== "TransactWriteItems") return input;
  const TransactItems = (input as Transaction).TransactItems.map(({ Update, ...others }) => {
    if (!Update || !isMemo(Update)) return { ...others, ...(Update && { Update }) };
    const either = `(${Update.ConditionExpression ?? ""}) OR attribute_exists(pk) OR attribute_not_exists(pk)`;
    return { Update: { ...Update, ConditionExpression: either } };
  });
  return { ...input, TransactItems };
};

test("memos that are written whatever their revision are found", async () => {
  const world = await openWorld(engine);
  for (let at = 0; at < 100; at++) {
    const { wrong } = await runHistory(world, { seed: first + 10_000 + at, writes: 25, sabotage: withoutRevisions });
    expect(wrong).not.toContain("the processors never come to rest");
    if (wrong.length > 0) return;
  }
  throw new Error("100 histories were right all the same");
}, 300_000);
