import { BATCH_GET_KEYS, readUnits, writeUnits } from "../ir/capacity.ts";
import { stepUnits } from "../ir/write-price.ts";
import type { DeleteWrite, LogicalWrite } from "../ir/logical-write.ts";
import type { ReadNeed, WriteItem, WritePlan } from "../ir/write-plan.ts";
import { assumedParts } from "../planner/assumed-rows.ts";
import { planBatch } from "../planner/writes/plan-batch.ts";
import { planWrites } from "../planner/writes/plan-write.ts";
import { planCascade } from "../planner/writes/plan-deletion.ts";
import { planList } from "../planner/writes/rules/degree-guards.ts";
import type { Given } from "../planner/writes/working-set.ts";
import { encodeBatchGet } from "../requests/encode-read.ts";
import { encodeBatchWrite, inBatches, writeRequest, encodeSingle, encodeTransaction } from "../requests/encode-write.ts";
import { filters } from "../requests/filters.ts";
import { encodeNeededGet, encodeNeededQuery } from "../requests/encode-direct.ts";
import type { Catalog } from "../schema/catalog.ts";
import { NODE_REVISION } from "../schema/facts.ts";
import { COUNT, OWNER } from "../schema/system-items.ts";
import { defined } from "../util/invariant.ts";
import type { Row } from "../util/row.ts";
import { cascadeNotes, derivedNotes, unitsText } from "./derived-notes.ts";
import { LISTED } from "../executor/read-images.ts";
import { type ExplainRequest, explainRead } from "./explanation.ts";
import { INDEX_LAG } from "./job-options.ts";
import type { BatchExplanation, DeleteOptions, ExplainedWriteRequest, WriteExplanation } from "./write-types.ts";

const TOKEN = "a token for each call";

type Ready = WritePlan & { readonly kind: "ready" };

const explainFound = (catalog: Catalog, found: Omit<ExplainRequest, "livingAt">): readonly ExplainedWriteRequest[] =>
  explainRead(catalog, { ...found, livingAt: undefined }).requests.map(({ operation, input, readUnits: units }) => ({
    operation,
    input,
    readUnits: units,
    writeUnits: 0,
  }));

/** The reads before writes: one BatchGetItem for each 100 items, and a Query for each search or list. */
const explainNeeds = (catalog: Catalog, reads: readonly ReadNeed[]): readonly ExplainedWriteRequest[] => {
  const requests: ExplainedWriteRequest[] = [];
  const gets: (ReadNeed & { readonly kind: "get" })[] = [];
  for (const need of reads) {
    const units = { readUnits: readUnits(need.shape.bytes, { consistent: true }), writeUnits: 0 };
    if (need.kind === "get") gets.push(need);
    else if (need.kind === "find") requests.push({ operation: "Query", input: encodeNeededQuery(catalog, need), ...units });
    else if (need.kind === "list") requests.push(...explainFound(catalog, { ...planList(catalog, need), limit: LISTED }));
    // Edges are only counted if a read shows that their counter is missing. An explanation reads nothing.
  }
  for (let at = 0; at < gets.length; at += BATCH_GET_KEYS) {
    const some = gets.slice(at, at + BATCH_GET_KEYS);
    let units = 0;
    for (const { shape } of some) units += readUnits(shape.bytes, { consistent: true });
    const cost = { readUnits: units, writeUnits: 0 };
    const keys = some.map(({ key }) => key);
    const [only] = some;
    if (only && gets.length === 1) requests.push({ operation: "GetItem", input: encodeNeededGet(catalog, only), ...cost });
    else requests.push({ operation: "BatchGetItem", input: encodeBatchGet(catalog.table, keys, true), ...cost });
  }
  return requests;
};

