import { isEdgetableError } from "../../errors/edgetable-error.ts";
import { keyId } from "../../ir/write-plan.ts";
import { edgeCopies } from "../../planner/writes/rules/edge-copies.ts";
import { templateMatches } from "../../keys/template.ts";
import { decodeValue, keyTextOf } from "../../requests/attribute-value.ts";
import { decodeItem, type DriftedField, driftedFields, type RowOptions, shapeOf, typeIn } from "../../requests/decode-item.ts";
import { fitsMatch, isFilled, keyIfComplete, keyOfItem, VERSION } from "../../requests/encode-item.ts";
import { type Catalog, type EdgeEntry, keyAttributes, ownerFields, type Shape } from "../../schema/catalog.ts";
import { isSystemItem } from "../../schema/system-kinds.ts";
import type { Item, Key } from "../../transport/operations.ts";
import { jsonText } from "../../util/json-text.ts";
import { defined } from "../../util/invariant.ts";
import type { Row } from "../../util/row.ts";
import { batchGet } from "../batch.ts";
import type { CallContext, Session } from "../session.ts";
import { isDeepStrictEqual } from "node:util";

/** One of the two items of an edge that is stored twice. */
export interface Copy {
  readonly entry: EdgeEntry;
  readonly shape: Shape;
  readonly item: Item;
  readonly row: Row;
  /** True if the edge's row is made from this copy: the source's copy; for a symmetric edge, the copy with the smaller key. */
  readonly leads: boolean;
  /** The leading copy's key, as text: the same for both. */
  readonly id: string;
  readonly key: Key;
  readonly otherKey: Key;
}

/** The meaning of one item of the table. */
export type SeenItem =
  | { readonly kind: "row"; readonly name: string; readonly row: Row }
  | { readonly kind: "copy"; readonly name: string; readonly copy: Copy }
  | { readonly kind: "system" }
  | { readonly kind: "stray"; readonly reason: string };

const without = (row: Row, fields: readonly string[]): Row =>
  Object.fromEntries(Object.entries(row).filter(([field]) => !fields.includes(field)));

const ENDS = ["from", "to"];

/** The attributes of an edge's row without its ends. */
export const withoutEnds = (row: Row): Row => without(row, ENDS);

/** An edge in the form that a load accepts. */
const edgeRow = (name: string, row: Row, attributes: Row = withoutEnds(row)): Row => ({
  edge: name,
  from: row["from"],
  to: row["to"],
  attributes,
});

/** An end of an edge, as its row names it. */
export const endOf = (shape: Shape, row: Row, end: "from" | "to"): { readonly type: string; readonly id: Row } => {
  const id = row[end] as Row;
  return { type: defined(shape[end], "an end's type"), id: shape.several ? without(id, ["type"]) : id };
};

/** The row of an item, without what a load computes again: an older model of Edgetable's own layout may have filled other keys. */
const dumpedRow = (catalog: Catalog, [shape, item]: readonly [Shape, Item], options: RowOptions): Row => {
  const row = decodeItem(catalog, shape, item, options);
  if (catalog.escapes) for (const field in row) if (isFilled(catalog, shape, field)) delete row[field];
  return row;
};

const readCopy = (catalog: Catalog, shape: Shape, item: Item, options: RowOptions): SeenItem => {
  const row = dumpedRow(catalog, [shape, item], options);
  const entry = defined(catalog.edges[shape.definition], shape.definition);
  const name = entry.name;
  const [own, second] = edgeCopies({ entry, from: endOf(shape, row, "from"), to: endOf(shape, row, "to") }, withoutEnds(row));
  // An edge from a node to itself, with no direction, is one item.
  if (!second) return { kind: "row", name, row: edgeRow(name, row) };
  const mine = shape.role === "mirror" ? second : own;
  const other = mine === own ? second : own;
  const key = keyOfItem(catalog, item);
  const otherKey = keyIfComplete(catalog, other.shape, other.row);
  const ownKey = otherKey && keyIfComplete(catalog, mine.shape, mine.row);
  if (!otherKey || !ownKey || keyId(ownKey) !== keyId(key))
    return { kind: "stray", reason: `its other copy as "${name}" cannot be found from it` };
  const leads = entry.definition.symmetric ? keyId(key) < keyId(otherKey) : shape.role === "own";
  return { kind: "copy", name, copy: { entry, shape, item, row, leads, id: keyId(leads ? key : otherKey), key, otherKey } };
};

