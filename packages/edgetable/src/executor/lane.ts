import type { QueryStep } from "../ir/physical-plan.ts";
import { comparePrimary, type Partition } from "../keys/template.ts";
import { keyTextOf } from "../requests/attribute-value.ts";
import { rowOf } from "../requests/encode-read.ts";
import { above, type Bounds, encodeLane, inPartition, prefixOf } from "../requests/encode-scatter.ts";
import type { Item, Key, QueryOutput } from "../transport/operations.ts";
import { pageOf } from "./page-of.ts";
import type { Found, Reader } from "./read-rows.ts";

/** What lanes need of whoever runs them. */
export interface LaneContext {
  readonly reader: Reader;
  /** The rows of a source's items: those that the call wants. */
  accept(source: number, items: readonly Item[]): readonly Found[];
  startKeyOf(step: QueryStep, item: Item): Key;
  /** Whether every item that a step reads is a row of the answer. */
  passesAll(step: QueryStep): boolean;
  /** How many partitions were not read yet. */
  unread?(): number;
}

/** A row that waits for its turn. */
export interface Head {
  readonly found: Found;
  readonly sort: string;
}

/** One partition as it is being read. */
export interface Lane {
  /** Its place among rows of one sort key. */
  readonly order: number;
  readonly source: number;
  readonly step: QueryStep;
  readonly partition: Partition;
  buffer: readonly Head[];
  /** How many of the buffer's rows were taken. */
  head: number;
  start: Key | undefined;
  /** Where it starts when it is read again. */
  first: Key | undefined;
  bounds: Bounds;
  /** Skips what the bounds could not keep out. */
  skips: (sort: string) => boolean;
  done: boolean;
  /** How often it was read. */
  rounds: number;
  /** How many items were read since it was begun or rewound, and how many of them were rows of the answer. */
  read: number;
  given: number;
  /** Whether it was answered since. */
  asked: boolean;
}

/** A lane skips nothing, as a rule. */
const never = (): boolean => false;

export const createLane = (order: number, { source, step, partition }: Pick<Lane, "source" | "step" | "partition">): Lane => ({
  order,
  source,
  step: inPartition(step, partition.text),
  partition,
  buffer: [],
  head: 0,
  start: undefined,
  first: undefined,
  bounds: {},
  skips: never,
  done: false,
  rounds: 0,
  read: 0,
  given: 0,
  asked: false,
});

/** The text by which an item sorts; empty where the index has no sort key. */
export const sortTextOf = ({ sortKey }: QueryStep, item: Item): string => {
  return (sortKey === undefined ? undefined : keyTextOf(item[sortKey])) ?? "";
};

export const headOf = (lane: Lane): Head => lane.buffer[lane.head] as Head;

/** Forgets what was read and not yet taken, so that it is read again. */
export const rewind = (lane: Lane): void => {
  lane.buffer = [];
  lane.head = 0;
  lane.done = false;
  lane.rounds = 0;
  lane.asked = false;
  lane.read = 0;
  lane.given = 0;
  lane.start = lane.first;
};

/** Reads one page of a lane; undefined where the page's budget ended before that. */
const readOnce = async (context: LaneContext, lane: Lane, limit: number | undefined): Promise<readonly Head[] | undefined> => {
  const { session, binding, context: call, backward, spending } = context.reader;
  const { step, start, bounds } = lane;
  const input = encodeLane(session.catalog, step, { binding, limit, start, backward, bounds, livingAt: call.livingAt });
  const send = async (): Promise<QueryOutput> => (input ? session.send("Query", input, call) : { Items: [] });
  const output = spending && input ? await spending.send(send, { kept: context.unread?.() ?? 0, isFirst: !lane.asked }) : await send();
  if (!output) return undefined;
  lane.asked = true;
  lane.read += output.ScannedCount ?? output.Items?.length ?? 0;
  lane.start = output.LastEvaluatedKey;
  lane.done = lane.start === undefined;
  const prefix = prefixOf(step, rowOf(session.catalog, step, binding), binding.values);
  const heads = context.accept(lane.source, output.Items ?? []).flatMap((found) => {
    const sort = sortTextOf(step, found.item);
    return lane.skips(sort) || !sort.startsWith(prefix) ? [] : [{ found, sort }];
  });
  lane.given += heads.length;
  return heads;
};

