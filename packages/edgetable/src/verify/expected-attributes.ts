import { type EdgetableError, isEdgetableError } from "../errors/edgetable-error.ts";
import { checkLength, computedAttributes, isLeftOut, keyAttribute, keyText } from "../requests/encode-item.ts";
import type { Catalog, Shape } from "../schema/catalog.ts";
import type { Item } from "../transport/operations.ts";
import { own, type Row } from "../util/row.ts";

/** A value of a row of which no key can be made, such as one with the delimiter, though its item has the key. */
export interface Unkeyed {
  readonly attribute: string;
  readonly error: EdgetableError;
}

/**
 * The computed attributes and the type that the item of a stored row should have. One that cannot be made of an old row is
 * left out with its index entry, as an update that reads the row leaves it out. Where the item has the key all the same,
 * another program has written it, and reads find the row by it: it is expected as it is.
 *
 * @param unkeyed gets each such key
 */
export const expectedAttributes = (
  catalog: Catalog,
  shape: Shape,
  { row, item }: { readonly row: Row; readonly item: Item },
  unkeyed?: Unkeyed[],
): Item =>
  computedAttributes(catalog, shape, row, (...given) => {
    try {
      return keyAttribute(...given);
    } catch (error) {
      if (!isEdgetableError(error)) throw error;
      const attribute = given[2];
      const stored = error.code === "keys.incomplete" ? undefined : own(item, attribute);
      if (stored) unkeyed?.push({ attribute, error });
      return stored;
    }
  });

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
