import { EdgetableError, isEdgetableError } from "../../../errors/edgetable-error.ts";
import type { Changes, Guards } from "../../../ir/logical-write.ts";
import { type AttributeChanges, type AttributePathChange, keyId, type Term, type WriteItem } from "../../../ir/write-plan.ts";
import { type FieldPart, hasKey, type Template } from "../../../keys/template.ts";
import { decodeItem } from "../../../requests/decode-item.ts";
import {
  attributeOf,
  checkCarried,
  checkMatch,
  encodeField,
  isLeftOut,
  fitsKey,
  keyAttribute,
  keyOfItem,
  storeField,
  VERSION,
  writtenBy,
} from "../../../requests/encode-item.ts";
import { keyTextOf } from "../../../requests/attribute-value.ts";
import { filledRow, type Catalog, indexEntries, isHalfEntry, isTableKey, type Shape, otherPlace } from "../../../schema/catalog.ts";
import { type TimeAttributes, timeIn, timesOf } from "../../../schema/timestamps.ts";
import type { AttributeValue, Item, Key } from "../../../transport/operations.ts";
import { addDecimals, readDecimal } from "../../../util/decimal.ts";
import { isNumber, own, type Row, valueAt } from "../../../util/row.ts";
import { defined } from "../../../util/invariant.ts";
import { changedRow, isChanged, pathRules, resolvedChanges } from "../changed-row.ts";
import {
  absentOrExpired,
  guardTerms,
  imageOf,
  knownImage,
  type Look,
  present,
  type RowChange,
  STALE,
  unitedTerms,
  type WorkingSet,
} from "../working-set.ts";
import { unchangedFields, unchangedItem, unchangedRow } from "../unchanged-terms.ts";

/** One item of a row, and the changes of its fields. */
export interface ItemChange {
  readonly shape: Shape;
  readonly key: Key;
  /** The part of the row that the call gives: its id, and the fields of its table key. */
  readonly known: Row;
  readonly changes: Changes;
  /** The decimals of numbers in `changes`, by field: a double may not hold all their digits. */
  readonly exact?: Readonly<Record<string, string>>;
  readonly guards: Guards;
  /** The term that requires the item to exist. @default its failure is `notFound` */
  readonly there?: Term | undefined;
  /** Further terms of the caller. */
  readonly terms?: readonly Term[];
  /** The fields of the row before that the rules need. */
  readonly look?: Look | undefined;
  /** True if Edgetable itself makes the change. The row's version then stays the same. */
  readonly keepsVersion?: boolean;
  /** True if the row after the change depends on every attribute before it. */
  readonly whole?: boolean | undefined;
}

type Wanted = Pick<ItemChange, "shape" | "known" | "changes">;
type Computed = readonly [attribute: string, template: Template];

// The fields of a shape's computed attributes. Kept, because most changes touch none of them.
const keyFields = new WeakMap<Shape, ReadonlySet<string>>();

const touchesKeys = (shape: Shape, changes: Changes): boolean => {
  let fields = keyFields.get(shape);
  if (!fields) keyFields.set(shape, (fields = new Set(Object.values(shape.keys).flatMap((template) => template.within))));
  for (const field in changes.set) if (fields.has(field)) return true;
  for (const field of changes.remove) if (fields.has(field)) return true;
  for (const field in changes.add) if (fields.has(field)) return true;
  for (const field in changes.append) if (fields.has(field)) return true;
  return changes.paths?.some(({ steps }) => fields.has(steps[0])) ?? false;
};

/** The computed attributes that contain a changed field. */
const changedAttributes = ({ shape, changes }: Wanted): readonly Computed[] =>
  Object.entries(shape.keys).filter(([, template]) => template.within.some((field) => isChanged(changes, field)));

/** The computed attributes that a change affects: those that contain a changed field, and the other parts of their index entries. */
const touchedAttributes = (catalog: Catalog, wanted: Wanted): readonly Computed[] => {
  if (!touchesKeys(wanted.shape, wanted.changes)) return [];
  const changed = changedAttributes(wanted);
  const names = new Set(changed.map(([attribute]) => attribute));
  const entries = indexEntries(catalog, wanted.shape);
  let before: number;
  do {
    before = names.size;
    for (const entry of entries) if (entry.some((name) => names.has(name))) for (const name of entry) names.add(name);
  } while (names.size > before);
  if (names.size === changed.length) return changed;
  return Object.entries(wanted.shape.keys).filter(([attribute]) => names.has(attribute));
};

