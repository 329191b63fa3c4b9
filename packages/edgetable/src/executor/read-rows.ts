import { EdgetableError, isEdgetableError } from "../errors/edgetable-error.ts";
import type { HydrateStep, ReadPlan, QueryStep } from "../ir/physical-plan.ts";
import { sameValue } from "../keys/template.ts";
import { keyTextOf } from "../requests/attribute-value.ts";
import type { Position, Ties } from "../requests/cursor.ts";
import { decodeItem, type decodeOwn, driftedFields, refers, shapeOf } from "../requests/decode-item.ts";
import { keyOfItem } from "../requests/encode-item.ts";
import { type Binding, bindQuery, pageInput, type BoundQuery } from "../requests/encode-read.ts";
import type { Filters } from "../requests/expression.ts";
import { type Catalog, type Shape, tableAndIndexKeys } from "../schema/catalog.ts";
import type { AttributeValue, Item, Operation, Key, QueryInput, QueryOutput } from "../transport/operations.ts";
import { defined } from "../util/invariant.ts";
import { jsonText } from "../util/json-text.ts";
import type { Row } from "../util/row.ts";
import type { ParseRow } from "./parse-rows.ts";
import type { PageSpending, ReadStop, Turn } from "./read-budget.ts";
import type { CallContext, Session } from "./session.ts";

const keyTextIn = (value: AttributeValue | undefined): string => keyTextOf(value) ?? JSON.stringify(value ?? null);

/** An item's table key as text. The length of its first part distinguishes keys whose joined texts are equal. */
export const identity = ({ index: { partitionKey, sortKey } }: Catalog, item: Item): string => {
  const partition = keyTextIn(item[partitionKey]);
  return sortKey === undefined ? partition : `${partition.length}:${partition}${keyTextIn(item[sortKey])}`;
};

/** Items by {@link identity}. */
export const byIdentity = (catalog: Catalog, items: readonly Item[]): ReadonlyMap<string, Item> => {
  const found = new Map<string, Item>();
  for (const item of items) found.set(identity(catalog, item), item);
  return found;
};

/** The error for a response with items that do not belong to the request, which DynamoDB never sends. */
export const foreignAnswer = (operation: Operation, what: string): EdgetableError =>
  new EdgetableError(
    "execute.connection",
    `${operation}: the answer is not DynamoDB's, ${what}. Is there a proxy, or another server, at the endpoint?`,
    { retryable: true, details: { ambiguous: true } },
  );

/**
 * Checks that the item of a GetItem has the requested key.
 *
 * @throws {execute.connection} if it has another key, or no key
 */
export const checkedItem = (catalog: Catalog, key: Item, item: Item | undefined): Item | undefined => {
  if (item && identity(catalog, item) !== identity(catalog, key)) throw foreignAnswer("GetItem", "its item has another key");
  return item;
};

/** A row with its item and source. */
export interface Found {
  readonly shape: Shape;
  readonly row: Record<string, unknown>;
  readonly item: Item;
  readonly source: number;
  /** The node at the far end, once hydrated; undefined if it has no item. */
  node?: Record<string, unknown> | undefined;
}

/** Finds a node, or a part at the ends of edges, whose table key does not follow from its id. */
export type FindNode = (node: string, id: Row, context: CallContext) => Promise<Record<string, unknown> | undefined>;

/** The end of the edge at which the wanted node is. */
export const endOf = ({ ends }: HydrateStep, { source }: Found): "from" | "to" => defined(ends[source], "the end of a source");

export interface Rows {
  readonly found: readonly Found[];
  /** Where to continue; undefined if everything was read. */
  readonly next: Position | undefined;
  /** Why it ended before it found the requested number of rows, although there is more to read. */
  readonly stopped?: ReadStop | undefined;
  /** For a read over shards: the rows with the first row's sort key that come before it, for a page in the other direction. */
  readonly begun?: Ties | undefined;
}

/** One execution of a read plan. */
export interface ReadRun {
  readonly session: Session;
  readonly plan: ReadPlan;
  readonly binding: Binding;
  /** The binding of each source, if they differ: the sources of a feed are the same Query for several nodes. */
  readonly bindings?: readonly Binding[] | undefined;
  readonly context: CallContext;
  readonly limit: number | undefined;
  readonly backward: boolean;
  /** The budget of a page. A read without a cursor has no budget, and ends with an error at its deadline. */
  readonly spending?: PageSpending | undefined;
  /** Parses the rows of types with `reads: "parsed"`; undefined if the model has no such types, or the rows are for the library itself. */
  readonly parse?: ParseRow | undefined;
  /** For a plan with conditions. */
  readonly filters?: Filters | undefined;
}

/** The shapes that a step finds. */
export const shapesOf = (catalog: Catalog, ids: readonly string[]): readonly Shape[] =>
  ids.map((id) => defined(catalog.shapesById[id], id));

/** What a read needs to decode items into rows. */
export interface Reading {
  readonly session: Pick<Session, "catalog" | "tenant">;
  readonly context: CallContext;
}

/** The field that shows that a node belongs to another tenant; undefined if it is the tenant's own or has no tenant. */
export const foreignField = (tenant: Row, id: Row): string | undefined =>
  Object.keys(tenant).find((field) => field in id && !sameValue(id[field], tenant[field]));

// Only programs without a tenant link nodes of two tenants.
const refuseCrossing = (tenant: Row, row: Row): void => {
  for (const end of [row["from"], row["to"]] as readonly Row[]) {
    const field = foreignField(tenant, end);
    if (field !== undefined)
      throw new EdgetableError("request.otherTenant", `an end of it is another tenant's: its ${field} is ${jsonText(end[field])}`, {
        details: { field, value: end[field], tenant },
      });
  }
};