const explainSteps = (catalog: Catalog, plan: Ready, token: string): ExplainedWriteRequest => {
  const target = { table: catalog.table, partitionKey: catalog.index.partitionKey, filters };
  const steps = plan.items.map(({ item }) => item);
  const isTransaction = plan.atomic.kind === "transaction";
  const { operation, input } = isTransaction
    ? encodeTransaction(target, steps, token)
    : encodeSingle(target, steps[0] as Parameters<typeof encodeSingle>[1]);
  let writeUnits = 0;
  for (const step of steps) writeUnits += stepUnits(catalog, step, isTransaction);
  return { operation, input, readUnits: 0, writeUnits };
};

const ONCE =
  "sent once: if its answer is lost, the call ends in execute.ambiguous, because a second request would add to the first; { idempotent: true } makes it exact, for twice the write units";

/** True if a step adds to derived attributes of a node. */
const isDerivedChange = (item: WriteItem): boolean =>
  item.kind === "update" && item.shape?.kind === "node" && NODE_REVISION in item.changes.add;

/** Why a write is a transaction, which costs twice the units. */
const transactionNote = ({ items }: Ready): string | undefined => {
  if (items[0]?.item.kind === "check" && items.length === 1) return "a check alone is a transaction of one, for twice the write units";
  if (items.length === 1)
    return "idempotent: a transaction of one with a token, for twice the write units; a repeated request takes effect once";
  const reasons = new Set<string>();
  for (const { item } of items) {
    const isMarker = item.kind !== "check" && item.terms.some((term) => term.kind === "equals" && term.attribute === OWNER);
    if (isMarker) reasons.add("the markers of unique values");
    if (item.kind === "update" && item.shape === undefined) reasons.add("the counters of the nodes' edges");
    if (isDerivedChange(item)) reasons.add(`the derived attributes of "${item.shape?.definition}"`);
    if (item.kind === "check") reasons.add("checks of nodes that must be there");
    if (item.shape?.role === "mirror") reasons.add("the copy of the edge in its target's partition");
  }
  return reasons.size === 0 ? undefined : `a transaction, for twice the write units: it takes along ${[...reasons].join(", ")}`;
};

/** Says what a write requires of an item, and what it costs if the requirement is not met. */
const requirementNote = (attribute: string, item: WriteItem): string => {
  if (attribute === COUNT)
    return "requires that the counters of the nodes' edges are there; where one is missing (a node's first edge, or a rule younger than its edges), the edges are counted by a Query, and the transaction is sent again";
  const isAdded = item.kind === "update" && attribute in item.changes.add;
  return isAdded && isDerivedChange(item)
    ? `requires that the "${item.shape?.definition ?? ""}" has "${attribute}"; a node that is older than this attribute costs a read and a second transaction`
    : `requires that the item has "${attribute}", the other half of an index entry; an item without it (one that is older than the index, for example) costs a second request, which writes the whole entry`;
};

const readNotes = (reads: readonly ReadNeed[]): readonly string[] => {
  const notes = reads.map((need) => {
    const node = `"${need.shape.definition}"`;
    return `reads ${need.kind === "list" ? `each "${need.of.name}" of the ${node}` : node} first: ${need.reason}`;
  });
  return [...new Set(notes)];
};

const notesOf = (plan: WritePlan): readonly string[] => {
  if (plan.kind === "settled") return [];
  if (plan.kind === "needs")
    return [
      ...readNotes(plan.reads),
      "then writes on condition that what it read is unchanged; the write's units are not in the prediction",
    ];
  const notes = new Set<string>();
  const note = plan.once ? ONCE : plan.atomic.kind === "transaction" ? transactionNote(plan) : undefined;
  if (note !== undefined) notes.add(note);
  for (const { item } of plan.items)
    for (const term of item.terms) if (term.kind === "has") notes.add(requirementNote(term.attribute, item));
  return [...notes];
};

const costOf = (requests: readonly ExplainedWriteRequest[]): WriteExplanation["cost"] => {
  const cost = { requests: requests.length, readUnits: 0, writeUnits: 0 };
  for (const request of requests) {
    cost.readUnits += request.readUnits;
    cost.writeUnits += request.writeUnits;
  }
  return cost;
};

