import { EdgetableError } from "../errors/edgetable-error.ts";
import { holds } from "../ir/evaluate-condition.ts";
import type { AccessStep, GetStep, HydrateStep, QueryStep, ReadPlan } from "../ir/physical-plan.ts";
import type { Row } from "../ir/logical-write.ts";
import { askedKeys, distinctKeys, encodeGet } from "../requests/encode-get.ts";
import { encodeQuery, isEmptyRange, type Binding, type PageRequest } from "../requests/encode-read.ts";
import { sameValue } from "../keys/template.ts";
import { decodeItem, decodeOwn } from "../requests/decode-item.ts";
import { keyOf } from "../requests/item-key.ts";
import { shapeOf } from "../requests/item-shape.ts";
import type { Position, Ties } from "../requests/cursor.ts";
import type { Catalog } from "../schema/catalog.ts";
import type { Shape } from "../schema/shape.ts";
import type { AttributeValue, Item, Key, QueryOutput } from "../transport/operations.ts";
import { defined } from "../util/invariant.ts";
import { valueAt } from "../util/value-at.ts";
import { batchGet } from "./batch-get.ts";
import type { Found, Reader, Rows } from "./found.ts";
import type { Scatter } from "./scatter.ts";
import type { CallContext, Session } from "./session.ts";

export type { Found, Rows } from "./found.ts";

const shapesOf = (catalog: Catalog, ids: readonly string[]): readonly Shape[] => ids.map((id) => defined(catalog.shapesById[id], id));

const keyAttributes = (catalog: Catalog, step: QueryStep): readonly string[] => {
  const index = catalog.indexes.find((one) => one.name === step.index);
  return [catalog.index.partitionKey, catalog.index.sortKey, index?.partitionKey, index?.sortKey].filter((name) => name !== undefined);
};

/** The key after which a Query goes on behind the given item. */
export const startKeyOf = (catalog: Catalog, step: QueryStep, item: Item): Key => {
  const key: Record<string, AttributeValue> = {};
  for (const attribute of keyAttributes(catalog, step)) {
    const value = item[attribute];
    if (value !== undefined) key[attribute] = value;
  }
  return key;
};

/** Tells the items of a step apart; made once for a page of them. */
const identifier = (catalog: Catalog, step: QueryStep, shapes: readonly Shape[]): ((item: Item) => Shape | undefined) =>
  step.discards || shapes.length > 1 || catalog.typeAttribute !== undefined ? (item) => shapeOf(catalog, shapes, item) : () => shapes[0];

const accept = (reader: Reader, source: number, items: readonly Item[]): Found[] => {
  const { catalog } = reader.session;
  const step = reader.plan.sources[source] as QueryStep;
  const identify = identifier(catalog, step, shapesOf(catalog, step.shapes));
  const found: Found[] = [];
  for (const item of items) {
    const shape = identify(item);
    if (!shape) continue;
    const row = decodeItem(catalog, shape, item);
    if (reader.plan.filter?.conditions.some((condition) => !holds(condition, row, reader.binding.values))) continue;
    found.push({ shape, row, item, source });
  }
  return found;
};

const passesAll = (plan: ReadPlan, step: QueryStep): boolean => !plan.filter && !step.discards && step.filter.length === 0;

const queryPage = async (reader: Reader, step: QueryStep, page: PageRequest): Promise<QueryOutput> => {
  const input = encodeQuery(reader.session.catalog, step, page);
  return isEmptyRange(input) ? { Items: [], Count: 0 } : reader.session.send("Query", input, reader.context);
};

// Reads on until there are enough rows: a page that a filter leaves short, or empty, is not the end.
const readSource = async (
  reader: Reader,
  source: number,
  from: Key | undefined,
): Promise<{ readonly found: readonly Found[]; readonly last: Key | undefined }> => {
  const { plan, binding, backward, limit: wanted } = reader;
  const step = plan.sources[source] as QueryStep;
  const found: Found[] = [];
  let start = from;
  for (;;) {
    const left = wanted === undefined ? undefined : wanted - found.length;
    const limit = left === undefined || passesAll(plan, step) ? left : Math.max(left, 50);
    const output = await queryPage(reader, step, { binding, limit, start, backward });
    found.push(...accept(reader, source, output.Items ?? []));
    start = output.LastEvaluatedKey;
    if (wanted !== undefined && found.length >= wanted) {
      const cutShort = found.length > wanted;
      const kept = found.slice(0, wanted);
      const lastItem = kept.at(-1)?.item;
      return { found: kept, last: cutShort && lastItem ? startKeyOf(reader.session.catalog, step, lastItem) : start };
    }
    if (start === undefined) return { found, last: undefined };
  }
};

