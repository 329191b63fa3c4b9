import { EdgetableError } from "../../errors/edgetable-error.ts";
import type { CheckWrite, CreateWrite, DeleteWrite, PutWrite, UpdateWrite } from "../../ir/logical-write.ts";
import type { Failure, PutStep, Term } from "../../ir/write-plan.ts";
import { decodeItem } from "../../requests/decode-item.ts";
import { keepDigits } from "../../requests/attribute-value.ts";
import { encodeItem, keyIfComplete, keyOf, keyOfItem, plainPlaces } from "../../requests/encode-item.ts";
import { type Catalog, type Shape, filledRow } from "../../schema/catalog.ts";
import type { AttributeValue, Item } from "../../transport/operations.ts";
import type { Row } from "../../util/row.ts";
import { atTime, atVersion, changeItem, seenAt, storedVersion, withTimes } from "./rules/computed-attributes.ts";
import { fill, joined, looksAt, stageDerived, WHOLE_ROW } from "./rules/index.ts";
import {
  type Digits,
  absentOrExpired,
  type EdgeBetween,
  guardTerms,
  imageOf,
  isGone,
  locate,
  NOT_FOUND,
  notFound,
  passesSchema,
  type Planned,
  present,
  presentUnexpired,
  type RowChange,
  stage,
  STALE,
  stillThere,
  type Subject,
  subjectOf,
  type WorkingSet,
} from "./working-set.ts";
import { unchangedFields } from "./unchanged-terms.ts";

/** A node or part, and the shape of its items. */
const itemOf = (catalog: Catalog, write: CreateWrite | PutWrite | UpdateWrite | DeleteWrite | CheckWrite) => {
  const subject = subjectOf(catalog, write) as Exclude<Subject, EdgeBetween>;
  return { subject, shape: subject.entry.shape };
};

/** The step that writes a whole row into one of its items. */
export const putStep = (
  catalog: Catalog,
  { shape, row, digits }: { readonly shape: Shape; readonly row: Row; readonly digits?: Digits | undefined },
  terms: readonly Term[],
): PutStep => {
  const item: Record<string, AttributeValue> = encodeItem(catalog, shape, row);
  if (digits)
    for (const field in row)
      for (const attribute of plainPlaces(shape, field)) if (item[attribute]) item[attribute] = keepDigits(item[attribute], digits(field));
  return { kind: "put", key: keyOfItem(catalog, item), item, terms, shape };
};

/** The terms of a put that require the item as it was read: it does not exist, or the fields that the rules look at are unchanged. */
export const asRead = (catalog: Catalog, shape: Shape, image: Item | null, fields: readonly string[]): readonly Term[] => {
  if (!image) return [{ kind: "absent", failure: STALE }];
  const terms = unchangedFields(catalog, { shape, image }, fields);
  // A deleted item also lacks the attributes that the read item lacked.
  return terms.some((term) => term.kind === "equals" && term.value) ? terms : [{ kind: "present", failure: STALE }, ...terms];
};

/**
 * Creates a node or part if there is none.
 *
 * @param exists the failure if it exists
 */
export const planCreate = (working: WorkingSet, write: CreateWrite, exists?: Failure): Planned => {
  const { catalog } = working;
  const { subject, shape } = itemOf(catalog, write);
  const filled = fill(working, subject, write.row, null);
  if (filled?.kind !== "row") return filled;
  const row = filledRow(shape.fills, atVersion(withTimes(working, shape, { row: filled.row }), shape.version, 1));
  const { digits } = filled;
  stage(working, putStep(catalog, { shape, row, digits }, [absentOrExpired(working, shape, exists)]));
  stageDerived(working, { subject, before: null, after: row, digits });
  return { kind: "staged", row };
};

