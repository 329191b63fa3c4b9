import type { CallContext } from "../../executor/session.ts";
import { commonNeighbours, type CommonState } from "../../executor/walk/common-neighbours.ts";
import { walkForm } from "../../query/walk.ts";
import { exactText } from "../../keys/template.ts";
import { findNode } from "../find-node.ts";
import { planOf, shownId } from "../walk-ask.ts";
import { begin, plainForm } from "../walk-continuation.ts";
import { budgetOf, type WalkOptions } from "../walk-options.ts";
import type { AnyHop } from "../walk.ts";
import type { Walked } from "../walk-types.ts";
import { walked } from "../walked.ts";
import type { Start } from "./answers.ts";
import type { Row } from "../../util/row.ts";

const collect = { kind: "ids" } as const;

/** Whose neighbours are asked for, and along which edge. */
export interface CommonSearch {
  readonly start: Start;
  readonly hop: AnyHop;
  readonly options: WalkOptions;
}

/** Reads the neighbours of each, and keeps those of all. */
export const readCommon = async (
  { start, hop, options }: CommonSearch,
  others: readonly Row[],
  context: CallContext,
): Promise<Walked<Row>> => {
  const { driver, node, id, from } = start;
  const { state: walk } = from(node, id).hop(hop);
  // What the nodes before have in common is all that is looked for at the next one.
  const { state: among } = from(node, id).hop(hop).among([]);
  const query = (): string => `common|${driver.catalog.table}|${walkForm(walk, collect)}|${exactText([id, others, walk.values])}`;
  const asked = { options, query, budget: budgetOf(options), form: plainForm<CommonState>() };
  const { state, budget, seal } = await begin(driver, asked, context);
  const request = {
    plan: planOf(driver, { state: among, collect }),
    start: { type: node, id },
    values: among.values,
    budget,
    supernode: options.supernode ?? "page",
    findNode: findNode(driver),
  } as const;
  const nodes = [id, ...others].map((one) => ({ type: node, id: one }));
  const found = await commonNeighbours(driver.session, { request, nodes }, { context, state });
  const several = walk.at.length > 1;
  const next = found.state && (await seal(found.state));
  return walked(
    found.ids.map((ref) => shownId(ref, several)),
    { complete: found.stopped === undefined, stopped: found.stopped, next },
  );
};
