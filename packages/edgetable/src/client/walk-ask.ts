import { EdgetableError } from "../errors/edgetable-error.ts";
import { Meter, type RunOptions } from "../executor/call.ts";
import type { CallContext } from "../executor/session.ts";
import type { NodeRef } from "../executor/walk/node-names.ts";
import type { WalkCollect, WalkPlan } from "../ir/walk-plan.ts";
import { planWalk } from "../planner/walk/plan-walk.ts";
import { walkForm, walkPlan, type WalkState } from "../query/walk.ts";
import { onAbort } from "../util/time.ts";
import type { Driver } from "./driver.ts";
import type { WalkOptions } from "./walk-options.ts";
import type { Row } from "../util/row.ts";

const MOST_SHOWN = 1000;
const MOST_PLANS = 500;
/** The most paths of one answer. */
export const MOST_PATHS = 100_000;
/** The most of what is counted. */
export const MOST = 1_000_000_000;

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

/** The context of a walk: it may send a million requests, of which a report shows the first and sums them all. */
export const walkContext = (driver: Driver, run: RunOptions): CallContext => ({ ...driver.context(run), meter: new Meter(MOST_SHOWN) });

/** What is worked on, or an error as soon as the signal ends it. */
export const untilAborted = async <T>(work: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> => {
  if (!signal) return work();
  let unwatch: (() => void) | undefined;
  const aborted = new Promise<never>((_, reject) => {
    const stop = (): void => reject(new EdgetableError("execute.aborted", "The walk was aborted."));
    if (signal.aborted) stop();
    else unwatch = onAbort(signal, stop);
  });
  try {
    return await Promise.race([work(), aborted]);
  } finally {
    unwatch?.();
  }
};
