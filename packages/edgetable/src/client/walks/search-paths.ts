import type { CallContext } from "../../executor/session.ts";
import { allPaths } from "../../executor/walk/all-paths.ts";
import { shortestPaths } from "../../executor/walk/shortest-paths.ts";
import type { FoundPaths, PathSearch, SearchAt } from "../../executor/walk/path-search.ts";
import type { WalkBudget } from "../../executor/walk/budget.ts";
import { walkForm, type WalkState } from "../../query/walk.ts";
import { exactText } from "../../keys/template.ts";
import type { Driver } from "../driver.ts";
import { findNode } from "../find-node.ts";
import { planOf, shownId } from "../walk-ask.ts";
import { begin, plainForm } from "../walk-continuation.ts";
import { budgetOf, type WalkOptions } from "../walk-options.ts";
import type { Walked } from "../walk-types.ts";
import { walked } from "../walked.ts";
import type { Row } from "../../util/row.ts";

/** Between which nodes paths are looked for, and which of them. */
export interface PathAsk {
  readonly forward: WalkState;
  readonly backward: WalkState;
  readonly depth: number;
  readonly limit: number;
  /** Any one of the shortest, all of the shortest, or all. */
  readonly which: "one" | "shortest" | "all";
  readonly options: WalkOptions;
}

const collect = { kind: "ids" } as const;

const searchOf = (driver: Driver, ask: PathAsk, budget: WalkBudget): PathSearch => {
  const request = (state: WalkState): PathSearch["forward"] => ({
    plan: planOf(driver, { state, collect }),
    start: { type: state.node, id: state.id },
    values: state.values,
    budget,
    supernode: ask.options.supernode ?? "page",
    findNode: findNode(driver),
  });
  const { depth, limit, forward, backward } = ask;
  return { forward: request(forward), backward: request(backward), depth, limit, smallerSide: !driver.rulesOff.has("smaller-side") };
};

/** What `next` is bound to: the ends, the edge and what is asked of it, and how long a path may be. */
const queryOf = ({ catalog }: Driver, { forward, backward, depth, which }: PathAsk): string => {
  const form = walkForm(forward, collect);
  return `paths|${catalog.table}|${which}|${depth}|${form}|${exactText([forward.id, backward.node, backward.id, forward.values])}`;
};

const run = async (which: PathAsk["which"], search: PathSearch, at: SearchAt<never>): Promise<FoundPaths> => {
  if (which === "all") return allPaths(search, at);
  return shortestPaths(search, at);
};

/** Looks for paths, or goes on looking. */
export const searchPaths = async (driver: Driver, ask: PathAsk, context: CallContext): Promise<Walked<readonly Row[]>> => {
  const { options } = ask;
  const asked = { options, query: () => queryOf(driver, ask), budget: budgetOf(options), form: plainForm() };
  const { state, budget, seal } = await begin(driver, asked, context);
  const found = await run(ask.which, searchOf(driver, ask, budget), { session: driver.session, context, state: state as never });
  // Whoever asks for one path is not told that there are others.
  const isEnough = ask.which === "one" && found.stopped?.by === "limit";
  const stopped = isEnough ? undefined : found.stopped;
  const next = stopped && found.state ? await seal(found.state) : undefined;
  const several = Object.keys(driver.catalog.nodes).length > 1;
  const items = found.paths.map((path) => path.map((ref) => shownId(ref, several)));
  return walked(items, { complete: stopped === undefined, stopped, next });
};
