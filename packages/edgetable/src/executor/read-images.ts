import { EdgetableError } from "../errors/edgetable-error.ts";
import { TRANSACTION_ITEMS } from "../ir/capacity.ts";
import { type Images, keyId, keyShown, listImage, type ReadNeed } from "../ir/write-plan.ts";
import { planCount, planList } from "../planner/writes/rules/degree-guards.ts";
import { inKeysCase } from "../keys/template.ts";
import { encodeGet } from "../requests/encode-read.ts";
import { encodeNeededGet, encodeNeededQuery } from "../requests/encode-direct.ts";
import { decodeItem, isExpired, isOfShape } from "../requests/decode-item.ts";
import { keyOfItem } from "../requests/encode-item.ts";
import { encodeValue, sameAttribute } from "../requests/attribute-value.ts";
import type { Shape } from "../schema/catalog.ts";
import { COUNT } from "../schema/system-items.ts";
import type { Item, Key } from "../transport/operations.ts";
import { defined } from "../util/invariant.ts";
import { batchGet } from "./batch.ts";
import { byIdentity, checkedItem, identity } from "./read-rows.ts";
import { backOff, type CallContext, type Session } from "./session.ts";
import type { Row } from "../util/row.ts";

type Get = ReadNeed & { readonly kind: "get" };
type Find = ReadNeed & { readonly kind: "find" };
type Count = ReadNeed & { readonly kind: "count" };
type List = ReadNeed & { readonly kind: "list" };

const LAG_TRIES = 20;
const NAMED_KEYS = 3;
type Found = Record<string, Item | null>;

interface Sending {
  readonly session: Session;
  readonly context: CallContext;
}

const readGets = async ({ session, context }: Sending, gets: readonly Get[], images: Found): Promise<void> => {
  const [only] = gets;
  if (only && gets.length === 1) {
    const output = await session.send("GetItem", encodeNeededGet(session.catalog, only), context);
    images[only.id] = checkedItem(session.catalog, only.key, output.Item) ?? null;
    return;
  }
  const items = await batchGet(session, { keys: gets.map(({ key }) => key), consistent: true }, context);
  const byKey = byIdentity(session.catalog, items);
  for (const { id, key } of gets) images[id] = byKey.get(identity(session.catalog, key)) ?? null;
};

/** Ids of a part's node and of an edge's ends hold Dates that the item's own `dates` do not list. */
const isSame = (field: string, value: unknown, wanted: unknown): boolean =>
  value instanceof Date && wanted instanceof Date
    ? value.getTime() === wanted.getTime()
    : sameAttribute(encodeValue(value, field), encodeValue(wanted, field));

/** True if a row has the known values of the wanted row, in the case in which the table's key contains them. */
const fits = (shape: Shape, row: Row, known: Row, end = ""): boolean => {
  for (const field in known) {
    const form = shape.folded[end + field];
    const [value, wanted] = [inKeysCase(form, row[field]), inKeysCase(form, known[field])];
    if (field === "from" || field === "to") {
      if (!fits(shape, value as Row, wanted as Row, `${field}.`)) return false;
    } else if (value === undefined || !isSame(field, value, wanted)) return false;
  }
  return true;
};

const readFind = async ({ session, context }: Sending, { id, shape, row, ...need }: Find, images: Found): Promise<void> => {
  const { catalog } = session;
  const input = encodeNeededQuery(catalog, { id, shape, row, ...need });
  const fitting: Item[] = [];
  let start: Key | undefined;
  do {
    const output = await session.send("Query", start ? { ...input, ExclusiveStartKey: start } : input, context);
    for (const item of output.Items ?? [])
      if (isOfShape(catalog, shape, item) && fits(shape, decodeItem(catalog, shape, item), row)) fitting.push(item);
    start = output.LastEvaluatedKey;
  } while (start);
  // An expired item is only used if there is no other.
  const living = fitting.filter((item) => !isExpired(catalog, item, context.livingAt));
  const found = living.length > 0 ? living : fitting.slice(0, 1);
  const [item = null] = found;
  images[id] = item;
  if (item) images[keyId(keyOfItem(catalog, item))] = item;
  if (found.length <= 1 || need.any) return;
  const keys = found.map((one) => keyOfItem(catalog, one));
  const named = keys.slice(0, NAMED_KEYS).map(keyShown).join(", ");
  const say = shape.kind === "node" ? "Say by `given` which one is meant" : "Give the fields that tell them apart";
  throw new EdgetableError(
    "plan.unsupported",
    `${found.length} items of "${shape.definition}" have this id: ${named}. ${say}, and delete what should not be there.`,
    { details: { row, keys } },
  );
};

const readCount = async ({ session, context }: Sending, need: Count, images: Found): Promise<void> => {
  const { runCount } = await import("./run-read.ts");
  const plan = defined(planCount(session.catalog, need), "a plan that counts edges");
  const binding = { row: { from: need.node.id, to: need.node.id }, values: [] };
  const count = await runCount(session, { plan, binding }, context);
  images[need.id] = { [COUNT]: { N: String(count) } };
};

// One more than fits into a transaction shows that there are too many.
export const LISTED: number = TRANSACTION_ITEMS + 1;
const LAG_PAUSES = { baseDelay: 20, maxDelay: 500 };

const readList = async ({ session, context }: Sending, need: List, images: Found): Promise<void> => {
  const { runRead } = await import("./run-read.ts");
  const { catalog } = session;
  const { of, node } = need;
  const { plan, binding } = planList(catalog, need);
  const request = { plan, binding, limit: LISTED, anyOrder: true };
  for (let attempt = 0; ; attempt++) {
    const { counter } = need;
    const counted = counter && (await session.send("GetItem", encodeGet(catalog, counter, { consistent: true }), context)).Item;
    // Expired items that still exist are counted.
    const { found } = await runRead(session, request, { ...context, livingAt: undefined });
    images[need.id] = listImage(found.map(({ item }) => item));
    if (!counter) return;
    images[keyId(counter)] = counted ?? null;
    const stored = counted?.[COUNT];
    const expected = stored && "N" in stored ? Number(stored.N) : 0;
    if (found.length === expected || expected >= TRANSACTION_ITEMS) return;
    if (attempt < LAG_TRIES && (await backOff(session.effects, LAG_PAUSES, attempt, context))) continue;
    throw new EdgetableError(
      "execute.conflict",
      `${found.length} edges of "${of.name}" are found at this "${node.type}", and their counter says ${expected}. An index may lag: try again. If it stays so, run edgetable verify.`,
      { retryable: true, details: { expected, found: found.length } },
    );
  }
};

/**
 * Reads what a plan needs, strongly consistent: one GetItem, or one BatchGetItem for several items; a Query for each item to find,
 * and Queries for each node whose edges are counted.
 */
export const readImages = async (session: Session, reads: readonly ReadNeed[], context: CallContext): Promise<Images> => {
  const reader = { session, context };
  const images: Found = {};
  const gets: Get[] = [];
  const pending: Promise<void>[] = [];
  for (const need of reads) {
    if (need.kind === "get") gets.push(need);
    else if (need.kind === "find") pending.push(readFind(reader, need, images));
    else pending.push(need.kind === "count" ? readCount(reader, need, images) : readList(reader, need, images));
  }
  if (gets.length > 0) pending.push(readGets(reader, gets, images));
  await Promise.all(pending);
  return images;
};
