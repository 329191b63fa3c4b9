import { createCall, reportOf, type Report, type RunOptions } from "../../executor/call.ts";
import type { CallContext } from "../../executor/session.ts";
import type { CommonState } from "../../executor/walk/common-neighbours.ts";
import { walkForm } from "../../query/walk.ts";
import { listOf } from "../../util/check-range.ts";
import { findNode } from "../find-node.ts";
import { planOf, shownId, untilAborted, walkContext } from "../walk-call.ts";
import { begin, plainSeal } from "../walk-continuation.ts";
import { explainWalk, type WalkExplanation } from "../walk-explanation.ts";
import { budgetOf, type WalkOptions } from "../walk-options.ts";
import type { AnyHop } from "../walk.ts";
import type { WalkCall, Walked } from "../walk-types.ts";
import { walked } from "../walked.ts";
import type { Start } from "./answers.ts";
import { jsonText } from "../../util/json-text.ts";

type Row = Readonly<Record<string, unknown>>;

const collect = { kind: "ids" } as const;

interface Search {
  readonly start: Start;
  readonly hop: AnyHop;
  readonly options: WalkOptions;
}

const read = async ({ start, hop, options }: Search, others: readonly Row[], context: CallContext): Promise<Walked<Row>> => {
  const { driver, node, id, from } = start;
  const { state: walk } = from(node, id).hop(hop);
  const query = (): string => `common|${driver.catalog.table}|${walkForm(walk, collect)}|${jsonText([id, others, walk.values])}`;
  const asked = { cursor: options.cursor, query, budget: budgetOf(options), load: plainSeal<CommonState> };
  const { state, budget, seal } = await begin(driver, asked, context);
  const { commonNeighbours } = await import("../../executor/walk/common-neighbours.ts");
  const request = {
    plan: planOf(driver, { state: walk, collect }),
    start: { type: node, id },
    values: walk.values,
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

const explainAll = ({ start, hop, options }: Search, ids: readonly Row[]): WalkExplanation => {
  const { driver, node, from } = start;
  const { breadth } = budgetOf(options);
  const each = ids.map((id) => {
    const { state } = from(node, id).hop(hop);
    return explainWalk(driver.catalog, { plan: planOf(driver, { state, collect }), id, values: state.values, breadth });
  });
  const [first] = each as [WalkExplanation];
  const sum = (of: keyof WalkExplanation["cost"]): number => each.reduce((units, { cost }) => units + cost[of], 0);
  return {
    ...first,
    requests: each.flatMap(({ requests }) => requests),
    cost: { requests: sum("requests"), readUnits: sum("readUnits") },
  };
};

/** Nodes that are neighbours of this one and of every other. */
export const common = (search: Search, others: readonly Row[]): WalkCall<Walked<Row>> => {
  const { driver, node, id, from } = search.start;
  // What is wrong with a node is told at once.
  budgetOf(search.options);
  from(node, id).hop(search.hop);
  for (const one of listOf(others)) from(node, one).hop(search.hop);
  const make = async (run: RunOptions): Promise<Report<Walked<Row>>> => {
    const context = walkContext(driver, run);
    const value = await untilAborted(read(search, others, context), run.signal);
    return reportOf(value, context.meter);
  };
  return createCall(() => explainAll(search, [id, ...others]), make);
};
