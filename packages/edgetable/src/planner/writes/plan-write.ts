import { EdgetableError } from "../../errors/edgetable-error.ts";
import { ITEM_BYTES, itemBytes, itemBytesAtMost, TRANSACTION_BYTES, TRANSACTION_ITEMS } from "../../ir/capacity.ts";
import type { LogicalWrite } from "../../ir/logical-write.ts";
import { type Images, type PlannedItem, sameKey, type WriteFailure, type WritePlan } from "../../ir/write-plan.ts";
import { type Catalog, hasFacts } from "../../schema/catalog.ts";
import { defined, unreachable } from "../../util/invariant.ts";
import { loadOnce } from "../../util/load-once.ts";
import type { Row } from "../../util/row.ts";
import { usePathRules } from "./changed-row.ts";
import { planLink, planPutEdge, planRelink, planUnlink } from "./plan-edge.ts";
import { planCheck, planCreate, planDelete, planPut, planUpdate } from "./plan-item.ts";
import { finishDerived } from "./rules/index.ts";
import type * as Retypes from "./plan-retype.ts";
import type * as Upserts from "./plan-upsert.ts";
import { type Given, openWorkingSet, type Planned, settle, type WorkingSet } from "./working-set.ts";

// Loaded when needed, because few programs upsert or change the type of an edge.
let upserts: typeof Upserts | undefined;
let retypes: typeof Retypes | undefined;

const isByPath = (write: LogicalWrite): boolean =>
  "update" in write ? isByPath(write.update) : "changes" in write && write.changes.paths !== undefined;

const loadPathRules = loadOnce(async () => {
  const loaded = await import("./path-changes.ts");
  usePathRules(loaded.pathRules);
  return loaded;
});

/** The new type of an edge; undefined for any other write. */
const newTypeOf = (write: LogicalWrite): string | undefined =>
  write.kind === "relink" && write.type !== write.edge ? write.type : undefined;

const loadUpserts = loadOnce(async () => (upserts = await import("./plan-upsert.ts")));
const loadRetypes = loadOnce(async () => (retypes = await import("./plan-retype.ts")));

/** Loads the code that plans upserts, changes by path and changes of type, which few calls have. Returns undefined if it is not needed. */
export const loadRareWrites = (writes: readonly LogicalWrite[]): Promise<unknown> | undefined => {
  const loading = [
    writes.some(isByPath) && loadPathRules(),
    writes.some(({ kind }) => kind === "upsert" || kind === "upsertEdge") && loadUpserts(),
    writes.some((write) => newTypeOf(write) !== undefined) && loadRetypes(),
  ].filter((one) => one instanceof Promise);
  return loading.length > 0 ? Promise.all(loading) : undefined;
};

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
    case "check":
      return planCheck(working, write);
    case "link":
      return planLink(working, write);
    case "putEdge":
      return planPutEdge(working, write);
    case "relink": {
      const type = newTypeOf(write);
      return type === undefined
        ? planRelink(working, write)
        : defined(retypes, "loadRareWrites() before a type is changed").planRetype(working, write, type);
    }
    case "unlink":
      return planUnlink(working, write);
    case "upsert":
      return defined(upserts, "loadRareWrites() before an upsert is planned").planUpsert(working, write);
    case "upsertEdge":
      return defined(upserts, "loadRareWrites() before an upsert is planned").planUpsertEdge(working, write);
    default:
      return unreachable(write);
  }
};

const checkSizes = (items: readonly PlannedItem[]): void => {
  // Bytes are only counted exactly if a write comes near a limit.
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
    `This takes ${items.length} items with ${total} bytes in all; a transaction holds ${TRANSACTION_ITEMS} items and ${TRANSACTION_BYTES} bytes. Split the call, or use a job.`,
    { details: { items: items.length, bytes: total } },
  );
};

