import { EdgetableError } from "../../errors/edgetable-error.ts";
import { ITEM_BYTES, itemBytes, itemBytesAtMost, TRANSACTION_BYTES, TRANSACTION_ITEMS } from "../../ir/capacity.ts";
import type { LogicalWrite } from "../../ir/logical-write.ts";
import {
  type DeleteStep,
  type Images,
  keyId,
  type PlannedItem,
  type PutStep,
  type WriteItem,
  type WritePlan,
} from "../../ir/write-plan.ts";
import { type Catalog, kindMark } from "../../schema/catalog.ts";
import { unreachable } from "../../util/invariant.ts";
import type { Row } from "../../util/row.ts";
import { planLink, planPutEdge, planRelink, planUnlink } from "./plan-edge.ts";
import { planCreate, planDelete, planPut, planUpdate } from "./plan-item.ts";
import { cascades } from "./rules/required-nodes.ts";
import { type Given, openWorkingSet, type Planned, settle, type WorkingSet } from "./working-set.ts";

const planOne = (working: WorkingSet, write: LogicalWrite): Planned => {
  switch (write.kind) {
    case "create":
      return planCreate(working, write);
    case "put":
      return planPut(working, write);
    case "update":
      return planUpdate(working, write);
    case "delete":
      return planDelete(working, write);
    case "link":
      return planLink(working, write);
    case "putEdge":
      return planPutEdge(working, write);
    case "relink":
      return planRelink(working, write);
    case "unlink":
      return planUnlink(working, write);
    default:
      return unreachable(write);
  }
};

const checkSizes = (items: readonly PlannedItem[]): void => {
  // Counting bytes exactly is for writes that come near a limit.
  let upperBound = 0;
  for (const { item } of items) if (item.kind === "put") upperBound += itemBytesAtMost(item.item);
  if (items.length <= TRANSACTION_ITEMS && upperBound <= ITEM_BYTES) return;
  let total = 0;
  for (const { item } of items) {
    if (item.kind !== "put") continue;
    const bytes = itemBytes(item.item);
    total += bytes;
    if (bytes <= ITEM_BYTES) continue;
    throw new EdgetableError(
      "request.itemTooLarge",
      `The item would be ${bytes} bytes; DynamoDB allows ${ITEM_BYTES}. Split it into parts, or keep the large value elsewhere.`,
      { details: { key: item.key, bytes, limit: ITEM_BYTES } },
    );
  }
  if (items.length <= TRANSACTION_ITEMS && total <= TRANSACTION_BYTES) return;
  throw new EdgetableError(
    "request.transactionTooLarge",
    `This takes ${items.length} items of ${total} bytes; a transaction holds ${TRANSACTION_ITEMS} and ${TRANSACTION_BYTES} bytes. Split the call, or use a job.`,
    { details: { items: items.length, bytes: total } },
  );
};

// Numbers and list elements add up with each request; a set that has the members already stays as it is.
const addsUp = (write: LogicalWrite): boolean => {
  if (!("changes" in write)) return false;
  const { add, append } = write.changes;
  for (const _ in append) return true;
  for (const field in add) if (!(add[field] instanceof Set)) return true;
  return false;
};

const isConditional = (write: LogicalWrite): boolean =>
  "guards" in write && (write.guards.version !== undefined || (write.guards.where?.conditions.length ?? 0) > 0);

// After it took effect, a create or link finds the item, a deletion does not, and a condition may no longer hold.
const isRepeatable = (write: LogicalWrite): boolean => {
  if (write.kind === "putEdge") return true;
  if (write.kind === "relink" && write.type !== undefined && write.type !== write.edge) return false;
  return (write.kind === "put" || write.kind === "update" || write.kind === "relink") && !isConditional(write) && !addsUp(write);
};

/**
 * Plans writes that happen together, purely: from what was read so far, either what else has to be
 * read, or the steps. A single item is a single request, unless its write is to be idempotent:
 * then it is a transaction of one, whose token makes a repetition exact. Otherwise what adds up is sent once.
 *
 * @throws {request.itemTooLarge} above 400 KB
 * @throws {request.transactionTooLarge} above 100 items or 4 MB
 */
