import { EdgetableError } from "../errors/edgetable-error.ts";
import type { QueryStep } from "../ir/physical-plan.ts";
import type { Partition } from "../keys/partitions.ts";
import { comparePrimary } from "../keys/template.ts";
import { keyTextOf } from "../requests/attribute-value.ts";
import type { Position, Ties } from "../requests/cursor.ts";
import { type Bounds, boundsBehind, narrowedTo, partitionsOf, shareOf, shortName } from "../requests/encode-partitions.ts";
import type { Catalog } from "../schema/catalog.ts";
import type { Item, Key } from "../transport/operations.ts";
import { defined } from "../util/invariant.ts";
import {
  type Found,
  identity,
  type ReadRun,
  type Rows,
  acceptItems,
  countPartition,
  nextPage,
  openPartition,
  pageOf,
  type PartitionRead,
  passesAll,
  sortTextOf,
  startKeyOf,
} from "./read-rows.ts";

/** How many rows under one sort key a cursor names. */
const MAX_NAMED = 256;

/** The next row of a partition, which waits for its turn in the merge. */
export interface Head {
  readonly found: Found;
  readonly sort: string;
}

/** Which rows under one sort key are before the end of a page. */
export type Cut = Omit<Ties, "partitions">;

/** Remembers the rows that were returned under the last sort key: an item that moves is read twice and returned once. */
export interface TieTracker {
  isNew(catalog: Catalog, step: QueryStep, head: Head): boolean;
  /** Where the rows returned so far begin, seen from the other side, and where they end. */
  begin(): Cut;
  end(): Cut;
  /** Where they end, seen from a later place under the given sort key. */
  endAt(sort: string): Cut;
  /** True if the last row was returned under the sort key, or the earlier page ended there. */
  isAt(sort: string): boolean;
  /** True if the rows begin under the sort key at which an earlier page ended. */
  begins(): boolean;
  /** True if they end there too. */
  ends(): boolean;
}

// Every row of the sort key is after the cut.
const nothing: Cut = { named: [], left: true, more: false };

const cutOf = (names: ReadonlySet<string>, rest: Pick<Cut, "left" | "more">): Cut => ({
  left: rest.left,
  named: [...names].slice(-MAX_NAMED),
  more: rest.more || names.size > MAX_NAMED,
});

/** Where an earlier page ended. */
export interface From {
  readonly sort: string;
  readonly cut: Cut;
  /** True if items moved, so that only names tell which rows are left. */
  readonly moved: boolean;
}

/** Tracks the rows of a page, from the beginning or from where an earlier page ended. */
export const trackTies = (from: From | undefined): TieTracker => {
  const named = new Set(from?.cut.named);
  const left = from?.cut.left ?? false;
  let current = from?.sort;
  let [inFirst, given, begin] = [from !== undefined, new Set<string>(), undefined as Cut | undefined];
  const isLeft = (name: string): boolean => !inFirst || (left ? !from?.moved || named.has(name) : !named.has(name));
  const within = (): Cut | undefined => (inFirst ? from?.cut : undefined);
  const end = (): Cut => {
    const cut = within();
    if (!cut) return cutOf(given, { left: false, more: false });
    if (cut.left) return cutOf(new Set([...named].filter((name) => !given.has(name))), cut);
    return cutOf(new Set([...named, ...given]), cut);
  };
  return {
    isNew: (catalog, step, head) => {
      if (head.sort !== current) {
        current = head.sort;
        inFirst = false;
        given = new Set();
      }
      const name = nameOf(catalog, step, head.found.item);
      if (given.has(name) || !isLeft(name)) return false;
      const cut = within();
      begin ??= cut ? cutOf(named, { left: !cut.left, more: cut.more }) : nothing;
      given.add(name);
      return true;
    },
    begin: () => begin ?? nothing,
    end,
    endAt: (sort) => (sort === current ? end() : cutOf(new Set<string>(), { left: false, more: false })),
    isAt: (sort) => sort === current,
    begins: () => begin !== undefined && begin !== nothing,
    ends: () => inFirst,
  };
};

/** A short name for a row. The item of a node is the row of each reference in it as well. */
const nameOf = (catalog: Catalog, { shapes }: Pick<QueryStep, "shapes">, item: Item): string => {
  const shape = catalog.shapesById[shapes[0] ?? ""];
  const own = identity(catalog, item);
  return shortName(shape?.role === "reference" ? `${shape.definition}\u0000${own}` : own);
};

