import { EdgetableError } from "../errors/edgetable-error.ts";
import type { QueryStep } from "../ir/physical-plan.ts";
import type { Position, Ties } from "../requests/cursor.ts";
import { partitionsOf, shareOf } from "../requests/encode-scatter.ts";
import { defined } from "../util/invariant.ts";
import type { Found, Reader, Rows } from "./read-rows.ts";
import {
  compareHeads,
  comparePlaces,
  countLane,
  createLane,
  fillLane,
  headOf,
  type Lane,
  laneBounds,
  type LaneContext,
  type PageEnd,
  type Place,
  placeOf,
  rewind,
  sortTextOf,
} from "./lane.ts";
import { nameOf, trackTies, type TieTracker } from "./ties.ts";
import { keyTextOf } from "../requests/attribute-value.ts";

/** A read of several partitions, of one step or of several, in the one order of their sort keys. */
export interface Scatter extends LaneContext {
  readonly reader: Reader;
  /** Which of the plan's sources are merged. */
  readonly sources: readonly number[];
  /** Where an earlier page ended. */
  readonly from: Position;
}

const lanesOf = ({ reader, sources }: Pick<Scatter, "reader" | "sources">): Lane[] => {
  const { plan, session, binding } = reader;
  const lanes: Lane[] = [];
  for (const source of sources) {
    const step = plan.sources[source] as QueryStep;
    for (const partition of partitionsOf(session.catalog, step, binding)) lanes.push(createLane(lanes.length, { source, step, partition }));
  }
  return lanes;
};

const outgrown = (message: string, details: Readonly<Record<string, unknown>>): never => {
  throw new EdgetableError("cursor.outgrown", `${message} Start again without the cursor.`, { details });
};

const isGrowing = (lanes: readonly Lane[]): boolean => lanes.some((lane) => lane.partition.turn > 0);

// Where rows under one sort key are too many to name in a cursor, those that moved since cannot be told.
const checkTies = ({ left, more, partitions }: Ties): void => {
  const details = { left, more, partitions };
  if (more) outgrown("The shards of this index grew, and too many rows share the sort key at which the page ended.", details);
};

/** How a cursor's rows are told apart that an older one had no names for. */
const UNNAMED: Ties = { named: [], left: false, more: true, partitions: 0 };

interface Resumed {
  readonly ties: TieTracker;
  /** Whether items may have moved between partitions since the cursor was made. */
  readonly moved: boolean;
}

// A page ends at a place in the order: where items moved since, among the named rows of one sort key.
const resume = (scatter: Scatter, lanes: readonly Lane[]): Resumed => {
  const { from, reader } = scatter;
  const { key, ties = UNNAMED } = from;
  if (!key) return { ties: trackTies(undefined), moved: false };
  const step = reader.plan.sources[from.source] as QueryStep;
  const text = keyTextOf(key[step.partitionKey]) ?? "";
  const at = lanes.find((lane) => lane.source === from.source && lane.partition.text === text);
  // Who knows the id looks in its own shard alone, wherever that was before.
  if (!at && step.scatter)
    return outgrown(`The cursor stands in the partition "${text}", which the model has no longer.`, { partition: text });
  const moved = !at || isGrowing(lanes) || ties.partitions !== lanes.length;
  if (moved) checkTies(ties);
  const sort = sortTextOf(step, key);
  for (const lane of lanes) laneBounds(lane, { sort, at: at?.order, key, descending: isDescending(reader, lane.step), moved });
  const own = ties.left ? [] : [nameOf(reader.session.catalog, key)];
  return { ties: trackTies({ sort, cut: { ...ties, named: [...ties.named, ...own] }, moved }), moved };
};

const isDescending = (reader: Reader, step: QueryStep): boolean => step.forward === reader.backward;

const turns = (lanes: readonly Lane[]): readonly (readonly Lane[])[] => {
  const byTurn = new Map<number, Lane[]>();
  for (const lane of lanes) byTurn.set(lane.partition.turn, [...(byTurn.get(lane.partition.turn) ?? []), lane]);
  return [...byTurn.entries()].toSorted(([a], [b]) => a - b).map(([, group]) => group);
};

// What left a shard since it was read may have arrived where nobody looks any more: those are read again.
const rewindLater = (lanes: readonly Lane[], end: PageEnd | undefined): void => {
  const again = lanes.filter((lane) => isDry(lane) && lane.rounds > 0);
  for (const lane of lanes) {
    const { family, turn } = lane.partition;
    if (lane.rounds === 0 || !again.some(({ partition }) => partition.family === family && partition.turn < turn)) continue;
    if (end) laneBounds(lane, end);
    rewind(lane);
  }
};

const isDry = (lane: Lane): boolean => !lane.done && lane.head === lane.buffer.length;

interface Progress {
  readonly lanes: readonly Lane[];
  readonly wanted: number | undefined;
  readonly end: PageEnd | undefined;
}

