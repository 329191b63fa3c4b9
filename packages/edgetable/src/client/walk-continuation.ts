import { isEdgetableError } from "../errors/edgetable-error.ts";
import type { Secrets } from "../requests/cursor.ts";
import type { CallContext } from "../executor/session.ts";
import type { WalkBudget } from "../executor/walk/budget.ts";
import { openState, sealState, STORED } from "../executor/walk/seal-state.ts";
import { NO_COST } from "../executor/call.ts";
import type { Driver } from "./driver.ts";
import type { WalkOptions } from "./walk-options.ts";

/** What a walk goes on from, and how it leaves what is left. */
export interface Continuation<State> {
  readonly options: Pick<WalkOptions, "cursor" | "storeCursor">;
  /** What cursors are bound to; most walks have none. */
  readonly query: () => string;
  readonly budget: WalkBudget;
  readonly form: StateForm<State>;
}

/** How a kind of state becomes what can be sealed (plain data, Maps and Sets), and comes out of it. */
export interface StateForm<State> {
  readonly plain: (state: State) => unknown;
  readonly state: (plain: unknown) => State;
}

export interface Begun<State> {
  /** Of an earlier answer; undefined at the beginning. */
  readonly state: State | undefined;
  /** What is left of the budget for walking. */
  readonly budget: WalkBudget;
  /** The cursor of what is left; undefined where the budget has no request or no time left for finding the secret. */
  readonly seal: (left: State) => Promise<string | undefined>;
}

// What was found is worth more than a way on: the secret's requests may come too late for the deadline.
const secretsInTime = async (driver: Driver, context: CallContext): Promise<Secrets | undefined> => {
  try {
    return await driver.cursorSecret(context, true);
  } catch (error) {
    if (isEdgetableError(error, "execute.timeout")) return undefined;
    throw error;
  }
};

/** A state that is sealed as it is. */
export const plainForm = <State>(): StateForm<State> => ({ plain: (state) => state, state: (plain) => plain as State });

/** Begins a walk where an earlier answer ended, or anew. */
export const begin = async <State>(
  driver: Driver,
  { options: { cursor, storeCursor }, query, budget, form }: Continuation<State>,
  context: CallContext,
): Promise<Begun<State>> => {
  const { session } = driver;
  const { meter } = context;
  // What reading a stored state takes is not of the budget: a walk of one request a part would never move.
  let apart = NO_COST;
  const open = async (from: string): Promise<State> => {
    const bound = { query: query(), secrets: await driver.cursorSecret(context, false) };
    if (typeof from !== "string" || !from.startsWith(STORED)) return form.state(openState(from, bound));
    const before = meter.cost;
    const { readState } = await import("../executor/walk/stored-state.ts");
    const plain = await readState(session, { cursor: from, bound }, context);
    apart = { ...NO_COST, requests: meter.cost.requests - before.requests, readUnits: meter.cost.readUnits - before.readUnits };
    return form.state(plain);
  };
  const state = cursor === undefined ? undefined : await open(cursor);
  const taken = (): number => meter.cost.requests - apart.requests;
  // Sealing a cursor must not cost a request beyond the budget. A walk that could not be gone on with would be taken
  // for a whole one by a loop over `next`: only what has no room for both a step and the secret is spent on walking.
  const reserve = driver.secretRequests() < budget.requests ? driver.secretRequests() : 0;
  const requests = Math.max(0, budget.requests - reserve - taken());
  const seal = async (left: State): Promise<string | undefined> => {
    if (driver.secretRequests() > budget.requests - taken()) return undefined;
    const secrets = await secretsInTime(driver, context);
    if (secrets === undefined) return undefined;
    const bound = { query: query(), secrets };
    const plain = form.plain(left);
    if (storeCursor === undefined) return sealState(plain, bound);
    const { storeState } = await import("../executor/walk/stored-state.ts");
    const short = await storeState(session, { state: plain, seconds: storeCursor.seconds, bound }, context);
    // What was found is worth more than a short cursor.
    return short ?? sealState(plain, bound);
  };
  return { state, budget: { ...budget, requests, readUnits: budget.readUnits + apart.readUnits }, seal };
};
