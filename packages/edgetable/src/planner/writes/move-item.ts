import { EdgetableError } from "../../errors/edgetable-error.ts";
import type { AttributeChanges, Term, WriteItem } from "../../ir/write-plan.ts";
import type { Catalog } from "../../schema/catalog.ts";
import type { Shape } from "../../schema/shape.ts";
import type { Item, Key } from "../../transport/operations.ts";
import { absent, STALE } from "./planning.ts";

/** An item whose table key changes. */
export interface Move {
  readonly shape: Shape;
  readonly key: Key;
  readonly terms: readonly Term[];
  readonly image: Item;
  readonly effect: AttributeChanges;
}

/** Terms by which nothing of the item has changed since it was read. */
export const unchanged = (image: Item, key: Key): readonly Term[] =>
  Object.entries(image)
    .filter(([attribute]) => !(attribute in key))
    .map(([attribute, value]) => ({ kind: "equals", attribute, value, failure: STALE }));

/** Puts the whole item under its new key and deletes it under the old one. */
export const moveItem = (catalog: Catalog, move: Move): readonly WriteItem[] => {
  const { shape, key, image, effect } = move;
  const item: Record<string, Item[string]> = { ...image, ...effect.set };
  for (const attribute of effect.remove) delete item[attribute];
  const { partitionKey, sortKey } = catalog.index;
  if (partitionKey in effect.set) {
    throw new EdgetableError("plan.unsupported", `This change would move "${shape.definition}" to another partition, away from its edges: delete it and create it anew.`, {
      details: { shape: shape.id, partitionKey },
    });
  }
  const target: Record<string, Item[string]> = { ...key };
  if (sortKey !== undefined) target[sortKey] = item[sortKey]!;
  return [
    { kind: "put", key: target, item, terms: [absent], shape },
    { kind: "delete", key, terms: [...move.terms, ...unchanged(image, key)], shape },
  ];
};
