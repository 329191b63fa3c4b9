import { isEdgetableError } from "../errors/edgetable-error.ts";
import type { CallContext } from "../executor/session.ts";
import type { WalkBudget } from "../executor/walk/budget.ts";
import { openState, sealState, type Bound } from "../executor/walk/seal-state.ts";
import type { Driver } from "./driver.ts";

/** What a walk goes on from, and how it leaves what is left. */
export interface Continuation {
  readonly cursor: string | undefined;
  /** What cursors are bound to; most walks have none. */
  readonly query: () => string;
  readonly budget: WalkBudget;
}

/** How a kind of state becomes a cursor and comes out of one. */
export interface StateSeal<State> {
  readonly seal: (state: State, bound: Bound) => string;
  /** @throws {cursor.invalid} */
  readonly open: (cursor: string, bound: Bound<string | undefined>) => State;
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
const secretInTime = async (driver: Driver, context: CallContext): Promise<string | undefined> => {
  try {
    return await driver.cursorSecret(context, true);
  } catch (error) {
    if (isEdgetableError(error, "execute.timeout")) return undefined;
    throw error;
  }
};

/** Seals a state as it is: plain data, Maps and Sets. */
export const plainSeal = <State>(): StateSeal<State> => ({ seal: sealState, open: openState as StateSeal<State>["open"] });

/** Begins a walk where an earlier answer ended, or anew. */
export const begin = async <State>(
  driver: Driver,
  { cursor, query, budget, sealing }: Continuation & { readonly sealing: StateSeal<State> },
  context: CallContext,
): Promise<Begun<State>> => {
  const state =
    cursor === undefined ? undefined : sealing.open(cursor, { query: query(), secret: await driver.cursorSecret(context, false) });
  // Sealing a cursor must not cost a request beyond the budget. A walk that could not be gone on with would be taken
  // for a whole one by a loop over `next`: only what has no room for both a step and the secret is spent on walking.
  const reserve = driver.secretRequests() < budget.requests ? driver.secretRequests() : 0;
  const requests = Math.max(0, budget.requests - reserve - context.meter.cost.requests);
  const seal = async (left: State): Promise<string | undefined> => {
    if (driver.secretRequests() > budget.requests - context.meter.cost.requests) return undefined;
    const secret = await secretInTime(driver, context);
    return secret === undefined ? undefined : sealing.seal(left, { query: query(), secret });
  };
  return { state, budget: { ...budget, requests }, seal };
};
