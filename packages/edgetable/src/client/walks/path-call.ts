import { createCall, reportOf, type Report, type RunOptions } from "../../executor/call.ts";
import type { Driver } from "../driver.ts";
import { planOf, untilAborted, walkContext } from "../walk-ask.ts";
import { loadExplanation } from "../walk-call.ts";
import type { WalkExplanation } from "../walk-explanation.ts";
import { budgetOf } from "../walk-options.ts";
import type { WalkCall, Walked } from "../walk-types.ts";
import type { PathAsk } from "./search-paths.ts";
import type { Row } from "../../util/row.ts";

const collect = { kind: "ids" } as const;

/** A call that looks for paths between two nodes. */
export const pathCall = (driver: Driver, ask: PathAsk): WalkCall<Walked<readonly Row[]>> => {
  const plan = planOf(driver, { state: ask.forward, collect });
  const { breadth } = budgetOf(ask.options);
  const make = async (options: RunOptions): Promise<Report<Walked<readonly Row[]>>> => {
    const context = walkContext(driver, options);
    const value = await untilAborted(async () => (await import("./search-paths.ts")).searchPaths(driver, ask, context), options.signal);
    return reportOf(value, context.meter);
  };
  const explain = async (): Promise<WalkExplanation> =>
    (await loadExplanation()).explainWalk(driver.catalog, {
      plan,
      id: ask.forward.id,
      values: ask.forward.values,
      breadth,
      livingAt: driver.context({}).livingAt,
      storeCursor: ask.options.storeCursor,
    });
  return createCall(explain, make);
};