/** One partition of a merge. */
interface Lane extends PartitionRead {
  /** Its place among rows of one sort key. */
  readonly order: number;
  readonly partition: Partition;
  buffer: readonly Head[];
  /** How many of the buffer's rows were taken. */
  head: number;
  /** Where it starts when it is read again. */
  first: Key | undefined;
  bounds: Bounds;
  /** The sort key whose rows an earlier page gave, if the bounds could not exclude it. */
  skipped: string | undefined;
  /** How often it was filled. */
  rounds: number;
  /** How many of the items read were rows of the answer. */
  given: number;
  /** True if a request for it was answered. */
  asked: boolean;
}

/** A place in the global order: by sort key, then by partition. */
interface Place {
  readonly sort: string;
  readonly order: number;
}

const comparePlaces = (a: Place, b: Place, descending: boolean): number => {
  const order = comparePrimary(a.sort, b.sort) || a.order - b.order;
  return descending ? -order : order;
};

const lanesOf = (run: ReadRun, sources: readonly number[]): Lane[] => {
  const { plan, session, bindings } = run;
  const lanes: Lane[] = [];
  for (const source of sources) {
    const binding = bindings?.[source] ?? run.binding;
    for (const partition of partitionsOf(session.catalog, plan.sources[source] as QueryStep, binding)) {
      lanes.push({
        ...openPartition(run, source, partition.text),
        order: lanes.length,
        partition,
        buffer: [],
        head: 0,
        first: undefined,
        bounds: {},
        skipped: undefined,
        rounds: 0,
        given: 0,
        asked: false,
      });
    }
  }
  return lanes;
};

const isDescending = (run: ReadRun, step: QueryStep): boolean => step.forward === run.backward;

/** True if there is more to read of the lane before its next row is known. */
const isDry = (lane: Lane): boolean => !lane.done && lane.head === lane.buffer.length;

/** True while the shards of an index grow, so that items move between partitions. */
const isGrowing = (lanes: readonly Lane[]): boolean => lanes.some((lane) => lane.partition.turn > 0);

/** Where a page ended: under which sort key, in which partition, behind which item. */
interface PageEnd {
  readonly sort: string;
  readonly at: number | undefined;
  readonly key: Key;
  readonly descending: boolean;
  /** True if items may have moved between partitions: then all of the last sort key is read again, and ties tell its rows apart. */
  readonly moved: boolean;
}

/**
 * Starts a lane behind the end of a page. Of the rows under the last sort key, the partitions before the last one gave all,
 * those after it none: one place in the order tells where every partition continues, however many there are by now.
 */
const startBehind = (catalog: Catalog, lane: Lane, { sort, at, key, descending, moved }: PageEnd): void => {
  const isLast = lane.order === at && !moved;
  lane.first = isLast ? key : undefined;
  lane.start = lane.first;
  lane.bounds = {};
  lane.skipped = undefined;
  if (isLast) return;
  const gave = !moved && at !== undefined && (descending ? lane.order > at : lane.order < at);
  if (lane.step.sortKey === undefined) {
    lane.done = gave;
    return;
  }
  lane.bounds = gave ? boundsBehind(catalog, lane.step, sort, descending) : descending ? { high: sort } : { low: sort };
  if (gave) lane.skipped = sort;
};

/** Reads a lane until it has a row, or nothing is left; without a number of rows, all that is left. */
const fillLane = async (
  run: ReadRun,
  lane: Lane,
  at: { readonly wanted: number | undefined; readonly kept: () => number },
): Promise<void> => {
  const { wanted, kept } = at;
  const heads: Head[] = [];
  // A partition that has to be read again holds more than its share.
  const share = wanted === undefined ? undefined : wanted * 2 ** Math.min(lane.rounds, 10);
  const passes = passesAll(run.plan, lane.step);
  const enough = wanted === undefined ? Number.POSITIVE_INFINITY : 1;
  const narrowed = narrowedTo(run.session.catalog, lane.step, lane.query, lane.bounds);
  if (!narrowed) lane.done = true;
  // A range may be bounded a little wider than what its keys begin with.
  const prefix = lane.query.range?.kind === "prefix" ? lane.query.range.text : "";
  while (!lane.done && heads.length < enough) {
    const { given, read } = lane;
    const limit = share === undefined || passes ? share : pageOf({ wanted: given + (wanted ?? 0), found: given, read }, false);
    // Requests are kept for partitions that were not read yet.
    const output = narrowed && (await nextPage(run, lane, { limit, narrowed, turn: { kept: kept(), isFirst: !lane.asked } }));
    if (!output) break;
    lane.asked = true;
    const before = heads.length;
    for (const found of acceptItems(run, lane.source, output.Items ?? [])) {
      const sort = sortTextOf(lane.step, found.item);
      if (sort !== lane.skipped && sort.startsWith(prefix)) heads.push({ found, sort });
    }
    lane.given += heads.length - before;
  }
  lane.rounds++;
  lane.buffer = heads;
  lane.head = 0;
};

