import type { Changes, LinkWrite, PutEdgeWrite, RelinkWrite, UnlinkWrite } from "../../ir/logical-write.ts";
import type { Failure, Term } from "../../ir/write-plan.ts";
import { decodeItem } from "../../requests/decode-item.ts";
import { digitsIn, keyIfComplete, keyOf } from "../../requests/encode-item.ts";
import { type Catalog, filledRow, type Shape } from "../../schema/catalog.ts";
import type { Item } from "../../transport/operations.ts";
import type { Row } from "../../util/row.ts";
import { asRead, putStep } from "./plan-item.ts";
import { atTime, atVersion, type ChangedItem, changeItem, seenAt, storedVersion, withTimes } from "./rules/computed-attributes.ts";
import { edgeCopies, type EdgeCopy, endTerms, isOtherEdge } from "./rules/edge-copies.ts";
import { fill, joined, looksAt, stageDerived, WHOLE_ROW } from "./rules/index.ts";
import {
  absentOrExpired,
  type Digits,
  type EdgeBetween,
  guardTerms,
  imageOf,
  isGone,
  locate,
  notFound,
  passesSchema,
  type Planned,
  present,
  presentUnexpired,
  type RowChange,
  stage,
  STALE,
  stillThere,
  subjectOf,
  type WorkingSet,
} from "./working-set.ts";
import { unchangedFields, unchangedItem } from "./unchanged-terms.ts";

export const betweenOf = (catalog: Catalog, write: LinkWrite | PutEdgeWrite | RelinkWrite | UnlinkWrite): EdgeBetween =>
  subjectOf(catalog, write) as EdgeBetween;

/** The attributes of an edge, and those that differ on its other copy. */
interface Contents {
  readonly attributes: Row;
  readonly reverse: Row;
  /** Times that it keeps. */
  readonly kept?: Row | undefined;
  /** What numbers of its copies were read as. */
  readonly digits?: readonly (Digits | undefined)[];
}

// The first copy decides. The copy in the target's partition follows it and replaces any item there.
const stageCopies = (
  working: WorkingSet,
  copies: readonly EdgeCopy[],
  terms: readonly Term[],
  [own, other = own]: readonly (Digits | undefined)[] = [],
): void => {
  for (const [at, copy] of copies.entries())
    stage(working, putStep(working.catalog, { ...copy, digits: at === 0 ? own : other }, at === 0 ? terms : []));
};

/** Stages both copies of a new edge. */
export const stageLink = (
  working: WorkingSet,
  edge: EdgeBetween,
  { attributes, reverse, kept, digits }: Contents,
  exists?: Failure,
): Row => {
  const timed = withTimes(working, edge.entry.shapes[0]!, { row: attributes, kept });
  const copies = edgeCopies(edge, atVersion(timed, edge.entry.definition.version, 1), reverse);
  const [{ shape, row: made }] = copies;
  const row = filledRow(shape.fills, made);
  stageCopies(working, copies, [absentOrExpired(working, shape, exists)], digits);
  stageDerived(working, { subject: edge, before: null, after: row, digits: digits?.[0] });
  return row;
};

/**
 * Writes an edge if there is none.
 *
 * @param exists the failure if it exists
 */
export const planLink = (working: WorkingSet, write: LinkWrite, exists?: Failure): Planned => {
  const edge = betweenOf(working.catalog, write);
  const filled = fill(working, edge, write.row, null);
  if (filled?.kind !== "row") return filled;
  const contents = { attributes: filled.row, reverse: write.reverse, digits: [filled.digits] };
  return { kind: "staged", row: stageLink(working, edge, contents, exists) };
};

// Where the key names one end alone, an edge to another node gives way: its other copy goes, and counts no more.
const stageGivingWay = (working: WorkingSet, edge: EdgeBetween, of: Shape, image: Item): void => {
  const { catalog } = working;
  const before = decodeItem(catalog, of, image);
  const endOf = (end: "from" | "to") => {
    const { type } = edge[end];
    const id = before[end] as Row;
    return { type, id: Object.fromEntries(catalog.ends[type]!.idFields.map((field) => [field, id[field]])) };
  };
  const old: EdgeBetween = { kind: "edge", entry: edge.entry, from: endOf("from"), to: endOf("to") };
  for (const { shape, row } of edgeCopies(old, before).slice(1))
    stage(working, { kind: "delete", key: keyOf(catalog, shape, row), terms: [], shape });
  stageDerived(working, { subject: old, before, after: null, image });
};

