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

const hasFields = (fields: object): boolean => {
  for (const _ in fields) return true;
  return false;
};

const addsUp = ({ add, append }: { readonly add: object; readonly append: object }): boolean => hasFields(add) || hasFields(append);

// A sum that was read first is written as a plain value: alone, its repetition could not tell its own
// value from the same one of another writer.
const accumulates = ({ item }: PlannedItem, write: LogicalWrite | undefined): boolean =>
  item.kind === "update" && (addsUp(item.changes) || (write !== undefined && "changes" in write && addsUp(write.changes)));

/**
 * Plans writes that happen together, purely: from what was read so far, either what else has to be
 * read, or the steps. What accumulates goes as a transaction even when it is a single item, because
 * only a transaction's token makes its repetition exact.
 *
 * @throws {request.itemTooLarge} above 400 KB
 * @throws {request.transactionTooLarge} above 100 items or 4 MB
 */
export const planWrites = (catalog: Catalog, writes: readonly LogicalWrite[], images: Images): WritePlan => {
  const planning: Planning = { catalog, images, needs: [] };
  const lists: (readonly WriteItem[])[] = [];
  const rows: (Row | undefined)[] = [];
  for (const [at, write] of writes.entries()) {
    const steps = planOne(planning, write);
    if (steps?.kind === "failure") return { kind: "settled", write: at, failure: steps.failure };
    lists.push(steps?.items ?? []);
    rows.push(steps?.row);
  }
  if (planning.needs.length > 0) return { kind: "needs", reads: planning.needs };
  const items = mergeItems(lists);
  checkSizes(items);
  const [only] = items;
  const single = items.length === 1 && only !== undefined && !accumulates(only, writes[0]);
  return { kind: "ready", items, rows, atomic: single ? { kind: "item" } : { kind: "transaction", items: items.length } };
};

/** Plans one write; see {@link planWrites}. */
export const planWrite = (catalog: Catalog, write: LogicalWrite, images: Images): WritePlan => planWrites(catalog, [write], images);
