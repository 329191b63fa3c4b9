import type { Ties } from "../requests/cursor.ts";
import type { Catalog } from "../schema/catalog.ts";
import type { Item } from "../transport/operations.ts";
import type { Head } from "./lane.ts";

/** How many rows under one sort key a cursor names. */
const MOST_NAMED = 256;

/** A cut through the rows under one sort key, but for the number of partitions. */
export type Cut = Omit<Ties, "partitions">;

/** Remembers the rows that were given under the last sort key: an item that moves on is met twice, and given once. */
export interface TieTracker {
  isNew(catalog: Catalog, head: Head): boolean;
  /** Where the rows given so far begin, seen from the other side, and where they end. */
  begin(): Cut;
  end(): Cut;
  /** Whether the rows begin, or end, under the sort key at which an earlier page ended. */
  readonly begins: () => boolean;
  readonly ends: () => boolean;
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

// Nothing of the sort key lies behind.
const nothing: Cut = { named: [], left: true, more: false };

const cutOf = (hashes: ReadonlySet<number>, rest: Pick<Cut, "left" | "more">): Cut => ({
  left: rest.left,
  named: [...hashes].slice(-MOST_NAMED),
  more: rest.more || hashes.size > MOST_NAMED,
});

/** Where an earlier page ended. */
export interface From {
  readonly sort: string;
  readonly cut: Cut;
  /** Whether items moved, so that names alone tell what is left. */
  readonly moved: boolean;
}

/** Begins, or goes on behind a page's end. */
export const trackTies = (from: From | undefined): TieTracker => {
  const named = new Set(from?.cut.named);
  const left = from?.cut.left ?? false;
  let current = from?.sort;
  let [inFirst, given, begin] = [from !== undefined, new Set<number>(), undefined as Cut | undefined];
  const isLeft = (hash: number): boolean => !inFirst || (left ? !from?.moved || named.has(hash) : !named.has(hash));
  const within = (): Cut | undefined => (inFirst ? from?.cut : undefined);
  return {
    isNew: (catalog, head) => {
      if (head.sort !== current) {
        current = head.sort;
        inFirst = false;
        given = new Set();
      }
      const hash = hashOf(catalog, head.found.item);
      if (given.has(hash) || !isLeft(hash)) return false;
      const cut = within();
      begin ??= cut ? cutOf(named, { left: !cut.left, more: cut.more }) : nothing;
      given.add(hash);
      return true;
    },
    begin: () => begin ?? nothing,
    end: () => {
      const cut = within();
      if (!cut) return cutOf(given, { left: false, more: false });
      if (cut.left) return cutOf(new Set([...named].filter((hash) => !given.has(hash))), cut);
      return cutOf(new Set([...named, ...given]), cut);
    },
    begins: () => begin !== undefined && begin !== nothing,
    ends: () => inFirst,
  };
};