/**
 * The row of an item; undefined if it cannot be read and the call skips such items.
 *
 * @throws {keys.unreadable} with `onStray: "throw"`
 */
export const readRow = (
  { session: { catalog, tenant }, context }: Reading,
  [shape, item]: readonly [Shape, Item],
  decode: typeof decodeOwn = decodeItem,
): Record<string, unknown> | undefined => {
  let row: Record<string, unknown>;
  try {
    row = decode(catalog, shape, item, context.reading);
    if (tenant && shape.kind === "edge" && !context.crossing?.reach) refuseCrossing(tenant, row);
  } catch (error) {
    const onStray = context.reading?.onStray;
    if (!isEdgetableError(error) || onStray === "throw") throw error;
    context.meter.strays++;
    if (context.crossing && error.code === "request.otherTenant") context.crossing.met++;
    if (typeof onStray === "function")
      onStray({ key: keyOfItem(catalog, item), item, reason: `it does not read as "${shape.definition}": ${error.message}` });
    return undefined;
  }
  // In Edgetable's own layout, no attribute repeats a field of the key.
  if (!catalog.escapes)
    for (const one of driftedFields(catalog, shape, item, row)) context.meter.drifts({ key: keyOfItem(catalog, item), ...one });
  return row;
};

/** Number of items that a filtered read requests first. Fewer would also take one request. */
export const FIRST_ITEMS = 50;
/** A filtered read requests slightly more items than its hit rate suggests, so that the next page is often the last. */
const MARGIN = 1.2;
/** A filtered read requests at most this many times the items that it has read. */
const MAX_GROWTH = 3;
/** Beyond this number of items, a page has no limit but DynamoDB's 1 MB. */
const MAX_ITEMS = 16_384;

/** The progress of a read. */
export interface Reached {
  /** The total number of wanted rows, and the number found. */
  readonly wanted: number;
  readonly found: number;
  /** The number of items read to find them. */
  readonly read: number;
}

/**
 * The number of items to request next; undefined for a full page.
 *
 * A filtered read begins with few items. Each further page has as many items as the hit rate so far suggests: at least as many as
 * were read before, at most three times as many. After the first page it therefore reads at most four times the items up to the
 * last wanted row, in a number of requests that grows with the logarithm of that.
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

/** The key from which a Query continues after the given item. */
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

/** The rows of a source's items: those of its shapes that satisfy the conditions checked in memory. */
export const acceptItems = (run: ReadRun, source: number, items: readonly Item[]): Found[] => {
  const { plan, session, binding, filters } = run;
  const { catalog } = session;
  const shapes = shapesOf(catalog, (plan.sources[source] as QueryStep).shapes);
  const found: Found[] = [];
  for (const item of items) {
    const shape = shapeOf(catalog, shapes, item);
    const row = shape && readRow(run, [shape, item]);
    if (!row || !refers(shape, row)) continue;
    if (plan.filter?.conditions.some((condition) => !filters?.holds(condition, row, binding.values))) continue;
    const given = run.parse ? run.parse({ shape, row, item }, plan.sources[source]) : row;
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
  /** Number of items read, including those that a filter left out. */
  read: number;
}

/**
 * Begins to read a partition.
 *
 * @param partition its key, if the source's items are spread over several partitions
 */
export const openPartition = (run: ReadRun, source: number, partition?: string): PartitionRead => {
  const { plan, session, bindings, context, filters } = run;
  const binding = bindings?.[source] ?? run.binding;
  const step = plan.sources[source] as QueryStep;
  const query = bindQuery(session.catalog, step, { binding, livingAt: context.livingAt, partition, filters });
  return { source, step, query, start: undefined, done: false, read: 0 };
};

/** How the next page of a partition is read. */
export interface NextPage {
  /** Number of items to request; undefined for a full page. */
  readonly limit: number | undefined;
  /** A narrower key condition. */
  readonly narrowed?: Partial<QueryInput>;
  readonly turn?: Turn;
}

/** Reads the next page of a partition; undefined if the read's budget ended before. The session retries retryable errors. */
export const nextPage = async (run: ReadRun, partition: PartitionRead, next: NextPage): Promise<QueryOutput | undefined> => {
  const { session, context, spending, backward } = run;
  const { limit, narrowed, turn } = next;
  const input = pageInput(partition.query, { limit, start: partition.start, backward, narrowed });
  let output: QueryOutput | undefined = {};
  if (input && spending) output = await spending.send(async () => session.send("Query", input, context), turn);
  else if (input) output = await session.send("Query", input, context);
  if (!output) return undefined;
  partition.read += output.ScannedCount ?? output.Count ?? output.Items?.length ?? 0;
  partition.start = output.LastEvaluatedKey;
  partition.done = partition.start === undefined;
  return output;
};

/** Counts the rows of a partition, at least up to the run's limit. DynamoDB counts them if it can check every condition. */
export const countPartition = async (run: ReadRun, partition: PartitionRead): Promise<number> => {
  const { plan, limit: wanted } = run;
  const passes = passesAll(plan, partition.step);
  let count = 0;
  do {
    const limit = wanted === undefined ? undefined : pageOf({ wanted, found: count, read: partition.read }, passes);
    const output = await nextPage(run, partition, { limit });
    if (!output) break;
    count += partition.step.counts ? (output.Count ?? 0) : acceptItems(run, partition.source, output.Items ?? []).length;
  } while (!partition.done && count < (wanted ?? Number.POSITIVE_INFINITY));
  return count;
};
