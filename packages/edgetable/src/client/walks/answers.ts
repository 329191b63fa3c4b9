import type { WalkState } from "../../query/walk.ts";
import { checkEnd } from "../../schema/check-id.ts";
import type { OptionChecks } from "../../util/check-options.ts";
import type { Driver } from "../driver.ts";
import type { AnyHop, WalkQuery } from "../walk.ts";
import { MOST, MOST_PATHS } from "../walk-ask.ts";
import { budgetOf, walkKinds, type WalkOptions } from "../walk-options.ts";
import type { PathsOptions, Reached, WalkCall, Walked } from "../walk-types.ts";
import { pathCall } from "./path-call.ts";
import type { PathAsk } from "./search-paths.ts";
import type { Row } from "../../util/row.ts";

/** A node with the beginning of every walk from it. */
export interface Start {
  readonly driver: Driver;
  readonly node: string;
  readonly id: Row;
  /** A walk from a node of the given type. */
  readonly from: (node: string, id: Row) => WalkQuery;
}

const kinds: OptionChecks<PathsOptions> = { ...walkKinds, limit: [1, MOST_PATHS], depth: [1, MOST] };

/** The same edge, gone along the other way. What is asked of nodes is asked of those to which the edge itself leads. */
const turned = ({ out, in: back, both, whereNode: _whereNode, ...rest }: AnyHop): AnyHop => ({
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
  { to, which, options }: { readonly to: Row; readonly which: PathAsk["which"]; readonly options: PathsOptions },
): WalkCall<Walked<readonly Row[]>> => {
  budgetOf(options, kinds);
  const { limit = which === "all" ? 1000 : 100, depth = MOST, ...rest } = options;
  const forward: WalkState = here(start).closure(hop).state;
  const target = checkEnd(start.driver.catalog, forward.at, to);
  const backward = start.from(target.type, target.id).closure(turned(hop)).state;
  return pathCall(start.driver, { forward, backward, depth, limit, which, options: rest });
};

/** Whom the neighbours know and this node does not, those with most neighbours in common first. */
export const suggest = (start: Start, hop: AnyHop, options?: WalkOptions & { readonly top: number }): WalkCall<Walked<Reached<Row>>> =>
  here(start)
    .hop(hop)
    .hop(hop)
    .except("passed")
    .top(options?.top as number, options);
