import type { Ties } from "../requests/cursor.ts";
import type { Catalog } from "../schema/catalog.ts";
import { nameOf } from "./item-identity.ts";
import type { Found } from "./read-rows.ts";

/** How many rows under one sort key a cursor names. */
const MAX_NAMED = 256;

/** The next row of a partition, which waits for its turn in the merge. */
export interface Head {
  readonly found: Found;
  readonly sort: string;
}

/** Which rows under one sort key are before the end of a page. */
export type Cut = Omit<Ties, "partitions">;

/** Remembers the rows that were returned under the last sort key: an item that moves is read twice and returned once. */
export interface TieTracker {
  isNew(catalog: Catalog, head: Head): boolean;
  /** Where the rows returned so far begin, seen from the other side, and where they end. */
  begin(): Cut;
  end(): Cut;
  /** Where they end, seen from a later place under the given sort key. */
  endAt(sort: string): Cut;
  /** True if the last row was returned under the sort key, or the earlier page ended there. */
  isAt(sort: string): boolean;
  /** True if the rows begin under the sort key at which an earlier page ended. */
  begins(): boolean;
  /** True if they end there too. */
  ends(): boolean;
}

// Every row of the sort key is after the cut.
const nothing: Cut = { named: [], left: true, more: false };

const cutOf = (names: ReadonlySet<string>, rest: Pick<Cut, "left" | "more">): Cut => ({
  left: rest.left,
  named: [...names].slice(-MAX_NAMED),
  more: rest.more || names.size > MAX_NAMED,
});

/** Where an earlier page ended. */
export interface From {
  readonly sort: string;
  readonly cut: Cut;
  /** True if items moved, so that only names tell which rows are left. */
  readonly moved: boolean;
}

/** Tracks the rows of a page, from the beginning or from where an earlier page ended. */
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
