import { get } from "./api.ts";
import { partitionOf } from "./item-parts.tsx";
import { PAGE, Pages } from "./pages.ts";
import type { ItemsAnswer, WireItem } from "../wire.ts";

/** Which items a table shows. */
export interface ItemsQuery {
  readonly index: string | undefined;
  readonly partition: string | undefined;
  readonly types: string | undefined;
}

/** One row of the table: an item and its place among the items of its partition. */
export interface TableRow {
  readonly item: WireItem;
  /** The partition key's text. */
  readonly partition: string;
  readonly first: boolean;
  /** Partitions are banded: every second one is shaded. */
  readonly shaded: boolean;
  readonly group: Group;
}

/** The items of one partition, as far as they are in one page. */
export interface Group {
  readonly items: number;
  readonly bytes: number;
  /** False if the partition may begin before the page or go on after it. */
  readonly isWhole: boolean;
}

/** The partition and the band of the last item of a page. */
interface Band {
  readonly partition: string | undefined;
  readonly shaded: boolean;
}

const rowsOf = (
  { items, next }: ItemsAnswer,
  { before, partitionKeys }: { readonly before: Band; readonly partitionKeys: readonly string[] },
): readonly TableRow[] => {
  let { partition, shaded } = before;
  let group = { items: 0, bytes: 0, isWhole: false };
  const rows = items.map((item): TableRow => {
    const own = partitionOf(item, partitionKeys);
    const first = own !== partition;
    if (first) {
      shaded = !shaded;
      group = { items: 0, bytes: 0, isWhole: true };
    }
    partition = own;
    group.items++;
    group.bytes += item.bytes;
    return { item, partition: own, first, shaded, group };
  });
  if (next !== undefined) group.isWhole = false;
  return rows;
};

/** Pages of stored items, banded by partition. */
export type ItemPages = Pages<TableRow, Band>;

/** Pages of the items that a query names. */
export const openItemPages = ({ index, partition, types }: ItemsQuery, partitionKeys: readonly string[]): ItemPages =>
  new Pages(async (cursor, before = { partition: undefined, shaded: true }, signal) => {
    const answer = await get<ItemsAnswer>("items", { index, partition, types, cursor, limit: String(PAGE) }, signal);
    const rows = rowsOf(answer, { before, partitionKeys });
    const last = rows.at(-1);
    const { next, scanned, cost } = answer;
    return { rows, next, scanned, cost, mark: last ? { partition: last.partition, shaded: last.shaded } : before };
  });
