import { type EdgetableError, isEdgetableError } from "../errors/edgetable-error.ts";
import { checkLength, computedAttributes, isLeftOut, keyAttribute, keyText } from "../requests/encode-item.ts";
import type { Catalog, Shape } from "../schema/catalog.ts";
import type { Item } from "../transport/operations.ts";
import type { Row } from "../util/row.ts";

const attributeIfPossible: typeof keyAttribute = (catalog, shape, attribute, row) => {
  try {
    return keyAttribute(catalog, shape, attribute, row);
  } catch (error) {
    if (isEdgetableError(error)) return undefined;
    throw error;
  }
};

/**
 * The computed attributes and the type that the item of a stored row should have. One that cannot be made of an old row is
 * left out with its index entry, as an update that reads the row leaves it out.
 */
export const expectedAttributes = (catalog: Catalog, shape: Shape, row: Row): Item =>
  computedAttributes(catalog, shape, row, attributeIfPossible);

/** Why a row is left out of an index because of a derived value; undefined where it is not, or where the value is not there. */
export const whyLeftOut = (catalog: Catalog, shape: Shape, attribute: string, row: Row): EdgetableError | undefined => {
  try {
    checkLength(catalog, attribute, keyText(shape, attribute, row));
  } catch (error) {
    if (!isEdgetableError(error)) throw error;
    const isUnfit = error.code !== "keys.incomplete" && isLeftOut(catalog, shape, attribute, error);
    if (isUnfit && keyAttribute(catalog, shape, attribute, row) === undefined) return error;
  }
  return undefined;
};
