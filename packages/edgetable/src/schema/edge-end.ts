import { EdgetableError } from "../errors/edgetable-error.ts";
import { didYouMean } from "../util/did-you-mean.ts";
import type { Catalog, NodeEntry } from "./catalog.ts";
import { checkId } from "./check-id.ts";

type Row = Readonly<Record<string, unknown>>;

const refuseField = (what: string, field: string, known: readonly string[]): never => {
  throw new EdgetableError("schema.unknownAttribute", `"${field}" is no part of the id of "${what}".${didYouMean(field, known)}`, {
    details: { attribute: field, known },
  });
};

const checkFields = (what: string, { fields, further }: Allowed, id: unknown): Row => {
  const checked = checkId(what, fields, id);
  for (const field of Object.keys(checked))
    if (!fields.includes(field) && !further.includes(field)) return refuseField(what, field, fields);
  return checked;
};

/**
 * An id with every field that it needs and none that it cannot have.
 *
 * @throws {schema.unknownAttribute} for a field that is not of the id
 */
export const checkKey = (what: string, fields: readonly string[], id: unknown): Row => checkFields(what, { fields, further: [] }, id);

interface Allowed {
  readonly fields: readonly string[];
  readonly further: readonly string[];
}

// Follows from the model alone, and every call asks for it.
const nodeFields = new WeakMap<NodeEntry, Allowed>();

const fieldsOf = ({ index: { partitionKey, sortKey = "" } }: Catalog, { idFields, shape: { keys } }: NodeEntry): Allowed => ({
  fields: idFields,
  further: [...(keys[partitionKey]?.fields ?? []), ...(keys[sortKey]?.fields ?? [])],
});

/** A node's id. Beside its id fields it may carry others that the table's keys need. */
export const checkNodeId = (catalog: Catalog, entry: NodeEntry, id: unknown): Row => {
  let allowed = nodeFields.get(entry);
  if (!allowed) nodeFields.set(entry, (allowed = fieldsOf(catalog, entry)));
  return checkFields(entry.name, allowed, id);
};

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
