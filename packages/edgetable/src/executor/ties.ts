import type { Ties } from "../requests/cursor.ts";
import type { Catalog } from "../schema/catalog.ts";
import type { Item } from "../transport/operations.ts";
import { hashText } from "../util/hash-text.ts";
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

// A number holds 53 bits: too many for two of the few rows under one sort key to share them.
const LOW_BITS = 2 ** 21 - 1;

/** A name for an item, whichever partition of an index it lies in. */
export const hashOf = ({ index }: Catalog, item: Item): number => {
  const texts = [index.partitionKey, index.sortKey].map((attribute) => {
    const value = attribute === undefined ? undefined : item[attribute];
    return value && "S" in value ? value.S : "";
  });
  const [high, low] = hashText(JSON.stringify(texts));
  return 2 ** 32 * (low & LOW_BITS) + high;
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
