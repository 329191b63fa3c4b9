import { EdgetableError } from "../../errors/edgetable-error.ts";
import type { Changes, Guards, Row } from "../../ir/logical-write.ts";
import type { Term, WriteItem } from "../../ir/write-plan.ts";
import type { Template } from "../../keys/template.ts";
import { attributeOf, checkCarried, encodeField, VERSION, writtenBy } from "../../requests/encode-item.ts";
import { checkLength, keyText } from "../../requests/item-key.ts";
import { decodeItem } from "../../requests/decode-item.ts";
import type { Catalog } from "../../schema/catalog.ts";
import type { Shape } from "../../schema/shape.ts";
import type { AttributeValue, Item, Key } from "../../transport/operations.ts";
import { valueAt } from "../../util/value-at.ts";
import { guardTerms } from "./guard-terms.ts";
import { moveItem } from "./move-item.ts";
import { present, STALE } from "./planning.ts";

/** One item and what is to happen to its fields. */
export interface ItemChange {
  readonly shape: Shape;
  readonly key: Key;
  /** What the call says of the row: its id, and the fields that its table key carries. */
  readonly known: Row;
  readonly changes: Changes;
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

type Wanted = Pick<ItemChange, "shape" | "known" | "changes">;

// Which fields the computed attributes of a shape hold: most changes touch none of them.
const keyFields = new WeakMap<Shape, ReadonlySet<string>>();

const keyFieldsOf = (shape: Shape): ReadonlySet<string> => {
  let fields = keyFields.get(shape);
  if (!fields) keyFields.set(shape, (fields = new Set(Object.values(shape.keys).flatMap((template) => template.fields))));
  return fields;
};

const touchesKeys = ({ shape, changes }: Wanted): boolean => {
  const fields = keyFieldsOf(shape);
  for (const field in changes.set) if (fields.has(field)) return true;
  for (const field of changes.remove) if (fields.has(field)) return true;
  for (const field in changes.add) if (fields.has(field)) return true;
  for (const field in changes.append) if (fields.has(field)) return true;
  return false;
};

const NONE: readonly (readonly [string, Template])[] = [];

const touched = (wanted: Wanted): readonly (readonly [string, Template])[] => {
  if (!touchesKeys(wanted)) return NONE;
  const { set, remove, add, append } = wanted.changes;
  const isChanged = (field: string): boolean => field in set || remove.includes(field) || field in add || field in append;
  return Object.entries(wanted.shape.keys).filter(([, template]) => template.fields.some(isChanged));
};

// Fields of a computed attribute that the call does not give. A removed field leaves nothing to
// compute, but what the attribute carries beside it must not be lost.
const unread = ({ shape, known, changes }: Wanted, template: Template): readonly string[] => {
  const { set, remove, add, append } = changes;
  if (template.fields.some((field) => remove.includes(field))) {
    return template.fields.filter(
      (field) => shape.carried.includes(field) && !remove.includes(field) && !(field in set) && valueAt(known, field) === undefined,
    );
  }
  return template.fields.filter((field) => field in add || field in append || (!(field in set) && valueAt(known, field) === undefined));
};

const isTableKey = (catalog: Catalog, attribute: string): boolean =>
  attribute === catalog.index.partitionKey || attribute === catalog.index.sortKey;

/** Whether the item must be read before it can be changed: a computed attribute needs a field that the call does not give. */
export const readsImage = (catalog: Catalog, wanted: Wanted): boolean =>
  touched(wanted).some(([attribute, template]) => isTableKey(catalog, attribute) || unread(wanted, template).length > 0);

// DynamoDB refuses these by the same code, where the item need not be read first.
const refuseOperand = (field: string): never => {
  throw new EdgetableError("execute.rejected", `"${field}" holds a value of another type, which nothing can be added to: set it.`, {
    details: { attribute: field },
  });
};

const isNumber = (value: unknown): value is number | bigint => typeof value === "number" || typeof value === "bigint";

const plus = (field: string, before: unknown, delta: unknown): unknown => {
  if (delta instanceof Set)
    return new Set([...(before instanceof Set ? before : before === undefined ? [] : refuseOperand(field)), ...delta]);
  const old = before === undefined ? 0 : before;
  if (!isNumber(old)) return refuseOperand(field);
  return typeof old === "bigint" || typeof delta === "bigint" ? BigInt(old) + BigInt(delta as number) : old + (delta as number);
};

const appended = (field: string, before: unknown = [], more: unknown): readonly unknown[] =>
  Array.isArray(before) ? [...before, ...(more as unknown[])] : refuseOperand(field);

/** The row after the changes. */
export const changedRow = (before: Row, changes: Changes): Row => {
  const row: Record<string, unknown> = Object.assign({}, before, changes.set);
  for (const field of changes.remove) delete row[field];
  for (const field in changes.add) row[field] = plus(field, before[field], changes.add[field]);
  for (const field in changes.append) row[field] = appended(field, before[field], changes.append[field]);
  return row;
};

// With the old item at hand, what accumulates becomes a plain value, conditional on the old one.
const resolved = (changes: Changes, after: Row): Changes => {
  const values = [...Object.keys(changes.add), ...Object.keys(changes.append)].map((field) => [field, after[field]]);
  return { set: { ...changes.set, ...Object.fromEntries(values) }, remove: changes.remove, add: {}, append: {} };
};

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
