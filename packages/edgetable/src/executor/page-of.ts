/** The share of a page's items that a filter may pass over, before another request is worth it. */
const FILTERED_PAGE = 50;

/**
 * How many items to read for so many rows.
 *
 * @param passes whether every item that is read is a row of the answer
 */
export const pageOf = (rows: number, passes: boolean): number => (passes ? rows : Math.max(rows, FILTERED_PAGE));