/** Writes an edge, whether or not it exists. Reads it first if a rule looks at the edge before. */
export const planPutEdge = (working: WorkingSet, write: PutEdgeWrite): Planned => {
  const { catalog } = working;
  const edge = betweenOf(catalog, write);
  const { version } = edge.entry.definition;
  let [own] = edgeCopies(edge, write.row);
  const { shape } = own;
  const given = write.times ? { ...own.row, ...write.times } : own.row;
  const change: RowChange = { subject: edge, before: undefined, after: given, related: write.ends };
  const look = looksAt(catalog, change);
  if (look && !keyIfComplete(catalog, shape, own.row)) {
    // A key may contain an attribute that is copied from a node.
    const keyed = fill(working, edge, write.row, undefined);
    if (keyed?.kind !== "row") return keyed;
    [own] = edgeCopies(edge, keyed.row);
  }
  const key = look && keyOf(catalog, shape, own.row);
  const asSeen = key && shape.unkeyed.length === 0 ? seenAt(working, shape, { look, seen: write.seen, key }) : undefined;
  const image = look && key ? (asSeen ? undefined : imageOf(working, { shape, key }, look.reason)) : null;
  const next = Math.max(storedVersion(image) + 1, write.leastVersion ?? 1);
  const isOther = image ? isOtherEdge(working, own, image) : false;
  const filled = fill(working, edge, write.row, isOther ? null : image);
  if (filled?.kind !== "row") return filled;
  const timed = withTimes(working, shape, {
    row: filled.row,
    kept: asSeen ? { [shape.times!.created!]: write.seen } : write.times,
    image: isOther ? null : image,
  });
  const copies = edgeCopies(edge, atVersion(timed, version, next), write.reverse);
  const row = filledRow(shape.fills, copies[0].row);
  const { digits } = filled;
  // Where the key names one end alone, the edge may have given way to one to a third node meanwhile.
  const read = look && image !== undefined ? asRead(catalog, shape, image, [...look.fields, ...shape.unkeyed]) : [];
  stageCopies(working, copies, asSeen ? [asSeen] : read, [digits]);
  if (isOther && image) stageGivingWay(working, edge, shape, image);
  const before = image && !isOther ? decodeItem(catalog, shape, image) : image === undefined ? undefined : null;
  stageDerived(working, { ...change, before, after: row, image: isOther ? null : image, digits });
  return { kind: "staged", row };
};

/** Removes an existing edge. */
export const planUnlink = (working: WorkingSet, write: UnlinkWrite): Planned => {
  const { catalog } = working;
  const edge = betweenOf(catalog, write);
  const [own, second] = edgeCopies(edge, write.key);
  const { shape, row } = own;
  const key = locate(working, shape, row);
  const otherKey = second && locate(working, second.shape, second.row);
  if (key === null) return notFound;
  if (key === undefined || (second && otherKey === undefined)) return undefined;
  const between = endTerms(working, { ...own, key });
  if (!between) return between === null ? notFound : undefined;
  const look = looksAt(catalog, { subject: edge, before: row, after: null });
  const image = look && imageOf(working, { shape, key }, look.reason);
  if (look && !image) return image === null ? notFound : undefined;
  const unchanged = look && image ? unchangedFields(catalog, { shape, image }, look.fields) : [];
  const there = stillThere(working, [shape, key, row], present);
  stage(working, { kind: "delete", key, terms: [there, ...between, ...guardTerms(shape, write.guards), ...unchanged], shape });
  if (second && otherKey) stage(working, { kind: "delete", key: otherKey, terms: [], shape: second.shape });
  // The caller's row may be older than the item, except for its key, because a cascade has read it earlier.
  const before = image ? decodeItem(catalog, shape, image) : row;
  stageDerived(working, { subject: edge, before, after: null, image });
  return { kind: "staged" };
};

// The other copy may never have been written: the edge is older than the model that stores it twice.
const copied: Term = { kind: "present", failure: STALE };

/** What a change makes of the second copy, where `reverse` states attributes of its own: nothing is added to those or taken out. */
const changesOfSecond = ({ changes, reverse }: RelinkWrite): Changes => {
  const { set, remove, add, append, paths } = changes;
  const states = (field: string): boolean => Object.hasOwn(reverse, field);
  if (Object.keys(reverse).length === 0) return changes;
  const others = (row: Row): Row => Object.fromEntries(Object.entries(row).filter(([field]) => !states(field)));
  return {
    set: { ...set, ...reverse },
    remove: remove.filter((field) => !states(field)),
    add: others(add),
    append: others(append),
    ...(paths && { paths: paths.filter(({ steps }) => !states(steps[0])) }),
  };
};

