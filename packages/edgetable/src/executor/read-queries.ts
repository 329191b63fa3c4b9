import { holds } from "../ir/evaluate-condition.ts";
import type { AccessStep, QueryStep, ReadPlan } from "../ir/physical-plan.ts";
import type { Position, Ties } from "../requests/cursor.ts";
import { encodeQuery, isEmptyRange, type PageRequest } from "../requests/encode-read.ts";
import { refers, shapeOf } from "../requests/decode-item.ts";
import { type Catalog, tableAndIndexKeys } from "../schema/catalog.ts";
import type { AttributeValue, Item, Key, QueryOutput } from "../transport/operations.ts";
import { type Found, type Reader, readRow, type Rows, shapesOf } from "./read-rows.ts";
import { pageOf } from "./page-of.ts";
import type { Scatter } from "./scatter.ts";

/** The key after which a Query goes on behind the given item. */
export const startKeyOf = (catalog: Catalog, step: QueryStep, item: Item): Key => {
  const key: Record<string, AttributeValue> = {};
  const index = catalog.indexes.find(({ name }) => name === step.index);
  for (const attribute of tableAndIndexKeys(catalog, index)) {
    const value = item[attribute];
    if (value !== undefined) key[attribute] = value;
  }
  return key;
};

const accept = (reader: Reader, source: number, items: readonly Item[]): Found[] => {
  const { catalog } = reader.session;
  const step = reader.plan.sources[source] as QueryStep;
  const shapes = shapesOf(catalog, step.shapes);
  const found: Found[] = [];
  for (const item of items) {
    const shape = shapeOf(catalog, shapes, item);
    if (!shape) continue;
    const row = readRow(reader, [shape, item]);
    if (!row) continue;
    if (!refers(shape, row)) continue;
    if (reader.plan.filter?.conditions.some((condition) => !holds(condition, row, reader.binding.values))) continue;
    found.push({ shape, row, item, source });
  }
  return found;
};

/** Whether every item that a step reads is a row of the answer. */
export const passesAll = (plan: ReadPlan, step: QueryStep): boolean => !plan.filter && !step.discards && step.filter.length === 0;

const queryPage = async (reader: Reader, step: QueryStep, page: Omit<PageRequest, "livingAt">): Promise<QueryOutput> => {
  const input = encodeQuery(reader.session.catalog, step, { ...page, livingAt: reader.context.livingAt });
  return isEmptyRange(input) ? { Items: [], Count: 0 } : reader.session.send("Query", input, reader.context);
};

// Reads on until there are enough rows: a page that a filter leaves short, or empty, is not the end.
const readSource = async (reader: Reader, source: number, from: Key | undefined): Promise<Rows> => {
  const { plan, binding, backward, limit: wanted } = reader;
  const step = plan.sources[source] as QueryStep;
  const found: Found[] = [];
  let start = from;
  let read = 0;
  const goingOn = (key: Key | undefined): Position | undefined => key && { source, key, backward };
  for (;;) {
    const limit = wanted === undefined ? undefined : pageOf({ wanted, found: found.length, read }, passesAll(plan, step));
    const page = { binding, limit, start, backward };
    const { spending } = reader;
    const output = spending ? await spending.send(async () => queryPage(reader, step, page)) : await queryPage(reader, step, page);
    if (!output) return { found, next: { source, key: start, backward }, stopped: spending?.stopped() };
    found.push(...accept(reader, source, output.Items ?? []));
    read += output.ScannedCount ?? output.Count ?? 0;
    start = output.LastEvaluatedKey;
    if (wanted !== undefined && found.length >= wanted) {
      const cutShort = found.length > wanted;
      const kept = found.slice(0, wanted);
      const lastItem = kept.at(-1)?.item;
      return { found: kept, next: goingOn(cutShort && lastItem ? startKeyOf(reader.session.catalog, step, lastItem) : start) };
    }
    if (start === undefined) return { found, next: undefined };
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

/** Reads the sources of a plan, and their partitions, in the one order of their sort keys. */
export const readMerged = async (reader: Reader, from: Position): Promise<Rows> =>
  readParted(reader, [...reader.plan.sources.keys()], from);

const hasShards = ({ partition }: QueryStep): boolean =>
  partition.parts.some((part) => part.kind === "field" && part.format.kind === "shard");

// A page in the one shard of a known id goes on after that grew.
const isParted = ({ limit }: Reader, step: AccessStep | undefined): boolean =>
  isScattered(step) || (limit !== undefined && step?.kind === "query" && hasShards(step));

/** Reads the sources of a plan one after the other, until there is enough. */
export const readQueries = async (reader: Reader, from: Position): Promise<Rows> => {
  const { plan, limit, backward } = reader;
  const found: Found[] = [];
  let begun: Ties | undefined;
  const order = sourceOrder(reader, from.source);
  for (const [turn, source] of order.entries()) {
    const rest = found.length === 0 || limit === undefined ? reader : { ...reader, limit: limit - found.length };
    const place = turn === 0 ? { ...from, source } : { source, key: undefined, backward };
    const part = await (isParted(reader, plan.sources[source]) ? readParted(rest, [source], place) : readSource(rest, source, place.key));
    if (found.length === 0) begun = part.begun;
    found.push(...part.found);
    if (part.stopped) return { ...part, found, begun };
    if (part.next) return { found, next: part.next, begun };
    const following = order[turn + 1];
    if (limit !== undefined && found.length >= limit && following !== undefined)
      return { found, next: { source: following, key: undefined, backward }, begun };
  }
  return { found, next: undefined, begun };
};

const countPages = async (reader: Reader, step: QueryStep): Promise<number> => {
  const { plan, binding, limit: wanted } = reader;
  let [count, read] = [0, 0];
  let start: Key | undefined;
  do {
    const limit = wanted === undefined ? undefined : pageOf({ wanted, found: count, read }, passesAll(plan, step));
    const output = await queryPage(reader, step, { binding, limit, start, backward: false });
    count += output.Count ?? 0;
    read += output.ScannedCount ?? output.Count ?? 0;
    start = output.LastEvaluatedKey;
  } while (start !== undefined && count < (wanted ?? Number.POSITIVE_INFINITY));
  return count;
};

/** Counts the rows of one source, about as far as the limit; DynamoDB counts where it can. */
export const countSource = async (reader: Reader, at: number): Promise<number> => {
  const step = reader.plan.sources[at];
  if (isScattered(step)) {
    const { countScattered } = await import("./scatter.ts");
    return countScattered(scatterOf(reader, [at], { source: at, key: undefined, backward: false }));
  }
  if (step?.kind === "query" && step.counts) return countPages(reader, step);
  return (await readSource(reader, at, undefined)).found.length;
};