/**
 * Fields of a computed attribute that the call does not give. A removed field leaves nothing to compute,
 * but what the attribute carries beside it must not be lost.
 */
const unreadFields = ({ shape, known, changes }: Wanted, template: Template): readonly string[] => {
  const { set, remove, add, append } = changes;
  // The call may give an id in another case than the item has it, where the table's key holds it in one.
  const isKnown = (field: string): boolean => {
    const form = shape.folded[field];
    const isInForm = (part: Template["parts"][number]): boolean =>
      part.kind === "literal" || part.path !== field || part.format.kind === form;
    return valueAt(known, field) !== undefined && (form === undefined || template.parts.every(isInForm));
  };
  const { when = [], optional } = template;
  const decides = (field: string): boolean => when.some(({ path }) => path === field);
  const isGone =
    template.within.some((field) => remove.includes(field) && !optional.includes(field) && !decides(field)) ||
    when.some((one) => (one.path in set || remove.includes(one.path)) && !hasKey({ when: [one] }, set));
  const unread: string[] = [];
  for (const field of template.within) {
    const isGiven = field in set || remove.includes(field) || isKnown(field);
    if (isGone ? shape.carried.includes(field) && !isGiven : field in add || field in append || !isGiven) unread.push(field);
  }
  return unread;
};

/** True if a computed attribute contains a changed field and needs another field that the call does not give. */
const needsImage = (catalog: Catalog, wanted: Wanted): boolean => {
  const { shape, changes } = wanted;
  const { add, append, paths = [] } = changes;
  const isRelative = (field: string): boolean => field in add || field in append || paths.some(({ steps }) => steps[0] === field);
  // What is added up may stand in either form.
  if (shape.former && Object.keys(shape.former).some(isRelative)) return true;
  if (!touchesKeys(shape, changes)) return false;
  return changedAttributes(wanted).some(
    ([attribute, template]) => isTableKey(catalog, attribute) || unreadFields(wanted, template).length > 0,
  );
};

interface Effect {
  readonly set: Record<string, AttributeValue>;
  readonly remove: string[];
  readonly add: Record<string, AttributeValue>;
  readonly append: Record<string, AttributeValue>;
  readonly paths?: readonly AttributePathChange[];
}

const fieldEffects = (catalog: Catalog, shape: Shape, changes: Changes): Effect => {
  const attributeFor = writtenBy(catalog, shape);
  const storedIn = (field: string): string | undefined => (shape.copied && !shape.copied.includes(field) ? undefined : attributeFor(field));
  const encode = (fields: Row): Record<string, AttributeValue> => {
    const item: Record<string, AttributeValue> = {};
    for (const field in fields) {
      const attribute = storedIn(field);
      if (attribute !== undefined) item[attribute] = storeField(shape, field, fields[field]);
    }
    return item;
  };
  const remove: string[] = [];
  for (const field of changes.remove) {
    const attribute = storedIn(field);
    const copy = shape.stored[field] ?? field;
    if (attribute !== undefined) remove.push(attribute);
    // Without its key, a copy of a carried field that others have stored would count as the field.
    else if (shape.carried.includes(field) && !(copy in shape.keys)) remove.push(copy);
  }
  for (const field in shape.former) {
    const other = otherPlace(shape, field);
    if (other !== undefined && isChanged(changes, field)) remove.push(other);
  }
  // What is added to the time of an item that has none would be a time in 1970.
  if (shape.ttl !== undefined && shape.ttl in changes.add)
    throw new EdgetableError(
      "request.unsupportedValue",
      `"${shape.ttl}" is the expiry time of "${shape.definition}" and cannot be added to. Set the new time.`,
      { details: { path: shape.ttl, value: changes.add[shape.ttl] } },
    );
  const effect = { set: encode(changes.set), remove, add: encode(changes.add), append: encode(changes.append) };
  return changes.paths ? { ...effect, paths: pathRules().encode(changes.paths, storedIn) } : effect;
};

const parentTerms = ({ paths }: Effect): readonly Term[] => (paths ? pathRules().terms(paths) : []);

/** The version of a stored item; 0 if it has none. */
export const storedVersion = (image: Item | null | undefined): number => {
  const value = image?.[VERSION];
  return value && "N" in value ? Number(value.N) : 0;
};

/** A row that is written whole, at a version where its items keep one. */
export const atVersion = (row: Row, keepsVersion: boolean | undefined, version: number): Row =>
  keepsVersion ? { ...row, [VERSION]: version } : row;

