import { attributeNames } from "../attribute-names.ts";
import { definitionOf, type Catalog } from "../catalog.ts";
import type { Shape } from "../shape.ts";

/**
 * The attributes that a shape's items hold as they are, each with the name it is stored under: neither
 * read back from a key nor left to the edge's other copy. Where a schema does not list its attributes,
 * those that the layout renames.
 */
export const plainAttributes = (catalog: Catalog, shape: Shape): readonly (readonly [name: string, stored: string])[] => {
  const schema = definitionOf(catalog, shape)?.schema;
  const names = schema ? (attributeNames(schema) ?? Object.keys(shape.stored)) : [];
  return names
    .filter((name) => !shape.carried.includes(name) && shape.holds?.includes(name) !== false)
    .map((name) => [name, shape.stored[name] ?? name]);
};
