import { createCall, reportOf, type Report, type RunOptions } from "../executor/call.ts";
import type { WalkOutcome } from "../executor/walk/run-walk.ts";
import type { WalkCollect } from "../ir/walk-plan.ts";
import { walkForm } from "../query/walk.ts";
import type { OptionChecks } from "../util/check-options.ts";
import { loadOnce } from "../util/load-once.ts";
import type { Driver } from "./driver.ts";
import type { Made } from "./make-walk.ts";
import { MOST, MOST_PATHS, planOf, shownId, untilAborted, walkContext, type WalkAsk } from "./walk-ask.ts";
import type * as Explanation from "./walk-explanation.ts";
import { budgetOf, walkKinds, type WalkOptions } from "./walk-options.ts";
import type { GroupOptions, LevelOptions, PathOptions, WalkCall, WalkEnd } from "./walk-types.ts";

/** What the options may be where groups, levels and paths are asked for. */
export const groupKinds: OptionChecks<GroupOptions> = { ...walkKinds, top: [1, MOST] };
export const levelKinds: OptionChecks<LevelOptions> = { ...walkKinds, sum: "string" };
export const pathKinds: OptionChecks<PathOptions> = { ...walkKinds, limit: [1, MOST_PATHS], simple: "boolean" };

const kindsOf: { readonly [Kind in WalkCollect["kind"]]?: OptionChecks<WalkOptions> } = {
  groups: groupKinds,
  fold: groupKinds,
  levels: levelKinds,
  paths: pathKinds,
};

// Most programs read one hop at a time: those that walk load how.
const making = loadOnce(() => import("./make-walk.ts"));

/** Loads the explanation of walks. */
export const loadExplanation: () => typeof Explanation | Promise<typeof Explanation> = loadOnce(
  async () => import("./walk-explanation.ts"),
);

/** A call that makes a walk and gives what `give` makes of its outcome. */
export const walkCall = <T>(driver: Driver, ask: WalkAsk, give: (outcome: WalkOutcome, end: WalkEnd) => T): WalkCall<T> => {
  const form = walkForm(ask.state, ask.collect);
  const plan = planOf(driver, ask, form);
  const budget = budgetOf(ask.options, kindsOf[ask.collect.kind]);
  const explain = async (): Promise<Explanation.WalkExplanation> =>
    (await loadExplanation()).explainWalk(driver.catalog, {
      plan,
      id: ask.state.id,
      values: ask.state.values,
      breadth: budget.breadth,
      livingAt: driver.context({}).livingAt,
      storeCursor: ask.options.storeCursor,
    });
  const make = async (run: RunOptions): Promise<Report<T>> => {
    const context = walkContext(driver, run);
    const work = async (): Promise<Made> => (await making()).makeWalk(driver, { ask, form, plan, budget }, context);
    const { outcome, end } = await untilAborted(work, run.signal);
    const several = new Set(outcome.missing.map(({ type }) => type)).size > 1;
    const missing = outcome.missing.map((ref) => shownId(ref, several));
    return reportOf(give(outcome, end), context.meter, missing);
  };
  return createCall(explain, make);
};
