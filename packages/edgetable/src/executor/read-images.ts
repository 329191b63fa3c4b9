import { EdgetableError } from "../errors/edgetable-error.ts";
import { type Images, keyId, type ReadNeed } from "../ir/write-plan.ts";
import { planCount } from "../planner/writes/rules/degree-guards.ts";
import { encodeNeededGet, encodeNeededQuery } from "../requests/encode-read.ts";
import { decodeItem, isOfShape } from "../requests/decode-item.ts";
import { encodeField, keyOfItem } from "../requests/encode-item.ts";
import { sameAttribute } from "../requests/attribute-value.ts";
import type { Shape } from "../schema/catalog.ts";
import { COUNT } from "../schema/system-items.ts";
import type { Item, Key } from "../transport/operations.ts";
import { defined } from "../util/invariant.ts";
import { batchGet } from "./batch.ts";
import type { FindNode } from "./run-read.ts";
import { checkedItem } from "./read-rows.ts";
import type { CallContext, Session } from "./session.ts";
import type { Row } from "../util/row.ts";

type Get = ReadNeed & { readonly kind: "get" };
type Find = ReadNeed & { readonly kind: "find" };
type Count = ReadNeed & { readonly kind: "count" };
type Found = Record<string, Item | null>;

interface Reader {
  readonly session: Session;
  readonly context: CallContext;
}

// DynamoDB may write the number of a key in another form.
const isUnder = (key: Key, item: Item): boolean => Object.keys(key).every((attribute) => sameAttribute(item[attribute], key[attribute]));

const readGets = async ({ session, context }: Reader, gets: readonly Get[], images: Found): Promise<void> => {
  const [only] = gets;
  if (only && gets.length === 1) {
    const output = await session.send("GetItem", encodeNeededGet(session.catalog, only), context);
    images[only.id] = checkedItem(session.catalog, only.key, output.Item) ?? null;
    return;
  }
  const items = await batchGet(session, { keys: gets.map(({ key }) => key), consistent: true }, context);
  for (const { id, key } of gets) images[id] = items.find((item) => isUnder(key, item)) ?? null;
};

/** True if a row has the known values of the row that is looked for. */
const fits = (shape: Shape, row: Row, known: Row): boolean => {
  for (const field in known) {
    const [value, wanted] = [row[field], known[field]];
    if (field === "from" || field === "to") {
      if (!fits(shape, value as Row, wanted as Row)) return false;
    } else if (value === undefined || !sameAttribute(encodeField(shape, field, value), encodeField(shape, field, wanted))) return false;
  }
  return true;
};

const readFind = async ({ session, context }: Reader, { id, shape, row, ...need }: Find, images: Found): Promise<void> => {
  const { catalog } = session;
  const input = encodeNeededQuery(catalog, { id, shape, row, ...need });
  const found: Item[] = [];
  let start: Key | undefined;
  do {
    const output = await session.send("Query", start ? { ...input, ExclusiveStartKey: start } : input, context);
    for (const item of output.Items ?? [])
      if (isOfShape(catalog, shape, item) && fits(shape, decodeItem(catalog, shape, item), row)) found.push(item);
    start = output.LastEvaluatedKey;
  } while (start);
  const [item = null] = found;
  images[id] = item;
  if (item) images[keyId(keyOfItem(catalog, item))] = item;
  if (found.length <= 1) return;
  throw new EdgetableError(
    "plan.unsupported",
    `${found.length} items of "${shape.definition}" fit this id: give the fields that tell them apart.`,
    { details: { row } },
  );
};

const noNode: FindNode = () => Promise.resolve(undefined);

const readCount = async ({ session, context }: Reader, need: Count, images: Found): Promise<void> => {
  const { runCount } = await import("./run-read.ts");
  const plan = defined(planCount(session.catalog, need), "a plan that counts edges");
  const binding = { row: { from: need.node.id, to: need.node.id }, values: [] };
  const count = await runCount(session, { plan, binding, findNode: noNode }, context);
  images[need.id] = { [COUNT]: { N: String(count) } };
};

/**
 * Reads what a plan needs, strongly consistent: one GetItem, or one BatchGetItem for several; a Query for each item
 * that is to be found, and Queries for each node whose edges are to be counted.
 */
export const readImages = async (session: Session, reads: readonly ReadNeed[], context: CallContext): Promise<Images> => {
  const reader = { session, context };
  const images: Found = {};
  const gets: Get[] = [];
  const pending: Promise<void>[] = [];
  for (const need of reads) {
    if (need.kind === "get") gets.push(need);
    else pending.push(need.kind === "find" ? readFind(reader, need, images) : readCount(reader, need, images));
  }
  if (gets.length > 0) pending.push(readGets(reader, gets, images));
  await Promise.all(pending);
  return images;
};
