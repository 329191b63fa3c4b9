import type { Catalog } from "./catalog.ts";
import type { Index } from "./shape.ts";

/** The key attributes of the table, and of the index beside it where one is read. */
export const keysBeside = ({ index: table }: Catalog, index: Index | undefined): readonly string[] =>
  [table.partitionKey, table.sortKey, index?.partitionKey, index?.sortKey].filter((name) => name !== undefined);

/** The attributes of an item that an index holds; undefined: all. */
export const heldBy = (catalog: Catalog, index: Index): ReadonlySet<string> | undefined => {
  const { projection } = index;
  if (projection === "ALL") return undefined;
  return new Set([...keysBeside(catalog, index), ...(projection === "KEYS_ONLY" ? [] : projection)]);
};
