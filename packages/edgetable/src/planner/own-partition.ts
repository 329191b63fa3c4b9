import { EdgetableError } from "../errors/edgetable-error.ts";
import type { Catalog } from "../schema/catalog.ts";

/**
 * A node is read in its own partition where that follows from what is known of it.
 *
 * @throws {plan.noIndex} when it does not
 */
export const checkOwnPartition = (catalog: Catalog, name: string, known: readonly string[]): void => {
  const partition = catalog.nodes[name]?.shape.keys[catalog.index.partitionKey];
  const unknown = partition?.fields.filter((field) => !known.includes(field)) ?? [];
  if (unknown.length === 0) return;
  const fields = unknown.map((field) => `{${field}}`).join(" and ");
  throw new EdgetableError(
    "plan.noIndex",
    `The partition of "${name}" (${partition?.source}) does not follow from its id: it takes ${fields} too. Make that part of the node's key, give it to get() by { given }, or find the node by an index with db.find("${name}").`,
    { details: { node: name, index: undefined } },
  );
};
