import type { Changes, Guards } from "../../ir/logical-write.ts";
import type { Term } from "../../ir/write-plan.ts";
import { placesOf, VERSION } from "../../requests/encode-item.ts";
import { type Catalog, definitionOf, isTableKey, type Shape } from "../../schema/catalog.ts";
import { attributesOf } from "../../schema/facts.ts";
import { attributeNames } from "../../schema/standard-schema.ts";
import type { Item, Key } from "../../transport/operations.ts";
import { own } from "../../util/row.ts";
import { STALE } from "./working-set.ts";

/** Terms by which fields of an item are as they were read, wherever it stores them. */
export const unchangedFields = (
  catalog: Catalog,
  { shape, image }: { readonly shape: Shape; readonly image: Item },
  fields: readonly string[],
): readonly Term[] => {
  const attributes = new Set<string>();
  for (const field of fields) {
    const places = placesOf(shape, field);
    for (const attribute of places) attributes.add(attribute);
    if (places.length === 0)
      for (const { attribute, template } of [...shape.sources, ...shape.spares])
        if (template.carried.includes(field)) attributes.add(attribute);
  }
  const terms: Term[] = [];
  for (const attribute of attributes)
    if (!isTableKey(catalog, attribute)) terms.push({ kind: "equals", attribute, value: own(image, attribute), failure: STALE });
  return terms;
};

/** Terms by which an item is as it was read, and has no further attribute that the schema knows. */
export const unchangedItem = (catalog: Catalog, at: { readonly shape: Shape; readonly key: Key }, image: Item): readonly Term[] => {
  const definition = definitionOf(catalog, at.shape);
  const attributes = new Set(Object.keys(image));
  for (const name of (definition && attributesOf(definition)) ?? [])
    for (const attribute of placesOf(at.shape, name)) attributes.add(attribute);
  return [...attributes]
    .filter((attribute) => !(attribute in at.key))
    .map((attribute) => ({ kind: "equals", attribute, value: own(image, attribute), failure: STALE }));
};

/** Terms by which everything that the schema sees, and that the change does not overwrite, is as it was read. */
export const unchangedRow = (
  catalog: Catalog,
  { shape, key, guards, changes }: { readonly shape: Shape; readonly key: Key; readonly guards: Guards; readonly changes: Changes },
  image: Item,
): readonly Term[] => {
  if (shape.version)
    return guards.version === undefined ? [] : [{ kind: "equals", attribute: VERSION, value: own(image, VERSION), failure: STALE }];
  const schema = definitionOf(catalog, shape)?.schema;
  const names = schema && attributeNames(schema);
  if (!names) return unchangedItem(catalog, { shape, key }, image);
  const kept = names.filter((name) => !(name in changes.set) && !changes.remove.includes(name));
  return unchangedFields(catalog, { shape, image }, kept);
};
