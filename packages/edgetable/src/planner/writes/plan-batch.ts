import { EdgetableError } from "../../errors/edgetable-error.ts";
import type { LogicalWrite } from "../../ir/logical-write.ts";
import { keyId, type DeleteStep, type PutStep, type WriteItem } from "../../ir/write-plan.ts";
import { type Catalog, kindMark } from "../../schema/catalog.ts";
import { cascades } from "./cascade-ends.ts";
import { planWrite } from "./plan-write.ts";

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

const nameOf = (write: LogicalWrite): string => ("edge" in write ? write.edge : write.name);

const refuse = (write: LogicalWrite, call: number, why: string): never => {
  const verb = write.kind === "putEdge" ? "put" : write.kind;
  throw new EdgetableError(
    "plan.unsupported",
    `Call ${call + 1} of the batch, ${verb} of "${nameOf(write)}", ${why}. Make it alone, or in transact.`,
    { details: { call, kind: write.kind } },
  );
};

const insteadOf: Readonly<Record<string, string>> = {
  create: "refuses to replace what is there, and a batch checks nothing: use put",
  link: "refuses to replace what is there, and a batch checks nothing: use put",
  update: "changes what is there, and a batch writes whole items: use put",
  relink: "changes what is there, and a batch writes whole items: use put",
};

const guarded = (write: LogicalWrite): boolean =>
  "guards" in write && (write.guards.version !== undefined || (write.guards.where?.conditions.length ?? 0) > 0);

const checkWrite = (catalog: Catalog, write: LogicalWrite, call: number): void => {
  const instead = insteadOf[write.kind];
  if (instead !== undefined) refuse(write, call, instead);
  if (guarded(write)) refuse(write, call, "has a condition, and a batch checks none");
  if (write.kind === "delete" && write.of === "node" && cascades(catalog, write.name))
    refuse(write, call, "takes its parts or edges along");
};

const isPlain = (item: WriteItem): item is PutStep | DeleteStep =>
  (item.kind === "put" || item.kind === "delete") && item.shape !== undefined;

const checkItem = (catalog: Catalog, { write, call }: { readonly write: LogicalWrite; readonly call: number }, item: WriteItem) => {
  if (item.shape && kindMark(catalog, item.shape))
    return refuse(write, call, "may meet an item of another kind under its key (layout.sharedIds), and a batch checks nothing");
  if (isPlain(item)) return item;
  return refuse(write, call, item.kind === "update" ? "counts towards a guarded degree" : "depends on a marker or a guard of its own");
};

const stepsOf = (catalog: Catalog, given: LogicalWrite, call: number): readonly (PutStep | DeleteStep)[] => {
  const write: LogicalWrite = given.kind === "putEdge" || given.kind === "put" ? { ...given, ends: "unchecked" } : given;
  checkWrite(catalog, write, call);
  const plan = planWrite(catalog, write, {});
  if (plan.kind === "ready") return plan.items.map(({ item }) => checkItem(catalog, { write, call }, item));
  return refuse(
    write,
    call,
    plan.kind === "needs" ? `first has to read: ${plan.reads.map(({ reason }) => reason).join("; ")}` : "has nothing to write",
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
  for (const [call, write] of writes.entries()) {
    for (const step of stepsOf(catalog, write, call)) {
      const id = keyId(step.key);
      items.set(id, { step, calls: [...(items.get(id)?.calls ?? []), call] });
    }
  }
  return { kind: "batch", items: [...items.values()] };
};
