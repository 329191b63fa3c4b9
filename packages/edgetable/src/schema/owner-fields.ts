import { attributeNames } from "./attribute-names.ts";
import type { Catalog } from "./catalog.ts";

/** Fields of a part's row that are its owner's id, and none of its own schema's. */
export const ownerFields = (catalog: Catalog, part: string): readonly string[] => {
  const entry = catalog.parts[part];
  const own = entry && attributeNames(entry.definition.schema);
  return (catalog.nodes[entry?.definition.of ?? ""]?.idFields ?? []).filter((field) => !own?.includes(field));
};
