import { EdgetableError } from "../errors/edgetable-error.ts";
import type { AccessStep, GetStep, ReadPlan } from "../ir/physical-plan.ts";
import type { Binding } from "../requests/encode-read.ts";
import type { Position } from "../requests/cursor.ts";
import type { Reader, Rows } from "./read-rows.ts";
import { hydrate, type FindNode } from "./hydrate.ts";
import { readGets } from "./read-gets.ts";
import { countSource, readMerged, readQueries } from "./read-queries.ts";
import type { ReadBudget } from "./read-budget.ts";
import type { CallContext, Session } from "./session.ts";
import { loadOnce } from "../util/load-once.ts";
import type { Row } from "../util/row.ts";

const spendingOf = loadOnce(async () => import("./read-budget.ts"));

export interface ReadRequest {
  readonly plan: ReadPlan;
  readonly binding: Binding;
  /** For point reads of several things: their rows. */
  readonly rows?: readonly Row[];
  /** The most rows to give, 1 or more; undefined for all. */
  readonly limit?: number | undefined;
  readonly from?: Position | undefined;
  /** What the Queries of a page may take: at its end, or the deadline's, the page is short and can go on. */
  readonly budget?: ReadBudget | undefined;
  readonly findNode: FindNode;
  /** Whether the conditions contradict each other, so that nothing is sent. */
  readonly empty?: boolean;
}

const isGet = (step: AccessStep): step is GetStep => step.kind === "get";

/** Runs a read plan: what `explain` shows, in that order. Rows of a backward page come in forward order. */
export const runRead = async (session: Session, request: ReadRequest, context: CallContext): Promise<Rows> => {
  const { plan, binding, limit } = request;
  if (request.empty) return { found: [], next: undefined };
  const from = request.from ?? { source: 0, key: undefined, backward: false };
  const spending = request.budget && (await spendingOf()).pageSpending(session, context, request.budget);
  const reader: Reader = {
    session,
    plan,
    binding,
    context: spending?.context ?? context,
    limit,
    backward: from.backward,
    spending,
  };
  const [first] = plan.sources;
  if (!first) throw new EdgetableError("invariant", "a read plan without a source: a defect of edgetable");
  const rows = isGet(first)
    ? await readGets(reader, first, request.rows ?? [binding.row])
    : await (plan.merged ? readMerged(reader, from) : readQueries(reader, from));
  if (plan.hydrate) await hydrate({ ...reader, context }, rows.found, request.findNode);
  return from.backward ? { ...rows, found: rows.found.toReversed() } : rows;
};

/** Counts what a plan would read, no further than its limit. */
export const runCount = async (session: Session, request: ReadRequest, context: CallContext): Promise<number> => {
  const { plan, binding, limit: most } = request;
  let count = 0;
  if (request.empty) return count;
  const reader = { session, plan, binding, context, limit: undefined, backward: false };
  if (plan.merged && most === undefined) {
    const counts = await Promise.all([...plan.sources.keys()].map(async (at) => countSource(reader, at)));
    return counts.reduce((sum, one) => sum + one, 0);
  }
  for (const at of plan.sources.keys()) {
    if (most !== undefined && count >= most) break;
    const limit = most === undefined ? undefined : most - count;
    count += await countSource({ ...reader, limit }, at);
  }
  return Math.min(count, most ?? count);
};
