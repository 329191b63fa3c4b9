import type { ReadNeed } from "../ir/write-plan.ts";
import type { Catalog, Index } from "../schema/catalog.ts";
import type { GetItemInput, Key, QueryInput, ScanInput } from "../transport/operations.ts";
import { keyValue } from "./attribute-value.ts";
import { Placeholders } from "./expression.ts";

/** The strongly consistent Get of an item that a write depends on. */
export const encodeNeededGet = (catalog: Catalog, need: ReadNeed & { readonly kind: "get" }): GetItemInput => ({
  TableName: catalog.table,
  Key: need.key,
  ConsistentRead: true,
  ReturnConsumedCapacity: "TOTAL",
});

/** The strongly consistent Query for an item whose sort key is known only in part. */
export const encodeNeededQuery = (catalog: Catalog, need: ReadNeed & { readonly kind: "find" }): QueryInput => {
  const names = new Placeholders();
  const { partitionKey, sortKey = "" } = catalog.index;
  const partition = `${names.name(partitionKey)} = ${names.value(keyValue(need.shape.keys[partitionKey]!.type, need.partition))}`;
  const prefix = need.prefix === "" ? "" : ` AND begins_with(${names.name(sortKey)}, ${names.value({ S: need.prefix })})`;
  return {
    TableName: catalog.table,
    KeyConditionExpression: partition + prefix,
    ConsistentRead: true,
    ReturnConsumedCapacity: "TOTAL",
    ...names.fields,
  };
};

/** One page of one segment of a scan. */
export interface ScanPage {
  readonly segment: number;
  /** Number of segments of the whole scan, 1 to 1,000,000. */
  readonly segments: number;
  readonly start: Key | undefined;
  readonly consistent: boolean;
}

// Smaller pages cost the same, and keep the position close to the rows that were yielded.
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

/** A page of one partition of the table or of an index, in Edgetable's own bookkeeping. */
export interface PartitionPage {
  readonly index: Index;
  readonly partition: string;
  readonly start: Key | undefined;
  readonly limit?: number;
  /** @default false */
  readonly consistent?: boolean;
}

/** Reads a page of all items of a partition, whether or not the model knows them. */
export const encodePartition = (table: string, { index, partition, start, limit, consistent }: PartitionPage): QueryInput => {
  const names = new Placeholders();
  return {
    TableName: table,
    ...(index.name === undefined ? {} : { IndexName: index.name }),
    KeyConditionExpression: `${names.name(index.partitionKey)} = ${names.value({ S: partition })}`,
    ...names.fields,
    ...(consistent ? { ConsistentRead: true } : {}),
    ...(limit === undefined ? {} : { Limit: limit }),
    ...(start ? { ExclusiveStartKey: start } : {}),
    ReturnConsumedCapacity: "TOTAL",
  };
};
