import { isEdgetableError } from "../errors/edgetable-error.ts";
import { NO_COST } from "../executor/call.ts";
import type { CallContext } from "../executor/session.ts";
import { runWalk, type Stopped, type WalkOutcome } from "../executor/walk/run-walk.ts";
import type { CommonState, SearchAt } from "../executor/walk/search.ts";
import type { FoundPaths } from "../executor/walk/search-paths.ts";
import { openState, readState, sealState, storeState, STORED } from "../executor/walk/walk-cursor.ts";
import type { WalkBudget, WalkRequest } from "../executor/walk/walk-run.ts";
import type { WalkState as StoppedWalk } from "../executor/walk/walk-state.ts";
import type { WalkPlan } from "../ir/walk-plan.ts";
import { exactText } from "../keys/template.ts";
import { walkForm, type WalkState } from "../query/walk.ts";
import type { Secrets } from "../requests/cursor.ts";
import type { Row } from "../util/row.ts";
import type { Driver } from "./driver.ts";
import { findNode } from "./find-node.ts";
import { budgetOf, planOf, shownId, walked, type WalkAsk } from "./walk-options.ts";
import type { Walked, WalkEnd, WalkOptions } from "./walk-types.ts";

/** The beginning of a walk, or of a part that continues it. */
interface Begun<State> {
  /** The state of the earlier part; undefined at the beginning. */
  readonly state: State | undefined;
  /** What is left of the budget for walking. */
  readonly budget: WalkBudget;
  /** Ends the part: seals what is left into a cursor, if the budget has a request and time left to find the secret. */
  readonly end: (stopped: Stopped | undefined, left: State | undefined) => Promise<WalkEnd>;
}

/**
 * Begins a walk, or continues it.
 *
 * @param query what cursors are bound to; most walks need none, so it is a function
 */
const begin = async <State>(
  driver: Driver,
  { options, query }: { readonly options: WalkOptions; readonly query: () => string },
  context: CallContext,
): Promise<Begun<State>> => {
  const { session } = driver;
  const { meter } = context;
  const { cursor, storeCursor } = options;
  const budget = budgetOf(options);
  let state: State | undefined;
  // Reading a stored state is not part of the budget: a walk of one request a part would never advance.
  let apart = NO_COST;
  if (cursor !== undefined) {
    const bound = { query: query(), secrets: await driver.cursorSecret(context, false) };
    if (typeof cursor === "string" && cursor.startsWith(STORED)) {
      const before = meter.cost;
      state = (await readState(session, { cursor, bound }, context)) as State;
      apart = { ...NO_COST, requests: meter.cost.requests - before.requests, readUnits: meter.cost.readUnits - before.readUnits };
    } else state = openState(cursor, bound) as State;
  }
  const taken = (): number => meter.cost.requests - apart.requests;
  // Finding the secret must not cost a request beyond the budget. A walk without a cursor would look complete to a loop
  // over `next`. So requests are reserved, unless the budget has no room for both a step and the secret.
  const reserved = driver.secretRequests() < budget.requests ? driver.secretRequests() : 0;
  const requests = Math.max(0, budget.requests - reserved - taken());
  const seal = async (left: State): Promise<string | undefined> => {
    if (driver.secretRequests() > budget.requests - taken()) return undefined;
    let secrets: Secrets | undefined;
    try {
      secrets = await driver.cursorSecret(context, true);
    } catch (error) {
      // The answer is worth more than its cursor.
      if (isEdgetableError(error, "execute.timeout")) return undefined;
      throw error;
    }
    if (secrets === undefined) return undefined;
    const bound = { query: query(), secrets };
    const stored = storeCursor && (await storeState(session, { state: left, seconds: storeCursor.seconds, bound }, context));
    return stored ?? sealState(left, bound);
  };
  const end = async (stopped: Stopped | undefined, left: State | undefined): Promise<WalkEnd> => {
    const next = left === undefined ? undefined : await seal(left);
    return { complete: stopped === undefined, stopped, next };
  };
  return { state, budget: { ...budget, requests, readUnits: budget.readUnits + apart.readUnits }, end };
};

