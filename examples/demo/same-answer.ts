import { isDeepStrictEqual } from "node:util";
import { someCursor, type Expected } from "../system.ts";

// Absent and undefined attributes are the same to a reader; class instances do not occur in answers.
const plain = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null || value instanceof Date) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .map(([name, member]) => [name, plain(member)]),
  );
};

const isCursor = (name: string, expected: unknown, actual: unknown): boolean =>
  (name === "next" || name === "previous") && expected === someCursor && typeof actual === "string";

// A cursor is sealed: that there is one is all that can be expected of it.
const withoutCursors = (expected: unknown, actual: unknown): unknown => {
  if (typeof expected !== "object" || expected === null || typeof actual !== "object" || actual === null) return actual;
  const named = expected as Readonly<Record<string, unknown>>;
  const entries = Object.entries(actual).map(([name, value]) => [
    name,
    isCursor(name, named[name], value) ? someCursor : (value as unknown),
  ]);
  return Array.isArray(actual) ? (actual as unknown) : Object.fromEntries(entries);
};

const inOneOrder = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(inOneOrder).toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, member]) => [name, inOneOrder(member)]),
  );
};

/** Whether an answer is the expected one. */
export const sameAnswer = (actual: unknown, { answer, anyOrder = false }: Expected): boolean => {
  const order = anyOrder ? inOneOrder : (value: unknown): unknown => value;
  return isDeepStrictEqual(order(plain(withoutCursors(answer, actual))), order(plain(answer)));
};
