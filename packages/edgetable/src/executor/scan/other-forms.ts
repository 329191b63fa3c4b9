import { sameAttribute } from "../../requests/attribute-value.ts";
import { attributeOf, storeField } from "../../requests/encode-item.ts";
import { otherPlace, type Shape } from "../../schema/catalog.ts";
import type { AttributeValue, Item } from "../../transport/operations.ts";
import { own, type Row } from "../../util/row.ts";

/** A renamed or retyped attribute that an item holds in another form than the model writes. */
export interface OtherForm {
  readonly field: string;
  /** The attribute in which it belongs, what is stored there, and what the model writes. */
  readonly place: string;
  readonly stored: AttributeValue | undefined;
  readonly wanted: AttributeValue;
  /** The attribute that holds it under its other name, if it has one, and what is stored there. */
  readonly other: string | undefined;
  readonly elsewhere: AttributeValue | undefined;
}

/**
 * Compares the form in which an item holds a renamed or retyped attribute with the one that the model writes; undefined if they agree.
 *
 * @throws {migrate.notConvertible}
 */
export const otherForm = (shape: Shape, item: Item, row: Row, field: string): OtherForm | undefined => {
  const place = attributeOf(shape, field);
  const value = own(row, field);
  if (place === undefined || value === undefined) return undefined;
  const other = otherPlace(shape, field);
  const stored = own(item, place);
  const wanted = storeField(shape, field, value);
  const elsewhere = other === undefined ? undefined : own(item, other);
  return sameAttribute(stored, wanted) && elsewhere === undefined ? undefined : { field, place, stored, wanted, other, elsewhere };
};