/** The copies in an item that disagree with its keys. */
export const driftOf = (catalog: Catalog, item: Item): readonly DriftedField[] => {
  const shape = catalog.escapes ? undefined : shapeOf(catalog, catalog.shapes, item);
  return shape ? driftedFields(catalog, shape, item, decodeItem(catalog, shape, item)) : [];
};

// How much of an item's identity a shape shares, and the first attribute that it does not.
const likeness = (catalog: Catalog, shape: Shape, item: Item): { readonly score: number; readonly attribute: string | undefined } => {
  let score = 0;
  let attribute: string | undefined;
  const type = typeIn(catalog, item);
  if (type !== undefined && type === shape.typeValue) score += 2;
  // An item without a type may be of any kind.
  else if (type !== undefined || item[catalog.typeAttribute ?? ""]) attribute = catalog.typeAttribute;
  for (const name of keyAttributes(catalog.index)) {
    const template = shape.keys[name];
    const value = item[name];
    if (template && value && template.type in value && (template.type === "N" || templateMatches(template, keyTextOf(value) ?? "")))
      score++;
    else attribute ??= name;
  }
  for (const match of shape.match)
    if (fitsMatch(match, item[match.attribute] && decodeValue(item[match.attribute]!))) score++;
    else attribute ??= match.attribute;
  return { score, attribute };
};

/** The most similar kind of an item that is of no kind. */
export interface NearestKind {
  readonly definition: string;
  /** The first attribute by which it is not of it. */
  readonly attribute: string;
  /** The same as a sentence without its subject. */
  readonly text: string;
}

/** The kind that an item of no kind resembles most, and what fails; undefined if it resembles none. */
export const nearestKind = (catalog: Catalog, item: Item): NearestKind | undefined => {
  let nearest: Shape | undefined;
  let best: ReturnType<typeof likeness> = { score: 0, attribute: undefined };
  for (const shape of catalog.shapes) {
    const like = likeness(catalog, shape, item);
    if (like.score > best.score) [nearest, best] = [shape, like];
  }
  if (!nearest) return undefined;
  const attribute = best.attribute ?? catalog.index.sortKey ?? catalog.index.partitionKey;
  const value = item[attribute];
  const text = value === undefined ? "missing" : `"${keyTextOf(value) ?? JSON.stringify(value)}"`;
  const match = nearest.match.find((one) => one.attribute === attribute);
  const wanted =
    attribute === catalog.typeAttribute
      ? jsonText(nearest.typeValue ?? "missing")
      : match
        ? `what its layout's match says`
        : nearest.keys[attribute]?.source;
  return {
    definition: nearest.definition,
    attribute,
    text: `is nearest to "${nearest.definition}", but "${attribute}" is ${text}, not ${wanted}`,
  };
};

/** Why an item is of no kind. */
export const unknownForm = (catalog: Catalog, item: Item): string => {
  const near = nearestKind(catalog, item);
  return near ? `it ${near.text}` : "the model has nothing of this form";
};

/** Classifies an item, which the model need not know. */
export const readItem = (catalog: Catalog, item: Item, options: RowOptions): SeenItem => {
  if (Object.hasOwn(item, "__proto__")) return { kind: "stray", reason: 'it has an attribute "__proto__", which no row can hold' };
  if (isSystemItem(catalog, item)) return { kind: "system" };
  const shape = shapeOf(catalog, catalog.shapes, item);
  if (!shape) return { kind: "stray", reason: unknownForm(catalog, item) };
  try {
    const name = shape.definition;
    if (shape.kind === "edge") {
      const { stored, symmetric } = defined(catalog.edges[name], name).definition;
      if (stored === "twice" || symmetric === true) return readCopy(catalog, shape, item, options);
    }
    const row = dumpedRow(catalog, [shape, item], options);
    if (shape.kind === "node") return { kind: "row", name, row: { node: name, row } };
    if (shape.kind === "edge") return { kind: "row", name, row: edgeRow(name, row) };
    const { of } = defined(catalog.parts[name], name).definition;
    const { idFields } = defined(catalog.nodes[of], of);
    const owner = Object.fromEntries(idFields.flatMap((field) => (row[field] === undefined ? [] : [[field, row[field]]])));
    return { kind: "row", name, row: { part: name, owner, row: without(row, ownerFields(catalog, name)) } };
  } catch (error) {
    if (!isEdgetableError(error)) throw error;
    return { kind: "stray", reason: `it does not read as "${shape.definition}": ${error.message}` };
  }
};

