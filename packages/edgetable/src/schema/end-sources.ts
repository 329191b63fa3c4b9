import type { Catalog } from "./catalog.ts";
import { endPaths } from "./id-paths.ts";
import type { KeySource, Shape } from "./shape.ts";

/**
 * The computed attributes from which alone the id of an edge's end can be read, or undefined where
 * that takes more of the item.
 */
export const endSources = (catalog: Catalog, shape: Shape, end: "from" | "to"): readonly KeySource[] | undefined => {
  if (shape.role === "reference") return undefined;
  const fields = endPaths(catalog, shape, end);
  const one = shape.sources.find(({ template }) => fields.every((field) => template.fields.includes(field)));
  if (one) return [one];
  const all = shape.sources.filter(({ template }) => fields.some((field) => template.fields.includes(field)));
  return fields.every((field) => all.some(({ template }) => template.fields.includes(field))) ? all : undefined;
};

/**
 * Whether the items of a range must each be told apart by type and keys. In Edgetable's own layout an
 * end's key says it all, unless other items lie in the range; in an adopted table there may be items
 * that the model does not know.
 */
export const needsIdentity = (catalog: Catalog, range: { readonly discards: boolean }): boolean => range.discards || !catalog.escapes;

/** Of an edge that lies in its source's own item, the fields of that node that say where it leads; of others none. */
export const targetFields = ({ alias }: Shape): readonly string[] =>
  Object.entries(alias ?? {}).flatMap(([path, field]) => (path.startsWith("to.") ? [field] : []));