/** The change of one copy of an edge; null if the copy does not exist, undefined while something has to be read. */
const changeCopy = (
  working: WorkingSet,
  write: RelinkWrite,
  { shape, row: known, isOwn, there, absence }: EdgeCopy & { isOwn: boolean; there?: Term | undefined; absence?: Failure | undefined },
  more: readonly Term[] = [],
): ChangedItem | null | undefined => {
  const key = locate(working, shape, known);
  const { checksRow: whole, keepsVersion = false } = write;
  if (!key) return key;
  if (!isOwn) {
    const changes = changesOfSecond(write);
    const asked = { guards: { version: write.guards.version }, there: copied, look: whole ? WHOLE_ROW : undefined, whole, keepsVersion };
    return changeItem(working, { shape, key, known, changes, ...asked });
  }
  const terms = endTerms(working, { shape, row: known, key });
  const { changes, guards } = write;
  const derived = looksAt(working.catalog, { subject: betweenOf(working.catalog, write), before: known, after: undefined, changes });
  const look = joined(derived, whole ? WHOLE_ROW : undefined);
  const changed = changeItem(working, {
    shape,
    key,
    known,
    changes,
    guards,
    there: there && (absence ? there : stillThere(working, [shape, key, known], there)),
    terms: [...(terms ?? []), ...more],
    look,
    whole,
    keepsVersion,
  });
  return terms ? changed : changed === null ? null : terms;
};

// The edge changes. Its other copy is missing and is written whole, from the edge's item.
const completeCopy = (
  working: WorkingSet,
  write: RelinkWrite,
  own: EdgeCopy & { readonly there: Term | undefined; readonly absence: Failure | undefined },
): Planned => {
  const { catalog } = working;
  const { shape } = own;
  const key = locate(working, shape, own.row);
  const image = key && imageOf(working, { shape, key }, "its other copy is not there: it is written whole");
  if (!key || !image) return key === null || image === null ? notFound : undefined;
  const changed = changeCopy(working, write, { ...own, isOwn: true }, unchangedItem(catalog, { shape, key }, image));
  if (!changed) return changed === null ? notFound : undefined;
  if (write.checksRow && !passesSchema(working, betweenOf(catalog, write), changed.row)) return undefined;
  const { from: _from, to: _to, ...attributes } = changed.row ?? {};
  const [, second] = edgeCopies(betweenOf(catalog, write), attributes, write.reverse);
  const [step] = changed.items;
  const digits = digitsIn(shape, { ...image, ...(step?.kind === "update" && step.changes.set) });
  for (const item of changed.items) stage(working, item);
  if (second) stage(working, putStep(catalog, { ...second, digits }, [{ kind: "absent", failure: STALE }]));
  return { kind: "staged", row: changed.row };
};

/**
 * Changes an edge that is there: its attributes and its place in the order.
 *
 * @param absence the failure if it does not exist
 */
export const planRelink = (working: WorkingSet, given: RelinkWrite, absence?: Failure): Planned => {
  const edge = betweenOf(working.catalog, given);
  const [own, second] = edgeCopies(edge, given.key);
  const write = own.shape.times && !given.keepsVersion ? { ...given, changes: atTime(working, own.shape, given.changes) } : given;
  const there = presentUnexpired(working, own.shape, absence);
  const first = changeCopy(working, write, { ...own, isOwn: true, there, absence });
  if (first === null || isGone(working, first?.image)) return notFound;
  const other = second && changeCopy(working, write, { ...second, isOwn: false });
  if (other === null) return completeCopy(working, write, { ...own, there, absence });
  if (!first || (second && !other)) return undefined;
  if (write.checksRow) {
    // If each copy has attributes of its own, both together make the row; else each copy is the whole row.
    const rows = edge.entry.definition.sides ? [{ ...other?.row, ...first.row }] : [first.row, ...(other ? [other.row] : [])];
    if (!rows.every((row) => passesSchema(working, edge, row))) return undefined;
  }
  for (const item of first.items) stage(working, item);
  for (const item of other?.items ?? []) stage(working, item);
  const row = first.row ?? other?.row;
  const { image } = first;
  stageDerived(working, { subject: edge, before: first.before ?? own.row, after: row, changes: write.changes, image });
  return { kind: "staged", row };
};
