import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { judge } from "./budgets.ts";
import type { Threshold } from "./budgets.ts";
import { emptyReport } from "./measure-sections.ts";
import type { Report } from "./report.ts";

const { thresholds } = JSON.parse(readFileSync(new URL("thresholds.json", import.meta.url), "utf8")) as {
  readonly thresholds: readonly Threshold[];
};
const nothing: Report = { environment: {} as Report["environment"], earlier: {}, ...emptyReport };

test("every threshold has one limit, a reason and a figure to be read", () => {
  for (const threshold of thresholds) {
    expect([threshold.atMost, threshold.atLeast].filter((limit) => limit !== undefined)).toHaveLength(1);
    expect(threshold.reason.length).toBeGreaterThan(20);
    expect(judge(threshold, nothing).held, `${threshold.id}: not measured is not held`).toBe(false);
  }
});

test("the slowest plan counts", () => {
  const plan = thresholds.find(({ id }) => id === "plan") as Threshold;
  const slow: Report = {
    ...nothing,
    plan: [
      { call: "get", form: "known", micros: 2, marshallings: 1 },
      { call: "hydrate", form: "known", micros: 3, marshallings: 5 },
      { call: "hydrate", form: "new", micros: 30, marshallings: 12 },
    ],
  };
  expect(judge(plan, slow)).toMatchObject({ measured: 5, held: false });
});
