import { keyAttributes, type Index as CatalogIndex, type KeyNames } from "../schema/catalog.ts";
import type { Item } from "../transport/operations.ts";
import { ASSUMED_BYTES, itemBytes, sum, writeUnits } from "./capacity.ts";
import type { WriteItem } from "./write-plan.ts";

type Index = KeyNames & Pick<CatalogIndex, "projection">;

/** The part of an item that an index copies, or undefined when the item is not in the index. */
const projected = (index: Index, tableKeys: readonly string[], item: Item | undefined): Item | undefined => {
  if (!item || !keyAttributes(index).every((attribute) => attribute in item)) return undefined;
  if (index.projection === "ALL") return item;
  const named = index.projection === "KEYS_ONLY" ? [] : index.projection;
  const names = new Set([...tableKeys, ...keyAttributes(index), ...named]);
  return Object.fromEntries(Object.entries(item).filter(([attribute]) => names.has(attribute)));
};

/** What a prediction needs of the table. */
export interface IndexedTable {
  readonly index: KeyNames;
  readonly indexes: readonly Index[];
}

/** One item before and after a write; undefined: not there. */
export interface ItemImages {
  readonly before: Item | undefined;
  readonly after: Item | undefined;
}

const indexWriteUnits = (table: IndexedTable, index: Index, { before, after }: ItemImages): number => {
  const keys = keyAttributes(table.index);
  const old = projected(index, keys, before);
  const now = projected(index, keys, after);
  if (!old || !now) return (old ?? now) ? writeUnits(itemBytes((old ?? now) as Item)) : 0;
  const isMoved = keyAttributes(index).some((key) => JSON.stringify(old[key]) !== JSON.stringify(now[key]));
  if (isMoved) return writeUnits(itemBytes(old)) + writeUnits(itemBytes(now));
  const text = (item: Item): string => JSON.stringify(Object.entries(item).toSorted());
  return text(old) === text(now) ? 0 : writeUnits(Math.max(itemBytes(old), itemBytes(now)));
};

/**
 * Units of changing an item, its index entries included: a changed index key is one entry deleted and
 * one written, an unchanged projection is free.
 */
export const changeUnits = (table: IndexedTable, images: ItemImages, transaction = false): number => {
  const { before, after } = images;
  const bytes = Math.max(before ? itemBytes(before) : 0, after ? itemBytes(after) : 0);
  return writeUnits(bytes, transaction) + sum(table.indexes.map((index) => indexWriteUnits(table, index, images)));
};

const touchesIndex = (index: Index, item: WriteItem & { readonly kind: "update" }): number => {
  const { set, remove, add, append } = item.changes;
  const names = [...Object.keys(set), ...remove, ...Object.keys(add), ...Object.keys(append)];
  const keys = keyAttributes(index);
  if (names.some((name) => keys.includes(name))) return 2;
  if (index.projection === "ALL") return 1;
  const { projection } = index;
  return projection !== "KEYS_ONLY" && names.some((name) => projection.includes(name)) ? 1 : 0;
};

/**
 * Predicted units of one step of a write, as if no item were there before a put, and an item of the
 * shape's expected size in each index that its shape fills before an update or delete.
 */
export const stepUnits = (table: IndexedTable, item: WriteItem, transaction: boolean): number => {
  if (item.kind === "put") return changeUnits(table, { before: undefined, after: item.item }, transaction);
  const bytes = item.shape?.bytes ?? ASSUMED_BYTES;
  const base = writeUnits(bytes, transaction);
  if (item.kind === "check") return base;
  const filled = table.indexes.filter((index) => item.shape && keyAttributes(index).every((key) => key in item.shape!.keys));
  return base + sum(filled.map((index) => (item.kind === "delete" ? 1 : touchesIndex(index, item)) * writeUnits(bytes)));
};
