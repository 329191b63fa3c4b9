import { EdgetableError } from "../errors/edgetable-error.ts";
import { didYouMean } from "../util/did-you-mean.ts";
import type { Catalog } from "./catalog.ts";
import { checkId, checkNodeId } from "./check-id.ts";
import type { Row } from "../util/row.ts";

const typesByFields = (catalog: Catalog, types: readonly string[], id: Row): readonly string[] =>
  types.filter((type) => {
    const fields = catalog.nodes[type]?.idFields ?? [];
    return fields.every((field) => field in id) && Object.keys(id).every((field) => fields.includes(field));
  });

/**
 * The node at one end of an edge. Where the end may be of several node types the id says which by
 * `type`, unless its fields already do.
 *
 * @throws {schema.unknownNode} when the type is none of the end's, or cannot be told
 */
export const checkEnd = (catalog: Catalog, types: readonly string[], given: unknown): { readonly type: string; readonly id: Row } => {
  const only = types.length === 1 ? types[0] : undefined;
  const plain = only !== undefined && typeof given === "object" && given !== null && !("type" in given) ? catalog.nodes[only] : undefined;
  if (plain) return { type: plain.name, id: checkNodeId(catalog, plain, given) };
  const { type: named, ...rest } = checkId(types.join(" or "), [], given);
  const typed = typeof named === "string" && !catalog.nodes[only ?? ""]?.idFields.includes("type");
  const id = typed ? rest : (given as Row);
  const fitting = typed ? types.filter((type) => type === named) : only === undefined ? typesByFields(catalog, types, id) : [only];
  const entry = fitting.length === 1 ? catalog.nodes[fitting[0] ?? ""] : undefined;
  if (entry) return { type: entry.name, id: checkNodeId(catalog, entry, id) };
  const message = typed
    ? `"${named}" is no node type of this end.${didYouMean(named, types)}`
    : `Say which node this is by type: ${types.join(" or ")}.`;
  throw new EdgetableError("schema.unknownNode", message, { details: { given, types } });
};