/** Groups lanes that may be read at the same time: while shards grow, items move to lanes of later turns. */
const turnsOf = (lanes: readonly Lane[]): readonly (readonly Lane[])[] => {
  const byTurn = new Map<number, Lane[]>();
  for (const lane of lanes) byTurn.set(lane.partition.turn, [...(byTurn.get(lane.partition.turn) ?? []), lane]);
  return [...byTurn].toSorted(([a], [b]) => a - b).map(([, group]) => group);
};

/** Reads the lanes that are dry. Items may have moved into a lane that was read before: it is read again. */
const refill = async (
  run: ReadRun,
  lanes: readonly Lane[],
  { wanted, end }: { readonly wanted: number | undefined; readonly end: PageEnd | undefined },
): Promise<void> => {
  if (!lanes.some(isDry)) return;
  const again = lanes.filter((lane) => isDry(lane) && lane.rounds > 0);
  for (const lane of lanes) {
    const { family, turn } = lane.partition;
    if (lane.rounds === 0 || !again.some(({ partition }) => partition.family === family && partition.turn < turn)) continue;
    if (end) startBehind(run.session.catalog, lane, end);
    Object.assign(lane, { buffer: [], head: 0, done: false, rounds: 0, asked: false, read: 0, given: 0, start: lane.first });
  }
  const open = lanes.filter((lane) => !lane.done).length;
  const each = wanted === undefined ? undefined : shareOf(wanted, Math.max(1, open));
  const kept = (): number => lanes.filter(({ asked, done }) => !asked && !done).length;
  for (const group of turnsOf(lanes.filter(isDry)))
    await Promise.all(group.map(async (lane) => fillLane(run, lane, { wanted: each, kept })));
};

const nextLane = (lanes: readonly Lane[], descending: boolean): Lane | undefined => {
  let best: Lane | undefined;
  for (const lane of lanes) {
    if (lane.head === lane.buffer.length) continue;
    if (best === undefined || comparePlaces(placeOf(lane), placeOf(best), descending) < 0) best = lane;
  }
  return best;
};

const placeOf = ({ buffer, head, order }: Lane): Place => ({ sort: defined(buffer[head], "row").sort, order });

/** How the rows of a cursor are told apart that was made before cursors named them. */
const UNNAMED: Ties = { named: [], left: false, more: true, partitions: 0 };

interface Resumed {
  readonly ties: TieTracker;
  /** True if items may have moved between partitions since the cursor was made. */
  readonly moved: boolean;
}

const outgrown = (message: string, details: Readonly<Record<string, unknown>>): EdgetableError =>
  new EdgetableError("cursor.outgrown", `${message} Start again without the cursor.`, { details });

/** Starts all lanes where an earlier page ended. If items moved since, the cursor names the rows that it gave under its sort key. */
const resume = (run: ReadRun, lanes: readonly Lane[], from: Position): Resumed => {
  const { key, ties = UNNAMED } = from;
  if (!key) return { ties: trackTies(undefined), moved: false };
  // The sources of a feed come and go with its nodes: the partition alone tells where a page ended.
  const isFeed = run.bindings !== undefined;
  const step = run.plan.sources[isFeed ? 0 : from.source] as QueryStep;
  const text = keyTextOf(key[step.partitionKey]) ?? "";
  const at = lanes.find((lane) => (isFeed || lane.source === from.source) && lane.partition.text === text);
  // A read that knows the id reads its shard alone, wherever that was before.
  if (!at && step.scatter && !isFeed)
    throw outgrown(`The cursor points to partition "${text}", which the model no longer has.`, { partition: text });
  const moved = !at || isGrowing(lanes) || ties.partitions !== lanes.length;
  if (moved && ties.more) {
    const { left, more, partitions } = ties;
    const details = { left, more, partitions };
    throw outgrown("The shards of this index grew, and too many rows share the sort key at which the page ended.", details);
  }
  const sort = sortTextOf(step, key);
  for (const lane of lanes)
    startBehind(run.session.catalog, lane, { sort, at: at?.order, key, descending: isDescending(run, lane.step), moved });
  const own = ties.left ? [] : [nameOf(run.session.catalog, step, key)];
  return { ties: trackTies({ sort, cut: { ...ties, named: [...ties.named, ...own] }, moved }), moved };
};

