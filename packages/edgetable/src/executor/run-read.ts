import { EdgetableError } from "../errors/edgetable-error.ts";
import type { AccessStep, GetStep, QueryStep, ReadPlan } from "../ir/physical-plan.ts";
import { sameValue } from "../keys/template.ts";
import type { Position, Ties } from "../requests/cursor.ts";
import { decodeOwn, isExpired, isOfShape, shapeOf } from "../requests/decode-item.ts";
import { keyOf } from "../requests/encode-item.ts";
import type { Filters } from "../requests/expression.ts";
import {
  askedKeys,
  distinctKeys,
  encodeGet,
  hydratedProjection,
  loadFilters,
  projectionOf,
  type Binding,
} from "../requests/encode-read.ts";
import type { Item, Key } from "../transport/operations.ts";
import { defined } from "../util/invariant.ts";
import { loadOnce } from "../util/load-once.ts";
import { valueAt, type Row } from "../util/row.ts";
import { batchGet } from "./batch.ts";
import {
  byIdentity,
  checkedItem,
  type Found,
  identity,
  type ReadRun,
  readRow,
  type Rows,
  shapesOf,
  acceptItems,
  countPartition,
  nextPage,
  openPartition,
  pageOf,
  passesAll,
  startKeyOf,
  endOf,
  type FindNode,
} from "./read-rows.ts";
import type { ReadBudget } from "./read-budget.ts";
import type { ParseRow } from "./parse-rows.ts";
import type { RecordedReading } from "./record-gaps.ts";
import type { CallContext, Session } from "./session.ts";

const readBudgets = loadOnce(async () => import("./read-budget.ts"));
/** The code for sharded indexes is loaded by the first read of one. */
const merging = loadOnce(async () => import("./merge-partitions.ts"));

const filtersOf = ({ filter, sources }: ReadPlan): Filters | Promise<Filters> | undefined => {
  const isFiltered = filter ?? sources.some((step) => step.kind === "query" && (step.filter.length > 0 || step.sort?.kind === "range"));
  return isFiltered ? loadFilters() : undefined;
};

const byMarker = loadOnce(async () => import("./read-by-marker.ts"));

/** Sessions that know that the table's record has all of their model. */
const knowing = new WeakSet<Session>();

/** Ids of shapes that differ in the record, by the session that has read it. */
const doubting = new WeakMap<Session, ReadonlyMap<string, unknown>>();

/** Records that a session's table has all index entries, copies and markers of the model. */
export const noteComplete = (session: Session): void => void knowing.add(session);

/**
 * True if a step relies on what a table that was made for another model may lack: entries of an index, second copies of edges,
 * items of a symmetric edge at both ends. Edges in their sources' partitions are there with and without second copies.
 */
const mayLack = ({ catalog }: Session, step: AccessStep, doubted: ReadonlyMap<string, unknown> | undefined): boolean =>
  step.kind === "query" &&
  (step.index !== undefined ||
    step.shapes.some((id) => {
      const { role, definition } = defined(catalog.shapesById[id], "shape");
      return role === "mirror" || doubted?.has(id) || catalog.edges[definition]?.definition.symmetric === true;
    }));

const readiness = loadOnce(async () => import("./index-readiness.ts"));

/**
 * Reads once the table is known to store what the steps rely on. The record of the table's model is read beside the first such
 * read, but before the first read of an index that the model declares, because that one is more likely to be new.
 *
 * @throws {plan.indexIncomplete} when old items may lack the keys of an index
 * @throws {plan.otherStorage} when the table stores edges otherwise than the model
 * @throws {plan.uniqueIncomplete} when old nodes may lack the markers of a unique attribute
 */
