import { EdgetableError, isEdgetableError } from "../../errors/edgetable-error.ts";
import type { Changes, Guards } from "../../ir/logical-write.ts";
import type { Term, WriteItem } from "../../ir/write-plan.ts";
import { attributeOf, checkCarried, encodeField, keyAttribute, VERSION, writtenBy } from "../../requests/encode-item.ts";
import { keyTextOf } from "../../requests/attribute-value.ts";
import { decodeItem } from "../../requests/decode-item.ts";
import type { Template } from "../../keys/template.ts";
import { type Catalog, isHalf, type Shape } from "../../schema/catalog.ts";
import type { AttributeValue, Item, Key } from "../../transport/operations.ts";
import { changedRow, resolved } from "./changed-row.ts";
import { guardTerms } from "./guard-terms.ts";
import { moveItem } from "./move-item.ts";
import { present, STALE } from "./planning.ts";
import { isChanged, isTableKey, touched, touchesKeys, unread, type Wanted } from "./touched-keys.ts";
import { type Row, valueAt, own } from "../../util/row.ts";

/** One item and what is to happen to its fields. */
export interface ItemChange extends Wanted {
  readonly key: Key;
  readonly guards: Guards;
  readonly image: Item | undefined;
  /** That it is there. @default where it is not, the outcome is `notFound` */
  readonly there?: Term;
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

// What is added to the time of an item that has none would be a time in 1970.
const withoutExpiry = (shape: Shape, fields: Row): Row => {
  if (shape.ttl === undefined || !(shape.ttl in fields)) return fields;
  throw new EdgetableError(
    "request.unsupportedValue",
    `"${shape.ttl}" is when an item of "${shape.definition}" expires, and takes no addition. Set the new time.`,
    { details: { path: shape.ttl, value: fields[shape.ttl] } },
  );
};

// Without its key, a copy that others have stored would count as the field.
const copyOf = (shape: Shape, field: string): readonly string[] => {
  const attribute = shape.stored[field] ?? field;
  return shape.carried.includes(field) && !(attribute in shape.keys) ? [attribute] : [];
};

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
    remove: changes.remove.flatMap((field) => held(field) ?? copyOf(shape, field)),
    add: encode(withoutExpiry(shape, changes.add)),
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
    ...touched(catalog, change).flatMap(([, template]) => unread(change, template)),
    ...Object.keys(changes.add),
    ...Object.keys(changes.append),
  ];
  const attributes = new Set(fields.flatMap((field) => suppliers(shape, field)).filter((attribute) => !isTableKey(catalog, attribute)));
  return [...attributes].map((attribute) => ({ kind: "equals", attribute, value: own(image, attribute), failure: STALE }));
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
  const { shape, key, changes, guards, there = present, terms: further = [] } = change;
  const effect = fieldEffects(catalog, shape, changes);
  const terms = [there, ...further, ...guardTerms(shape, guards), ...versionEffect(change, effect)];
  return { items: [{ kind: "update", key, terms, shape, changes: effect }], row: undefined };
};

// What an old row lacks, or holds in a form that no key takes, is not the caller's to mend: it has no entry.
const isCallers = ({ changes }: ItemChange, { fields, optional }: Template, why: { readonly error: EdgetableError; readonly row: Row }) => {
  const { code, details } = why.error;
  if (typeof details["field"] === "string") return isChanged(changes, details["field"]);
  const isMissing = (field: string): boolean => !optional.includes(field) && (valueAt(why.row, field) ?? null) === null;
  return (code === "keys.incomplete" ? fields.filter(isMissing) : fields).some((field) => isChanged(changes, field));
};

const valueAfter = (catalog: Catalog, change: ItemChange, [attribute, template]: readonly [string, Template], after: Row) => {
  try {
    return keyAttribute(catalog, change.shape, attribute, after);
  } catch (error) {
    if (!change.image || isTableKey(catalog, attribute)) throw error;
    if (!isEdgetableError(error) || isCallers(change, template, { error, row: after })) throw error;
    return undefined;
  }
};

/**
 * Adds to an effect what becomes of the computed attributes that a change touches. An index entry is written whole or
 * removed whole: where neither the call nor a read tells one half of it, the terms demand that this half is there.
 */
const changeKeys = (
  catalog: Catalog,
  change: ItemChange,
  { after, effect }: { readonly after: Row; readonly effect: Effect },
): { readonly moves: boolean; readonly terms: readonly Term[] } => {
  const { shape, key, image } = change;
  const values = new Map<string, AttributeValue | undefined>();
  const all = touched(catalog, change);
  for (const entry of all) {
    const [attribute, template] = entry;
    if (image || unread(change, template).length === 0) values.set(attribute, valueAfter(catalog, change, entry, after));
  }
  const isMissing = (attribute: string): boolean => values.has(attribute) && values.get(attribute) === undefined;
  const terms: Term[] = [];
  let moves = false;
  for (const [attribute] of all) {
    const half = isHalf(catalog, shape, attribute, isMissing);
    const value = half ? undefined : values.get(attribute);
    const old = key[attribute];
    if (old && value && keyTextOf(old) === keyTextOf(value)) continue;
    moves ||= old !== undefined;
    if (value !== undefined) effect.set[attribute] = value;
    else if (half || values.has(attribute)) effect.remove.push(attribute);
    else terms.push({ kind: "has", attribute, failure: STALE });
  }
  return { moves, terms };
};

/**
 * The steps that change an item's fields and every computed attribute that depends on them (law 2):
 * computed from what the call gives where that suffices, else from the item as it was read, conditional
 * on what was read being unchanged. An index entry is written whole or removed whole, whatever the model
 * was when the item was written. When the table's key changes, the item moves.
 */
export const changeItem = (catalog: Catalog, change: ItemChange): ChangedItem => {
  const { shape, key, known, image, guards, there = present, terms: further = [] } = change;
  if (!image && change.changes.remove.length === 0 && !touchesKeys(change)) return changePlainly(catalog, change);
  const before: Row | undefined = image && decodeItem(catalog, shape, image);
  const after = changedRow(Object.assign({}, known, before), change.changes);
  const effect = fieldEffects(catalog, shape, before ? resolved(change.changes, after) : change.changes);
  const { moves, terms: whole } = changeKeys(catalog, change, { after, effect });
  const { remove, set } = effect;
  if (remove.length > 0)
    checkCarried(
      shape,
      after,
      (attribute) =>
        Object.hasOwn(set, attribute) || (!remove.includes(attribute) && (image === undefined || Object.hasOwn(image, attribute))),
    );
  const version = versionEffect(change, effect);
  const stale = image ? staleTerms(catalog, change, image) : whole;
  const terms = [there, ...further, ...guardTerms(shape, guards), ...version, ...stale];
  const row = before && { ...after, ...(shape.version ? { [VERSION]: ((before[VERSION] as number | undefined) ?? 0) + 1 } : {}) };
  if (moves && image) return { items: moveItem(catalog, { shape, key, terms, image, effect }), row };
  return { items: [{ kind: "update", key, terms, shape, changes: effect }], row };
};