const requestOf = (
  driver: Driver,
  {
    state,
    plan,
    budget,
    options,
  }: { readonly state: WalkState; readonly plan: WalkPlan; readonly budget: WalkBudget; readonly options: WalkOptions },
): WalkRequest => ({
  plan,
  start: { type: state.node, id: state.id },
  values: state.values,
  budget,
  supernode: options.supernode ?? "page",
  findNode: findNode(driver),
});

/** Makes a walk, or continues it. */
export const makeWalk = async (
  driver: Driver,
  { ask, form, plan }: { readonly ask: WalkAsk; readonly form: string; readonly plan: WalkPlan },
  context: CallContext,
): Promise<{ readonly outcome: WalkOutcome; readonly end: WalkEnd }> => {
  const { state, options, paths = { limit: 0, simple: false } } = ask;
  const query = (): string => `walk|${driver.catalog.table}|${form}|${exactText([state.id, state.values])}`;
  const { state: from, budget, end } = await begin<StoppedWalk>(driver, { options, query }, context);
  const request = requestOf(driver, { state, plan, budget, options });
  const outcome = await runWalk(driver.session, request, { context, state: from, paths });
  return { outcome, end: await end(outcome.stopped, outcome.state) };
};

const collect = { kind: "ids" } as const;

/** Which common neighbours are searched for. */
export interface CommonAsk {
  readonly node: string;
  /** The first node's hop. */
  readonly hop: WalkState;
  /** The same hop, only to nodes that all nodes before have in common. */
  readonly among: WalkState;
  readonly others: readonly Row[];
  readonly options: WalkOptions;
}

/** Searches for the common neighbours of some nodes, or continues a search. */
export const readCommon = async (driver: Driver, ask: CommonAsk, context: CallContext): Promise<Walked<Row>> => {
  const { node, hop, among, others, options } = ask;
  const { commonNeighbours } = await import("../executor/walk/search.ts");
  const query = (): string => `common|${driver.catalog.table}|${walkForm(hop, collect)}|${exactText([hop.id, others, hop.values])}`;
  const { state, budget, end } = await begin<CommonState>(driver, { options, query }, context);
  const request = requestOf(driver, { state: among, plan: planOf(driver, { state: among, collect }), budget, options });
  const nodes = [hop.id, ...others].map((id) => ({ type: node, id }));
  const found = await commonNeighbours({ request, nodes }, { session: driver.session, context, state });
  const items = found.ids.map((ref) => shownId(ref, hop.at.length > 1));
  return walked(items, await end(found.stopped, found.state));
};

/** Between which nodes paths are searched for, and which of them. */
export interface PathAsk {
  readonly forward: WalkState;
  readonly backward: WalkState;
  readonly depth: number;
  readonly limit: number;
  /** Any one of the shortest, all of the shortest, or all. */
  readonly which: "one" | "shortest" | "all";
  readonly options: WalkOptions;
}

/** Searches for paths between two nodes, or continues a search. */
export const readPaths = async (driver: Driver, ask: PathAsk, context: CallContext): Promise<Walked<readonly Row[]>> => {
  const { forward, backward, depth, limit, which, options } = ask;
  const { catalog, session } = driver;
  const { allPaths, shortestPaths } = await import("../executor/walk/search-paths.ts");
  const query = (): string => {
    const values = exactText([forward.id, backward.node, backward.id, forward.values]);
    return `paths|${catalog.table}|${which}|${depth}|${walkForm(forward, collect)}|${values}`;
  };
  const { state, budget, end } = await begin<unknown>(driver, { options, query }, context);
  const sideOf = (side: WalkState): WalkRequest =>
    requestOf(driver, { state: side, plan: planOf(driver, { state: side, collect }), budget, options });
  const smallerSide = !driver.rulesOff.has("smaller-side");
  const search = { forward: sideOf(forward), backward: sideOf(backward), depth, limit, smallerSide };
  const at: SearchAt<never> = { session, context, state: state as never };
  const found: FoundPaths = await (which === "all" ? allPaths(search, at) : shortestPaths(search, at));
  // A caller that wants one path does not need to know that there are others.
  const stopped = which === "one" && found.stopped?.by === "limit" ? undefined : found.stopped;
  const several = Object.keys(catalog.nodes).length > 1;
  const items = found.paths.map((path) => path.map((ref) => shownId(ref, several)));
  return walked(items, await end(stopped, stopped && found.state));
};
