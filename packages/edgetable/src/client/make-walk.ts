import type { CallContext } from "../executor/session.ts";
import { runWalk, type WalkOutcome } from "../executor/walk/run-walk.ts";
import type { WalkBudget } from "../executor/walk/budget.ts";
import { plainWalk, walkOf, type PlainState } from "../executor/walk/walk-cursor.ts";
import type { WalkState as ResumedWalk } from "../executor/walk/walk-state.ts";
import type { WalkPlan } from "../ir/walk-plan.ts";
import { exactText } from "../keys/template.ts";
import type { Driver } from "./driver.ts";
import { findNode } from "./find-node.ts";
import type { WalkAsk } from "./walk-ask.ts";
import { begin, type StateForm } from "./walk-continuation.ts";
import type { WalkEnd } from "./walk-types.ts";

/** What `next` is bound to: the very walk, its start and its values. */
const queryOf = (driver: Driver, form: string, { state }: WalkAsk): string =>
  `walk|${driver.catalog.table}|${form}|${exactText([state.id, state.values])}`;

/** What a walk gave, and how it ended. */
export interface Made {
  readonly outcome: WalkOutcome;
  readonly end: WalkEnd;
}

/** A walk of which everything is known that can be before a request. */
interface Ready {
  readonly ask: WalkAsk;
  readonly form: string;
  readonly plan: WalkPlan;
  readonly budget: WalkBudget;
}

const walkStates: StateForm<ResumedWalk> = { plain: plainWalk, state: (plain) => walkOf(plain as PlainState) };

/** Makes a walk, or goes on with one. */
export const makeWalk = async (driver: Driver, { ask, form, plan, budget: whole }: Ready, context: CallContext): Promise<Made> => {
  const { state, options, paths = { limit: 0, simple: false } } = ask;
  const query = (): string => queryOf(driver, form, ask);
  const { state: from, budget, seal } = await begin(driver, { options, query, budget: whole, form: walkStates }, context);
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
  return { outcome, end: { complete: outcome.stopped === undefined, stopped: outcome.stopped, next } };
};