/** A time as the rows of a shape have it: that of this call. */
const timeOf = ({ given }: WorkingSet, { as }: TimeAttributes): unknown => timeIn(as, defined(given.now, "the time of a write"));

/**
 * A row that is written whole, with its times where its items keep them.
 *
 * @param kept times that the row has already
 * @param image the item before: null if there is none, undefined if nobody looked
 */
export const withTimes = (
  working: WorkingSet,
  shape: Shape,
  { row, kept = {}, image }: { readonly row: Row; readonly kept?: Row | undefined; readonly image?: Item | null | undefined },
): Row => {
  const { times } = shape;
  if (!times) return row;
  const now = timeOf(working, times);
  const { created, modified } = times;
  const timed: Record<string, unknown> = { ...row };
  // An item that is older than the declaration of the times has no time of creation, and does not get one.
  if (created !== undefined) timed[created] = own(kept, created) ?? (image ? own(decodeItem(working.catalog, shape, image), created) : now);
  if (modified !== undefined) timed[modified] = own(kept, modified) ?? now;
  return timed;
};

/** Changes of a row, with the time at which they are made where its items keep it. */
export const atTime = (working: WorkingSet, { times }: Shape, changes: Changes): Changes =>
  times?.modified === undefined ? changes : { ...changes, set: { ...changes.set, [times.modified]: timeOf(working, times) } };

/** The reason, for `explain()`, to read an item only for its time of creation. */
export const KEEPS_CREATED = "the time of its creation is kept";

/**
 * The term by which an item was created when the row that was read says so; undefined where it has to be read all the same.
 * An item that shows another time refuses the write, and is planned with.
 */
export const seenAt = (
  { catalog, images }: WorkingSet,
  shape: Shape,
  { look, seen, key }: { readonly look: Look | undefined; readonly seen: unknown; readonly key: Key },
): Term | undefined => {
  const created = shape.times?.created;
  if (created === undefined || look?.reason !== KEEPS_CREATED || look.fields.length > 1 || images[keyId(key)] !== undefined)
    return undefined;
  const attribute = attributeOf(shape, created);
  const isTime = typeof seen === typeof timeIn(shape.times!.as, 0) && (!(seen instanceof Date) || !Number.isNaN(seen.getTime()));
  if (attribute === undefined || !isTime || isTableKey(catalog, attribute)) return undefined;
  return { kind: "equals", attribute, value: encodeField(shape, created, seen), failure: { reason: "staleRead", guessed: true } };
};

/** A row that is written whole keeps the time at which it was created, unless the call says which that is. */
export const timesLookAt = ({ subject, before, after }: RowChange): Look | undefined => {
  if (before !== undefined || !after) return undefined;
  const created = timesOf(subject.entry.definition)?.created;
  return created !== undefined && own(after, created) === undefined ? { fields: [created], reason: KEEPS_CREATED } : undefined;
};

/** A row that is written whole is one version further than the one before, unless the caller says which that is. */
export const versionLooksAt = ({ subject, before, after, versioned }: RowChange): Look | undefined =>
  before === undefined && after && !versioned && subject.entry.definition.version
    ? { fields: [VERSION], reason: "its version rises by one" }
    : undefined;

const raiseVersion = ({ shape, guards, keepsVersion }: ItemChange, image: Item | undefined, effect: Effect): readonly Term[] => {
  if (!shape.version || keepsVersion) return [];
  const read = image?.[VERSION];
  const version = guards.version ?? (image && storedVersion(image));
  if (version === undefined) effect.add[VERSION] = { N: "1" };
  else effect.set[VERSION] = { N: String(version + 1) };
  return image && guards.version === undefined ? [{ kind: "equals", attribute: VERSION, value: read, failure: STALE }] : [];
};

/** The row and the item before are undefined if they were not read. */
interface ChangedRow {
  readonly before: Row | undefined;
  readonly after: Row;
  readonly image: Item | undefined;
}