const refill = async (scatter: Scatter, { lanes, wanted, end }: Progress): Promise<void> => {
  if (!lanes.some(isDry)) return;
  rewindLater(lanes, end);
  const open = lanes.filter((lane) => !lane.done).length;
  const each = wanted === undefined ? undefined : shareOf(wanted, Math.max(1, open));
  for (const group of turns(lanes.filter(isDry))) await Promise.all(group.map(async (lane) => fillLane(scatter, lane, each)));
};

const least = (lanes: readonly Lane[], descending: boolean): Lane | undefined => {
  let best: Lane | undefined;
  for (const lane of lanes) {
    if (lane.head === lane.buffer.length) continue;
    if (best === undefined || compareHeads(lane, best, descending) < 0) best = lane;
  }
  return best;
};

const isOver = (lanes: readonly Lane[]): boolean => lanes.every((lane) => lane.done && lane.head === lane.buffer.length);

// Where rows of one sort key came by their names, their places say nothing about what came before them.
const partitionsFor = (lanes: readonly Lane[], isNamed: boolean): number => (isNamed || isGrowing(lanes) ? 0 : lanes.length);

const nextOf = (
  scatter: Scatter,
  lanes: readonly Lane[],
  { last, from: { ties, moved } }: { readonly last: Found; readonly from: Resumed },
): Position | undefined => {
  if (isOver(lanes)) return undefined;
  const step = defined(scatter.reader.plan.sources[last.source], "source") as QueryStep;
  return {
    source: last.source,
    key: scatter.startKeyOf(step, last.item),
    backward: scatter.reader.backward,
    ties: { partitions: partitionsFor(lanes, moved && ties.ends()), ...ties.end() },
  };
};

/** How far everything was read: up to where the first of the lanes stands that were not read on. */
const frontierOf = (lanes: readonly Lane[], descending: boolean): { readonly place: Place; readonly lane: Lane } | undefined => {
  const dry = lanes.filter(isDry);
  if (dry.some(({ read, start }) => read === 0 || start === undefined)) return undefined;
  const [first] = dry
    .map((lane) => ({ lane, place: { sort: sortTextOf(lane.step, lane.start ?? {}), order: lane.order } }))
    .toSorted((a, b) => comparePlaces(a.place, b.place, descending));
  return first;
};

// The budget ended: what every lane is known to hold was given, and the page goes on behind it.
const cutAt = (
  { from: start, reader }: Scatter,
  lanes: readonly Lane[],
  {
    frontier,
    from,
    last,
  }: { readonly frontier: ReturnType<typeof frontierOf>; readonly from: Resumed; readonly last: Position | undefined },
): Position => {
  if (!frontier) return last ?? start;
  const { lane, place } = frontier;
  const isNamed = from.moved && from.ties.ends() && from.ties.isAt(place.sort);
  return {
    source: lane.source,
    key: lane.start,
    backward: reader.backward,
    ties: { partitions: partitionsFor(lanes, isNamed), ...from.ties.endAt(place.sort) },
  };
};

/** Reads a page, or all, of several partitions: exactly so many rows, in order, each once. */
export const readScattered = async (scatter: Scatter): Promise<Rows> => {
  const { reader } = scatter;
  const lanes = lanesOf(scatter);
  reader.spending?.checkRoom(lanes.length);
  const unread = (): number => lanes.filter(({ asked, done }) => !asked && !done).length;
  const from = resume(scatter, lanes);
  const { ties } = from;
  const begun = (): Ties => ({ partitions: partitionsFor(lanes, from.moved && ties.begins()), ...ties.begin() });
  const found: Found[] = [];
  const descending = lanes.some((lane) => isDescending(reader, lane.step));
  const limit = reader.limit ?? Number.POSITIVE_INFINITY;
  const growing = isGrowing(lanes);
  let end: PageEnd | undefined;
  for (;;) {
    await refill({ ...scatter, unread }, { lanes, wanted: reader.limit === undefined ? undefined : limit - found.length, end });
    const lane = least(lanes, descending);
    if (reader.spending && lanes.some(isDry)) {
      const frontier = frontierOf(lanes, descending);
      if (!lane || !frontier || comparePlaces(placeOf(lane), frontier.place, descending) > 0) {
        const row = found.at(-1);
        const last = row && nextOf(scatter, lanes, { last: row, from });
        return { found, next: cutAt(scatter, lanes, { frontier, from, last }), begun: begun(), stopped: reader.spending.stopped() };
      }
    }
    if (!lane) return { found, next: undefined, begun: begun() };
    const head = headOf(lane);
    lane.head++;
    if (growing) end = { sort: head.sort, at: lane.order, key: scatter.startKeyOf(lane.step, head.found.item), descending, moved: true };
    if (ties.isNew(reader.session.catalog, head)) found.push(head.found);
    if (found.length >= limit) return { found, next: nextOf(scatter, lanes, { last: found.at(-1) as Found, from }), begun: begun() };
  }
};

/** Counts the rows of a step in all its partitions. */
export const countScattered = async (scatter: Scatter): Promise<number> => {
  let count = 0;
  for (const group of turns(lanesOf(scatter))) {
    const counts = await Promise.all(group.map(async (lane) => countLane(scatter, lane)));
    count += counts.reduce((sum, one) => sum + one, 0);
  }
  return count;
};
