import { comparePrimary } from "../keys/template.ts";
import { above } from "../requests/encode-scatter.ts";
import type { Key } from "../transport/operations.ts";
import { headOf, never, type Lane } from "./lane.ts";

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