const sourceOrder = (reader: Reader, from: number): readonly number[] => {
  const all = reader.plan.sources.map((_, at) => at);
  return reader.backward ? all.filter((at) => at <= from).toReversed() : all.filter((at) => at >= from);
};

const isScattered = (step: AccessStep | undefined): boolean => step?.kind === "query" && step.scatter !== undefined;

const scatterOf = (reader: Reader, sources: readonly number[], from: Position): Scatter => ({
  reader,
  sources,
  from,
  accept: (source, items) => accept(reader, source, items),
  startKeyOf: (step, item) => startKeyOf(reader.session.catalog, step, item),
  passesAll: (step) => passesAll(reader.plan, step),
});

// Sharded indexes are code of their own, that only those load who have one.
const readParted = async (reader: Reader, sources: readonly number[], from: Position): Promise<Rows> =>
  (await import("./scatter.ts")).readScattered(scatterOf(reader, sources, from));

const readMerged = async (reader: Reader, from: Position): Promise<Rows> => readParted(reader, [...reader.plan.sources.keys()], from);

const hasShards = ({ partition }: QueryStep): boolean =>
  partition.parts.some((part) => part.kind === "field" && part.format.kind === "shard");

// A page in the one shard of a known id goes on after that grew.
const isParted = ({ limit }: Reader, step: AccessStep | undefined): boolean =>
  isScattered(step) || (limit !== undefined && step?.kind === "query" && hasShards(step));

const readQueries = async (reader: Reader, from: Position): Promise<Rows> => {
  const found: Found[] = [];
  let begun: Ties | undefined;
  const order = sourceOrder(reader, from.source);
  for (const [turn, source] of order.entries()) {
    const rest = found.length === 0 || reader.limit === undefined ? reader : { ...reader, limit: reader.limit - found.length };
    const start = turn === 0 ? from.key : undefined;
    if (isParted(reader, reader.plan.sources[source])) {
      const part = await readParted(rest, [source], { ...(turn === 0 ? from : {}), source, key: start, backward: from.backward });
      if (found.length === 0) begun = part.begun;
      found.push(...part.found);
      if (part.next) return { found, next: part.next, begun };
      if (reader.limit === undefined || found.length < reader.limit) continue;
      const next = order[turn + 1];
      return { found, next: next === undefined ? undefined : { source: next, key: undefined, backward: reader.backward }, begun };
    }
    const { found: more, last } = await readSource(rest, source, start);
    found.push(...more);
    const full = reader.limit !== undefined && found.length >= reader.limit;
    const following = order[turn + 1];
    if (last !== undefined) return { found, next: { source, key: last, backward: reader.backward }, begun };
    if (full && following !== undefined) return { found, next: { source: following, key: undefined, backward: reader.backward }, begun };
  }
  return { found, next: undefined, begun };
};

const textOf = (value: AttributeValue | undefined): string => (value && "S" in value ? value.S : JSON.stringify(value));

// The first text's length keeps two keys apart that are the same when written in a row.
const identity = ({ index: { partitionKey, sortKey } }: Catalog, item: Item): string => {
  const partition = textOf(item[partitionKey]);
  return `${partition.length}:${partition}${textOf(item[sortKey])}`;
};

const byIdentity = (catalog: Catalog, items: readonly Item[]): ReadonlyMap<string, Item> => {
  const found = new Map<string, Item>();
  for (const item of items) found.set(identity(catalog, item), item);
  return found;
};

const foundOf = (catalog: Catalog, shapes: readonly Shape[], item: Item): readonly Found[] => {
  const shape = shapeOf(catalog, shapes, item);
  return shape ? [{ shape, row: decodeItem(catalog, shape, item), item, source: 0 }] : [];
};

const readGets = async (reader: Reader, step: GetStep, rows: readonly Row[]): Promise<Rows> => {
  const { session, context } = reader;
  const { catalog } = session;
  const shapes = shapesOf(catalog, step.shapes);
  const asked = askedKeys(catalog, step, rows);
  const keys = distinctKeys(asked);
  const foundFor = (row: Row, item: Item): Found[] => foundOf(catalog, shapes, item).filter((one) => hasEndsOf(one, row));
  const [only] = keys;
  if (only && keys.length === 1 && !step.many) {
    const { Item: item } = await session.send("GetItem", encodeGet(catalog, only, step), context);
    return { found: item ? asked.flatMap(({ row }) => foundFor(row, item)) : [], next: undefined };
  }
  const items = keys.length === 0 ? [] : await batchGet(session, { keys, consistent: step.consistent }, context);
  const byKey = byIdentity(catalog, items);
  const found = asked.flatMap(({ row, key }) => {
    const item = byKey.get(identity(catalog, key));
    return item ? foundFor(row, item) : [];
  });
  return { found, next: undefined };
};

