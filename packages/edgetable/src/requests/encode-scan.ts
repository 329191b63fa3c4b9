import type { Key, ScanInput } from "../transport/operations.ts";

/** One page of one segment of a scan. */
export interface ScanPage {
  readonly segment: number;
  /** Segments of the whole scan, 1 to 1,000,000. */
  readonly segments: number;
  readonly start: Key | undefined;
  readonly consistent: boolean;
}

// A page of a megabyte would be cheaper by nothing: a position is then no further back than this.
const PAGE_ITEMS = 1000;

/** The Scan of one page. */
export const encodeScan = (table: string, { segment, segments, start, consistent }: ScanPage): ScanInput => ({
  TableName: table,
  Limit: PAGE_ITEMS,
  ...(consistent ? { ConsistentRead: true } : {}),
  ...(segments === 1 ? {} : { Segment: segment, TotalSegments: segments }),
  ...(start === undefined ? {} : { ExclusiveStartKey: start }),
  ReturnConsumedCapacity: "TOTAL",
});
