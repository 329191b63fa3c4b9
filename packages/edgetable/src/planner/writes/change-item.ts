import type { Changes, Guards } from "../../ir/logical-write.ts";
import type { Term, WriteItem } from "../../ir/write-plan.ts";
import { attributeOf, checkCarried, encodeField, VERSION, writtenBy } from "../../requests/encode-item.ts";
import { checkLength, keyText } from "../../requests/item-key.ts";
import { decodeItem } from "../../requests/decode-item.ts";
import type { Catalog } from "../../schema/catalog.ts";
import type { Shape } from "../../schema/shape.ts";
import type { AttributeValue, Item, Key } from "../../transport/operations.ts";
import { changedRow, resolved } from "./changed-row.ts";
import { guardTerms } from "./guard-terms.ts";
import { moveItem } from "./move-item.ts";
import { present, STALE } from "./planning.ts";
import { isTableKey, touched, touchesKeys, unread, type Wanted } from "./touched-keys.ts";
import type { Row } from "../../util/row.ts";

/** One item and what is to happen to its fields. */
export interface ItemChange extends Wanted {
  readonly key: Key;
  readonly guards: Guards;
  readonly image: Item | undefined;
  /** What else must hold of it. */
  readonly terms?: readonly Term[];
}

/** The step that changes an item, and the row it leaves where that is known. */
export interface ChangedItem {
  readonly items: readonly WriteItem[];
  readonly row: Row | undefined;
}

interface Effect {
  readonly set: Record<string, AttributeValue>;
  readonly remove: string[];
  readonly add: Record<string, AttributeValue>;
  readonly append: Record<string, AttributeValue>;
}

const fieldEffects = (catalog: Catalog, shape: Shape, changes: Changes): Effect => {
  const attributeFor = writtenBy(catalog, shape);
  const held = (field: string): string | undefined => (shape.holds && !shape.holds.includes(field) ? undefined : attributeFor(field));
  const encode = (fields: Row): Record<string, AttributeValue> => {
    const item: Record<string, AttributeValue> = {};
    for (const field in fields) {
      const attribute = held(field);
      if (attribute !== undefined) item[attribute] = encodeField(shape, field, fields[field]);
    }
    return item;
  };
  return {
    set: encode(changes.set),
    remove: changes.remove.flatMap((field) => held(field) ?? []),
    add: encode(changes.add),
    append: encode(changes.append),
  };
};

const suppliers = (shape: Shape, field: string): readonly string[] => {
  const own = attributeOf(shape, field);
  if (own !== undefined) return [own];
  return shape.sources.filter(({ template }) => template.fields.includes(field)).map(({ attribute }) => attribute);
};

// What was read and computed with must still be so when the write arrives.
const staleTerms = (catalog: Catalog, change: ItemChange, image: Item): readonly Term[] => {
  const { shape, changes } = change;
  const fields = [
    ...touched(change).flatMap(([, template]) => unread(change, template)),
    ...Object.keys(changes.add),
    ...Object.keys(changes.append),
  ];
  const attributes = new Set(fields.flatMap((field) => suppliers(shape, field)).filter((attribute) => !isTableKey(catalog, attribute)));
  return [...attributes].map((attribute) => ({ kind: "equals", attribute, value: image[attribute], failure: STALE }));
};

const versionEffect = (change: ItemChange, effect: Effect): readonly Term[] => {
  const { shape, guards, image } = change;
  if (!shape.version) return [];
  const read = image?.[VERSION];
  const version = guards.version ?? (read && "N" in read ? Number(read.N) : undefined);
  if (version === undefined) effect.add[VERSION] = { N: "1" };
  else effect.set[VERSION] = { N: String(version + 1) };
  return image && guards.version === undefined ? [{ kind: "equals", attribute: VERSION, value: read, failure: STALE }] : [];
};

// Most changes touch no computed attribute and need no row: planning one falls from 6.6 to 4 µs.
const changePlainly = (catalog: Catalog, change: ItemChange): ChangedItem => {
  const { shape, key, changes, guards, terms: further = [] } = change;
  const effect = fieldEffects(catalog, shape, changes);
  const terms = [present, ...further, ...guardTerms(shape, guards), ...versionEffect(change, effect)];
  return { items: [{ kind: "update", key, terms, shape, changes: effect }], row: undefined };
};

/**
 * The steps that change an item's fields and every computed attribute that depends on them (law 2):
 * computed from what the call gives where that suffices, else from the item as it was read, conditional
 * on what was read being unchanged. When the table's key changes, the item moves.
 */
export const changeItem = (catalog: Catalog, change: ItemChange): ChangedItem => {
  const { shape, key, known, image, guards, terms: further = [] } = change;
  if (!image && change.changes.remove.length === 0 && !touchesKeys(change)) return changePlainly(catalog, change);
  const before: Row | undefined = image && decodeItem(catalog, shape, image);
  const after = changedRow(Object.assign({}, known, before), change.changes);
  const effect = fieldEffects(catalog, shape, before ? resolved(change.changes, after) : change.changes);
  let moves = false;
  for (const [attribute] of touched(change)) {
    const text = checkLength(catalog, attribute, keyText(shape, attribute, after));
    const old = key[attribute];
    if (old && "S" in old && old.S === text) continue;
    moves ||= old !== undefined;
    if (text === undefined) effect.remove.push(attribute);
    else effect.set[attribute] = { S: text };
  }
  const { remove, set } = effect;
  if (remove.length > 0)
    checkCarried(
      shape,
      after,
      (attribute) => attribute in set || (!remove.includes(attribute) && (image === undefined || attribute in image)),
    );
  const version = versionEffect(change, effect);
  const terms = [present, ...further, ...guardTerms(shape, guards), ...version, ...(image ? staleTerms(catalog, change, image) : [])];
  const row = before && { ...after, ...(shape.version ? { [VERSION]: ((before[VERSION] as number | undefined) ?? 0) + 1 } : {}) };
  if (moves && image) return { items: moveItem(catalog, { shape, key, terms, image, effect }), row };
  return { items: [{ kind: "update", key, terms, shape, changes: effect }], row };
};
