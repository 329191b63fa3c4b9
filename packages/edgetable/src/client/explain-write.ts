import { readUnits, stepUnits } from "../ir/capacity.ts";
import type { LogicalWrite } from "../ir/logical-write.ts";
import type { ReadNeed, WriteItem, WritePlan } from "../ir/write-plan.ts";
import { planWrites } from "../planner/writes/plan-write.ts";
import { encodeNeededGet, encodeNeededQuery } from "../requests/encode-read.ts";
import { encodeSingle, encodeTransaction } from "../requests/encode-write.ts";
import type { Catalog } from "../schema/catalog.ts";
import { COUNT, OWNER } from "../schema/system-items.ts";
import type { ExplainedWriteRequest, WriteExplanation } from "./write-types.ts";

const TOKEN = "a token for each call";

type OneItem = Exclude<ReadNeed, { readonly kind: "count" }>;

const explainNeed = (catalog: Catalog, need: OneItem): ExplainedWriteRequest => ({
  operation: need.kind === "get" ? "GetItem" : "Query",
  input: need.kind === "get" ? encodeNeededGet(catalog, need) : encodeNeededQuery(catalog, need),
  readUnits: readUnits(need.shape.bytes, { consistent: true }),
  writeUnits: 0,
});

const explainReady = (catalog: Catalog, plan: WritePlan & { readonly kind: "ready" }): ExplainedWriteRequest => {
  const target = { table: catalog.table, partitionKey: catalog.index.partitionKey };
  const steps = plan.items.map(({ item }) => item);
  const transaction = plan.atomic.kind === "transaction";
  const encoded = transaction
    ? encodeTransaction(target, steps, TOKEN)
    : encodeSingle(target, steps[0] as Parameters<typeof encodeSingle>[1]);
  let writeUnits = 0;
  for (const step of steps) writeUnits += stepUnits(catalog, step, transaction);
  return { operation: encoded.operation, input: encoded.input, readUnits: 0, writeUnits };
};

const requestsOf = (catalog: Catalog, plan: WritePlan): readonly ExplainedWriteRequest[] => {
  // Edges are counted after a read has shown that their counter is not there, and here nothing was read.
  if (plan.kind === "needs") return plan.reads.filter((need) => need.kind !== "count").map((need) => explainNeed(catalog, need));
  return plan.kind === "ready" ? [explainReady(catalog, plan)] : [];
};

const required = (plan: WritePlan & { readonly kind: "ready" }): readonly string[] => [
  ...new Set(plan.items.flatMap(({ item }) => item.terms.flatMap((term) => (term.kind === "has" ? [term.attribute] : [])))),
];

const ONCE =
  "sent once: where its answer is lost, the call ends in execute.ambiguous, since a second request would add to the first; { idempotent: true } makes it exact, for twice the write units";

/** Why a write is a transaction, which costs twice the units. */
const transactionNotes = ({ items }: WritePlan & { readonly kind: "ready" }): readonly string[] => {
  if (items.length === 1)
    return ["idempotent: a transaction of one with a token, for twice the write units; a repeated request takes effect once"];
  const has = (test: (item: WriteItem) => boolean): boolean => items.some(({ item }) => test(item));
  const reasons = [
    ...(has((item) => item.kind !== "check" && item.terms.some((term) => term.kind === "equals" && term.attribute === OWNER))
      ? ["the markers of unique values"]
      : []),
    ...(has((item) => item.kind === "update" && item.shape === undefined) ? ["the counters of the nodes' edges"] : []),
    ...(has((item) => item.kind === "check") ? ["checks of nodes that must be there"] : []),
    ...(has((item) => item.shape?.role === "mirror") ? ["the copy of the edge in its target's partition"] : []),
  ];
  return reasons.length === 0 ? [] : [`a transaction, for twice the write units: it takes along ${reasons.join(", ")}`];
};

const COUNTER =
  "requires that the counters of the nodes' edges are there; where one is missing (a node's first edge, or a rule younger than its edges), the edges are counted by a Query, and the transaction is sent again";
const halfEntry = (attribute: string): string =>
  `requires that the item has "${attribute}", the other half of an index entry; an item without it (one that is older than the index, for example) costs a second request, which writes the whole entry`;

const notesOf = (plan: WritePlan): readonly string[] => {
  if (plan.kind === "settled") return [];
  if (plan.kind === "ready") {
    const why = plan.once ? [ONCE] : plan.atomic.kind === "transaction" ? transactionNotes(plan) : [];
    return [...why, ...required(plan).map((attribute) => (attribute === COUNT ? COUNTER : halfEntry(attribute)))];
  }
  const reasons = plan.reads.map((need) => `reads "${need.shape.definition}" first: ${need.reason}`);
  return [...new Set(reasons), "then writes on condition that what it read is unchanged; the write's units are not in the prediction"];
};

/** Explains writes: pure, from the calls' values. */
export const explainWrites = (catalog: Catalog, writes: readonly LogicalWrite[], livingAt?: number): WriteExplanation => {
  const plan = planWrites(catalog, writes, {}, livingAt);
  const requests = requestsOf(catalog, plan);
  const total = (units: "readUnits" | "writeUnits"): number => requests.reduce((sum, request) => sum + request[units], 0);
  const cost = { requests: requests.length, readUnits: total("readUnits"), writeUnits: total("writeUnits") };
  return Object.freeze({
    kind: "write",
    writes: writes.map((write) => Object.freeze(write)),
    plan,
    requests,
    atomic: plan.kind === "ready" ? plan.atomic : undefined,
    cost,
    notes: notesOf(plan),
  });
};
