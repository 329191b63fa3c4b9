import type { Catalog } from "./catalog.ts";
import type { Shape } from "./shape.ts";

/** The key attributes of one index of which a shape computes more than one: the item is in the index with both, and in no other case. */
export type IndexEntry = readonly [string, string];

const known = new WeakMap<Shape, { readonly catalog: Catalog; readonly entries: readonly IndexEntry[] }>();

/** The index entries of a shape that two computed attributes make; the table's own keys always stand and need no care. */
export const indexEntries = (catalog: Catalog, shape: Shape): readonly IndexEntry[] => {
  const found = known.get(shape);
  if (found?.catalog === catalog) return found.entries;
  const isPart = (attribute: string | undefined): attribute is string =>
    attribute !== undefined && attribute !== catalog.index.partitionKey && attribute !== catalog.index.sortKey && attribute in shape.keys;
  const entries = catalog.indexes.flatMap(({ partitionKey, sortKey }): readonly IndexEntry[] =>
    isPart(partitionKey) && isPart(sortKey) ? [[partitionKey, sortKey]] : [],
  );
  known.set(shape, { catalog, entries });
  return entries;
};

/**
 * Whether an attribute would be one half of an entry whose other half is missing, in every index that it is a key of.
 * An attribute that alone carries a field of the row stays: without it the field would be lost. So does one of an adopted
 * layout that declares only the other half sparse: the table has such items, and they keep it.
 */
export const isHalf = (catalog: Catalog, shape: Shape, attribute: string, isMissing: (other: string) => boolean): boolean => {
  const own = indexEntries(catalog, shape).filter((entry) => entry.includes(attribute));
  const standsAlone = (other: string): boolean => !catalog.escapes && shape.sparse.includes(other) && !shape.sparse.includes(attribute);
  const lacksOther = ([one, two]: IndexEntry): boolean => {
    const other = one === attribute ? two : one;
    return isMissing(other) && !standsAlone(other);
  };
  return own.length > 0 && own.every(lacksOther) && !shape.sources.some((source) => source.attribute === attribute);
};
