import type { Ties } from "../requests/cursor.ts";
import type { Catalog } from "../schema/catalog.ts";
import type { Item, Key } from "../transport/operations.ts";
import type { Head } from "./lane.ts";

/** How many rows under one sort key a cursor names. */
const MOST_NAMED = 256;

/** Remembers the rows that were given under the last sort key: an item that moves on is met twice, and given once. */
export interface TieTracker {
  isNew(catalog: Catalog, head: Head): boolean;
  named(): Omit<Ties, "partitions">;
}

// cyrb53, by bryc (public domain): 53 bits, of which two rows under one sort key never share all.
const hashText = (text: string): number => {
  let high = 0xdeadbeef;
  let low = 0x41c6ce57;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    high = Math.imul(high ^ code, 2_654_435_761);
    low = Math.imul(low ^ code, 1_597_334_677);
  }
  high = Math.imul(high ^ (high >>> 16), 2_246_822_507) ^ Math.imul(low ^ (low >>> 13), 3_266_489_909);
  low = Math.imul(low ^ (low >>> 16), 2_246_822_507) ^ Math.imul(high ^ (high >>> 13), 3_266_489_909);
  return 4_294_967_296 * (2_097_151 & low) + (high >>> 0);
};

/** A name for an item, whichever partition of an index it lies in. */
export const hashOf = ({ index }: Catalog, item: Item): number => {
  const texts = [index.partitionKey, index.sortKey].map((attribute) => {
    const value = attribute === undefined ? undefined : item[attribute];
    return value && "S" in value ? value.S : "";
  });
  return hashText(JSON.stringify(texts));
};

const track = (sort: string | undefined, given: readonly number[], more: boolean): TieTracker => {
  let current = sort;
  let hashes = new Set(given);
  let unnamed = more;
  return {
    isNew: (catalog, head) => {
      if (head.sort !== current) {
        current = head.sort;
        hashes = new Set();
        unnamed = false;
      }
      const before = hashes.size;
      return hashes.add(hashOf(catalog, head.found.item)).size > before;
    },
    named: () => ({ given: [...hashes].slice(-MOST_NAMED), more: unnamed || hashes.size > MOST_NAMED }),
  };
};

export const createTies = (): TieTracker => track(undefined, [], false);

/** Goes on behind a page's end, whose own last row is never given again. */
export const resumeTies = (
  catalog: Catalog,
  { sort, key, ties }: { readonly sort: string; readonly key: Key; readonly ties: Ties | undefined },
): TieTracker => track(sort, [...(ties?.given ?? []), hashOf(catalog, key)], ties?.more ?? false);
