import { EdgetableError } from "../errors/edgetable-error.ts";
import { didYouMean } from "../util/did-you-mean.ts";
import { jsonText } from "../util/json-text.ts";
import type { Catalog, NodeEntry } from "./catalog.ts";
import type { Row } from "../util/row.ts";
import { keyAttributes } from "./shape.ts";

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
