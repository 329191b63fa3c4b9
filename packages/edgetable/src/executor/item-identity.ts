import type { Catalog } from "../schema/catalog.ts";
import type { AttributeValue, Item } from "../transport/operations.ts";

const textOf = (value: AttributeValue | undefined): string => (value && "S" in value ? value.S : JSON.stringify(value));

/** An item's table key as a text. The first part's length keeps two keys apart that are the same when written in a row. */
export const identity = ({ index: { partitionKey, sortKey } }: Catalog, item: Item): string => {
  const partition = textOf(item[partitionKey]);
  return `${partition.length}:${partition}${textOf(item[sortKey])}`;
};

/** Items by {@link identity}. */
export const byIdentity = (catalog: Catalog, items: readonly Item[]): ReadonlyMap<string, Item> => {
  const found = new Map<string, Item>();
  for (const item of items) found.set(identity(catalog, item), item);
  return found;
};
