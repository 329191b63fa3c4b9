import { EdgetableError } from "../errors/edgetable-error.ts";
import { didYouMean } from "../util/did-you-mean.ts";
import { jsonText } from "../util/json-text.ts";
import type { Row } from "../util/row.ts";
import { keyAttributes, type Catalog, type NodeEntry, type Shape } from "./catalog.ts";

const invalidId = (what: string, message: string, id: unknown): never => {
  throw new EdgetableError("schema.invalidValue", `The id of "${what}" ${message}`, { details: { of: what, id } });
};

/**
 * Checks that an id has all its fields; it may have others.
 *
 * @throws {schema.invalidValue} when it is not an object, or lacks a field
 * @throws {keys.empty} when a field is an empty text
 */
export const checkId = (what: string, idFields: readonly string[], id: unknown): Row => {
  if (typeof id !== "object" || id === null)
    return invalidId(what, `must be an object${idFields.length > 0 ? ` with ${idFields.join(", ")}` : ""}; it is ${jsonText(id)}.`, id);
  for (const field of idFields) {
    const value = (id as Row)[field];
    if (value === undefined || value === null) return invalidId(what, `lacks "${field}". Give { ${idFields.join(", ")} }.`, id);
    if (value === "")
      throw new EdgetableError("keys.empty", `"${field}" of "${what}" is empty. Give at least one character.`, {
        details: { of: what, field },
      });
  }
  return id as Row;
};

/**
 * The given id fields, in order, of an id that may stop at a level of its hierarchy.
 *
 * @throws {schema.invalidValue} when a field does not belong to the id, or a level before a given one is missing
 */
export const leadingIdFields = (what: string, idFields: readonly string[], id: Row): readonly string[] => {
  const given = idFields.filter((field) => id[field] !== undefined);
  const unknown = Object.keys(id).find((field) => !idFields.includes(field));
  if (unknown !== undefined) return invalidId(what, `has no field "${unknown}".${didYouMean(unknown, idFields)}`, id);
  if (given.some((field, at) => field !== idFields[at]))
    return invalidId(what, `must give its leading levels (${idFields.join(", ")}) without a gap.`, id);
  return given;
};

interface AllowedFields {
  readonly fields: readonly string[];
  /** Fields beside the id that the table's keys need. */
  readonly further: readonly string[];
}

const checkFields = (what: string, { fields, further }: AllowedFields, id: unknown): Row => {
  const checked = checkId(what, fields, id);
  for (const field of Object.keys(checked)) {
    if (fields.includes(field) || further.includes(field)) continue;
    throw new EdgetableError("schema.unknownAttribute", `"${field}" is not part of the id of "${what}".${didYouMean(field, fields)}`, {
      details: { attribute: field, known: fields },
    });
  }
  return checked;
};

/**
 * Checks that an id has all its fields and no others.
 *
 * @throws {schema.unknownAttribute} for a field that does not belong to the id
 */
export const checkKey = (what: string, fields: readonly string[], id: unknown): Row => checkFields(what, { fields, further: [] }, id);

// Depends on the model alone, and every call needs it.
const allowedByNode = new WeakMap<NodeEntry, AllowedFields>();

/**
 * Checks a node's id. It may also have fields that the table's keys need, and the node's type, as ends of edges between
 * several node types do.
 *
 * @throws {schema.unknownAttribute} for any other field
 */
export const checkNodeId = ({ index }: Catalog, entry: NodeEntry, id: unknown): Row => {
  let allowed = allowedByNode.get(entry);
  if (!allowed) {
    const { idFields, shape } = entry;
    allowed = { fields: idFields, further: keyAttributes(index).flatMap((attribute) => shape.keys[attribute]?.fields ?? []) };
    allowedByNode.set(entry, allowed);
  }
  const typed = typeof id === "object" && id !== null && (id as Row)["type"] === entry.name && !allowed.fields.includes("type");
  if (!typed || allowed.further.includes("type")) return checkFields(entry.name, allowed, id);
  const { type: _type, ...own } = id as Row;
  return checkFields(entry.name, allowed, own);
};

/**
 * The node at one end of an edge. If the end may be of several node types, the id gives its `type`, unless its fields
 * determine it.
 *
 * @throws {schema.unknownNode} when the type is not one of the end's, or cannot be determined
 */
export const checkEnd = (catalog: Catalog, types: readonly string[], given: unknown): { readonly type: string; readonly id: Row } => {
  const only = types.length === 1 ? types[0] : undefined;
  const plain = only !== undefined && typeof given === "object" && given !== null && !("type" in given) ? catalog.nodes[only] : undefined;
  if (plain) return { type: plain.name, id: checkNodeId(catalog, plain, given) };
  const { type: named, ...rest } = checkId(types.join(" or "), [], given);
  const typed = typeof named === "string" && !catalog.nodes[only ?? ""]?.idFields.includes("type");
  const id = typed ? rest : (given as Row);
  const fitting = types.filter((type) => {
    if (typed) return type === named;
    if (only !== undefined) return true;
    const fields = catalog.nodes[type]?.idFields ?? [];
    return fields.every((field) => field in id) && Object.keys(id).every((field) => fields.includes(field));
  });
  const entry = fitting.length === 1 ? catalog.nodes[fitting[0] ?? ""] : undefined;
  if (entry) return { type: entry.name, id: checkNodeId(catalog, entry, id) };
  const message = typed
    ? `"${named}" is not a node type of this end.${didYouMean(named, types)}`
    : `Give the type of this node: ${types.join(" or ")}.`;
  throw new EdgetableError("schema.unknownNode", message, { details: { given, types } });
};

/**
 * Refuses the stored names of renamed attributes, which an open schema lets through: what is written under one would be read
 * as the attribute that is stored there.
 *
 * @throws {schema.unknownAttribute}
 */
export const refuseStoredNames = (shape: Shape, given: readonly string[]): void => {
  for (const name of given) {
    const field = Object.hasOwn(shape.fields, name) ? shape.fields[name] : name;
    if (field === name || shape.stored[name] !== undefined) continue;
    throw new EdgetableError(
      "schema.unknownAttribute",
      `"${name}" is not an attribute of "${shape.definition}": "${field}" is stored under that name. Give "${field}" instead.`,
      { details: { attribute: name, field } },
    );
  }
};
