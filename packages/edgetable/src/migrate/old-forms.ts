import type { Term, UpdateStep } from "../ir/write-plan.ts";
import { decodeItem, shapeOf } from "../requests/decode-item.ts";
import { otherForm } from "../executor/scan/other-forms.ts";
import { encodeDate, encodeValue } from "../requests/attribute-value.ts";
import { keyOfItem } from "../requests/encode-item.ts";
import { checkNewForm } from "../requests/former-fields.ts";
import { type Catalog, definitionOf } from "../schema/catalog.ts";
import { attributeSchemas } from "../schema/standard-schema.ts";
import type { AttributeValue, Item } from "../transport/operations.ts";
import { type Finding, unfitAs, unreadable } from "./stale-keys.ts";

const STALE = { reason: "staleRead" } as const;

/** Compares the form in which an item holds renamed and retyped attributes with the one that the model writes. */
export const findOldForms = (catalog: Catalog, item: Item): Finding => {
  const shape = shapeOf(catalog, catalog.shapes, item);
  if (!shape?.former) return { kind: "right" };
  try {
    const row = decodeItem(catalog, shape, item);
    const schema = definitionOf(catalog, shape)?.schema;
    const schemas = schema && attributeSchemas(schema)?.each;
    const set: Record<string, AttributeValue> = {};
    const remove: string[] = [];
    const terms: Term[] = [];
    for (const field in shape.former) {
      const value = row[field];
      if (value === undefined) continue;
      // Undefined also if the library does not tell at once.
      const result = schemas?.[field]?.["~standard"].validate(value);
      const issue = result && !("then" in result) ? result.issues?.[0]?.message : undefined;
      if (issue !== undefined) {
        const says = `"${field}" would not fit its schema: ${issue}.`;
        return unfitAs(catalog, item, { shape, attribute: field, problem: "notConvertible", says });
      }
      // Later, every write of what would be taken for an old value is refused.
      checkNewForm(shape, field, value instanceof Date ? encodeDate(value, field) : encodeValue(value, field));
      const held = otherForm(shape, item, row, field);
      if (!held) continue;
      const { place, other, stored, wanted, elsewhere } = held;
      set[place] = wanted;
      terms.push({ kind: "equals", attribute: place, value: stored, failure: STALE });
      if (other === undefined) continue;
      if (elsewhere !== undefined) remove.push(other);
      terms.push({ kind: "equals", attribute: other, value: elsewhere, failure: STALE });
    }
    if (terms.length === 0) return { kind: "right" };
    const update: UpdateStep = {
      kind: "update",
      key: keyOfItem(catalog, item),
      shape: undefined,
      terms: [{ kind: "present", failure: STALE }, ...terms],
      changes: { set, remove, add: {}, append: {} },
    };
    return { kind: "stale", update };
  } catch (error) {
    return unreadable(catalog, item, { shape, problem: "notConvertible" }, error);
  }
};
