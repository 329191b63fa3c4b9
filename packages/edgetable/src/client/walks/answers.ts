import { createCall, type Report, type RunOptions } from "../../executor/call.ts";
import type { WalkState } from "../../query/walk.ts";
import { checkEnd } from "../../schema/edge-end.ts";
import { inRange } from "../../util/check-range.ts";
import type { Driver } from "../driver.ts";
import type { AnyHop, WalkQuery } from "../walk.ts";
import type { WalkOptions } from "../walk-options.ts";
import type { PathsOptions, Reached, WalkCall, Walked } from "../walk-types.ts";
import { walked } from "../walked.ts";
import { pathCall } from "./path-call.ts";

type Row = Readonly<Record<string, unknown>>;

/** A node with the beginning of every walk from it. */
export interface Start {
  readonly driver: Driver;
  readonly node: string;
  readonly id: Row;
  /** A walk from a node of the given type. */
  readonly from: (node: string, id: Row) => WalkQuery;
}

const MOST_PATHS = 100_000;
const MOST_HOPS = 1_000_000_000;

/** The same edge, gone along the other way. */
const turned = ({ out, in: back, both, ...rest }: AnyHop): AnyHop => ({
  ...rest,
  ...(out === undefined ? {} : { in: out }),
  ...(back === undefined ? {} : { out: back }),
  ...(both === undefined ? {} : { both }),
});

const here = ({ from, node, id }: Start): WalkQuery => from(node, id);

/** Paths from a node to another: the shortest, or all that come to no node twice. */
export const paths = (
  start: Start,
  hop: AnyHop,
  { to, all, options }: { readonly to: Row; readonly all: boolean; readonly options: PathsOptions },
): WalkCall<Walked<readonly Row[]>> => {
  const { limit = all ? 1000 : 100, depth = MOST_HOPS, ...rest } = options;
  const forward: WalkState = here(start).closure(hop).state;
  const target = checkEnd(start.driver.catalog, forward.at, to);
  const backward = start.from(target.type, target.id).closure(turned(hop)).state;
  inRange("limit", limit, [1, MOST_PATHS]);
  inRange("depth", depth, [1, MOST_HOPS]);
  return pathCall(start.driver, { forward, backward, depth, limit, all, options: rest });
};

/** Nodes that are neighbours of this one and of every other. */
export const common = (
  start: Start,
  hop: AnyHop,
  { others, options }: { readonly others: readonly Row[]; readonly options: WalkOptions },
): WalkCall<Walked<Row>> => {
  const calls = [start.id, ...others].map((id) => start.from(start.node, id).hop(hop).ids(options));
  const [first] = calls;
  const make = async (run: RunOptions): Promise<Report<Walked<Row>>> => {
    const reports = await Promise.all(calls.map((call) => call.report(run)));
    const lists = reports.map(({ value }) => new Set(value.items.map((id) => JSON.stringify(id))));
    const items = (reports[0]?.value.items ?? []).filter((id) => lists.every((list) => list.has(JSON.stringify(id))));
    const stopped = reports.find(({ value }) => value.stopped)?.value.stopped;
    const sum = (pick: (report: Report<unknown>) => number): number => reports.reduce((total, report) => total + pick(report), 0);
    return {
      value: walked(items, { complete: stopped === undefined, stopped, next: undefined }),
      cost: { requests: sum((one) => one.cost.requests), readUnits: sum((one) => one.cost.readUnits), writeUnits: 0 },
      requests: reports.flatMap((report) => report.requests),
      missing: [],
    };
  };
  return createCall(() => first!.explain(), make);
};

/** Whom the neighbours know and this node does not, those with most neighbours in common first. */
export const suggest = (start: Start, hop: AnyHop, options: WalkOptions & { readonly top: number }): WalkCall<Walked<Reached<Row>>> =>
  here(start).hop(hop).hop(hop).except("passed").top(options.top, options);
