import { type Report, reportOf } from "../executor/call.ts";
import { isComplete, readKept } from "../executor/kept-counts.ts";
import type { ReadRequest } from "../executor/run-read.ts";
import type { CallContext } from "../executor/session.ts";
import { readUnits } from "../ir/capacity.ts";
import type { KeptStep, ReadPlan } from "../ir/physical-plan.ts";
import { type Counted, keptCount, type KeptChoice } from "../planner/kept-counts.ts";
import { keyOf } from "../requests/encode-item.ts";
import { encodeGet } from "../requests/encode-read.ts";
import { defined } from "../util/invariant.ts";
import type { Row } from "../util/row.ts";
import type { Driver } from "./driver.ts";
import { explainRead, type ReadExplanation } from "./explanation.ts";

/** What is counted, at which node, and which kept counts may replace counting. */
export interface AskedCount {
  readonly counted: Counted;
  readonly id: Row;
  readonly consistent: boolean;
  readonly kept: KeptChoice;
  readonly limit: number | undefined;
}

const keptOf = ({ catalog, rulesOff }: Driver, { counted, kept }: AskedCount): KeptStep | undefined =>
  rulesOff.has("use-kept-counts") ? undefined : keptCount(catalog, counted, kept);

/** Reads a count from the node that keeps it; undefined if the edges or parts have to be counted. */
export const takeKept = async (driver: Driver, asked: AskedCount, context: CallContext): Promise<Report<number> | undefined> => {
  const { limit = Number.POSITIVE_INFINITY } = asked;
  const kept = keptOf(driver, asked);
  if (!kept || !(await isComplete(driver.session, [kept], context))) return undefined;
  const count = await readKept(driver.session, { kept, id: asked.id, consistent: asked.consistent }, context);
  return count === undefined ? undefined : { ...reportOf(Math.min(Number(count), limit), context.meter), kept: [kept] };
};

const WHEN = {
  transaction: "the transaction of each write keeps",
  stream: 'the stream keeps (freshness "stream": usually a second behind)',
  batch: 'a batch job keeps (freshness "batch": as of its last run)',
} as const;

/** Says from where a kept count comes, and how fresh it is. */
export const keptNote = ({ node, attributes, sums = [], freshness }: KeptStep): string =>
  `takes ${[...attributes, ...sums].map((name) => `"${name}"`).join(" and ")} of "${node}", which ${WHEN[freshness]}, and counts nothing`;

/** Says when a kept count is not taken. */
export const KEPT_UNLESS =
  "a kept count is taken once the table's record says that it is complete, which is read once a minute, beyond the prediction";

const unitsText = (units: number): string => `${units} read ${units === 1 ? "unit" : "units"}`;

// No index finds the rows, so they are not counted.
const NOTHING_READ: ReadPlan = {
  kind: "read",
  sources: [],
  filter: undefined,
  hydrate: undefined,
  count: undefined,
  near: [],
  consistency: "eventual",
};

/**
 * Explains a count.
 *
 * @param request the read of the rows, or a function that throws the reason why they cannot be read
 */
export const explainCount = (driver: Driver, request: ReadRequest | (() => ReadRequest), asked: AskedCount): ReadExplanation => {
  const { catalog } = driver;
  const kept = keptOf(driver, asked);
  const made = typeof request === "function" ? undefined : request;
  if (typeof request === "function" && !kept) request();
  const counting = made && explainRead(catalog, { ...made, livingAt: driver.context({}).livingAt });
  if (!kept) return defined(counting, "a read request");
  const { shape } = defined(catalog.nodes[kept.node], kept.node);
  const { consistent, id } = asked;
  const units = readUnits(shape.bytes, { consistent });
  return {
    kind: "read",
    plan: Object.freeze({ ...(made?.plan ?? NOTHING_READ), count: { kind: "count" as const, kept } }),
    requests: [{ operation: "GetItem", input: encodeGet(catalog, keyOf(catalog, shape, id), { consistent }), times: 1, readUnits: units }],
    consistency: consistent ? "strong" : "eventual",
    cost: { requests: 1, readUnits: units },
    notes: [
      keptNote(kept),
      `${KEPT_UNLESS}; until then, and at a node without the attribute, ${counting ? `counting is predicted to take ${counting.cost.requests === 1 ? "1 request" : `${counting.cost.requests} requests`} and ${unitsText(counting.cost.readUnits)}` : "the call rejects: no key or index finds what it would count"}`,
    ],
  };
};
