import { EdgetableError } from "../../errors/edgetable-error.ts";
import { type LogicalWrite, verbOf } from "../../ir/logical-write.ts";
import { type DeleteStep, type Images, keyId, type PutStep, type ReadNeed, type WriteItem } from "../../ir/write-plan.ts";
import { type Catalog, kindMarks } from "../../schema/catalog.ts";
import { isConditional, planWrite } from "./plan-write.ts";
import { KEEPS_CREATED } from "./rules/computed-attributes.ts";
import { cascades } from "./rules/required-nodes.ts";

/** One item of a batch, with the positions of the calls that write it. The last call wins. */
export interface BatchItem {
  readonly step: PutStep | DeleteStep;
  readonly calls: readonly number[];
}

/** The items that a batch sends, each once. */
export interface BatchPlan {
  readonly kind: "batch";
  readonly items: readonly BatchItem[];
  /** Rows whose time of creation has to be read first; the batch is then planned again. */
  readonly reads: readonly ReadNeed[];
}

const INSTEAD: Readonly<Record<string, string>> = {
  create: "refuses to replace an item, and a batch checks nothing: use put",
  link: "refuses to replace an item, and a batch checks nothing: use put",
  update: "changes an item, and a batch writes whole items: use put",
  check: "writes nothing, and a batch checks nothing",
  upsert: "changes an item, and a batch writes whole items: use put",
  upsertEdge: "changes an item, and a batch writes whole items: use put",
  relink: "changes an item, and a batch writes whole items: use put",
};

/** Why a batch cannot write an item; undefined if it can. */
const whyNotByItem = (catalog: Catalog, item: WriteItem): string | undefined => {
  if (item.shape && kindMarks(catalog, item.shape).length > 0)
    return "may meet an item of another kind under its key (layout.sharedIds, match), and a batch checks nothing";
  if ((item.kind === "put" || item.kind === "delete") && item.shape) return undefined;
  return item.kind === "update" ? "counts towards a guarded degree" : "needs a marker or a guard to be written with it";
};

const failInBatch = (write: LogicalWrite, call: number, why: string, instead = "Make it alone, or in transact."): never => {
  const verb = verbOf(write);
  const name = "edge" in write ? write.edge : write.name;
  throw new EdgetableError("plan.unsupported", `Call ${call + 1} of the batch, ${verb} of "${name}", ${why}. ${instead}`, {
    details: { call, kind: write.kind },
  });
};

/**
 * Plans a batch: every item by itself, without conditions. If several writes have the same key, only the last one is sent.
 *
 * @param images the items read of rows that keep their time of creation
 * @param now milliseconds since 1970
 * @throws {plan.unsupported} for a call that is more than unconditional puts and deletions
 */
export const planBatch = (catalog: Catalog, writes: readonly LogicalWrite[], images: Images, now: number): BatchPlan => {
  const reads = new Map<string, ReadNeed>();
  const items = new Map<string, BatchItem>();
  for (const [call, given] of writes.entries()) {
    const write: LogicalWrite = given.kind === "putEdge" || given.kind === "put" ? { ...given, ends: "unchecked", seen: undefined } : given;
    if (write.kind === "delete" && cascades(catalog, write.name))
      failInBatch(write, call, "takes its parts or edges along", "Make it alone.");
    const reason = INSTEAD[write.kind] ?? (isConditional(write) ? "has a condition, and a batch checks none" : undefined);
    if (reason !== undefined) failInBatch(write, call, reason);
    const plan = planWrite(catalog, write, images, { now });
    if (plan.kind === "settled") return failInBatch(write, call, "has nothing to write");
    if (plan.kind === "needs" && plan.reads.every((need) => need.kind === "get" && need.reason === KEEPS_CREATED)) {
      for (const need of plan.reads) reads.set(need.id, need);
      continue;
    }
    if (plan.kind === "needs")
      return failInBatch(write, call, `first has to read: ${[...new Set(plan.reads.map((need) => need.reason))].join("; ")}`);
    for (const { item } of plan.items) {
      const why = whyNotByItem(catalog, item);
      if (why !== undefined) failInBatch(write, call, why);
      const id = keyId(item.key);
      items.set(id, { step: item as PutStep | DeleteStep, calls: [...(items.get(id)?.calls ?? []), call] });
    }
  }
  return { kind: "batch", items: [...items.values()], reads: [...reads.values()] };
};
