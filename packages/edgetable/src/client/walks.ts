import { deferCall } from "../executor/call.ts";
import type { WalkState } from "../query/walk.ts";
import { checkEnd } from "../schema/check-values.ts";
import { checkOptions, listOf } from "../util/check-options.ts";
import type { Row } from "../util/row.ts";
import type { Driver } from "./driver.ts";
import type { CommonAsk, PathAsk } from "./make-walk.ts";
import { MAX_COUNT, pathsOptions, walkOptions } from "./walk-options.ts";
import { continuable, loadMaking, type AnyHop, type WalkQuery } from "./walk.ts";
import type { PathsOptions, Reached, WalkCall, Walked, WalkOptions } from "./walk-types.ts";

/** A node with the beginning of every walk from it. */
export interface Start {
  readonly driver: Driver;
  readonly node: string;
  readonly id: Row;
  /** Begins a walk from a node of the given type. */
  readonly from: (node: string, id: Row) => WalkQuery;
}

/** Searches for paths from a node to another: the shortest, or all that visit no node twice. */
export const paths = (
  { driver, node, id, from }: Start,
  hop: AnyHop,
  { to, which, options }: { readonly to: Row; readonly which: PathAsk["which"]; readonly options: PathsOptions },
): WalkCall<Walked<readonly Row[]>> => {
  checkOptions(options, pathsOptions);
  const { limit = which === "all" ? 1000 : 100, depth = MAX_COUNT, ...rest } = options;
  const forward: WalkState = from(node, id).closure(hop).state;
  const target = checkEnd(driver.catalog, forward.at, to);
  // The same edge in the other direction. Node conditions are those of the nodes to which the hop itself leads.
  const { out, in: back, both, where } = hop;
  const turned: AnyHop = { ...(out && { in: out }), ...(back && { out: back }), ...(both && { both }), ...(where && { where }) };
  const backward = from(target.type, target.id).closure(turned).state;
  const ask: PathAsk = { forward, backward, depth, limit, which, options: rest };
  return continuable(rest, (given) => deferCall(loadMaking, ({ pathsCall }) => pathsCall(driver, { ...ask, options: given })));
};

/** The neighbours' neighbours that are not neighbours of this node, those with the most common neighbours first. */
export const suggest = (
  { node, id, from }: Start,
  hop: AnyHop,
  options?: WalkOptions & { readonly top: number },
): WalkCall<Walked<Reached<Row>>> =>
  from(node, id)
    .hop(hop)
    .hop(hop)
    .except("passed")
    .top(options?.top as number, options);

/** The nodes that are neighbours of this one and of every other. */
export const common = (
  { driver, node, id, from }: Start,
  hop: AnyHop,
  { others, options }: { readonly others: readonly Row[]; readonly options: WalkOptions },
): WalkCall<Walked<Row>> => {
  checkOptions(options, walkOptions);
  const first = from(node, id).hop(hop);
  const checked = listOf(others).map((one) => checkEnd(driver.catalog, [node], one).id);
  const walks = [first, ...checked.map((one) => from(node, one).hop(hop))];
  const states = walks.map(({ state }) => state);
  const ask: CommonAsk = { node, hop: first.state, among: first.among([]).state, others: checked, options };
  return continuable(options, (given) => deferCall(loadMaking, ({ commonCall }) => commonCall(driver, { ...ask, options: given }, states)));
};
