import { EdgetableError } from "../../errors/edgetable-error.ts";
import type { AttributeChanges, Term, WriteItem } from "../../ir/write-plan.ts";
import { attributeOf, keyOfItem } from "../../requests/encode-item.ts";
import { attributeNames } from "../../schema/standard-schema.ts";
import { definitionOf, type Catalog, type Shape } from "../../schema/catalog.ts";
import type { Item, Key } from "../../transport/operations.ts";
import { absent, STALE } from "./planning.ts";
import { own } from "../../util/row.ts";

/** An item whose table key changes. */
export interface Move {
  readonly shape: Shape;
  readonly key: Key;
  readonly terms: readonly Term[];
  readonly image: Item;
  readonly effect: AttributeChanges;
}

const attributesOf = (catalog: Catalog, shape: Shape): readonly string[] => {
  const schema = definitionOf(catalog, shape)?.schema;
  const names = schema ? (attributeNames(schema) ?? []) : [];
  return names.flatMap((name) => attributeOf(shape, name) ?? []);
};

/** Terms by which nothing of the item has changed since it was read, nor been added that the schema knows. */
export const unchanged = (catalog: Catalog, at: { readonly shape: Shape; readonly key: Key }, image: Item): readonly Term[] =>
  [...new Set([...Object.keys(image), ...attributesOf(catalog, at.shape)])]
    .filter((attribute) => !(attribute in at.key))
    .map((attribute) => ({ kind: "equals", attribute, value: own(image, attribute), failure: STALE }));

/** Puts the whole item under its new key and deletes it under the old one. */
export const moveItem = (catalog: Catalog, move: Move): readonly WriteItem[] => {
  const { shape, key, image, effect } = move;
  const item: Record<string, Item[string]> = { ...image, ...effect.set };
  for (const attribute of effect.remove) delete item[attribute];
  const { partitionKey } = catalog.index;
  if (partitionKey in effect.set) {
    throw new EdgetableError(
      "plan.unsupported",
      `This change would move "${shape.definition}" to another partition, away from its edges: delete it and create it anew.`,
      {
        details: { shape: shape.id, partitionKey },
      },
    );
  }
  return [
    { kind: "put", key: keyOfItem(catalog, item), item, terms: [absent], shape },
    { kind: "delete", key, terms: [...move.terms, ...unchanged(catalog, move, image)], shape },
  ];
};
