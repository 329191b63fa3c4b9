import { EdgetableError } from "../errors/edgetable-error.ts";
import { didYouMean } from "../util/did-you-mean.ts";
import { jsonText } from "../util/json-text.ts";
import type { Row } from "../util/row.ts";
import { type Catalog, type NodeEntry, keyAttributes, type Shape } from "./catalog.ts";

const refuse = (what: string, message: string, id: unknown): never => {
  throw new EdgetableError("schema.invalidValue", `The id of "${what}" ${message}`, { details: { of: what, id } });
};

/**
 * An id with every field that it needs; others may stand beside them.
 *
 * @throws {schema.invalidValue} when it is no object, or lacks a field
 * @throws {keys.empty} when a field is an empty text
 */
export const checkId = (what: string, idFields: readonly string[], id: unknown): Row => {
  if (typeof id !== "object" || id === null)
    return refuse(what, `must be an object${idFields.length > 0 ? ` with ${idFields.join(", ")}` : ""}; it is ${jsonText(id)}.`, id);
  for (const field of idFields) {
    const value = (id as Row)[field];
    if (value === undefined || value === null) return refuse(what, `lacks "${field}". Give { ${idFields.join(", ")} }.`, id);
    if (value === "")
      throw new EdgetableError("keys.empty", `"${field}" of "${what}" is empty. Give at least one character.`, {
        details: { of: what, field },
      });
  }
  return id as Row;
};

/**
 * The id fields given, in order, of an id that may stop at a level of its hierarchy.
 *
 * @throws {schema.invalidValue} when a field is not of the id, or a level is left out before one that is given
 */
export const leadingIdFields = (what: string, idFields: readonly string[], id: Row): readonly string[] => {
  const given = idFields.filter((field) => id[field] !== undefined);
  const stranger = Object.keys(id).find((field) => !idFields.includes(field));
  if (stranger !== undefined) return refuse(what, `has no field "${stranger}".${didYouMean(stranger, idFields)}`, id);
  if (given.some((field, at) => field !== idFields[at]))
    return refuse(what, `must give its leading levels (${idFields.join(", ")}) without a gap.`, id);
  return given;
};

interface Allowed {
  readonly fields: readonly string[];
  readonly further: readonly string[];
}

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

// Follows from the model alone, and every call asks for it.
const nodeFields = new WeakMap<NodeEntry, Allowed>();

const fieldsOf = ({ index }: Catalog, { idFields, shape: { keys } }: NodeEntry): Allowed => ({
  fields: idFields,
  further: keyAttributes(index).flatMap((attribute) => keys[attribute]?.fields ?? []),
});

/**
 * A node's id. Beside its id fields it may carry others that the table's keys need, and the node's own type, as the
 * ends of edges between several kinds do.
 *
 * @throws {schema.unknownAttribute} for any other field
 */
export const checkNodeId = (catalog: Catalog, entry: NodeEntry, id: unknown): Row => {
  let allowed = nodeFields.get(entry);
  if (!allowed) nodeFields.set(entry, (allowed = fieldsOf(catalog, entry)));
  const typed = typeof id === "object" && id !== null && (id as Row)["type"] === entry.name && !allowed.fields.includes("type");
  if (!typed || allowed.further.includes("type")) return checkFields(entry.name, allowed, id);
  const { type: _type, ...own } = id as Row;
  return checkFields(entry.name, allowed, own);
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

/**
 * Refuses the stored names of renamed attributes, which an open schema lets through unchecked: what is written under
 * one would be read back as the attribute that is stored there.
 *
 * @throws {schema.unknownAttribute}
 */
export const refuseStoredNames = (shape: Shape, given: readonly string[]): void => {
  for (const name of given) {
    const field = Object.hasOwn(shape.fields, name) ? shape.fields[name] : name;
    if (field === name || shape.stored[name] !== undefined) continue;
    throw new EdgetableError(
      "schema.unknownAttribute",
      `"${name}" is no attribute of "${shape.definition}": "${field}" is stored under that name. Give "${field}" instead.`,
      { details: { attribute: name, field } },
    );
  }
};
