import { EdgetableError } from "../errors/edgetable-error.ts";
import { type Images, keyId, type ReadNeed } from "../ir/write-plan.ts";
import { planCount } from "../planner/writes/rules/degree-guards.ts";
import { encodeNeededGet, encodeNeededQuery } from "../requests/encode-read.ts";
import { decodeItem, isOfShape } from "../requests/decode-item.ts";
import { encodeField, keyOfItem } from "../requests/encode-item.ts";
import { sameAttribute } from "../requests/attribute-value.ts";
import type { Catalog, Shape } from "../schema/catalog.ts";
import { COUNT } from "../schema/system-items.ts";
import type { Item, Key } from "../transport/operations.ts";
import { defined } from "../util/invariant.ts";
import { batchGet } from "./batch.ts";
import type { FindNode } from "./run-read.ts";
import { checkedItem } from "./item-identity.ts";
import type { CallContext, Session } from "./session.ts";
import type { Row } from "../util/row.ts";

type Get = ReadNeed & { readonly kind: "get" };
type Find = ReadNeed & { readonly kind: "find" };
type Count = ReadNeed & { readonly kind: "count" };

const sameKey = (item: Item, key: Key): boolean => Object.entries(key).every(([attribute, value]) => sameAttribute(item[attribute], value));

const readGets = async (
  session: Session,
  gets: readonly Get[],
  context: CallContext,
): Promise<readonly (readonly [string, Item | null])[]> => {
  const [only] = gets;
  if (!only) return [];
  if (gets.length === 1) {
    const output = await session.send("GetItem", encodeNeededGet(session.catalog, only), context);
    return [[only.id, checkedItem(session.catalog, only.key, output.Item) ?? null]];
  }
  const items = await batchGet(session, { keys: gets.map(({ key }) => key), consistent: true }, context);
  return gets.map(({ id, key }) => [id, items.find((item) => sameKey(item, key)) ?? null]);
};

const fits = (shape: Shape, row: Row, known: Row): boolean =>
  Object.entries(known).every(([field, value]) => {
    if (field === "from" || field === "to") return fits(shape, row[field] as Row, value as Row);
    return row[field] !== undefined && sameAttribute(encodeField(shape, field, row[field]), encodeField(shape, field, value));
  });

const isWanted = (catalog: Catalog, need: Find, item: Item): boolean =>
  isOfShape(catalog, need.shape, item) && fits(need.shape, decodeItem(catalog, need.shape, item), need.row);

const readFind = async (session: Session, need: Find, context: CallContext): Promise<Item | null> => {
  const input = encodeNeededQuery(session.catalog, need);
  const found: Item[] = [];
  let start: Key | undefined;
  do {
    const output = await session.send("Query", start ? { ...input, ExclusiveStartKey: start } : input, context);
    found.push(...(output.Items ?? []).filter((item) => isWanted(session.catalog, need, item)));
    start = output.LastEvaluatedKey;
  } while (start);
  if (found.length <= 1) return found[0] ?? null;
  throw new EdgetableError(
    "plan.unsupported",
    `${found.length} items of "${need.shape.definition}" fit this id: give the fields that tell them apart.`,
    { details: { row: need.row } },
  );
};

const noNode: FindNode = () => Promise.resolve(undefined);

const readCount = async (session: Session, need: Count, context: CallContext): Promise<Item> => {
  const { runCount } = await import("./run-read.ts");
  const plan = defined(planCount(session.catalog, need), "a plan that counts edges");
  const binding = { row: { from: need.node.id, to: need.node.id }, values: [] };
  const count = await runCount(session, { plan, binding, findNode: noNode }, context);
  return { [COUNT]: { N: String(count) } };
};

/** Reads what a plan needs, strongly consistent: one GetItem, or one BatchGetItem for several; a Query for each item that is to be found, and Queries for each node whose edges are to be counted. */
export const readImages = async (session: Session, reads: readonly ReadNeed[], context: CallContext): Promise<Images> => {
  const gets = readGets(
    session,
    reads.filter((need) => need.kind === "get"),
    context,
  );
  const finds = reads.filter((need) => need.kind === "find").map(async (need) => ({ need, item: await readFind(session, need, context) }));
  const counts = reads
    .filter((need) => need.kind === "count")
    .map(async (need) => [need.id, await readCount(session, need, context)] as const);
  const found = (await Promise.all(finds)).flatMap(({ need, item }) => [
    [need.id, item] as const,
    ...(item ? [[keyId(keyOfItem(session.catalog, item)), item] as const] : []),
  ]);
  return Object.fromEntries([...(await gets), ...found, ...(await Promise.all(counts))]);
};