/** Explains writes from their values. Pure. */
export const explainWrites = (
  catalog: Catalog,
  writes: readonly LogicalWrite[],
  { livingAt, now, token = TOKEN }: Pick<Given, "livingAt" | "now"> & { readonly token?: string | undefined },
): WriteExplanation => {
  const plan = planWrites(catalog, writes, {}, { livingAt, now });
  let requests: readonly ExplainedWriteRequest[] = [];
  if (plan.kind === "needs") requests = explainNeeds(catalog, plan.reads);
  if (plan.kind === "ready") requests = [explainSteps(catalog, plan, token)];
  const atomic = plan.kind === "ready" ? plan.atomic : undefined;
  for (const write of writes) Object.freeze(write);
  return Object.freeze({
    kind: "write",
    writes,
    plan,
    requests,
    atomic,
    cost: costOf(requests),
    notes: [...notesOf(plan), ...derivedNotes(catalog, writes)],
  });
};

/** Explains the deletion of a node and everything that is deleted with it. */
export const explainDeletion = (catalog: Catalog, write: DeleteWrite, { indexLag = INDEX_LAG }: DeleteOptions<Row>): WriteExplanation => {
  const plan = planCascade(catalog, write);
  const requests: ExplainedWriteRequest[] = [];
  for (const sweep of [...plan.sweeps, ...plan.parts.map(({ found }) => found)])
    requests.push(...explainFound(catalog, { plan: sweep.plan, binding: { row: sweep.row, values: [] } }));
  const notes: string[] = [];
  // The items that the node itself needs. The transaction that marks a node also reads it.
  const own = plan.marks ? undefined : planWrites(catalog, [write], {});
  if (own?.kind === "needs") {
    requests.push(...explainNeeds(catalog, own.reads));
    notes.push(...readNotes(own.reads));
  }
  if (plan.marks)
    notes.push(
      "marks the node first, in a transaction with the job's state: from then on nothing can be linked to it, and reads still return it until it is deleted",
    );
  for (const { part, sweeps } of plan.parts) {
    const { definition, shape } = defined(catalog.parts[part], part);
    notes.push(
      `marks each "${part}" as it does the node, and removes its edges before it: ${assumedParts({ definition })} expected, ${unitsText(writeUnits(shape.bytes))} to mark and ${sweeps.length} ${sweeps.length === 1 ? "request" : "requests"} to find the edges of each`,
    );
  }
  if (plan.lags) notes.push(`waits ${indexLag} ms before it reads an index, so that it finds what was linked before the mark`);
  notes.push(
    "with up to 100 items everything goes in one transaction; with more, a job removes edges and parts and the node last, and can be resumed; what it writes is not in the prediction",
  );
  notes.push(...cascadeNotes(catalog, write));
  const cost = costOf(requests);
  const marking = plan.marks ? readUnits(catalog.ends[write.name]?.shape.bytes ?? 0, { consistent: true }) : 0;
  return {
    kind: "write",
    writes: [write],
    plan,
    requests,
    atomic: undefined,
    cost: { ...cost, readUnits: cost.readUnits + marking },
    notes,
  };
};

/** Explains a batch of puts and deletions. */
export const explainBatch = (catalog: Catalog, writes: readonly LogicalWrite[], now: number): BatchExplanation => {
  const needs = planBatch(catalog, writes, {}, now);
  const requests: ExplainedWriteRequest[] = [...explainNeeds(catalog, needs.reads)];
  const unread = Object.fromEntries(needs.reads.map(({ id }) => [id, null]));
  const plan = needs.reads.length > 0 ? planBatch(catalog, writes, unread, now) : needs;
  for (const items of inBatches(plan.items)) {
    const sent = items.map(({ step }) => writeRequest(step));
    let writeUnits = 0;
    for (const { step } of items) writeUnits += stepUnits(catalog, step, false);
    requests.push({ operation: "BatchWriteItem", input: encodeBatchWrite(catalog.table, sent), readUnits: 0, writeUnits });
  }
  return { kind: "batch", plan, requests, atomic: { kind: "item" }, cost: costOf(requests) };
};
