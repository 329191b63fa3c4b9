import { createCall, reportOf, type Report, type RunOptions } from "../../executor/call.ts";
import { listOf } from "../../util/check-options.ts";
import { planOf, untilAborted, walkContext } from "../walk-ask.ts";
import { loadExplanation } from "../walk-call.ts";
import type { WalkExplanation } from "../walk-explanation.ts";
import { budgetOf } from "../walk-options.ts";
import type { WalkCall, Walked } from "../walk-types.ts";
import type { CommonSearch } from "./read-common-neighbours.ts";
import type { Row } from "../../util/row.ts";

const collect = { kind: "ids" } as const;

const explainAll = async ({ start, hop, options }: CommonSearch, ids: readonly Row[]): Promise<WalkExplanation> => {
  const { explainWalk } = await loadExplanation();
  const { driver, node, from } = start;
  const { breadth } = budgetOf(options);
  const each = ids.map((id) => {
    const { state } = from(node, id).hop(hop);
    return explainWalk(driver.catalog, {
      plan: planOf(driver, { state, collect }),
      id,
      values: state.values,
      breadth,
      livingAt: driver.context({}).livingAt,
      storeCursor: options.storeCursor,
    });
  });
  const [first] = each as [WalkExplanation];
  const sum = (of: keyof WalkExplanation["cost"]): number => each.reduce((units, { cost }) => units + cost[of], 0);
  return {
    ...first,
    requests: each.flatMap(({ requests }) => requests),
    cost: { requests: sum("requests"), readUnits: sum("readUnits") },
  };
};

/** Nodes that are neighbours of this one and of every other. */
export const common = (search: CommonSearch, others: readonly Row[]): WalkCall<Walked<Row>> => {
  const { driver, node, id, from } = search.start;
  // What is wrong with a node is told at once.
  budgetOf(search.options);
  from(node, id).hop(search.hop);
  for (const one of listOf(others)) from(node, one).hop(search.hop);
  const make = async (run: RunOptions): Promise<Report<Walked<Row>>> => {
    const context = walkContext(driver, run);
    const value = await untilAborted(
      async () => (await import("./read-common-neighbours.ts")).readCommon(search, others, context),
      run.signal,
    );
    return reportOf(value, context.meter);
  };
  return createCall(() => explainAll(search, [id, ...others]), make);
};
