import { readUnits, stepUnits } from "../ir/capacity.ts";
import type { DeleteWrite, LogicalWrite } from "../ir/logical-write.ts";
import type { ReadNeed, WriteItem, WritePlan } from "../ir/write-plan.ts";
import { planBatch, planWrites } from "../planner/writes/plan-write.ts";
import { planCascade, type CascadePlan } from "../planner/writes/plan-deletion.ts";
import { encodeBatchWrite, inBatches, writeRequest } from "../requests/encode-batch-write.ts";
import { encodeNeededGet, encodeNeededQuery } from "../requests/encode-read.ts";
import { encodeSingle, encodeTransaction } from "../requests/encode-write.ts";
import type { Catalog } from "../schema/catalog.ts";
import { COUNT, OWNER } from "../schema/system-items.ts";
import type { Row } from "../util/row.ts";
import { explainRead } from "./explanation.ts";
import { INDEX_LAG } from "./job-options.ts";
import type { BatchExplanation, DeleteOptions, ExplainedWriteRequest, WriteExplanation } from "./write-types.ts";

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
  const plan = planWrites(catalog, writes, {}, { livingAt });
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

const sweepRequests = (catalog: Catalog, plan: CascadePlan): readonly ExplainedWriteRequest[] =>
  plan.sweeps.flatMap((sweep) =>
    explainRead(catalog, { plan: sweep.plan, binding: { row: sweep.row, values: [] }, livingAt: undefined }).requests.map(
      ({ operation, input, readUnits: units }) => ({ operation, input, readUnits: units, writeUnits: 0 }),
    ),
  );

const deletionNotes = (plan: CascadePlan, { indexLag = INDEX_LAG }: DeleteOptions<Row>): readonly string[] => [
  ...(plan.marks
    ? [
        "marks the node first, in a transaction with the job's state: from then on nothing can be linked to it, and reads still give it until it goes",
      ]
    : []),
  ...(plan.lags ? [`waits ${indexLag} ms before it reads an index, so that what was linked before the mark is seen`] : []),
  "with up to 100 items everything goes in one transaction; with more, a job removes edges and parts and the node last, and can be resumed; what it writes is not in the prediction",
];

/** Explains the deletion of a node and everything that is deleted with it. */
export const explainDeletion = (catalog: Catalog, write: DeleteWrite, options: DeleteOptions<Row>): WriteExplanation => {
  const plan = planCascade(catalog, write);
  const bytes = catalog.nodes[write.name]?.shape.bytes ?? 0;
  const requests = sweepRequests(catalog, plan);
  const units = requests.reduce((sum, request) => sum + request.readUnits, plan.marks ? readUnits(bytes, { consistent: true }) : 0);
  return {
    kind: "write",
    writes: [write],
    plan,
    requests,
    atomic: undefined,
    cost: { requests: requests.length, readUnits: units, writeUnits: 0 },
    notes: deletionNotes(plan, options),
  };
};

/** Explains a batch of puts and deletions. */
export const explainBatch = (catalog: Catalog, writes: readonly LogicalWrite[]): BatchExplanation => {
  const plan = planBatch(catalog, writes);
  const requests = inBatches(plan.items).map((items) => ({
    operation: "BatchWriteItem",
    input: encodeBatchWrite(
      catalog.table,
      items.map(({ step }) => writeRequest(step)),
    ),
    readUnits: 0,
    writeUnits: items.reduce((sum, { step }) => sum + stepUnits(catalog, step, false), 0),
  }));
  const writeUnits = requests.reduce((sum, request) => sum + request.writeUnits, 0);
  return { kind: "batch", plan, requests, atomic: { kind: "item" }, cost: { requests: requests.length, readUnits: 0, writeUnits } };
};