// An item has no entry in an index for a value that an old row lacks, or that no key takes: this is not the caller's to correct.
// An update that brings a row into an index, or takes it out of one where another program has put it, is refused instead, because
// searches would miss the row. What follows from other rows (`keepsVersion`) has to be stored in any case.
const computedValue = (
  catalog: Catalog,
  { shape, changes, keepsVersion }: ItemChange,
  [attribute, template]: Computed,
  { before, after, image, refused }: ChangedRow & { readonly refused: Map<string, unknown> },
) => {
  try {
    return keyAttribute(catalog, shape, attribute, after);
  } catch (error) {
    if (isLeftOut(catalog, shape, attribute, error)) return undefined;
    if (!before || isTableKey(catalog, attribute) || !isEdgetableError(error)) throw error;
    const { field, missing } = error.details;
    let concerned = template.within;
    if (typeof field === "string") concerned = withinOf(template, [field]);
    else if (Array.isArray(missing)) concerned = withinOf(template, missing).filter((one) => !template.optional.includes(one));
    if (concerned.some((one) => isChanged(changes, one))) throw error;
    const isForeign = !Array.isArray(missing) && attribute in image!;
    if (!keepsVersion && (isForeign || fitsKey(catalog, shape, attribute, before))) refused.set(attribute, error);
    return undefined;
  }
};

/** What of the row some of a template's fields are, or lie within. */
const withinOf = ({ parts }: Template, paths: readonly string[]): readonly string[] =>
  paths.map((path) => parts.find((part): part is FieldPart => part.kind === "field" && part.path === path)?.within ?? path);

interface ComputedEffect {
  /** True if the table's key changes. */
  readonly moves: boolean;
  readonly terms: readonly Term[];
}

/**
 * Adds the computed attributes that a change touches to its effect. An index entry is written whole or removed
 * whole: if neither the call nor a read tells one half, the terms require that the item has this half.
 */
