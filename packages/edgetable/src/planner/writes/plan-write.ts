import { EdgetableError } from "../../errors/edgetable-error.ts";
import { ITEM_BYTES, itemBytes, itemBytesAtMost, TRANSACTION_BYTES, TRANSACTION_ITEMS } from "../../ir/capacity.ts";
import type { LogicalWrite } from "../../ir/logical-write.ts";
import type { Images, PlannedItem, WriteItem, WritePlan } from "../../ir/write-plan.ts";
import type { Catalog } from "../../schema/catalog.ts";
import { unreachable } from "../../util/invariant.ts";
import { mergeItems } from "./merge-items.ts";
import { planLink, planPutEdge, planUnlink } from "./plan-edge.ts";
import { planCreate, planDelete, planPut, planUpdate } from "./plan-item.ts";
import { planRelink } from "./plan-relink.ts";
import type { Planning, Steps } from "./planning.ts";
import type { Row } from "../../util/row.ts";
import { ofItsKind } from "./kind-terms.ts";

const planOne = (planning: Planning, write: LogicalWrite): Steps => {
  switch (write.kind) {
    case "create":
      return planCreate(planning, write);
    case "put":
      return planPut(planning, write);
    case "update":
      return planUpdate(planning, write);
    case "delete":
      return planDelete(planning, write);
    case "link":
      return planLink(planning, write);
    case "putEdge":
      return planPutEdge(planning, write);
    case "relink":
      return planRelink(planning, write);
    case "unlink":
      return planUnlink(planning, write);
    default:
      return unreachable(write);
  }
};

const checkSize = (item: WriteItem): number => {
  if (item.kind !== "put") return 0;
  const bytes = itemBytes(item.item);
  if (bytes <= ITEM_BYTES) return bytes;
  throw new EdgetableError(
    "request.itemTooLarge",
    `The item would be ${bytes} bytes; DynamoDB allows ${ITEM_BYTES}. Split it into parts, or keep the large value elsewhere.`,
    {
      details: { key: item.key, bytes, limit: ITEM_BYTES },
    },
  );
};

// Counting bytes exactly is for writes that come near a limit.
const fitEasily = (items: readonly PlannedItem[]): boolean => {
  let most = 0;
  for (const { item } of items) if (item.kind === "put") most += itemBytesAtMost(item.item);
  return items.length <= TRANSACTION_ITEMS && most <= ITEM_BYTES;
};

const checkSizes = (items: readonly PlannedItem[]): void => {
  if (fitEasily(items)) return;
  let bytes = 0;
  for (const { item } of items) bytes += checkSize(item);
  if (items.length <= TRANSACTION_ITEMS && bytes <= TRANSACTION_BYTES) return;
  throw new EdgetableError(
    "request.transactionTooLarge",
    `This takes ${items.length} items of ${bytes} bytes; a transaction holds ${TRANSACTION_ITEMS} and ${TRANSACTION_BYTES} bytes. Split the call, or use a job.`,
    { details: { items: items.length, bytes } },
  );
};

// Numbers and list elements add up with each request; a set that has the members already stays as it is.
const addsUp = (write: LogicalWrite | undefined): boolean => {
  if (!write || !("changes" in write)) return false;
  const { add, append } = write.changes;
  for (const _ in append) return true;
  for (const field in add) if (!(add[field] instanceof Set)) return true;
  return false;
};

/**
 * Plans writes that happen together, purely: from what was read so far, either what else has to be
 * read, or the steps. A single item is written by a request of its own, unless its write is to be idempotent:
 * then it is a transaction of one, whose token makes a repetition exact. What adds up is else sent once.
 *
 * @throws {request.itemTooLarge} above 400 KB
 * @throws {request.transactionTooLarge} above 100 items or 4 MB
 */
export const planWrites = (catalog: Catalog, writes: readonly LogicalWrite[], images: Images, livingAt?: number): WritePlan => {
  const planning: Planning = { catalog, images, needs: [], livingAt };
  const lists: (readonly WriteItem[])[] = [];
  const rows: (Row | undefined)[] = [];
  for (const [at, write] of writes.entries()) {
    const steps = planOne(planning, write);
    if (steps?.kind === "failure") return { kind: "settled", write: at, failure: steps.failure };
    const items = steps?.items ?? [];
    lists.push(catalog.layout.sharedIds === true ? items.map((item) => ofItsKind(catalog, item)) : items);
    rows.push(steps?.row);
  }
  if (planning.needs.length > 0) return { kind: "needs", reads: planning.needs };
  const items = mergeItems(lists);
  checkSizes(items);
  if (items.length > 1 || writes.some(({ idempotent }) => idempotent))
    return { kind: "ready", items, rows, atomic: { kind: "transaction", items: items.length } };
  const atomic = { kind: "item" } as const;
  return addsUp(writes[0]) ? { kind: "ready", items, rows, atomic, once: true } : { kind: "ready", items, rows, atomic };
};

/** Plans one write; see {@link planWrites}. */
export const planWrite = (catalog: Catalog, write: LogicalWrite, images: Images): WritePlan => planWrites(catalog, [write], images);
