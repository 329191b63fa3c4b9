import { readUnits, stepUnits } from "../ir/capacity.ts";
import type { LogicalWrite } from "../ir/logical-write.ts";
import type { ReadNeed, WritePlan } from "../ir/write-plan.ts";
import { planWrites } from "../planner/writes/plan-write.ts";
import { encodeNeededGet, encodeNeededQuery } from "../requests/encode-need.ts";
import { encodeSingle, encodeTransaction } from "../requests/encode-write.ts";
import type { Catalog } from "../schema/catalog.ts";
import type { ExplainedWriteRequest, WriteExplanation } from "./write-types.ts";

const TOKEN = "a token for each call";

const explainNeed = (catalog: Catalog, need: ReadNeed): ExplainedWriteRequest => ({
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
  if (plan.kind === "needs") return plan.reads.map((need) => explainNeed(catalog, need));
  return plan.kind === "ready" ? [explainReady(catalog, plan)] : [];
};

const notesOf = (plan: WritePlan): readonly string[] => {
  if (plan.kind !== "needs") return [];
  const reasons = plan.reads.map((need) => `reads "${need.shape.definition}" first: ${need.reason}`);
  return [...new Set(reasons), "then writes on condition that what it read is unchanged; the write's units are not in the prediction"];
};

/** Explains writes: pure, from the calls' values. */
export const explainWrites = (catalog: Catalog, writes: readonly LogicalWrite[]): WriteExplanation => {
  const plan = planWrites(catalog, writes, {});
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
