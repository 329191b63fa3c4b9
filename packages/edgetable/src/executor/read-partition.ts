import type { QueryStep, ReadPlan } from "../ir/physical-plan.ts";
import { keyTextOf } from "../requests/attribute-value.ts";
import { refers, shapeOf } from "../requests/decode-item.ts";
import { bindQuery, pageInput, type BoundQuery, type Bounds } from "../requests/encode-read.ts";
import { tableAndIndexKeys, type Catalog } from "../schema/catalog.ts";
import type { AttributeValue, Item, Key, QueryOutput } from "../transport/operations.ts";
import type { Turn } from "./read-budget.ts";
import { readRow, shapesOf, type Found, type Reader } from "./read-rows.ts";

/** The items that a filtered read asks for at first: fewer would cost the same request. */
export const FIRST_ITEMS = 50;
/** A filtered read asks for a little more than its hit rate calls for, so that the next page is often the last. */
const MARGIN = 1.2;
/** A filtered read asks for at most so many times the items that it has read. */
const MAX_GROWTH = 3;
/** Beyond so many items, a page is as large as DynamoDB allows: 1 MB, whatever the items. */
const MAX_ITEMS = 16_384;

/** How far a read is. */
export interface Reached {
  /** How many rows are wanted in all, and how many were found. */
  readonly wanted: number;
  readonly found: number;
  /** How many items were read for them. */
  readonly read: number;
}

/**
 * How many items to ask for next; undefined for as many as a page holds.
 *
 * A filtered read begins with few items. As rows fail the filter, each further page holds as many as the hit rate so
 * far calls for: at least as many as were read before, at most three times as many. It therefore reads at most four
 * times the items up to the last row that is wanted, beside the first page, in a number of requests that grows with
 * the logarithm of that.
 *
 * @param passes whether every item that is read is a row of the answer
 */
export const pageOf = ({ wanted, found, read }: Reached, passes: boolean): number | undefined => {
  if (passes) return wanted - found;
  if (read === 0) return Math.max(wanted, FIRST_ITEMS);
  const needed = found === 0 ? Number.POSITIVE_INFINITY : Math.ceil((MARGIN * (wanted - found) * read) / found);
  const items = Math.min(Math.max(needed, read), Math.max(FIRST_ITEMS, read * MAX_GROWTH));
  return items > MAX_ITEMS ? undefined : items;
};

/** True if every item that a step reads is a row of the answer. */
export const passesAll = (plan: ReadPlan, step: QueryStep): boolean => !plan.filter && !step.discards && step.filter.length === 0;

/** The key after which a Query continues behind the given item. */
export const startKeyOf = (catalog: Catalog, step: QueryStep, item: Item): Key => {
  const key: Record<string, AttributeValue> = {};
  const index = catalog.indexes.find(({ name }) => name === step.index);
  for (const attribute of tableAndIndexKeys(catalog, index)) {
    const value = item[attribute];
    if (value !== undefined) key[attribute] = value;
  }
  return key;
};

/** The text by which an item sorts; empty if the index has no sort key. */
export const sortTextOf = ({ sortKey }: QueryStep, item: Item): string =>
  (sortKey === undefined ? undefined : keyTextOf(item[sortKey])) ?? "";

/** The rows of a source's items: those of its shapes for which the conditions hold that are checked in memory. */
export const acceptItems = (reader: Reader, source: number, items: readonly Item[]): Found[] => {
  const { plan, session, binding, filters } = reader;
  const { catalog } = session;
  const shapes = shapesOf(catalog, (plan.sources[source] as QueryStep).shapes);
  const found: Found[] = [];
  for (const item of items) {
    const shape = shapeOf(catalog, shapes, item);
    const row = shape && readRow(reader, [shape, item]);
    if (!row || !refers(shape, row)) continue;
    if (plan.filter?.conditions.some((condition) => !filters?.holds(condition, row, binding.values))) continue;
    const given = reader.parse ? reader.parse({ shape, row, item }, plan.sources[source]) : row;
    if (given) found.push({ shape, row: given, item, source });
  }
  return found;
};

/** One partition as it is read, page by page. Pages are read when they are asked for, one at a time. */
export interface PartitionRead {
  readonly source: number;
  readonly step: QueryStep;
  readonly query: BoundQuery;
  /** The key after which the next page starts. */
  start: Key | undefined;
  /** True once the last page was read. */
  done: boolean;
  /** Items read, of which a filter may have passed over some. */
  read: number;
}

/**
 * Begins to read a partition.
 *
 * @param partition its key, where the source's items are spread over several
 */
export const openPartition = (reader: Reader, source: number, partition?: string): PartitionRead => {
  const { plan, session, bindings, context, filters } = reader;
  const binding = bindings?.[source] ?? reader.binding;
  const step = plan.sources[source] as QueryStep;
  const query = bindQuery(session.catalog, step, { binding, livingAt: context.livingAt, partition, filters });
  return { source, step, query, start: undefined, done: false, read: 0 };
};

/** How the next page of a partition is read. */
export interface NextPage {
  /** Items to ask for; undefined for as many as a page holds. */
  readonly limit: number | undefined;
  readonly bounds?: Bounds;
  readonly turn?: Turn;
}

/** Reads the next page of a partition; undefined if the read's budget ended before it. The session retries what can be retried. */
export const nextPage = async (reader: Reader, partition: PartitionRead, next: NextPage): Promise<QueryOutput | undefined> => {
  const { session, context, spending, backward } = reader;
  const { limit, bounds, turn } = next;
  const input = pageInput(partition.query, { limit, start: partition.start, backward, bounds });
  let output: QueryOutput | undefined = {};
  if (input && spending) output = await spending.send(async () => session.send("Query", input, context), turn);
  else if (input) output = await session.send("Query", input, context);
  if (!output) return undefined;
  partition.read += output.ScannedCount ?? output.Count ?? output.Items?.length ?? 0;
  partition.start = output.LastEvaluatedKey;
  partition.done = partition.start === undefined;
  return output;
};

/** Counts the rows of a partition, at least up to the reader's limit; DynamoDB counts where it can. */
export const countPartition = async (reader: Reader, partition: PartitionRead): Promise<number> => {
  const { plan, limit: wanted } = reader;
  const passes = passesAll(plan, partition.step);
  let count = 0;
  do {
    const limit = wanted === undefined ? undefined : pageOf({ wanted, found: count, read: partition.read }, passes);
    const output = await nextPage(reader, partition, { limit });
    if (!output) break;
    count += partition.step.counts ? (output.Count ?? 0) : acceptItems(reader, partition.source, output.Items ?? []).length;
  } while (!partition.done && count < (wanted ?? Number.POSITIVE_INFINITY));
  return count;
};