// Repeated requests add numbers and list elements again; a set that already has the members does not change.
const addsUp = (write: LogicalWrite): boolean => {
  if ("update" in write) return addsUp(write.update);
  if (!("changes" in write)) return false;
  const { add, append, paths = [] } = write.changes;
  // If an element is removed, later elements move up; a value that is set after the end of a list is appended.
  if (
    paths.some(
      ({ verb, steps, value }) => verb === "append" || (verb === "add" && !(value instanceof Set)) || typeof steps.at(-1) === "number",
    )
  )
    return true;
  for (const _ in append) return true;
  for (const field in add) if (!(add[field] instanceof Set)) return true;
  return false;
};

/** True if a write has a condition of the caller. */
export const isConditional = (write: LogicalWrite): boolean =>
  "guards" in write && (write.guards.version !== undefined || (write.guards.where?.conditions.length ?? 0) > 0);

// If it took effect, a repeated create or link finds the item, a deletion does not, and a condition may no longer hold.
const isRepeatable = (write: LogicalWrite): boolean => {
  if (write.kind === "putEdge" || write.kind === "check") return true;
  if (newTypeOf(write) !== undefined) return false;
  return (write.kind === "put" || write.kind === "update" || write.kind === "relink") && !isConditional(write) && !addsUp(write);
};

/**
 * Plans writes that happen together. Pure: from the items read so far, it returns what else has to be read, or the steps. A single
 * item takes a single request. If its write is idempotent or only a check, it is a transaction of one, whose token makes a
 * repetition exact. Other writes that add values are sent only once.
 *
 * @throws {request.itemTooLarge} above 400 KB
 * @throws {request.transactionTooLarge} above 100 items or 4 MB
 */
export const planWrites = (catalog: Catalog, writes: readonly LogicalWrite[], images: Images, given?: Given): WritePlan => {
  const working = openWorkingSet(catalog, images, given, writes);
  const rows: (Row | undefined)[] = [];
  let created: (boolean | undefined)[] | undefined;
  const failed: WriteFailure[] = [];
  for (const [at, write] of writes.entries()) {
    working.write = at;
    const planned = planOne(working, write);
    if (planned?.kind === "failure") {
      failed.push({ write: at, failure: planned.failure });
      // A load of many rows needs to know all missing nodes at once.
      if (planned.failure.reason === "endMissing") continue;
      break;
    }
    rows.push(planned?.row);
    if (planned?.created !== undefined) (created ??= [])[at] = planned.created;
  }
  const [first, ...others] = failed;
  if (first) return { kind: "settled", ...first, others };
  finishDerived(working);
  const items = settle(working);
  const { needs, unvalidated, jobs } = working;
  if (needs.length > 0 || unvalidated.length > 0)
    return unvalidated.length > 0 ? { kind: "needs", reads: needs, rows: unvalidated } : { kind: "needs", reads: needs };
  if ("failure" in items) return { kind: "settled", ...items };
  checkSizes(items);
  for (const { item } of items) {
    if (!("leaves" in item) || item.shape?.role === "mirror") continue;
    const own = working.staged.find(({ item: step, key }) => step && sameKey(key, item.key));
    if (own) rows[own.write] = item.leaves;
  }
  // Attributes that an item stores for derived attributes, and that are not in its row, are not shown.
  if (hasFacts(catalog))
    for (const [at, row] of rows.entries())
      rows[at] = row && Object.fromEntries(Object.entries(row).filter(([name]) => !name.startsWith("~")));
  const repeatable = writes.every(isRepeatable);
  if (items.length > 1 || items[0]?.item.kind === "check" || writes.some(({ idempotent }) => idempotent))
    return {
      kind: "ready",
      items,
      rows,
      atomic: { kind: "transaction", items: items.length },
      repeatable,
      ...(created && { created }),
      ...(jobs.length > 0 && { jobs }),
    };
  const plan = { kind: "ready", items, rows, atomic: { kind: "item" }, repeatable } as const;
  const adds = writes.some((write, at) => addsUp(write) && created?.[at] !== true);
  if (created) return { ...plan, created, ...(adds && { once: true }) };
  return adds ? { ...plan, once: true } : plan;
};

/** Plans one write; see {@link planWrites}. */
export const planWrite = (catalog: Catalog, write: LogicalWrite, images: Images, given?: Given): WritePlan =>
  planWrites(catalog, [write], images, given);
