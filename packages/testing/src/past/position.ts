import type { AttributeValue, Item } from "edgetable";
import { compareValues } from "../expression/value-order.ts";
import { type IndexShape, keyNames, type KeyShape, type TableShape } from "./table-shape.ts";

/** Where items of one query stand: by range key, and inside an index then by the table's own key. */
export interface Positions {
  /** Names of the attributes that make a LastEvaluatedKey. */
  readonly names: readonly string[];
  compare(a: Item, b: Item): number;
}

const compareBy = (names: readonly string[], a: Item, b: Item): number => {
  for (const name of names) {
    const [left, right] = [a[name], b[name]];
    const order = left && right ? (compareValues(left, right) ?? 0) : 0;
    if (order !== 0) return order;
  }
  return 0;
};

/** The positions of a query on a table, or on one of its indexes. */
export const positionsOf = (table: TableShape, index: IndexShape | undefined): Positions => {
  const read: KeyShape = index ?? table;
  const names = index ? [...new Set([...keyNames(index), ...keyNames(table)])] : keyNames(table);
  const ordering = [...(read.range === undefined ? [] : [read.range]), ...(index ? keyNames(table) : [])];
  return { names, compare: (a, b) => compareBy(ordering, a, b) };
};

/** The attributes of an item that a LastEvaluatedKey carries. */
export const cursorAt = (positions: Positions, item: Item): Item => {
  const entries = positions.names.map((name) => [name, item[name]] as const);
  return Object.fromEntries(entries.filter((entry): entry is readonly [string, AttributeValue] => entry[1] !== undefined));
};