/** Reads on until there is a row, or nothing is left; without a number of rows, all that is left. */
export const fillLane = async (context: LaneContext, lane: Lane, wanted: number | undefined): Promise<void> => {
  const heads: Head[] = [];
  // A partition that has to be asked again holds more than its share.
  const share = wanted === undefined ? undefined : wanted * 2 ** Math.min(lane.rounds, 10);
  const passes = context.passesAll(lane.step);
  const enough = wanted === undefined ? Number.POSITIVE_INFINITY : 1;
  while (!lane.done && heads.length < enough) {
    const { given: found, read } = lane;
    const limit = share === undefined ? undefined : passes ? share : pageOf({ wanted: found + (wanted ?? 0), found, read }, false);
    const more = await readOnce(context, lane, limit);
    if (!more) break;
    heads.push(...more);
  }
  lane.rounds++;
  lane.buffer = heads;
  lane.head = 0;
};

/** Counts what one partition holds, about as far as is wanted; DynamoDB counts where it can. */
export const countLane = async (context: LaneContext, lane: Lane): Promise<number> => {
  const { session, binding, context: call, limit: wanted } = context.reader;
  const most = wanted ?? Number.POSITIVE_INFINITY;
  let count = 0;
  if (!lane.step.counts) {
    do {
      await fillLane(context, lane, wanted);
      count += lane.buffer.length;
    } while (!lane.done && count < most);
    return count;
  }
  let start: Key | undefined;
  let read = 0;
  do {
    const limit = wanted === undefined ? undefined : pageOf({ wanted, found: count, read }, context.passesAll(lane.step));
    const input = encodeLane(session.catalog, lane.step, { binding, limit, start, backward: false, bounds: {}, livingAt: call.livingAt });
    if (!input) return count;
    const output = await session.send("Query", input, call);
    count += output.Count ?? 0;
    read += output.ScannedCount ?? output.Count ?? 0;
    start = output.LastEvaluatedKey;
  } while (start !== undefined && count < most);
  return count;
};

/** A place in the global order. */
export interface Place {
  readonly sort: string;
  /** The partition's. */
  readonly order: number;
}

/** The global order: by sort key, then by partition. */
export const comparePlaces = (a: Place, b: Place, descending: boolean): number => {
  const order = comparePrimary(a.sort, b.sort) || a.order - b.order;
  return descending ? -order : order;
};

/** Where the next row of a lane stands. */
export const placeOf = (lane: Lane): Place => ({ sort: headOf(lane).sort, order: lane.order });

/** The global order of two lanes' next rows. */
export const compareHeads = (a: Lane, b: Lane, descending: boolean): number => comparePlaces(placeOf(a), placeOf(b), descending);

/** Where a page ended: under which sort key, in which partition, behind which item. */
export interface PageEnd {
  readonly sort: string;
  readonly at: number | undefined;
  readonly key: Key;
  readonly descending: boolean;
  /** Whether items may have moved between partitions: then all of the last sort key is read again, for the ties tell its rows apart. */
  readonly moved: boolean;
}

/**
 * Starts a lane behind the end of a page. Of the rows under the last sort key, the partitions before the
 * last one gave all, those after it none: so one place in the order says where every partition goes on,
 * however many there are by now.
 */
export const laneBounds = (lane: Lane, { sort, at, key, descending, moved }: PageEnd): void => {
  const isLast = lane.order === at && !moved;
  lane.first = isLast ? key : undefined;
  lane.start = lane.first;
  lane.bounds = {};
  lane.skips = never;
  if (isLast) return;
  const gave = !moved && at !== undefined && (descending ? lane.order > at : lane.order < at);
  if (lane.step.sortKey === undefined) {
    lane.done = gave;
    return;
  }
  lane.bounds = descending ? { high: sort } : { low: gave ? above(sort) : sort };
  if (gave) lane.skips = (text) => text === sort;
};
