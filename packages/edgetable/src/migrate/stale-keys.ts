import { isEdgetableError } from "../errors/edgetable-error.ts";
import type { Term, UpdateStep } from "../ir/write-plan.ts";
import { keyTextOf, sameAttribute } from "../requests/attribute-value.ts";
import { decodeItem, shapeOf } from "../requests/decode-item.ts";
import { keyAttribute, keyOfItem } from "../requests/encode-item.ts";
import { type Catalog, isHalfEntry, type Shape } from "../schema/catalog.ts";
import type { AttributeValue, Item, Key } from "../transport/operations.ts";
import { own, type Row } from "../util/row.ts";
import { unchangedFields } from "../planner/writes/unchanged-terms.ts";

/** An item that cannot be in an index as the model wants it. */
export interface UnfitItem {
  readonly key: Key;
  /** Of a duplicate: the other node that has the value. */
  readonly other?: Key | undefined;
  /** The node, edge or part; undefined if the model does not know the item. */
  readonly definition: string | undefined;
  readonly attribute: string;
  /**
   * `missing`: an attribute that the key is made of is not there. `invalid`: the value is no key of that index.
   * `notConvertible`: the value of a retyped attribute cannot be converted.
   */
  readonly problem: "missing" | "invalid" | "duplicate" | "notConvertible";
  /** What is wrong, as a sentence. */
  readonly says: string;
}

/** What a pass finds of one item. */
export type Finding =
  | { readonly kind: "right" }
  | { readonly kind: "stale"; readonly update: UpdateStep }
  | { readonly kind: "unfit"; readonly unfit: UnfitItem };

const RIGHT: Finding = { kind: "right" };
const STALE = { reason: "staleRead" } as const;

/** What is found of an item whose attribute cannot be as the model wants it. */
export const unfitAs = (
  catalog: Catalog,
  item: Item,
  { shape, ...unfit }: Omit<UnfitItem, "key" | "definition"> & { readonly shape: Shape | undefined },
): Extract<Finding, { readonly kind: "unfit" }> => ({
  kind: "unfit",
  unfit: { key: keyOfItem(catalog, item), definition: shape?.definition, ...unfit },
});

/** What is found of an item that cannot be read. */
export const unreadable = (
  catalog: Catalog,
  item: Item,
  { shape, problem }: { shape: Shape; problem: UnfitItem["problem"] },
  error: unknown,
): Finding => {
  if (!isEdgetableError(error)) throw error;
  const { attribute } = error.details;
  return unfitAs(catalog, item, { shape, attribute: typeof attribute === "string" ? attribute : "", problem, says: error.message });
};

/** The index keys that a backfill is to make right. */
export interface WantedKeys {
  readonly catalog: Catalog;
  /** The attributes of each concerned shape. */
  readonly attributes: ReadonlyMap<Shape, readonly string[]>;
  /** Every attribute of the concerned indexes, with its type. */
  readonly types: ReadonlyMap<string, "S" | "N">;
  /** Whether items that cannot have a key are left out of the index. */
  readonly leavesOut: boolean;
}

// DynamoDB leaves an item with such a value out of a new index, without a word, and refuses the next write of it.
const wrongType = (wanted: WantedKeys, item: Item, shape: Shape | undefined): Finding | undefined => {
  for (const [attribute, type] of wanted.types) {
    const value = own(item, attribute);
    if (value === undefined || (type in value && keyTextOf(value) !== "")) continue;
    const says = `"${attribute}" holds ${JSON.stringify(value)}, and the index needs ${type === "S" ? "a text that is not empty" : "a number"}.`;
    return unfitAs(wanted.catalog, item, { shape, attribute, problem: "invalid", says });
  }
  return undefined;
};

const correctKeys = (wanted: WantedKeys, shape: Shape, item: Item, values: ReadonlyMap<string, AttributeValue | undefined>): Finding => {
  const { catalog } = wanted;
  const isMissing = (attribute: string): boolean => (values.has(attribute) ? values.get(attribute) === undefined : !(attribute in item));
  const set: Record<string, AttributeValue> = {};
  const remove: string[] = [];
  const terms: Term[] = [];
  for (const [attribute, computed] of values) {
    const value = isHalfEntry(catalog, shape, attribute, isMissing) ? undefined : computed;
    const stored = own(item, attribute);
    if (sameAttribute(stored, value)) continue;
    if (value === undefined) remove.push(attribute);
    else set[attribute] = value;
    // A field that the keys were computed from may be as it was while another writer has put a key of its own.
    terms.push({ kind: "equals", attribute, value: stored, failure: STALE });
  }
  if (terms.length === 0) return RIGHT;
  const fields = new Set([...values.keys()].flatMap((attribute) => shape.keys[attribute]?.within ?? []));
  const inputs = unchangedFields(catalog, { shape, image: item }, [...fields]);
  const changed = new Set(terms.map((term) => ("attribute" in term ? term.attribute : "")));
  const update: UpdateStep = {
    kind: "update",
    key: keyOfItem(catalog, item),
    shape: undefined,
    terms: [
      { kind: "present", failure: STALE },
      ...terms,
      ...inputs.filter((term) => !("attribute" in term && changed.has(term.attribute))),
    ],
    changes: { set, remove, add: {}, append: {} },
  };
  return { kind: "stale", update };
};

/** Compares an item's index keys with those that the model computes from the item. */
export const findStaleKeys = (wanted: WantedKeys, item: Item): Finding => {
  const { catalog } = wanted;
  const shape = shapeOf(catalog, catalog.shapes, item);
  if (!shape || !wanted.attributes.has(shape)) return wrongType(wanted, item, shape) ?? RIGHT;
  let row: Row;
  try {
    row = decodeItem(catalog, shape, item);
  } catch (error) {
    return unreadable(catalog, item, { shape, problem: "invalid" }, error);
  }
  let unfit: Finding | undefined;
  const values = new Map<string, AttributeValue | undefined>();
  for (const attribute of wanted.attributes.get(shape) ?? []) {
    try {
      values.set(attribute, keyAttribute(catalog, shape, attribute, row));
    } catch (error) {
      if (!isEdgetableError(error)) throw error;
      const problem = error.code === "keys.incomplete" ? "missing" : "invalid";
      unfit ??= unfitAs(catalog, item, { shape, attribute, problem, says: error.message });
      values.set(attribute, undefined);
    }
  }
  if (unfit && !wanted.leavesOut) return unfit;
  const finding = correctKeys(wanted, shape, item, values);
  return finding.kind === "right" ? (unfit ?? finding) : finding;
};
