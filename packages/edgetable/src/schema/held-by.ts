import type { Catalog } from "./catalog.ts";
import type { Index } from "./shape.ts";

/** The attributes of an item that an index holds; undefined: all. */
export const heldBy = ({ index: table }: Catalog, { projection, partitionKey, sortKey }: Index): ReadonlySet<string> | undefined => {
  if (projection === "ALL") return undefined;
  const keys = [table.partitionKey, table.sortKey, partitionKey, sortKey].filter((name) => name !== undefined);
  return new Set([...keys, ...(projection === "KEYS_ONLY" ? [] : projection)]);
};
