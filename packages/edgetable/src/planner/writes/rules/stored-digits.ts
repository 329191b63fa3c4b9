// A row has numbers as doubles, and items have up to 38 digits. What is copied or added up takes the stored form, as far as it is
// what the row has: then no digit is lost.
import { isEdgetableError } from "../../../errors/edgetable-error.ts";
import type { PutStep, UpdateStep, WriteItem } from "../../../ir/write-plan.ts";
import { comparePrimary, exactText, sameValue } from "../../../keys/template.ts";
import { decodeValue, encodeValue, keepDigits, sameAttribute } from "../../../requests/attribute-value.ts";
import { attributeOf, digitsIn, encodeField, plainPlaces } from "../../../requests/encode-item.ts";
import type { Shape } from "../../../schema/catalog.ts";
import type { AttributeValue, Item } from "../../../transport/operations.ts";
import { addDecimals, sameDecimals } from "../../../util/decimal.ts";
import { isNumber, own, type Row } from "../../../util/row.ts";
import type { Changes } from "../../../ir/logical-write.ts";
import { isChanged, pathRules } from "../changed-row.ts";
import type { Digits, RowChange, Subject } from "../working-set.ts";
import { sumsOf } from "./computed-attributes.ts";
import { shapeBetween } from "./edge-copies.ts";

/** A row with its numbers as they are stored where it was read. */
export interface ExactRow {
  readonly row: Row | null | undefined;
  readonly digits?: Digits | undefined;
}

/** Changes of an item that was read. */
interface ReadChange {
  readonly shape: Shape;
  readonly image: Item;
  readonly changes: Changes;
}

const changedDigits =
  ({ shape, image, changes }: ReadChange): Digits =>
  (field) => {
    const stored = digitsIn(shape, image)(field);
    if (!isChanged(changes, field)) return stored;
    const sum = sumsOf({ shape, changes }, image)[field];
    if (sum !== undefined) return { N: sum };
    // Of an attribute that is retyped, the item may hold values of another type.
    const attribute = shape.former?.[field]?.retyping ? undefined : attributeOf(shape, field);
    if (!stored || attribute === undefined || !changes.paths?.some(({ steps }) => steps[0] === field)) return undefined;
    const set = { [attribute]: stored };
    pathRules().keepDigits(shape, set, { paths: changes.paths, image });
    return set[attribute];
  };

/** A row after changes. Those that add to what was read have its digits, as DynamoDB adds. */
export const changedExactly = (row: Row, change: ReadChange): ExactRow => {
  const { changes } = change;
  const digits = changedDigits(change);
  const after: Record<string, unknown> = { ...row };
  for (const field of [...Object.keys(changes.add), ...(changes.paths ?? []).map(({ steps }) => steps[0])]) {
    const stored = digits(field);
    if (stored && Object.hasOwn(row, field)) after[field] = decodeValue(stored);
  }
  return { row: after, digits };
};

const shapeOf = (subject: Subject): Shape | undefined =>
  subject.kind === "edge" ? shapeBetween(subject.entry.shapes, subject.from, subject.to) : subject.entry.shape;

/** The rows before and after a change, with the numbers of what was read. */
export const exactRows = (change: RowChange): { readonly before: ExactRow; readonly after: ExactRow } => {
  const { subject, before, after, changes, image, digits, shape = shapeOf(subject) } = change;
  if (!image || !shape) return { before: { row: before }, after: { row: after, digits } };
  const changed = after && changes ? changedExactly(after, { shape, image, changes }) : undefined;
  return {
    before: { row: before, digits: digitsIn(shape, image) },
    after: { row: changed?.row ?? after, digits: digits ? (field) => digits(field) ?? changed?.digits?.(field) : changed?.digits },
  };
};

/** What is stored at a dotted path. */
export const storedAt = (digits: Digits | undefined, path: string): AttributeValue | undefined => {
  const [field = "", ...steps] = path.split(".");
  let value = digits?.(field);
  for (const step of steps) value = value && "M" in value ? own(value.M, step) : undefined;
  return value;
};

const exactField = (shape: Shape, { row, digits }: ExactRow, field: string): AttributeValue | undefined => {
  const value = row ? own(row, field) : undefined;
  return value === undefined ? undefined : keepDigits(encodeField(shape, field, value), digits?.(field));
};

/** Gives what a step writes of some fields, and the index keys that are such a number, all digits. */
export const withDigits = (step: WriteItem, shape: Shape, digits: Digits, fields: readonly string[]): WriteItem => {
  if (step.kind !== "put" && step.kind !== "update") return step;
  const written: Record<string, AttributeValue> = { ...(step.kind === "put" ? step.item : step.changes.set) };
  for (const field of fields) {
    for (const attribute of plainPlaces(shape, field)) {
      const value = own(written, attribute);
      if (value) written[attribute] = keepDigits(value, digits(field));
    }
  }
  return step.kind === "put"
    ? ({ ...step, item: written } satisfies PutStep)
    : ({ ...step, changes: { ...step.changes, set: written } } satisfies UpdateStep);
};

/** A stored value in one form: numbers with all digits, members of maps and sets in one order, of which DynamoDB has none. */
const canonical = (value: AttributeValue): unknown => {
  if ("N" in value) {
    const number = decodeValue(value);
    return sameDecimals(String(number), value.N) ? number : { "~": addDecimals(value.N, "0") };
  }
  if ("NS" in value) return { "~set": value.NS.map((one) => addDecimals(one, "0")).toSorted(comparePrimary) };
  if ("SS" in value) return { "~set": value.SS.toSorted(comparePrimary) };
  if ("BS" in value) return { "~set": value.BS.toSorted(comparePrimary) };
  if ("L" in value) return value.L.map(canonical);
  if (!("M" in value)) return decodeValue(value);
  const names = Object.keys(value.M).toSorted(comparePrimary);
  return { "~map": names.map((name) => [name, canonical(value.M[name]!)]) };
};

const encodedIfStorable = (value: unknown): AttributeValue | undefined => {
  try {
    return encodeValue(value, "");
  } catch (error) {
    if (isEdgetableError(error, "request.unsupportedValue")) return undefined;
    throw error;
  }
};

/** A value of a row for a comparison: its numbers are told apart by all digits of their stored form. */
export const exactValue = (value: unknown, stored: AttributeValue | undefined): unknown => {
  if (isNumber(value)) return stored && "N" in stored && Number(value) === Number(stored.N) ? canonical(stored) : value;
  if (typeof value !== "object" || value === null || value instanceof Date) return value;
  // What the row has in another form than the item is no number that was rounded.
  const isStored = stored && exactText(decodeValue(stored)) === exactText(value);
  const encoded = isStored ? stored : encodedIfStorable(value);
  return encoded ? canonical(encoded) : value;
};

/** True if two stored values are the same, numbers digit by digit. */
export const sameExactly = (a: AttributeValue | undefined, b: AttributeValue | undefined): boolean => {
  if (!sameAttribute(a, b) || !a || !b) return a === b;
  return exactText(canonical(a)) === exactText(canonical(b));
};

/** True if two rows hold the same in a field, as far as the digits of both are told. */
export const sameField = (shape: Shape, one: ExactRow, other: ExactRow, field: string): boolean => {
  const [a, b] = [own(one.row ?? {}, field), own(other.row ?? {}, field)];
  const areObjects = [a, b].every((value) => typeof value === "object" && value !== null && !(value instanceof Date));
  return (sameValue(a, b) || areObjects) && sameExactly(exactField(shape, one, field), exactField(shape, other, field));
};