export const readComplete = async <T>(
  session: Session,
  reading: RecordedReading,
  context: CallContext,
  read: () => Promise<T>,
): Promise<T> => {
  const { steps, marker } = reading;
  if (knowing.has(session)) return read();
  const doubted = doubting.get(session);
  if (!marker && !steps.some((step) => mayLack(session, step, doubted))) return read();
  const { findGaps, readsDeclaredIndex } = await readiness();
  const checking = findGaps(session, steps, context).then(async (gaps) => {
    if (!gaps) return noteComplete(session);
    doubting.set(session, gaps.edges);
    return (await import("./record-gaps.ts")).refuseGaps(session, gaps, reading);
  });
  if (readsDeclaredIndex(session, steps)) await checking;
  const [rows] = await Promise.all([read(), checking]);
  return rows;
};

export interface ReadRequest {
  readonly plan: ReadPlan;
  readonly binding: Binding;
  /** Of each source of a merge, where they differ. */
  readonly bindings?: readonly Binding[];
  /** For point reads of several things: their rows. */
  readonly rows?: readonly Row[];
  /** The largest number of rows to return, 1 or more; undefined for all. */
  readonly limit?: number | undefined;
  readonly from?: Position | undefined;
  /** The budget of the Queries of a page. When it is used up, or at the deadline, the page is short and can be continued. */
  readonly budget?: ReadBudget | undefined;
  /** For a plan that adds nodes whose keys do not follow from their ids. */
  readonly findNode?: FindNode;
  /** Parses rows for the caller. Rows that the library reads for itself stay as stored. */
  readonly parse?: ParseRow | undefined;
  /** True if the order of the rows does not matter, so that an index with an incomplete order can be read. */
  readonly anyOrder?: boolean;
  /** True if the conditions contradict each other, so that nothing is sent. */
  readonly empty?: boolean;
}

/** Reads the items of rows by their keys, in the order of the rows. */
const readGets = async (run: ReadRun, step: GetStep, rows: readonly Row[]): Promise<Rows> => {
  const { session, context } = run;
  const { catalog } = session;
  const shapes = shapesOf(catalog, step.shapes);
  const asked = askedKeys(catalog, step, rows);
  const keys = distinctKeys(asked);
  const found: Found[] = [];
  const add = (askedRow: Row, item: Item | undefined): void => {
    if (!item || isExpired(catalog, item, context.livingAt)) return;
    const shape = shapeOf(catalog, shapes, item);
    const row = shape && readRow(run, [shape, item]);
    // If the key names only one end, the item may be an edge to another node.
    if (!row || !shape.unkeyed.every((path) => sameValue(valueAt(row, path), valueAt(askedRow, path)))) return;
    const given = run.parse ? run.parse({ shape, row, item }, step) : row;
    if (given) found.push({ shape, row: given, item, source: 0 });
  };
  const [only] = keys;
  if (only && keys.length === 1 && !step.many) {
    const output = await session.send("GetItem", encodeGet(catalog, only, step, projectionOf(catalog, step)), context);
    const item = checkedItem(catalog, only, output.Item);
    for (const { row } of asked) add(row, item);
    return { found, next: undefined };
  }
  const items =
    keys.length === 0
      ? []
      : await batchGet(session, { keys, consistent: step.consistent, projection: projectionOf(catalog, step) }, context);
  const byKey = byIdentity(catalog, items);
  for (const { row, key } of asked) add(row, byKey.get(identity(catalog, key)));
  return { found, next: undefined };
};

/** Reads one source until there are enough rows. A page that is short or empty because of a filter need not be the last one. */
const readSource = async (run: ReadRun, source: number, from: Key | undefined): Promise<Rows> => {
  const { plan, backward, limit: wanted, spending } = run;
  const partition = openPartition(run, source);
  partition.start = from;
  const { step } = partition;
  const passes = passesAll(plan, step);
  const found: Found[] = [];
  for (;;) {
    const limit = wanted === undefined ? undefined : pageOf({ wanted, found: found.length, read: partition.read }, passes);
    const output = await nextPage(run, partition, { limit });
    if (!output) return { found, next: { source, key: partition.start, backward }, stopped: spending?.stopped() };
    found.push(...acceptItems(run, source, output.Items ?? []));
    if (wanted !== undefined && found.length >= wanted) {
      const last = found[wanted - 1];
      const isCut = found.length > wanted;
      const key = isCut && last ? startKeyOf(run.session.catalog, step, last.item) : partition.start;
      return { found: isCut ? found.slice(0, wanted) : found, next: key && { source, key, backward } };
    }
    if (partition.done) return { found, next: undefined };
  }
};

