import { decodeNumber, encodeNumber } from "./number-text.ts";

// The marks of what JSON has no form for. A member of an object that begins with the same character gets one more.
const MARK = "~";
const DATE = "~date";
const NUMBER = "~number";
const SET = "~set";
const BYTES = "~bytes";
const UNDEFINED = "~undefined";

const plainNumber = (value: number | bigint): unknown => {
  const number = Number(value);
  if (Number.isSafeInteger(number) || (typeof value === "number" && Number.isFinite(value) && !Number.isInteger(value))) return number;
  const text = encodeNumber(value);
  return { [NUMBER]: typeof text === "string" ? text : `${value}` };
};

// What is nested deeper cannot be stored: "32 levels", ServiceQuotas. Circles end here too.
const MOST_LEVELS = 40;

const plainObject = (value: object, level: number): unknown => {
  if (level > MOST_LEVELS) return "deeper";
  const inner = (one: unknown): unknown => plainOf(one, level + 1);
  if (Array.isArray(value)) return value.map(inner);
  if (value instanceof Date) return { [DATE]: value.getTime() };
  if (value instanceof Set) return { [SET]: [...value].map(inner) };
  if (value instanceof Uint8Array) return { [BYTES]: [...value] };
  const members = Object.entries(value).flatMap(([name, member]) =>
    member === undefined ? [] : [[name.startsWith(MARK) ? MARK + name : name, inner(member)] as const],
  );
  return Object.fromEntries(members);
};

const plainOf = (value: unknown, level = 0): unknown => {
  switch (typeof value) {
    case "number":
    case "bigint":
      return plainNumber(value);
    case "undefined":
      return { [UNDEFINED]: true };
    case "object":
      return value === null ? null : plainObject(value, level);
    default:
      return value;
  }
};

/**
 * One text for one value: two values share it exactly when they are the same to a key. Dates keep their milliseconds,
 * `5` and `"5"` differ, and `5` and `5n` do not. Maps and Sets of ids, and whatever binds values, go by this text.
 */
export const exactText = (value: unknown): string => JSON.stringify(plainOf(value));

const valueOf = (plain: unknown): unknown => {
  if (typeof plain !== "object" || plain === null) return plain;
  if (DATE in plain) return new Date(plain[DATE] as number);
  return NUMBER in plain ? decodeNumber(plain[NUMBER] as string) : undefined;
};

/** The values of an id of which {@link exactText} made one text. */
export const readExactText = (text: string): readonly unknown[] => (JSON.parse(text) as readonly unknown[]).map(valueOf);
