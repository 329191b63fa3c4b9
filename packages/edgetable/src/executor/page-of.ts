/** The fewest items that a filtered read asks for at first: a request costs the same for fewer. */
export const FIRST_ITEMS = 50;
/** How much faster than its hit rate says a filtered read goes on, so that the next page is often the last. */
const MARGIN = 1.2;
/** A filtered read asks for no more than so many times the items that it has read. */
const MOST_GROWTH = 3;
/** Beyond so many items, a page is as large as DynamoDB gives it: 1 MB, whatever the items. */
const MOST_ITEMS = 16_384;

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
  const items = Math.min(Math.max(needed, read), Math.max(FIRST_ITEMS, read * MOST_GROWTH));
  return items > MOST_ITEMS ? undefined : items;
};