/** Reads the sources of a plan one after the other, until there are enough rows. */
const readSources = async (run: ReadRun, from: Position): Promise<Rows> => {
  const { plan, limit, backward } = run;
  const sources = plan.sources as readonly QueryStep[];
  const found: Found[] = [];
  let begun: Ties | undefined;
  const step = backward ? -1 : 1;
  for (let source = from.source; ; source += step) {
    const one = sources[source];
    if (!one) return { found, next: undefined, begun };
    const rest = found.length === 0 || limit === undefined ? run : { ...run, limit: limit - found.length };
    const place = source === from.source ? from : { source, key: undefined, backward };
    // A page in the single shard of a known id is merged as well, so that the next page can continue after the shards have grown.
    const isSharded = one.partition.parts.some((part) => part.kind === "field" && part.format.kind === "shard");
    const part =
      one.scatter !== undefined || (rest.limit !== undefined && isSharded)
        ? await (await merging()).readMerged(rest, [source], place)
        : await readSource(rest, source, place.key);
    if (found.length === 0) begun = part.begun;
    found.push(...part.found);
    if (part.stopped) return { ...part, found, begun };
    if (part.next) return { found, next: part.next, begun };
    if (limit !== undefined && found.length >= limit && sources[source + step])
      return { found, next: { source: source + step, key: undefined, backward }, begun };
  }
};

const foundRows = loadOnce(async () => import("./found-rows.ts"));

/** Adds to each edge the node at its far end. */
const hydrate = async (run: ReadRun, found: readonly Found[], findNode: FindNode | undefined): Promise<void> => {
  const { session, binding, context, plan } = run;
  const { catalog } = session;
  const step = defined(plan.hydrate, "hydrate step");
  if (step.by !== "batchGet") return (await foundRows()).hydrateOthers(run, found, step, findNode);
  const keys = new Map<string, Key>();
  const ids: (string | undefined)[] = [];
  for (const one of found) {
    const end = endOf(step, one);
    const node = catalog.ends[one.shape[end] ?? ""];
    if (!node || node.definition.stored === false) {
      ids.push(undefined);
      continue;
    }
    const key = keyOf(catalog, node.shape, Object.assign({}, binding.row, one.row[end]));
    const id = identity(catalog, key);
    keys.set(id, key);
    ids.push(id);
  }
  const byKey = byIdentity(
    catalog,
    await batchGet(
      session,
      { keys: [...keys.values()], consistent: step.consistent, projection: hydratedProjection(catalog, step) },
      context,
    ),
  );
  for (const [at, one] of found.entries()) {
    const item = byKey.get(ids[at] ?? "");
    const shape = catalog.ends[one.shape[endOf(step, one)] ?? ""]?.shape;
    // In an adopted table an item of another kind, or of no model, may be under the node's key.
    const isNode = item && shape && !isExpired(catalog, item, context.livingAt) && (catalog.escapes || isOfShape(catalog, shape, item));
    const node = isNode ? readRow(run, [shape, item], decodeOwn) : undefined;
    one.node = node && shape && run.parse ? run.parse({ shape, row: node, item }, step) : node;
  }
};

/** Ids of nodes without an item to which edges lead. */
export const missingOf = ({ hydrate: step }: ReadPlan, found: readonly Found[]): readonly unknown[] => {
  const missing: unknown[] = [];
  if (step) for (const one of found) if (one.node === undefined) missing.push(one.row[endOf(step, one)]);
  return missing;
};

