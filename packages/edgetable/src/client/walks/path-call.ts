import { createCall, type Report, type RunOptions } from "../../executor/call.ts";
import { Meter } from "../../executor/meter.ts";
import type { CallContext } from "../../executor/session.ts";
import type { FoundPaths, PathSearch } from "../../executor/walk/shortest-paths.ts";
import type { WalkState } from "../../query/walk.ts";
import type { Driver } from "../driver.ts";
import { findNode } from "../find-node.ts";
import { planOf, shownId, untilAborted } from "../walk-call.ts";
import { explainWalk } from "../walk-explanation.ts";
import { budgetOf, type WalkOptions } from "../walk-options.ts";
import type { WalkCall, Walked } from "../walk-types.ts";
import { walked } from "../walked.ts";

type Row = Readonly<Record<string, unknown>>;

export interface PathAsk {
  readonly forward: WalkState;
  readonly backward: WalkState;
  readonly depth: number;
  readonly limit: number;
  /** Any one of the shortest, all of the shortest, or all. */
  readonly which: "one" | "shortest" | "all";
  readonly options: WalkOptions;
}

const MOST_SHOWN = 1000;

const search = async (driver: Driver, ask: PathAsk, context: CallContext): Promise<FoundPaths> => {
  const { shortestPaths } = await import("../../executor/walk/shortest-paths.ts");
  const { allPaths } = await import("../../executor/walk/all-paths.ts");
  const request = (state: WalkState): PathSearch["forward"] => ({
    plan: planOf(driver, { state, collect: { kind: "ids" } }),
    start: { type: state.node, id: state.id },
    values: state.values,
    budget: budgetOf(ask.options.budget),
    // A path of which an edge was left out would not be known to be the shortest.
    supernode: ask.options.supernode ?? "page",
    findNode: findNode(driver),
  });
  const { depth, limit } = ask;
  const smallerSide = !driver.rulesOff.has("smaller-side");
  const both: PathSearch = { forward: request(ask.forward), backward: request(ask.backward), depth, limit, smallerSide };
  return ask.which === "all" ? allPaths(driver.session, both, context) : shortestPaths(driver.session, both, context);
};

/** A call that looks for paths between two nodes. */
export const pathCall = (driver: Driver, ask: PathAsk): WalkCall<Walked<readonly Row[]>> => {
  const plan = planOf(driver, { state: ask.forward, collect: { kind: "ids" } });
  const { breadth } = budgetOf(ask.options.budget);
  const several = Object.keys(driver.catalog.nodes).length > 1;
  const make = async (run: RunOptions): Promise<Report<Walked<readonly Row[]>>> => {
    const context: CallContext = { ...driver.context(run), meter: new Meter(MOST_SHOWN) };
    const { paths, stopped: why } = await untilAborted(search(driver, ask, context), run.signal);
    // Whoever asks for one path is not told that there are others.
    const stopped = ask.which === "one" && why?.by === "limit" ? undefined : why;
    const items = paths.map((path) => path.map((ref) => shownId(ref, several)));
    const value = walked(items, { complete: stopped === undefined, stopped, next: undefined });
    return { value, cost: context.meter.cost, requests: context.meter.requests, missing: [] };
  };
  return createCall(() => explainWalk(driver.catalog, { plan, id: ask.forward.id, values: ask.forward.values, breadth }), make);
};