/** Writes a whole node or part, whether or not it exists. Reads it first if a rule looks at the row before. */
export const planPut = (working: WorkingSet, write: PutWrite): Planned => {
  const { catalog } = working;
  const { guards, ends: related, leastVersion = 1, times: kept } = write;
  const { subject, shape } = itemOf(catalog, write);
  const given = kept ? { ...write.row, ...kept } : write.row;
  const change: RowChange = { subject, before: undefined, after: given, related, versioned: guards.version !== undefined };
  const look = looksAt(catalog, change);
  // A key may contain an attribute that is copied from a part's node.
  const keyed = look && !keyIfComplete(catalog, shape, write.row) ? fill(working, subject, write.row, undefined) : write;
  if (!keyed || keyed.kind === "failure") return keyed;
  const key = look && keyOf(catalog, shape, keyed.row);
  const asSeen = key && seenAt(working, shape, { look, seen: write.seen, key });
  const image = look && key && !asSeen ? imageOf(working, { shape, key }, look.reason) : undefined;
  const version = (guards.version ?? storedVersion(image)) + 1;
  const filled = fill(working, subject, write.row, image);
  if (filled?.kind !== "row") return filled;
  const times = asSeen ? { [shape.times!.created!]: write.seen } : kept;
  const timed = withTimes(working, shape, { row: filled.row, kept: times, image });
  const row = filledRow(shape.fills, atVersion(timed, shape.version, look ? Math.max(version, leastVersion) : version));
  const terms = asSeen ? [asSeen] : look && image !== undefined ? asRead(catalog, shape, image, look.fields) : [];
  const { digits } = filled;
  stage(working, putStep(catalog, { shape, row, digits }, [...guardTerms(shape, guards), ...terms]));
  const before = image ? decodeItem(catalog, shape, image) : image;
  stageDerived(working, { subject, before, after: row, related, image, digits });
  return { kind: "staged", row };
};

/**
 * Changes an existing node or part.
 *
 * @param absence the failure if it does not exist
 */
export const planUpdate = (working: WorkingSet, write: UpdateWrite, absence?: Failure): Planned => {
  const { catalog } = working;
  const { id: known, guards, keepsVersion = false, checksRow: whole } = write;
  const { subject, shape } = itemOf(catalog, write);
  const changes = keepsVersion ? write.changes : atTime(working, shape, write.changes);
  const key = locate(working, shape, known);
  if (!key) return key === null ? notFound : undefined;
  const term = presentUnexpired(working, shape, absence);
  const there = absence ? term : stillThere(working, [shape, key, known], term);
  const change: RowChange = { subject, before: known, after: undefined, changes };
  const look = joined(looksAt(catalog, change), whole ? WHOLE_ROW : undefined);
  const changed = changeItem(working, { shape, key, known, changes, guards, keepsVersion, there, look, whole });
  if (!changed) return changed === null ? notFound : undefined;
  if (isGone(working, changed.image)) return { kind: "failure", failure: absence ?? NOT_FOUND };
  if (whole && !passesSchema(working, subject, changed.row)) return undefined;
  for (const item of changed.items) stage(working, item);
  stageDerived(working, { subject, before: changed.before ?? known, after: changed.row, changes, image: changed.image });
  return { kind: "staged", row: changed.row };
};

/** Deletes an existing node or part, unless edges restrict it. */
export const planDelete = (working: WorkingSet, write: DeleteWrite): Planned => {
  const { catalog } = working;
  const { subject, shape } = itemOf(catalog, write);
  const key = locate(working, shape, write.id);
  if (!key) return key === null ? notFound : undefined;
  const change: RowChange = { subject, before: write.id, after: null, related: write.edges };
  const look = looksAt(catalog, change);
  const image = look && imageOf(working, { shape, key }, look.reason);
  if (look && image === null) return notFound;
  const row = image ? decodeItem(catalog, shape, image) : undefined;
  const terms = look && image ? unchangedFields(catalog, { shape, image }, look.fields) : [];
  const there = stillThere(working, [shape, key, write.id], present);
  stage(working, { kind: "delete", key, terms: [there, ...guardTerms(shape, write.guards), ...terms], shape });
  stageDerived(working, { subject, before: row ?? write.id, after: null, related: write.edges, image });
  return { kind: "staged", row };
};

/**
 * Checks that a node or part exists and satisfies conditions, or that it does not exist.
 *
 * @throws {plan.unsupported} for an item that must not exist, if its key contains more than its id
 */
export const planCheck = (working: WorkingSet, { exists, guards, ...write }: CheckWrite): Planned => {
  const { catalog } = working;
  const { shape } = itemOf(catalog, { ...write, exists, guards });
  const key = exists ? locate(working, shape, write.id) : keyIfComplete(catalog, shape, write.id);
  if (key) {
    const there = stillThere(working, [shape, key, write.id], presentUnexpired(working, shape));
    const terms = exists ? [there, ...guardTerms(shape, guards)] : [absentOrExpired(working, shape)];
    stage(working, { kind: "check", key, terms, shape });
    return { kind: "staged" };
  }
  if (exists) return key === null ? notFound : undefined;
  throw new EdgetableError("plan.unsupported", `The key of "${write.name}" holds more than its id: a check cannot prove its absence.`, {
    details: { of: write.name },
  });
};
