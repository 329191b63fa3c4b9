import { createHash } from "node:crypto";
import type { Ties } from "../requests/cursor.ts";
import type { Catalog } from "../schema/catalog.ts";
import type { Item } from "../transport/operations.ts";
import { identity } from "./item-identity.ts";
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
  /** Where they end, seen from a place further on under the given sort key. */
  endAt(sort: string): Cut;
  /** Whether the rows begin, or end, under the sort key at which an earlier page ended. */
  /** Whether the last row was given under a sort key, or the earlier page ended there. */
  isAt(sort: string): boolean;
  readonly begins: () => boolean;
  readonly ends: () => boolean;
}

/** As many characters as SHA-256 has in base64. */
const NAME = 43;

/**
 * A name for an item, whichever partition of an index it lies in: its whole table key, or of a long one the
 * SHA-256, which no two keys share. A cursor holds up to 256 of them.
 */
export const nameOf = (catalog: Catalog, item: Item): string => {
  const key = identity(catalog, item);
  return key.length < NAME ? key : createHash("sha256").update(key).digest("base64url");
};

// Nothing of the sort key lies behind.
const nothing: Cut = { named: [], left: true, more: false };

const cutOf = (names: ReadonlySet<string>, rest: Pick<Cut, "left" | "more">): Cut => ({
  left: rest.left,
  named: [...names].slice(-MOST_NAMED),
  more: rest.more || names.size > MOST_NAMED,
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
  let [inFirst, given, begin] = [from !== undefined, new Set<string>(), undefined as Cut | undefined];
  const isLeft = (name: string): boolean => !inFirst || (left ? !from?.moved || named.has(name) : !named.has(name));
  const within = (): Cut | undefined => (inFirst ? from?.cut : undefined);
  const end = (): Cut => {
    const cut = within();
    if (!cut) return cutOf(given, { left: false, more: false });
    if (cut.left) return cutOf(new Set([...named].filter((name) => !given.has(name))), cut);
    return cutOf(new Set([...named, ...given]), cut);
  };
  return {
    isNew: (catalog, head) => {
      if (head.sort !== current) {
        current = head.sort;
        inFirst = false;
        given = new Set();
      }
      const name = nameOf(catalog, head.found.item);
      if (given.has(name) || !isLeft(name)) return false;
      const cut = within();
      begin ??= cut ? cutOf(named, { left: !cut.left, more: cut.more }) : nothing;
      given.add(name);
      return true;
    },
    begin: () => begin ?? nothing,
    end,
    endAt: (sort) => (sort === current ? end() : cutOf(new Set<string>(), { left: false, more: false })),
    isAt: (sort) => sort === current,
    begins: () => begin !== undefined && begin !== nothing,
    ends: () => inFirst,
  };
};