const changeComputed = (
  catalog: Catalog,
  change: ItemChange,
  row: ChangedRow,
  { touched, effect }: { readonly touched: readonly Computed[]; readonly effect: Effect },
): ComputedEffect => {
  const { shape, key } = change;
  const values = new Map<string, AttributeValue | undefined>();
  const refused = new Map<string, unknown>();
  for (const entry of touched)
    if (row.before || unreadFields(change, entry[1]).length === 0)
      values.set(entry[0], computedValue(catalog, change, entry, { ...row, refused }));
  const isMissing = (attribute: string): boolean => values.has(attribute) && values.get(attribute) === undefined;
  // Where another part of the entry is gone, the entry goes.
  for (const [attribute, error] of refused)
    if (!isHalfEntry(catalog, shape, attribute, (other) => isMissing(other) && !refused.has(other))) throw error;
  const terms: Term[] = [];
  let moves = false;
  for (const [attribute] of touched) {
    const half = isHalfEntry(catalog, shape, attribute, isMissing);
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

/** Puts the whole item under its new key, if that is free or has an expired item, and deletes it under the old one. */
const moveItem = (
  working: WorkingSet,
  { shape, key }: ItemChange,
  { image, effect, terms }: { readonly image: Item; readonly effect: AttributeChanges; readonly terms: readonly Term[] },
): readonly WriteItem[] => {
  const { catalog } = working;
  const item: Record<string, AttributeValue> = { ...image, ...effect.set };
  for (const attribute of effect.remove) delete item[attribute];
  const { partitionKey } = catalog.index;
  if (partitionKey in effect.set)
    throw new EdgetableError(
      "plan.unsupported",
      `This change would move "${shape.definition}" to another partition: delete it and create it again.`,
      { details: { shape: shape.id, partitionKey } },
    );
  return [
    { kind: "put", key: keyOfItem(catalog, item), item, terms: [absentOrExpired(working, shape)], shape },
    { kind: "delete", key, terms: [...terms, ...unchangedItem(catalog, { shape, key }, image)], shape },
  ];
};

/** The steps that change an item, with the row before and after if they are known. The last step is the one under the old key. */
export interface ChangedItem {
  readonly items: readonly WriteItem[];
  readonly before: Row | undefined;
  readonly row: Row | undefined;
  /** The item before, if it was read. */
  readonly image?: Item | undefined;
}

/** What stored numbers become, as decimals by field: a sum keeps all its digits, and index keys follow what the item will hold. */
export const sumsOf = (
  { shape, changes: { add }, exact = {} }: Pick<ItemChange, "shape" | "changes" | "exact">,
  image: Item,
): Readonly<Record<string, string>> => {
  const sums: Record<string, string> = {};
  for (const field in add) {
    const attribute = field in (shape.former ?? {}) ? undefined : attributeOf(shape, field);
    const stored = attribute === undefined ? undefined : own(image, attribute);
    if (stored && "N" in stored && isNumber(add[field])) sums[field] = addDecimals(stored.N, exact[field] ?? String(add[field]));
  }
  return sums;
};

/** Gives numbers that a change writes all their digits. */
const keepDigits = (catalog: Catalog, shape: Shape, { set, add }: Effect, decimals: Readonly<Record<string, string>> = {}): void => {
  const attributeFor = writtenBy(catalog, shape);
  for (const field in decimals) {
    const attribute = attributeFor(field) ?? field;
    const within = attribute in set ? set : attribute in add ? add : undefined;
    if (within) within[attribute] = { N: decimals[field]! };
  }
};

/**
 * Changes an item's fields and every computed attribute that depends on them: computed from the call if that is sufficient, else
 * from the item as it was read, on condition that it is unchanged. Null if the item does not exist, undefined while it has to be
 * read.
 */
export const changeItem = (working: WorkingSet, change: ItemChange): ChangedItem | null | undefined => {
  const { catalog } = working;
  const { shape, key, known, changes, guards, look, there = present, terms: further = [], keepsVersion } = change;
  if (shape.match.length > 0)
    checkMatch(shape, { ...changes.append, ...changes.add, ...changes.set }, (field) => isChanged(changes, field));
  const fill = shape.fills.find(({ field }) => isChanged(changes, field));
  if (fill) {
    const message = `"${fill.field}" of "${shape.definition}" is filled from other attributes (layout fill). Change those.`;
    throw new EdgetableError("schema.immutableAttribute", message, { details: { attribute: fill.field } });
  }
  let image = knownImage(working, key);
  if (image === undefined) {
    const reason = look?.reason ?? (needsImage(catalog, change) ? "a computed attribute needs what is not in the call" : undefined);
    if (reason !== undefined) {
      image = imageOf(working, change, reason);
      if (image === undefined) return undefined;
    }
  }
  if (image === null) return null;
  const asked = [there, ...further, ...guardTerms(shape, guards)];
  // Most changes touch no computed attribute and need no row: planning one falls from 6.6 to 4 µs.
  if (!image && changes.remove.length === 0 && !touchesKeys(shape, changes)) {
    const effect = fieldEffects(catalog, shape, changes);
    if (change.exact) keepDigits(catalog, shape, effect, change.exact);
    const terms = [...asked, ...parentTerms(effect), ...raiseVersion(change, undefined, effect)];
    return { items: [{ kind: "update", key, terms, shape, changes: effect }], before: undefined, row: undefined };
  }
  const before = image && decodeItem(catalog, shape, image);
  // Without the row before, the values within its attributes are not known.
  const { paths: _paths, ...whole } = changes;
  const row = changedRow(Object.assign({}, known, before), before ? changes : whole);
  const sums = image ? sumsOf(change, image) : {};
  const summed: Record<string, unknown> = { ...row };
  for (const field in sums) summed[field] = readDecimal(sums[field]!);
  const after = before ? filledRow(shape.fills, summed) : summed;
  const isResolved = before !== undefined && !keepsVersion;
  const effect = fieldEffects(catalog, shape, isResolved ? resolvedChanges(changes, after) : changes);
  keepDigits(catalog, shape, effect, isResolved ? sums : change.exact);
  if (isResolved && image && changes.paths) pathRules().keepDigits(shape, effect.set, { paths: changes.paths, image });
  const touched = touchedAttributes(catalog, change);
  const computed = changeComputed(catalog, change, { before, after, image }, { touched, effect });
  const { remove, set } = effect;
  const remains = (attribute: string): boolean => !remove.includes(attribute) && (image === undefined || Object.hasOwn(image, attribute));
  if (remove.length > 0) checkCarried(shape, after, (attribute) => Object.hasOwn(set, attribute) || remains(attribute));
  const terms = [...asked, ...parentTerms(effect), ...raiseVersion(change, image, effect)];
  if (!image) terms.push(...computed.terms);
  else {
    const fields = touched.flatMap(([, template]) => unreadFields(change, template));
    const within = changes.paths?.map(({ steps }) => steps[0]) ?? [];
    fields.push(...Object.keys(changes.add), ...Object.keys(changes.append), ...within, ...(look?.fields ?? []));
    const unchanged = unchangedFields(catalog, { shape, image }, fields);
    terms.push(...(change.whole ? unitedTerms(unchanged, unchangedRow(catalog, change, image)) : unchanged));
  }
  const changed = before && atVersion(after, shape.version, ((before[VERSION] as number | undefined) ?? 0) + 1);
  if (computed.moves && image) return { items: moveItem(working, change, { image, effect, terms }), before, row: changed, image };
  return { items: [{ kind: "update", key, terms, shape, changes: effect }], before, row: changed, image };
};
