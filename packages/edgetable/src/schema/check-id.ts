import { EdgetableError } from "../errors/edgetable-error.ts";
import { didYouMean } from "../util/did-you-mean.ts";

type Row = Readonly<Record<string, unknown>>;

const refuse = (what: string, message: string, id: unknown): never => {
  throw new EdgetableError("schema.invalidValue", `The id of "${what}" ${message}`, { details: { of: what, id } });
};

/**
 * The id fields of an id object.
 *
 * @throws {schema.invalidValue} when a field is missing, or one is given that is not of the id.
 */
export const checkId = (what: string, idFields: readonly string[], id: unknown): Row => {
  if (typeof id !== "object" || id === null) return refuse(what, `must be an object with ${idFields.join(", ")}; it is ${String(id)}.`, id);
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

/** The id fields given, in order, of an id that may stop at a level of its hierarchy. */
export const leadingIdFields = (what: string, idFields: readonly string[], id: Row): readonly string[] => {
  const given = idFields.filter((field) => id[field] !== undefined);
  const stranger = Object.keys(id).find((field) => !idFields.includes(field));
  if (stranger !== undefined) return refuse(what, `has no field "${stranger}".${didYouMean(stranger, idFields)}`, id);
  if (given.some((field, at) => field !== idFields[at]))
    return refuse(what, `must give its leading levels (${idFields.join(", ")}) without a gap.`, id);
  return given;
};
