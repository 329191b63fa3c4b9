import { EdgetableError, isEdgetableError } from "../errors/edgetable-error.ts";
import type { Amount } from "../executor/amount.ts";
import { type Call, createCall, Meter, NO_COST, reportOf, type RunOptions } from "../executor/call.ts";
import type { CallContext } from "../executor/session.ts";
import { runWalk, type Stopped, type WalkOutcome } from "../executor/walk/run-walk.ts";
import type { ReadRequest } from "../executor/run-read.ts";
import type { CommonState, FoundPaths, SearchAt } from "../executor/walk/path-search.ts";
import { openState, readState, sealState, storeState, STORED } from "../executor/walk/walk-cursor.ts";
import type { WalkBudget, WalkRequest } from "../executor/walk/walk-run.ts";
import type { NodeRef, Tally, WalkState as StoppedWalk } from "../executor/walk/walk-state.ts";
import type { KeptStep, ReadPlan } from "../ir/physical-plan.ts";
import type { FoldedAttributes, WalkPlan } from "../ir/walk-plan.ts";
import { exactText } from "../keys/template.ts";
import { keptByType } from "../planner/kept-counts.ts";
import { planWalk } from "../planner/walk/plan-walk.ts";
import { type WalkState, type KeptByType, walkForm, walkPlan } from "../query/walk.ts";
import { widenWalk } from "../query/widen-conditions.ts";
import { checkGiven, type Secrets } from "../requests/cursor.ts";
import type { Row } from "../util/row.ts";
import { onAbort } from "../util/time.ts";
import { onlySelected } from "./check-names.ts";
import type { Driver } from "./driver.ts";
import { explainRead } from "./explanation.ts";
import { findNode, parserOf } from "./read-call.ts";
import type { WalkExplanation } from "./walk-explanation.ts";
import type { WalkAsk } from "./walk-options.ts";
import type { Aggregates, GroupOptions, Walked, WalkEnd, WalkOptions } from "./walk-types.ts";

const MAX_PLANS = 500;

const plansOf = new WeakMap<Driver, Map<string, WalkPlan>>();

/** The plan of a walk, made once for its form. */
export const planOf = (
  driver: Driver,
  {
    state: given,
    collect,
    kept,
    search,
  }: Pick<WalkAsk, "state" | "collect"> & { readonly kept?: KeptByType | undefined; readonly search?: ReadPlan | undefined },
): WalkPlan => {
  const state = widenWalk(driver.catalog, given);
  const walk = walkForm(state, collect);
  const form = kept || search ? `${walk}${JSON.stringify([kept, search])}` : walk;
  let plans = plansOf.get(driver);
  if (!plans || plans.size >= MAX_PLANS) plansOf.set(driver, (plans = new Map()));
  let plan = plans.get(form);
  if (!plan)
    plans.set(form, (plan = planWalk({ catalog: driver.catalog, off: driver.rulesOff }, walkPlan(state, collect, { kept, search }))));
  return plan;
};

/** An id as a caller sees it, with its type if the walk may end on several types. */
const shownId = ({ type, id }: NodeRef, several: boolean): Row => (several ? { type, ...id } : id);

/** An answer that can be iterated. */
const walked = <T>(items: readonly T[], end: WalkEnd): Walked<T> =>
  Object.defineProperty({ items, ...end }, Symbol.iterator, { value: () => items[Symbol.iterator](), enumerable: false }) as Walked<T>;

/** The whole budget of a walk. */
const budgetOf = ({ budget = {} }: WalkOptions): WalkBudget => {
  const unbounded = Number.POSITIVE_INFINITY;
  const { requests = 1000, units = unbounded, breadth = 10_000, depth = unbounded, time = unbounded, memory = 250_000_000 } = budget;
  return { requests, readUnits: units, breadth, depth, time, memory };
};

