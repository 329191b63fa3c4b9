import { EdgetableError, isEdgetableError } from "../errors/edgetable-error.ts";
import { createCall, type Report, type RunOptions } from "../executor/call.ts";
import { Meter } from "../executor/meter.ts";
import type { CallContext } from "../executor/session.ts";
import type { NodeRef } from "../executor/walk/node-names.ts";
import type { WalkOutcome } from "../executor/walk/run-walk.ts";
import type { WalkState as ResumedWalk } from "../executor/walk/walk-state.ts";
import type { WalkBudget } from "../executor/walk/budget.ts";
import type { WalkCollect, WalkPlan } from "../ir/walk-plan.ts";
import { planWalk } from "../planner/walk/plan-walk.ts";
import { walkForm, walkPlan, type WalkState } from "../query/walk.ts";
import { loadOnce } from "../util/load-once.ts";
import type { Driver } from "./driver.ts";
import { findNode } from "./find-node.ts";
import { explainWalk, type WalkExplanation } from "./walk-explanation.ts";
import { budgetOf, type WalkOptions } from "./walk-options.ts";
import type { WalkCall, WalkEnd } from "./walk-types.ts";

type Row = Readonly<Record<string, unknown>>;

// A walk may send a million requests; a report shows the first, and sums them all.
const MOST_SHOWN = 1000;
const MOST_PLANS = 500;

const plansOf = new WeakMap<Driver, Map<string, WalkPlan>>();

/** The plan of a walk, made once for its form. */
export const planOf = (
  driver: Driver,
  { state, collect }: Pick<WalkAsk, "state" | "collect">,
  form: string = walkForm(state, collect),
): WalkPlan => {
  let plans = plansOf.get(driver);
  if (!plans || plans.size >= MOST_PLANS) plansOf.set(driver, (plans = new Map()));
  let plan = plans.get(form);
  if (!plan) plans.set(form, (plan = planWalk({ catalog: driver.catalog, off: driver.rulesOff }, walkPlan(state, collect))));
  return plan;
};

/** An id as a caller sees it: with its type where nodes of several may come. */
export const shownId = ({ type, id }: NodeRef, several: boolean): Row => (several ? { type, ...id } : id);

export interface WalkAsk {
  readonly state: WalkState;
  readonly collect: WalkCollect;
  readonly options: WalkOptions;
  readonly paths?: { readonly limit: number; readonly simple: boolean };
  /** What is left of a budget that several walks share: a part of a unit or of a millisecond, too. */
  readonly left?: WalkBudget;
}

/** What `next` is bound to: the very walk, its start and its values. */
const queryOf = (driver: Driver, form: string, { state }: WalkAsk): string =>
  `walk|${driver.catalog.table}|${form}|${JSON.stringify([state.id, state.values], (_, value: unknown) =>
    typeof value === "bigint" ? `${value}n` : value,
  )}`;

interface Made {
  readonly outcome: WalkOutcome;
  readonly end: WalkEnd;
  readonly context: CallContext;
}

/** A walk of which everything is known that can be before a request. */
interface Ready {
  readonly ask: WalkAsk;
  readonly form: string;
  readonly plan: WalkPlan;
  readonly budget: WalkBudget;
}

const loadRun = loadOnce(() => import("../executor/walk/run-walk.ts"));
// Most walks neither come from a cursor nor leave one.
const loadCursor = loadOnce(() => import("../executor/walk/walk-cursor.ts"));

const resumed = async (driver: Driver, { ask, form }: Ready, context: CallContext): Promise<ResumedWalk | undefined> => {
  const { cursor } = ask.options;
  if (cursor === undefined) return undefined;
  const { openWalk } = await loadCursor();
  return openWalk(cursor, queryOf(driver, form, ask), await driver.cursorSecret(context, false));
};

/** Requests for each one that finding the secret takes, below which the walk comes first and ends without a cursor. */
const SMALL_BUDGET = 4;

const walk = async (driver: Driver, ready: Ready, context: CallContext): Promise<Made> => {
  const { plan, budget, ask } = ready;
  const { state, options, paths = { limit: 0, simple: false } } = ask;
  const { runWalk } = await loadRun();
  const from = await resumed(driver, ready, context);
  // Sealing a cursor must not cost a request beyond the budget, and a small budget is for walking.
  const reserve = driver.secretRequests() * SMALL_BUDGET <= budget.requests ? driver.secretRequests() : 0;
  const kept = Math.max(0, budget.requests - reserve - context.meter.cost.requests);
  const request = {
    plan,
    start: { type: state.node, id: state.id },
    values: state.values,
    budget: { ...budget, requests: kept },
    supernode: options.supernode ?? "page",
    findNode: findNode(driver),
  } as const;
  const outcome = await runWalk(driver.session, request, { context, state: from, paths });
  const next = outcome.state && (await sealed(driver, ready, { context, left: outcome.state }));
  return { outcome, end: { complete: outcome.stopped === undefined, stopped: outcome.stopped, next }, context };
};

// What was found is worth more than a way on: the secret's requests may come too late for the deadline.
const secretInTime = async (driver: Driver, context: CallContext): Promise<string | undefined> => {
  try {
    return await driver.cursorSecret(context, true);
  } catch (error) {
    if (isEdgetableError(error, "execute.timeout")) return undefined;
    throw error;
  }
};

// Where the budget has no request or no time left for finding the secret, a walk ends without a cursor.
const sealed = async (
  driver: Driver,
  { ask, form, budget }: Ready,
  { context, left }: { readonly context: CallContext; readonly left: ResumedWalk },
): Promise<string | undefined> => {
  if (driver.secretRequests() > budget.requests - context.meter.cost.requests) return undefined;
  const secret = await secretInTime(driver, context);
  if (secret === undefined) return undefined;
  const { sealWalk } = await loadCursor();
  return sealWalk(left, queryOf(driver, form, ask), secret);
};

export const untilAborted = async <T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> => {
  if (!signal) return work;
  let stop = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(new EdgetableError("execute.aborted", "The walk was aborted."));
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
};

/** A call that makes a walk and gives what `give` makes of its outcome. */
export const walkCall = <T>(driver: Driver, ask: WalkAsk, give: (outcome: WalkOutcome, end: WalkEnd) => T): WalkCall<T> => {
  const form = walkForm(ask.state, ask.collect);
  const plan = planOf(driver, ask, form);
  const budget = ask.left ?? budgetOf(ask.options.budget);
  const explain = (): WalkExplanation =>
    explainWalk(driver.catalog, { plan, id: ask.state.id, values: ask.state.values, breadth: budget.breadth });
  const make = async (run: RunOptions): Promise<Report<T>> => {
    const context: CallContext = { ...driver.context(run), meter: new Meter(MOST_SHOWN) };
    const { outcome, end } = await untilAborted(walk(driver, { ask, form, plan, budget }, context), run.signal);
    const several = new Set(outcome.missing.map(({ type }) => type)).size > 1;
    return {
      value: give(outcome, end),
      cost: context.meter.cost,
      requests: context.meter.requests,
      missing: outcome.missing.map((ref) => shownId(ref, several)),
    };
  };
  return createCall(explain, make);
};
