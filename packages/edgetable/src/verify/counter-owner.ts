import { isEdgetableError } from "../errors/edgetable-error.ts";
import { sameKey } from "../ir/write-plan.ts";
import { keyIfComplete } from "../requests/encode-item.ts";
import type { Catalog } from "../schema/catalog.ts";
import { counterKeys, type CounterSet, counterSetsOf } from "../schema/counter-sets.ts";
import { readPlace } from "../schema/stored-id.ts";
import { MEMO_NODE, textAt } from "../schema/system-items.ts";
import { ownerId, readCounterKey } from "../schema/system-keys.ts";
import type { Item, Key } from "../transport/operations.ts";
import type { Row } from "../util/row.ts";

/** The node that a counter counts for. */
export interface CounterOwner {
  readonly set: CounterSet;
  readonly key: Key;
  readonly id: Row;
  /** False if the counter's text does not name the node: its key tells it. */
  readonly isNamed: boolean;
}

/** What a counter says, by its key or its text, that it counts for. */
interface Claim {
  readonly node: string;
  readonly over: string;
  /** Undefined where the key holds a hash of it. */
  readonly id: Row | undefined;
}

/**
 * The node that a counter counts for, by the text beside its key or, if that names another one, by its key.
 *
 * @returns `"nobody"` for a counter of other declarations, which no call reads; undefined if neither tells, so that only the node knows it
 */
export const counterOwner = (catalog: Catalog, item: Item): CounterOwner | "nobody" | undefined => {
  const named = readPlace(textAt(item, MEMO_NODE));
  const read = readCounterKey(textAt(item, catalog.index.partitionKey));
  const owner = read && catalog.nodes[read.node];
  const keyed: Claim | undefined = read && { node: read.node, over: read.set, id: owner && ownerId(owner, read.owner) };
  // A numeric key holds a hash of what the counter counts.
  const isHashed = catalog.layout.types?.[catalog.index.partitionKey] === "N";
  const own = Object.fromEntries([catalog.index.partitionKey, catalog.index.sortKey].flatMap((name) => (name ? [[name, item[name]]] : [])));
  let isKept = false;
  for (const claim of [named, keyed]) {
    const entry = claim && catalog.nodes[claim.node];
    const set = entry && counterSetsOf(catalog, entry).find(({ name }) => name === claim.over);
    if (claim === keyed || isHashed) isKept ||= set !== undefined;
    try {
      const key = set && claim?.id && keyIfComplete(catalog, set.entry.shape, claim.id);
      if (!set || !key || !claim?.id || !counterKeys(catalog, set, claim.id).some((one) => sameKey(one, own as Key))) continue;
      return { set, key, id: claim.id, isNamed: claim === named };
    } catch (error) {
      // What somebody has written there may be no id.
      if (!isEdgetableError(error)) throw error;
    }
  }
  return isKept || (isHashed && !named) ? undefined : "nobody";
};