/** The beginning of a walk, or of a part that continues it. */
interface Begun<State> {
  /** The state of the earlier part; undefined at the beginning. */
  readonly state: State | undefined;
  /** The rest of the budget, for walking. */
  readonly budget: WalkBudget;
  /** Ends the part: seals the rest of the walk into a cursor, if the budget still has a request and time to read the secret. */
  readonly end: (stopped: Stopped | undefined, left: State | undefined) => Promise<WalkEnd>;
}

/**
 * Begins a walk, or continues it.
 *
 * @param query returns the query that cursors are bound to; a function, because most walks make no cursor
 */
const beginWalk = async <State>(
  driver: Driver,
  { options, query }: { readonly options: WalkOptions; readonly query: () => string },
  context: CallContext,
): Promise<Begun<State>> => {
  const { session } = driver;
  const { meter } = context;
  const { cursor, storeCursor } = options;
  const budget = budgetOf(options);
  let state: State | undefined;
  // Reading a stored state is not part of the budget. Otherwise a walk with a budget of one request would never advance.
  let apart = NO_COST;
  if (cursor !== undefined) {
    checkGiven(cursor, "part of the walk");
    const bound = { query: query(), secrets: await driver.cursorSecret(context, false) };
    if (cursor.startsWith(STORED)) {
      const before = meter.cost;
      state = (await readState(session, { cursor, bound }, context)) as State;
      apart = { ...NO_COST, requests: meter.cost.requests - before.requests, readUnits: meter.cost.readUnits - before.readUnits };
    } else state = openState(cursor, bound) as State;
  }
  const taken = (): number => meter.cost.requests - apart.requests;
  // Reading the secret must not exceed the budget, and to a loop over `next` a walk without a cursor would look complete. So
  // requests are reserved for the secret, unless the budget has no room for both a step and the secret.
  const reserved = driver.secretRequests() < budget.requests ? driver.secretRequests() : 0;
  const requests = Math.max(0, budget.requests - reserved - taken());
  const seal = async (left: State): Promise<string | undefined> => {
    if (driver.secretRequests() > budget.requests - taken()) return undefined;
    let secrets: Secrets | undefined;
    try {
      secrets = await driver.cursorSecret(context, true);
    } catch (error) {
      // If the secret cannot be read in time, the answer has no cursor.
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

export const requestOf = (
  driver: Driver,
  {
    state,
    plan,
    budget,
    options,
    search,
  }: {
    readonly search?: ReadRequest | undefined;
    readonly state: WalkState;
    readonly plan: WalkPlan;
    readonly budget: WalkBudget;
    readonly options: WalkOptions;
  },
): WalkRequest => ({
  plan,
  start: { type: state.node, id: state.id },
  values: widenWalk(driver.catalog, state).values,
  budget,
  supernode: options.supernode ?? "page",
  findNode: findNode(driver),
  search,
});

/** The search at whose rows a walk starts. */
export const searchOf = async (driver: Driver, { search }: WalkState, context?: CallContext): Promise<ReadRequest | undefined> => {
  if (!search) return undefined;
  const { startRequest } = await import("./search-call.ts");
  return startRequest(driver, search, context);
};

/** A walk may send a million requests. A report lists the first of them and counts all. */
const MAX_SHOWN = 1000;

interface Made<T> {
  readonly value: T;
  readonly missing?: readonly Row[];
  readonly kept?: readonly KeptStep[];
}

/** Runs a function over a walk, and rejects as soon as the signal is aborted. */
const untilAborted = async <T>(signal: AbortSignal | undefined, made: () => Promise<Made<T>>): Promise<Made<T>> => {
  if (!signal) return made();
  let unwatch: (() => void) | undefined;
  const aborted = new Promise<never>((_, reject) => {
    const stop = (): void => reject(new EdgetableError("execute.aborted", "The walk was aborted."));
    if (signal.aborted) stop();
    else unwatch = onAbort(signal, stop);
  });
  try {
    return await Promise.race([made(), aborted]);
  } finally {
    unwatch?.();
  }
};

const callOf = <T>(
  driver: Driver,
  explain: () => Promise<WalkExplanation>,
  make: (context: CallContext) => Promise<Made<T>>,
): Call<T, WalkExplanation> =>
  createCall(explain, async (run: RunOptions) => {
    const context: CallContext = { ...driver.context(run), meter: new Meter(MAX_SHOWN) };
    const { value, missing, kept } = await untilAborted(run.signal, () => make(context));
    const report = reportOf(value, context.meter, missing);
    return kept ? { ...report, kept } : report;
  });

/**
 * The attributes that may replace counting the edges of a walk's last hop. With `supernode` "sample" or "refuse" there are none,
 * because these need the edges.
 */
const keptOf = ({ catalog, rulesOff }: Driver, { state, collect, options, kept = "none" }: WalkAsk): KeptByType | undefined =>
  rulesOff.has("use-kept-counts") || (options.supernode ?? "page") !== "page"
    ? undefined
    : keptByType(catalog, { steps: state.steps, values: state.values, collect }, kept);

export const explainAsk = async (driver: Driver, ask: WalkAsk): Promise<WalkExplanation> => {
  const { state, collect, options } = ask;
  const request = await searchOf(driver, state);
  const plan = planOf(driver, { state, collect, kept: keptOf(driver, ask), search: request?.plan });
  const { explainWalk } = await import("./walk-explanation.ts");
  const wide = widenWalk(driver.catalog, state);
  const { id, values } = wide;
  const { livingAt } = driver.context({});
  const search = request && explainRead(driver.catalog, { ...request, livingAt });
  return explainWalk(driver.catalog, {
    logical: walkPlan(wide, collect),
    plan,
    id,
    values,
    search,
    breadth: budgetOf(options).breadth,
    livingAt,
    storeCursor: options.storeCursor,
  });
};

/** The same attributes, if the table's record lists them as complete. */
const completeOf = async ({ session }: Driver, kept: KeptByType | undefined, context: CallContext): Promise<KeptByType | undefined> => {
  if (!kept) return undefined;
  const { isComplete } = await import("../executor/kept-counts.ts");
  return (await isComplete(session, Object.values(kept), context)) ? kept : undefined;
};

/** The items by their figures, highest first, and `top` of them at most. Equal figures keep the order in which nodes were reached. */
const topOf = <Item extends object>(
  items: readonly Item[],
  top: number | undefined,
  figureOf: (item: Item) => Amount | undefined,
): readonly Item[] => {
  const lowest = Number.NEGATIVE_INFINITY;
  const ordered = items.toSorted((a, b) => {
    const [first, second] = [figureOf(a) ?? lowest, figureOf(b) ?? lowest];
    return first < second ? 1 : first > second ? -1 : 0;
  });
  return top === undefined ? ordered : ordered.slice(0, top);
};

interface ShownTally extends Aggregates<string> {
  readonly values: readonly unknown[];
}

/** The figures of a group as a caller sees them. */
const shownTally = ({ sum, min, max, average }: FoldedAttributes, values: readonly unknown[], { count, fields }: Tally): ShownTally => {
  const of = <T>(names: readonly string[], figure: (name: string) => T): { readonly [name: string]: T } =>
    Object.fromEntries(names.map((name) => [name, figure(name)]));
  return {
    values,
    count,
    sum: of(sum, (name) => fields.get(name)?.sum ?? 0),
    min: of(min, (name) => fields.get(name)?.min),
    max: of(max, (name) => fields.get(name)?.max),
    average: of(average, (name) => {
      const field = fields.get(name);
      return field && Number(field.sum) / Number(field.count);
    }),
  };
};

/** The answer of a walk as a caller sees it. */
const answerOf = (
  { catalog }: Driver,
  { state, collect, options, ranked }: WalkAsk,
  { outcome, end }: { readonly outcome: WalkOutcome; readonly end: WalkEnd },
): unknown => {
  const several = (ranked ?? state.at).length > 1;
  const { top } = options as GroupOptions;
  switch (collect.kind) {
    case "ids":
      return walked(
        outcome.ids.map((ref) => shownId(ref, several)),
        end,
      );
    case "nodes":
      return walked(
        outcome.rows.map((node) => {
          const { select } = collect;
          return select && several ? { ...node, row: onlySelected(select, node["row"] as Row) } : onlySelected(select, node);
        }),
        end,
      );
    case "count":
      return { count: outcome.total, ...end };
    case "groups": {
      const items = outcome.groups.map(({ node, paths: { count } }) => {
        const reached = { id: shownId(node, several), count };
        return ranked ? { ...reached, value: count } : reached;
      });
      return walked(
        topOf(items, top, ({ count }) => count),
        end,
      );
    }
    case "fold": {
      const items = outcome.groups.map(({ node, paths: { count, value } }) => ({ id: shownId(node, several), count, value }));
      return walked(ranked || top !== undefined ? topOf(items, top, ({ value }) => value) : items, end);
    }
    case "levels": {
      const items = outcome.levels.map(({ level, nodes, paths }) => {
        const found = { level, nodes, edges: paths.count };
        return collect.field === undefined ? found : { ...found, sum: paths.value ?? 0 };
      });
      return walked(items, end);
    }
    case "aggregate": {
      const items = outcome.tallies.map(({ values, tally }) => shownTally(collect.folded, values, tally));
      const figures = items.map(({ values, ...rest }) => ({
        group: Object.fromEntries(collect.by.map((name, at) => [name, values[at]])),
        ...rest,
      }));
      if (collect.by.length > 0)
        return walked(
          topOf(figures, top, ({ count }) => count),
          end,
        );
      const [all = shownTally(collect.folded, [], { count: 0, fields: new Map() })] = items;
      const { values: _none, ...rest } = all;
      return { ...rest, ...end };
    }
    case "paths": {
      const typed = Object.keys(catalog.ends).length > 1;
      const items = outcome.paths.map((path) => path.map((ref) => shownId(ref, typed)));
      return walked(items, end);
    }
  }
};

// A continuation refers to a Query by its position in the plan. The model's expectations decide whether one Query reads several
// edge types, so cursors are bound to these sources.
const sourcesOf = ({ steps }: WalkPlan): readonly string[] =>
  steps.flatMap((step) => {
    if (step.kind === "search") return step.reading.sources.map((source) => (source.kind === "query" ? (source.index ?? "") : ""));
    if (step.kind !== "hop" || step.edges.length === 1) return [];
    return Object.values(step.reading).flatMap((plan) => plan.sources.map((source) => source.shapes.join()));
  });

/** A call that makes a walk, or continues it. */
export const walkCall = (driver: Driver, ask: WalkAsk): Call<unknown, WalkExplanation> =>
  callOf(
    driver,
    () => explainAsk(driver, ask),
    async (context) => {
      const { state, collect, options, paths = { limit: 0, simple: false } } = ask;
      const form = walkForm(state, collect);
      const kept = await completeOf(driver, keptOf(driver, ask), context);
      const search = await searchOf(driver, state, context);
      const plan = planOf(driver, { state, collect, kept, search: search?.plan });
      const query = (): string =>
        `walk|${driver.catalog.table}|${form}|${exactText([state.id, state.values, ...(search ? [search.binding.values] : []), ...sourcesOf(plan)])}`;
      const { state: from, budget, end } = await beginWalk<StoppedWalk>(driver, { options, query }, context);
      const request = requestOf(driver, { state, plan, budget, options, search });
      const parse = collect.kind === "nodes" ? await parserOf(driver, context) : undefined;
      const outcome = await runWalk(driver.session, parse ? { ...request, parse } : request, {
        context,
        state: from,
        paths,
      });
      const value = answerOf(driver, ask, { outcome, end: await end(outcome.stopped, outcome.state) });
      const several = new Set(outcome.missing.map(({ type }) => type)).size > 1;
      const missing = outcome.missing.map((ref) => shownId(ref, several));
      return kept ? { value, missing, kept: Object.values(kept) } : { value, missing };
    },
  );

const collect = { kind: "ids" } as const;

/** A search for common neighbours. */
export interface CommonAsk {
  readonly node: string;
  /** The first node's hop. */
  readonly hop: WalkState;
  /** The same hop, but only to the nodes that all previous nodes have in common. */
  readonly among: WalkState;
  readonly others: readonly Row[];
  readonly options: WalkOptions;
}

/** A call that searches for the common neighbours of some nodes, or continues a search. */
export const commonCall = (driver: Driver, ask: CommonAsk, walks: readonly WalkState[]): Call<Walked<Row>, WalkExplanation> =>
  callOf(
    driver,
    async () => {
      const each = await Promise.all(walks.map((state) => explainAsk(driver, { state, collect, options: ask.options })));
      const [explained] = each as [WalkExplanation];
      const cost = { requests: 0, readUnits: 0 };
      for (const one of each) {
        cost.requests += one.cost.requests;
        cost.readUnits += one.cost.readUnits;
      }
      return { ...explained, requests: each.flatMap(({ requests }) => requests), cost };
    },
    async (context) => {
      const { node, hop, among, others, options } = ask;
      const { commonNeighbours } = await import("../executor/walk/path-search.ts");
      const query = (): string => `common|${driver.catalog.table}|${walkForm(hop, collect)}|${exactText([hop.id, others, hop.values])}`;
      const { state, budget, end } = await beginWalk<CommonState>(driver, { options, query }, context);
      const request = requestOf(driver, { state: among, plan: planOf(driver, { state: among, collect }), budget, options });
      const nodes = [hop.id, ...others].map((id) => ({ type: node, id }));
      const found = await commonNeighbours({ request, nodes }, { session: driver.session, context, state });
      const items = found.ids.map((ref) => shownId(ref, hop.at.length > 1));
      return { value: walked(items, await end(found.stopped, found.state)) };
    },
  );

/** A search for paths: between which nodes, and which paths. */
export interface PathAsk {
  readonly forward: WalkState;
  readonly backward: WalkState;
  readonly depth: number;
  readonly limit: number;
  /** Any one of the shortest, all of the shortest, or all. */
  readonly which: "one" | "shortest" | "all";
  readonly options: WalkOptions;
}

/** A call that searches for paths between two nodes, or continues a search. */
export const pathsCall = (driver: Driver, ask: PathAsk): Call<Walked<readonly Row[]>, WalkExplanation> =>
  callOf(
    driver,
    () => explainAsk(driver, { state: ask.forward, collect, options: ask.options }),
    async (context) => {
      const { forward, backward, depth, limit, which, options } = ask;
      const { catalog, session } = driver;
      const { allPaths, shortestPaths } = await import("../executor/walk/path-search.ts");
      const query = (): string => {
        const values = exactText([forward.id, backward.node, backward.id, forward.values]);
        return `paths|${catalog.table}|${which}|${depth}|${walkForm(forward, collect)}|${values}`;
      };
      const { state, budget, end } = await beginWalk<unknown>(driver, { options, query }, context);
      const sideOf = (side: WalkState): WalkRequest =>
        requestOf(driver, { state: side, plan: planOf(driver, { state: side, collect }), budget, options });
      const smallerSide = !driver.rulesOff.has("smaller-side");
      const search = { forward: sideOf(forward), backward: sideOf(backward), depth, limit, any: which === "one", smallerSide };
      const at: SearchAt<never> = { session, context, state: state as never };
      const found: FoundPaths = await (which === "all" ? allPaths(search, at) : shortestPaths(search, at));
      // A caller that wants one path is not told that there are others.
      const stopped = which === "one" && found.stopped?.by === "limit" ? undefined : found.stopped;
      const several = Object.keys(catalog.ends).length > 1;
      const items = found.paths.map((path) => path.map((ref) => shownId(ref, several)));
      return { value: walked(items, await end(stopped, stopped && found.state)) };
    },
  );