// Where the key names one end alone, the edge that is there may lead elsewhere.
const hasEndsOf = ({ shape, row }: Found, asked: Row): boolean =>
  shape.unkeyed.every((path) => sameValue(valueAt(row, path), valueAt(asked, path)));

const endOf = ({ ends }: HydrateStep, { source }: Found): "from" | "to" => defined(ends[source], "the end of a source");

const hydrateByBatch = async (reader: Reader, step: HydrateStep, found: readonly Found[]): Promise<void> => {
  const { session, binding, context } = reader;
  const { catalog } = session;
  const keys = new Map<string, Key>();
  const places = found.map((one) => {
    const end = endOf(step, one);
    const node = catalog.nodes[one.shape[end] ?? ""];
    if (!node || node.definition.stored === false) return undefined;
    const key = keyOf(catalog, node.shape, Object.assign({}, binding.row, one.row[end]));
    const id = identity(catalog, key);
    keys.set(id, key);
    return { id, node };
  });
  const byKey = byIdentity(catalog, await batchGet(session, { keys: [...keys.values()], consistent: step.consistent }, context));
  for (const [at, one] of found.entries()) {
    const place = places[at];
    const item = place && byKey.get(place.id);
    one.node = item && place ? decodeOwn(catalog, place.node.shape, item) : undefined;
  }
};

const hydrate = async (reader: Reader, found: readonly Found[], findNode: FindNode): Promise<void> => {
  const { catalog } = reader.session;
  const step = defined(reader.plan.hydrate, "hydrate step");
  if (step.by === "none") {
    for (const one of found) one.node = decodeOwn(catalog, one.shape, one.item);
    return;
  }
  if (step.by === "batchGet") return hydrateByBatch(reader, step, found);
  await Promise.all(
    found.map(async (one) => {
      const end = endOf(step, one);
      one.node = await findNode(defined(one.shape[end], "node type"), one.row[end] as Row, reader.context);
    }),
  );
};

/** Ids of the nodes that edges lead to and that have no item. */
export const missingOf = ({ hydrate: step }: ReadPlan, found: readonly Found[]): readonly unknown[] =>
  step ? found.filter(({ node }) => node === undefined).map((one) => one.row[endOf(step, one)]) : [];

/** Finds a node whose table key does not follow from its id. */
export type FindNode = (node: string, id: Row, context: CallContext) => Promise<Record<string, unknown> | undefined>;

export interface ReadRequest {
  readonly plan: ReadPlan;
  readonly binding: Binding;
  /** For point reads of several things: their rows. */
  readonly rows?: readonly Row[];
  /** The most rows to give, 1 or more; undefined for all. */
  readonly limit?: number | undefined;
  readonly from?: Position | undefined;
  readonly findNode: FindNode;
}

const isGet = (step: AccessStep): step is GetStep => step.kind === "get";

/** Runs a read plan: what `explain` shows, in that order. Rows of a backward page come in forward order. */
export const runRead = async (session: Session, request: ReadRequest, context: CallContext): Promise<Rows> => {
  const { plan, binding, limit } = request;
  const from = request.from ?? { source: 0, key: undefined, backward: false };
  const reader: Reader = { session, plan, binding, context, limit, backward: from.backward };
  const [first] = plan.sources;
  if (!first) throw new EdgetableError("invariant", "a read plan without a source: a defect of edgetable");
  const rows = isGet(first)
    ? await readGets(reader, first, request.rows ?? [binding.row])
    : await (plan.merged ? readMerged(reader, from) : readQueries(reader, from));
  if (plan.hydrate) await hydrate(reader, rows.found, request.findNode);
  return from.backward ? { ...rows, found: rows.found.toReversed() } : rows;
};

/** Counts what a plan would read; DynamoDB counts where it can. */
export const runCount = async (session: Session, request: ReadRequest, context: CallContext): Promise<number> => {
  const { plan, binding } = request;
  const reader: Reader = { session, plan, binding, context, limit: undefined, backward: false };
  let count = 0;
  for (const [at, source] of plan.sources.entries()) {
    if (isScattered(source)) {
      const { countScattered } = await import("./scatter.ts");
      count += await countScattered(scatterOf(reader, [at], { source: at, key: undefined, backward: false }));
      continue;
    }
    if (source.kind !== "query" || !source.counts) {
      count += (await readSource(reader, at, undefined)).found.length;
      continue;
    }
    count += await countSource(reader, source);
  }
  return count;
};

const countSource = async (reader: Reader, step: QueryStep): Promise<number> => {
  let count = 0;
  let start: Key | undefined;
  do {
    const output = await queryPage(reader, step, { binding: reader.binding, limit: undefined, start, backward: false });
    count += output.Count ?? 0;
    start = output.LastEvaluatedKey;
  } while (start !== undefined);
  return count;
};