/** How many partitions a cursor says were read; 0 if rows of one sort key came by name, so that places say nothing about what came before. */
const partitionsFor = (lanes: readonly Lane[], isNamed: boolean): number => (isNamed || isGrowing(lanes) ? 0 : lanes.length);

/**
 * How far everything was read: up to the first of the lanes that need another page. Undefined if one of them has not come beyond the
 * rows that an earlier page gave.
 */
const frontierOf = (lanes: readonly Lane[], descending: boolean): { readonly place: Place; readonly lane: Lane } | undefined => {
  const dry = lanes.filter(isDry);
  if (dry.some(({ read, start, step, skipped }) => read === 0 || !start || sortTextOf(step, start) === skipped)) return undefined;
  const places = dry.map((lane) => ({ lane, place: { sort: sortTextOf(lane.step, lane.start ?? {}), order: lane.order } }));
  return places.toSorted((a, b) => comparePlaces(a.place, b.place, descending))[0];
};

/**
 * Reads a page, or all, of several partitions in the one order of their sort keys: exactly as many rows as asked for, each once.
 *
 * @param onRow takes the rows one by one, for a reading of all; by default they are collected
 */
export const readMerged = async (
  run: ReadRun,
  sources: readonly number[],
  start: Position,
  onRow?: (row: Found) => void,
): Promise<Rows> => {
  const { plan, session, spending, backward } = run;
  const lanes = lanesOf(run, sources);
  spending?.checkRoom(lanes.length);
  const { ties, moved } = resume(run, lanes, start);
  const begun = (): Ties => ({ partitions: partitionsFor(lanes, moved && ties.begins()), ...ties.begin() });
  const found: Found[] = [];
  const descending = lanes.some((lane) => isDescending(run, lane.step));
  const limit = run.limit ?? Number.POSITIVE_INFINITY;
  const behindLast = (): Position | undefined => {
    const last = found.at(-1);
    if (!last || lanes.every((lane) => lane.done && lane.head === lane.buffer.length)) return undefined;
    const key = startKeyOf(session.catalog, plan.sources[last.source] as QueryStep, last.item);
    return { source: last.source, key, backward, ties: { partitions: partitionsFor(lanes, moved && ties.ends()), ...ties.end() } };
  };
  let end: PageEnd | undefined;
  for (;;) {
    await refill(run, lanes, { wanted: run.limit === undefined ? undefined : limit - found.length, end });
    const lane = nextLane(lanes, descending);
    if (spending && lanes.some(isDry)) {
      const frontier = frontierOf(lanes, descending);
      if (!lane || !frontier || comparePlaces(placeOf(lane), frontier.place, descending) > 0) {
        // The budget ended: every row before the frontier was returned, and the page continues behind it.
        let next = behindLast() ?? start;
        if (frontier) {
          const { place, lane: last } = frontier;
          const isNamed = moved && ties.ends() && ties.isAt(place.sort);
          const cut = { partitions: partitionsFor(lanes, isNamed), ...ties.endAt(place.sort) };
          next = { source: last.source, key: last.start, backward, ties: cut };
        }
        return { found, next, begun: begun(), stopped: spending.stopped() };
      }
    }
    if (!lane) return { found, next: undefined, begun: begun() };
    const head = defined(lane.buffer[lane.head], "row");
    lane.head++;
    if (isGrowing(lanes))
      end = { sort: head.sort, at: lane.order, key: startKeyOf(session.catalog, lane.step, head.found.item), descending, moved: true };
    if (ties.isNew(session.catalog, lane.step, head)) {
      if (onRow) onRow(head.found);
      else found.push(head.found);
    }
    if (found.length >= limit) return { found, next: behindLast(), begun: begun() };
  }
};

/** Counts the rows of a step in all its partitions. While items move between them, each is told by its key and counted once. */
export const countMerged = async (run: ReadRun, source: number): Promise<number> => {
  const lanes = lanesOf(run, [source]);
  if (isGrowing(lanes)) {
    let rows = 0;
    await readMerged(run, [source], { source, key: undefined, backward: false }, () => void rows++);
    return rows;
  }
  const counts = await Promise.all(lanes.map(async (lane) => countPartition(run, lane)));
  return counts.reduce((sum, count) => sum + count, 0);
};