/** What became of a copy that had to be settled. */
export type Settled =
  | { readonly kind: "row"; readonly row: Row; readonly uneven: boolean }
  /** Its row comes by the other copy, or both are gone. */
  | { readonly kind: "nothing" }
  | { readonly kind: "stray"; readonly reason: string };

const stores = ({ copied }: Shape, field: string): boolean => !copied || copied.includes(field);

/** One edge of its two copies: what differs on the other one is its `reverse`. */
export const joinCopies = (a: Copy, b: Copy): Settled & { readonly kind: "row" } => {
  const [lead, other] = a.leads ? [a, b] : [b, a];
  const mine = withoutEnds(lead.row);
  const theirs = withoutEnds(other.row);
  const attributes: Record<string, unknown> = { ...mine };
  const reverse: Record<string, unknown> = {};
  for (const field in theirs) {
    if (!stores(lead.shape, field)) attributes[field] = theirs[field];
    else if (field !== VERSION && !isDeepStrictEqual(mine[field], theirs[field])) reverse[field] = theirs[field];
  }
  const lacks = Object.keys(mine).some((field) => !Object.hasOwn(theirs, field) && stores(other.shape, field));
  const row = edgeRow(lead.entry.name, lead.row, attributes);
  const uneven = lacks || !isDeepStrictEqual(mine[VERSION], theirs[VERSION]);
  return { kind: "row", row: Object.keys(reverse).length > 0 ? { ...row, reverse } : row, uneven };
};

interface Reading {
  readonly session: Session;
  readonly consistent: boolean;
  /** True if rows include attributes that the model does not know. */
  readonly rowOptions: RowOptions;
  readonly context: () => CallContext;
}

const readByKey = async ({ session, consistent, context }: Reading, keys: readonly Key[]): Promise<ReadonlyMap<string, Item>> => {
  if (keys.length === 0) return new Map();
  const items = await batchGet(session, { keys, consistent }, context());
  return new Map(items.map((item) => [keyId(keyOfItem(session.catalog, item)), item]));
};

/**
 * What becomes of copies whose other one was not met, at most 100: the others are read by their keys,
 * and if one is missing, its copy is read again.
 */
export const settleCopies = async (reading: Reading, copies: readonly Copy[]): Promise<readonly Settled[]> => {
  const others = await readByKey(
    reading,
    copies.map(({ otherKey }) => otherKey),
  );
  const alone = copies.filter(({ otherKey }) => !others.has(keyId(otherKey)));
  const still = await readByKey(
    reading,
    alone.map(({ key }) => key),
  );
  const { catalog } = reading.session;
  return copies.map((copy): Settled => {
    const { entry, key, otherKey } = copy;
    const item = others.get(keyId(otherKey));
    const shape = item && shapeOf(catalog, [...entry.mirrors, ...entry.shapes], item);
    if (item && shape) {
      const row = dumpedRow(catalog, [shape, item], reading.rowOptions);
      if (!copy.leads) return { kind: "nothing" };
      return joinCopies(copy, { ...copy, shape, item, row, leads: false, key: otherKey, otherKey: key });
    }
    if (!item && !still.has(keyId(copy.key))) return { kind: "nothing" };
    if (copy.leads) return { kind: "row", row: edgeRow(copy.entry.name, copy.row), uneven: true };
    return { kind: "stray", reason: `it is the second copy of "${copy.entry.name}", and the first is not there` };
  });
};