export const planWrites = (catalog: Catalog, writes: readonly LogicalWrite[], images: Images, given?: Given): WritePlan => {
  const working = openWorkingSet(catalog, images, given);
  const rows: (Row | undefined)[] = [];
  for (const [at, write] of writes.entries()) {
    working.write = at;
    const planned = planOne(working, write);
    if (planned?.kind === "failure") return { kind: "settled", write: at, failure: planned.failure };
    rows.push(planned?.row);
  }
  const items = settle(working);
  const { needs, unvalidated } = working;
  if (needs.length > 0 || unvalidated.length > 0)
    return unvalidated.length > 0 ? { kind: "needs", reads: needs, rows: unvalidated } : { kind: "needs", reads: needs };
  if ("failure" in items) return { kind: "settled", ...items };
  checkSizes(items);
  const repeatable = writes.every(isRepeatable);
  if (items.length > 1 || writes.some(({ idempotent }) => idempotent))
    return { kind: "ready", items, rows, atomic: { kind: "transaction", items: items.length }, repeatable };
  const plan = { kind: "ready", items, rows, atomic: { kind: "item" }, repeatable } as const;
  return writes.some(addsUp) ? { ...plan, once: true } : plan;
};

/** Plans one write; see {@link planWrites}. */
export const planWrite = (catalog: Catalog, write: LogicalWrite, images: Images): WritePlan => planWrites(catalog, [write], images);

/** One item of a batch, with the calls (by position) that it belongs to; the last of them wrote it. */
export interface BatchItem {
  readonly step: PutStep | DeleteStep;
  readonly calls: readonly number[];
}

/** What a batch sends: each item once. */
export interface BatchPlan {
  readonly kind: "batch";
  readonly items: readonly BatchItem[];
}

const INSTEAD: Readonly<Record<string, string>> = {
  create: "refuses to replace what is there, and a batch checks nothing: use put",
  link: "refuses to replace what is there, and a batch checks nothing: use put",
  update: "changes what is there, and a batch writes whole items: use put",
  relink: "changes what is there, and a batch writes whole items: use put",
};

/** Why a batch cannot make a write; undefined if it may. */
const whyNotByKind = (catalog: Catalog, write: LogicalWrite): string | undefined => {
  const instead = INSTEAD[write.kind];
  if (instead !== undefined) return instead;
  if (isConditional(write)) return "has a condition, and a batch checks none";
  return write.kind === "delete" && write.of === "node" && cascades(catalog, write.name) ? "takes its parts or edges along" : undefined;
};

const whyNotByItem = (catalog: Catalog, item: WriteItem): string | undefined => {
  if (item.shape && kindMark(catalog, item.shape))
    return "may meet an item of another kind under its key (layout.sharedIds), and a batch checks nothing";
  if ((item.kind === "put" || item.kind === "delete") && item.shape) return undefined;
  return item.kind === "update" ? "counts towards a guarded degree" : "needs a marker or a guard to be written with it";
};

const failInBatch = (write: LogicalWrite, call: number, why: string): never => {
  const verb = write.kind === "putEdge" ? "put" : write.kind;
  const name = "edge" in write ? write.edge : write.name;
  throw new EdgetableError(
    "plan.unsupported",
    `Call ${call + 1} of the batch, ${verb} of "${name}", ${why}. Make it alone, or in transact.`,
    {
      details: { call, kind: write.kind },
    },
  );
};

/**
 * Plans a batch: every item alone, without conditions. Of several writes to one key the last stands
 * and is the only one sent.
 *
 * @throws {plan.unsupported} for a call that is more than unconditional puts and deletions
 */
export const planBatch = (catalog: Catalog, writes: readonly LogicalWrite[]): BatchPlan => {
  const items = new Map<string, BatchItem>();
  for (const [call, given] of writes.entries()) {
    const write: LogicalWrite = given.kind === "putEdge" || given.kind === "put" ? { ...given, ends: "unchecked" } : given;
    const reason = whyNotByKind(catalog, write);
    if (reason !== undefined) failInBatch(write, call, reason);
    const plan = planWrite(catalog, write, {});
    if (plan.kind === "settled") return failInBatch(write, call, "has nothing to write");
    if (plan.kind === "needs") return failInBatch(write, call, `first has to read: ${plan.reads.map((need) => need.reason).join("; ")}`);
    for (const { item } of plan.items) {
      const why = whyNotByItem(catalog, item);
      if (why !== undefined) failInBatch(write, call, why);
      const id = keyId(item.key);
      items.set(id, { step: item as PutStep | DeleteStep, calls: [...(items.get(id)?.calls ?? []), call] });
    }
  }
  return { kind: "batch", items: [...items.values()] };
};
