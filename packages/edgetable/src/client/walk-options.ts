import type { WalkBudget } from "../executor/walk/walk-run.ts";
import type { NodeRef } from "../executor/walk/walk-state.ts";
import type { WalkCollect, WalkPlan } from "../ir/walk-plan.ts";
import { planWalk } from "../planner/walk/plan-walk.ts";
import { walkForm, walkPlan, type WalkState } from "../query/walk.ts";
import { checkOptions, type OptionChecks, inRange } from "../util/check-options.ts";
import type { Row } from "../util/row.ts";
import type { Driver } from "./driver.ts";
import type { GroupOptions, LevelOptions, PathOptions, PathsOptions, StoreCursor, Walked, WalkEnd, WalkOptions } from "./walk-types.ts";

/** Upper bound of counts in options. */
export const MAX_COUNT = 1_000_000_000;
const MAX_PATHS = 100_000;
const MAX_STORED_SECONDS = 2_592_000;

/** What the options of every walk may be. */
export const walkOptions: OptionChecks<WalkOptions> = {
  budget: {
    requests: [1, MAX_COUNT],
    units: [1, MAX_COUNT],
    breadth: [1, MAX_COUNT],
    depth: [1, MAX_COUNT],
    time: [1, 86_400_000],
    memory: [1000, 1_000_000_000_000],
  },
  supernode: ["page", "sample", "refuse"],
  cursor: undefined,
  storeCursor: (given: StoreCursor, name: string) =>
    inRange(`${name}.seconds`, checkOptions(given, { seconds: undefined }, name).seconds, [1, MAX_STORED_SECONDS]),
};

/** What further options may be, for groups, levels, the paths of a walk, and paths between two nodes. */
export const groupOptions: OptionChecks<GroupOptions> = { ...walkOptions, top: [1, MAX_COUNT] };
export const levelOptions: OptionChecks<LevelOptions> = { ...walkOptions, sum: "string" };
export const pathOptions: OptionChecks<PathOptions> = { ...walkOptions, limit: [1, MAX_PATHS], simple: "boolean" };
export const pathsOptions: OptionChecks<PathsOptions> = { ...walkOptions, limit: [1, MAX_PATHS], depth: [1, MAX_COUNT] };

/** The options of a walk, by what it collects. */
export const optionsOf: { readonly [Kind in WalkCollect["kind"]]?: OptionChecks<WalkOptions> } = {
  groups: groupOptions,
  fold: groupOptions,
  levels: levelOptions,
  paths: pathOptions,
};

/** The whole budget of a walk. */
export const budgetOf = ({ budget = {} }: WalkOptions): WalkBudget => {
  const unbounded = Number.POSITIVE_INFINITY;
  const { requests = 1000, units = unbounded, breadth = 10_000, depth = unbounded, time = unbounded, memory = 250_000_000 } = budget;
  return { requests, readUnits: units, breadth, depth, time, memory };
};

/** What a walk asks for. */
export interface WalkAsk {
  readonly state: WalkState;
  readonly collect: WalkCollect;
  readonly options: WalkOptions;
  readonly paths?: { readonly limit: number; readonly simple: boolean };
}

const MAX_PLANS = 500;

const plansOf = new WeakMap<Driver, Map<string, WalkPlan>>();

/** The plan of a walk, made once for its form. */
export const planOf = (
  driver: Driver,
  { state, collect }: Pick<WalkAsk, "state" | "collect">,
  form: string = walkForm(state, collect),
): WalkPlan => {
  let plans = plansOf.get(driver);
  if (!plans || plans.size >= MAX_PLANS) plansOf.set(driver, (plans = new Map()));
  let plan = plans.get(form);
  if (!plan) plans.set(form, (plan = planWalk({ catalog: driver.catalog, off: driver.rulesOff }, walkPlan(state, collect))));
  return plan;
};

/** An id as a caller sees it: with its type if nodes of several types may come. */
export const shownId = ({ type, id }: NodeRef, several: boolean): Row => (several ? { type, ...id } : id);

/** An answer that can be iterated. */
export const walked = <T>(items: readonly T[], end: WalkEnd): Walked<T> =>
  Object.defineProperty({ items, ...end }, Symbol.iterator, { value: () => items[Symbol.iterator](), enumerable: false }) as Walked<T>;
