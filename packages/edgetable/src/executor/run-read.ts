import { EdgetableError } from "../errors/edgetable-error.ts";
import type { AccessStep, GetStep, ReadPlan } from "../ir/physical-plan.ts";
import type { Binding } from "../requests/encode-read.ts";
import type { Position } from "../requests/cursor.ts";
import type { Reader, Rows } from "./found.ts";
import { hydrate, type FindNode } from "./hydrate.ts";
import { readGets } from "./read-gets.ts";
import { countSource, readMerged, readQueries } from "./read-queries.ts";
import type { CallContext, Session } from "./session.ts";
import type { Row } from "../util/row.ts";

export interface ReadRequest {
  readonly plan: ReadPlan;
  readonly binding: Binding;
  /** For point reads of several things: their rows. */
  readonly rows?: readonly Row[];
  /** The most rows to give, 1 or more; undefined for all. */
  readonly limit?: number | undefined;
  readonly from?: Position | undefined;
  readonly findNode: FindNode;
}

const isGet = (step: AccessStep): step is GetStep => step.kind === "get";

/** Runs a read plan: what `explain` shows, in that order. Rows of a backward page come in forward order. */
export const runRead = async (session: Session, request: ReadRequest, context: CallContext): Promise<Rows> => {
  const { plan, binding, limit } = request;
  const from = request.from ?? { source: 0, key: undefined, backward: false };
  const reader: Reader = { session, plan, binding, context, limit, backward: from.backward };
  const [first] = plan.sources;
  if (!first) throw new EdgetableError("invariant", "a read plan without a source: a defect of edgetable");
  const rows = isGet(first)
    ? await readGets(reader, first, request.rows ?? [binding.row])
    : await (plan.merged ? readMerged(reader, from) : readQueries(reader, from));
  if (plan.hydrate) await hydrate(reader, rows.found, request.findNode);
  return from.backward ? { ...rows, found: rows.found.toReversed() } : rows;
};

/** Counts what a plan would read, no further than its limit. */
export const runCount = async (session: Session, { plan, binding, limit: most }: ReadRequest, context: CallContext): Promise<number> => {
  let count = 0;
  for (const at of plan.sources.keys()) {
    if (most !== undefined && count >= most) break;
    const limit = most === undefined ? undefined : most - count;
    count += await countSource({ session, plan, binding, context, limit, backward: false }, at);
  }
  return Math.min(count, most ?? count);
};
