import { isEdgetableError } from "../errors/edgetable-error.ts";
import type { Term, UpdateStep } from "../ir/write-plan.ts";
import { sameAttribute } from "../requests/attribute-value.ts";
import { decodeItem, shapeOf } from "../requests/decode-item.ts";
import { attributeOf, keyOfItem, storeField } from "../requests/encode-item.ts";
import { type Catalog, definitionOf, type Shape, otherPlace } from "../schema/catalog.ts";
import { attributeSchemas } from "../schema/standard-schema.ts";
import type { AttributeValue, Item } from "../transport/operations.ts";
import { own } from "../util/row.ts";
import type { Finding, UnfitItem } from "./stale-keys.ts";

const STALE = { reason: "staleRead" } as const;

/** What the schema of an attribute says against a converted value; undefined for nothing, or if the library does not tell. */
const issueOf = (catalog: Catalog, shape: Shape, field: string, value: unknown): string | undefined => {
  const schema = definitionOf(catalog, shape)?.schema;
  const result = schema && attributeSchemas(schema)?.each[field]?.["~standard"].validate(value);
  return result && !("then" in result) ? result.issues?.[0]?.message : undefined;
};

const unfitAs = (catalog: Catalog, [shape, item]: readonly [Shape, Item], attribute: string, says: string): Finding => {
  const unfit: UnfitItem = { key: keyOfItem(catalog, item), definition: shape.definition, attribute, problem: "notConvertible", says };
  return { kind: "unfit", unfit };
};

/** Compares the form in which an item holds renamed and retyped attributes with the one that the model writes. */
export const findOldForms = (catalog: Catalog, item: Item): Finding => {
  const shape = shapeOf(catalog, catalog.shapes, item);
  if (!shape?.former) return { kind: "right" };
  try {
    const row = decodeItem(catalog, shape, item);
    const set: Record<string, AttributeValue> = {};
    const remove: string[] = [];
    const terms: Term[] = [];
    for (const field in shape.former) {
      const value = row[field];
      if (value === undefined) continue;
      const issue = issueOf(catalog, shape, field, value);
      if (issue !== undefined) return unfitAs(catalog, [shape, item], field, `"${field}" would not fit its schema: ${issue}.`);
      const [place, other] = [attributeOf(shape, field), otherPlace(shape, field)];
      if (place === undefined) continue;
      const stored = own(item, place);
      const wanted = storeField(shape, field, value);
      const elsewhere = other === undefined ? undefined : own(item, other);
      if (sameAttribute(stored, wanted) && elsewhere === undefined) continue;
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
    if (!isEdgetableError(error)) throw error;
    const { attribute } = error.details;
    return unfitAs(catalog, [shape, item], typeof attribute === "string" ? attribute : "", error.message);
  }
};
