import { attributeNames } from "../../schema/standard-schema.ts";
import type { Catalog, EdgeEntry } from "../../schema/catalog.ts";
import { CONCERNS, type AdviceRule } from "../advice.ts";

const ends = ["from", "to"] as const;

/** Attributes of a node that may change; none where it has no item to be the truth of. */
const mutableOf = (catalog: Catalog, type: string): readonly string[] => {
  const node = catalog.nodes[type];
  if (!node || node.definition.stored === false) return [];
  const fixed = new Set([...node.idFields, ...(node.definition.immutable ?? [])]);
  return (attributeNames(node.definition.schema) ?? []).filter((name) => !fixed.has(name));
};

/** Each attribute of an edge that may be a copy, with the node types that it may be of. */
const copiesOf = (catalog: Catalog, entry: EdgeEntry): readonly (readonly [name: string, types: readonly string[]])[] => {
  const { schema, stored } = entry.definition;
  const names = schema && stored !== "reference" ? (attributeNames(schema) ?? []) : [];
  const types = [...new Set(ends.flatMap((end) => entry[end]))];
  return names
    .map((name) => [name, types.filter((type) => mutableOf(catalog, type).includes(name))] as const)
    .filter(([, holders]) => holders.length > 0);
};

/** Edge attributes named like a changeable attribute of an end: copies that nothing keeps fresh. */
export const staleCopy: AdviceRule = (catalog) =>
  Object.values(catalog.edges).flatMap((entry) =>
    copiesOf(catalog, entry).map(([name, types]) => ({
      rule: "staleCopy",
      concern: CONCERNS.truth,
      definition: entry.name,
      severity: "warning" as const,
      message: `"${name}" of "${entry.name}" has the name of an attribute of ${types.map((type) => `"${type}"`).join(" and ")} that may change. If it is a copy, it goes stale when that does.`,
      mend: `Make "${name}" immutable there, leave the copy out and read it by entries(), or, if it is a value of its own, give it another name.`,
    })),
  );
