import { EdgetableError } from "../errors/edgetable-error.ts";
import type { Shape } from "./shape.ts";

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