/** Runs a read plan: the requests that `explain` shows, in that order. The rows of a backward page are returned in forward order. */
export const runRead = (session: Session, request: ReadRequest, context: CallContext): Promise<Rows> =>
  request.empty
    ? Promise.resolve({ found: [], next: undefined })
    : readComplete(session, { steps: request.plan.sources, marker: request.plan.marker, anyOrder: request.anyOrder }, context, () =>
        readAll(session, request, context),
      );

/** The same, without checking the table's record. */
export const readAll = async (session: Session, request: ReadRequest, context: CallContext): Promise<Rows> => {
  const { plan, binding, bindings, limit } = request;
  if (plan.marker) {
    const { marker, ...rest } = plan;
    const { readByMarker } = await byMarker();
    // The marker is compared with what is stored.
    const { parse, ...stored } = request;
    const rows = await readByMarker({ session, marker, value: binding.values[0], context }, (row, strong) => {
      const sources = strong ? plan.sources.map((source) => ({ ...source, consistent: true })) : plan.sources;
      return runRead(session, { ...stored, binding: { row, values: [] }, plan: { ...rest, sources } }, context);
    });
    if (!parse) return rows;
    const found = rows.found.flatMap((one) => {
      const row = parse(one, plan.sources[0]);
      return row ? [{ ...one, row }] : [];
    });
    return { ...rows, found };
  }
  const from = request.from ?? { source: 0, key: undefined, backward: false };
  const { backward } = from;
  const spending = request.budget && (await readBudgets()).pageSpending(session, context, request.budget);
  const loading = filtersOf(plan);
  const run: ReadRun = {
    session,
    plan,
    binding,
    bindings,
    context: spending?.context ?? context,
    limit,
    backward,
    spending,
    parse: request.parse,
    filters: loading && (await loading),
  };
  const [first] = plan.sources;
  if (!first) throw new EdgetableError("invariant", "a read plan without a source: a defect of edgetable");
  let rows: Rows;
  if (first.kind === "get") rows = await readGets(run, first, request.rows ?? [binding.row]);
  else if (first.identity) rows = await (await foundRows()).findRows(run, request.rows ?? [binding.row]);
  else if (plan.merged) rows = await (await merging()).readMerged(run, [...plan.sources.keys()], from);
  else rows = await readSources(run, from);
  if (plan.hydrate) await hydrate({ ...run, context }, rows.found, request.findNode);
  return backward ? { ...rows, found: rows.found.toReversed() } : rows;
};

/** Counts the rows of one source, at least up to the limit. */
const countSource = async (run: ReadRun, source: number): Promise<number> => {
  const step = run.plan.sources[source] as QueryStep;
  if (step.scatter) return (await merging()).countMerged(run, source);
  if (step.counts) return countPartition(run, openPartition(run, source));
  return (await readSource(run, source, undefined)).found.length;
};

/** Counts the rows that a plan would read, up to its limit. */
export const runCount = (session: Session, request: ReadRequest, context: CallContext): Promise<number> =>
  request.empty
    ? Promise.resolve(0)
    : readComplete(session, { steps: request.plan.sources, anyOrder: true }, context, async () => {
        const { plan, binding, limit: wanted = Number.POSITIVE_INFINITY } = request;
        const run = { session, plan, binding, context, limit: undefined, backward: false, filters: await filtersOf(plan) };
        let count = 0;
        if (plan.merged && request.limit === undefined) {
          for (const one of await Promise.all([...plan.sources.keys()].map(async (at) => countSource(run, at)))) count += one;
          return count;
        }
        for (const at of plan.sources.keys()) {
          if (count >= wanted) break;
          count += await countSource({ ...run, limit: request.limit === undefined ? undefined : wanted - count }, at);
        }
        return Math.min(count, wanted);
      });
