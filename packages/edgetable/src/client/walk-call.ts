import { EdgetableError } from "../errors/edgetable-error.ts";
import { createCall, reportOf, type Report, type RunOptions } from "../executor/call.ts";
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
import { onAbort } from "../util/on-abort.ts";
import type { Driver } from "./driver.ts";
import { findNode } from "./find-node.ts";
import { begin, type StateSeal } from "./walk-continuation.ts";
import { explainWalk, type WalkExplanation } from "./walk-explanation.ts";
import { budgetOf, type WalkOptions } from "./walk-options.ts";
import type { WalkCall, WalkEnd } from "./walk-types.ts";
import { jsonText } from "../util/json-text.ts";

type Row = Readonly<Record<string, unknown>>;

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
}

/** What `next` is bound to: the very walk, its start and its values. */
const queryOf = (driver: Driver, form: string, { state }: WalkAsk): string =>
  `walk|${driver.catalog.table}|${form}|${jsonText([state.id, state.values])}`;

/** The context of a walk: it may send a million requests, of which a report shows the first and sums them all. */
export const walkContext = (driver: Driver, run: RunOptions): CallContext => ({ ...driver.context(run), meter: new Meter(MOST_SHOWN) });

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

const loadCursor = loadOnce(() => import("../executor/walk/walk-cursor.ts"));
const loadRun = loadOnce(() => import("../executor/walk/run-walk.ts"));
const loadSeal = async (): Promise<StateSeal<ResumedWalk>> => {
  const { sealWalk, openWalk } = await loadCursor();
  return { seal: sealWalk, open: openWalk };
};

const walk = async (driver: Driver, { ask, form, plan, budget: whole }: Ready, context: CallContext): Promise<Made> => {
  const { state, options, paths = { limit: 0, simple: false } } = ask;
  const { runWalk } = await loadRun();
  const query = (): string => queryOf(driver, form, ask);
  const { state: from, budget, seal } = await begin(driver, { cursor: options.cursor, query, budget: whole, load: loadSeal }, context);
  const request = {
    plan,
    start: { type: state.node, id: state.id },
    values: state.values,
    budget,
    supernode: options.supernode ?? "page",
    findNode: findNode(driver),
  } as const;
  const outcome = await runWalk(driver.session, request, { context, state: from, paths });
  const next = outcome.state && (await seal(outcome.state));
  return { outcome, end: { complete: outcome.stopped === undefined, stopped: outcome.stopped, next }, context };
};

export const untilAborted = async <T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> => {
  if (!signal) return work;
  let unwatch: (() => void) | undefined;
  const aborted = new Promise<never>((_, reject) => {
    const stop = (): void => reject(new EdgetableError("execute.aborted", "The walk was aborted."));
    if (signal.aborted) stop();
    else unwatch = onAbort(signal, stop);
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    unwatch?.();
  }
};

/** A call that makes a walk and gives what `give` makes of its outcome. */
export const walkCall = <T>(driver: Driver, ask: WalkAsk, give: (outcome: WalkOutcome, end: WalkEnd) => T): WalkCall<T> => {
  const form = walkForm(ask.state, ask.collect);
  const plan = planOf(driver, ask, form);
  const budget = budgetOf(ask.options);
  const explain = (): WalkExplanation =>
    explainWalk(driver.catalog, { plan, id: ask.state.id, values: ask.state.values, breadth: budget.breadth });
  const make = async (run: RunOptions): Promise<Report<T>> => {
    const context = walkContext(driver, run);
    const { outcome, end } = await untilAborted(walk(driver, { ask, form, plan, budget }, context), run.signal);
    const several = new Set(outcome.missing.map(({ type }) => type)).size > 1;
    const missing = outcome.missing.map((ref) => shownId(ref, several));
    return reportOf(give(outcome, end), context.meter, missing);
  };
  return createCall(explain, make);
};
