import { visibleJson } from "./terminal.ts";

/** Attributes by name. */
export type Row = Readonly<Record<string, unknown>>;

/** True for a plain object: not a list, date or set. */
export const isRow = (value: unknown): value is Row =>
  typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;

const wrong = (): never => {
  throw new TypeError("not of this form");
};

/** Bytes of a text in base64, of which nothing is passed over. */
const bytesIn = (text: unknown): Uint8Array => {
  const bytes = typeof text === "string" ? Buffer.from(text, "base64") : wrong();
  const isWhole = bytes.toString("base64").replace(/=+$/, "") === String(text).replace(/=+$/, "");
  return isWhole ? new Uint8Array(bytes) : wrong();
};

const dateIn = (text: unknown): Date => {
  if (text === null) return new Date(Number.NaN);
  const date = typeof text === "string" ? new Date(text) : wrong();
  return Number.isNaN(date.getTime()) ? wrong() : date;
};

/** Forms of values that JSON lacks, with how to read them. */
const markers: Readonly<Record<string, (value: unknown) => unknown>> = {
  // A whole number of many digits is in this form by itself.
  $bigint: (text) => (typeof text === "bigint" || /^[+-]?\d+$/.test(String(text)) ? BigInt(text as string) : wrong()),
  $set: (members) => (Array.isArray(members) ? new Set(members) : wrong()),
  $bytes: bytesIn,
  $date: dateIn,
  $object: (entries) => Object.fromEntries(entries as readonly (readonly [string, unknown])[]),
};

/** True for an object that looks like one of the forms above. */
const looksMarked = (value: unknown): value is object => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const names = Object.keys(value);
  return names.length === 1 && names[0] !== undefined && Object.hasOwn(markers, names[0]);
};

// A Buffer has its own toJSON, so both replacers read the value from its holder.
function replacer(this: unknown, key: string, value: unknown): unknown {
  const own = (this as Row)[key];
  if (own instanceof Uint8Array) return { $bytes: Buffer.from(own.buffer, own.byteOffset, own.byteLength).toString("base64") };
  if (typeof value === "bigint") return { $bigint: String(value) };
  return value instanceof Set ? { $set: [...value] } : value;
}

function exactReplacer(this: unknown, key: string, value: unknown): unknown {
  const own = (this as Row)[key];
  if (own instanceof Date) return { $date: Number.isNaN(own.getTime()) ? null : own.toISOString() };
  return looksMarked(own) ? { $object: Object.entries(own) } : replacer.call(this, key, value);
}

/** JSON with `{"$bigint"}`, `{"$set"}` and `{"$bytes"}` (base64) for the values that JSON lacks. */
export const toJson = (value: unknown, indent = 0): string => visibleJson(JSON.stringify(value, replacer, indent) ?? "null");

/** JSON that {@link fromJson} reads back exactly: also with `{"$date"}`, and `{"$object"}` for objects that look like one of these forms. */
export const toExactJson = (value: unknown): string => visibleJson(JSON.stringify(value, exactReplacer) ?? "null");

// DynamoDB allows 32 levels; a row and the forms above add a few. The bound keeps the recursion from overflowing.
const MAX_DEPTH = 100;

/** True for a value that is nested more deeply than any value that can be stored. */
export const isTooDeep = (value: unknown, left: number = MAX_DEPTH): boolean =>
  typeof value === "object" && value !== null && (left === 0 || Object.values(value).some((inner) => isTooDeep(inner, left - 1)));

/** Replaces the forms above in a JSON value by their values, in place. @throws {SyntaxError} as {@link fromJson} */
export const revive = (value: unknown, left: number = MAX_DEPTH): unknown => {
  if (typeof value !== "object" || value === null) return value;
  if (left === 0) throw new SyntaxError(`it is nested more than ${MAX_DEPTH} levels deep; DynamoDB allows 32`);
  for (const [name, inner] of Object.entries(value)) {
    const revived = revive(inner, left - 1);
    // A member may be called __proto__, which cannot be assigned.
    if (revived !== inner) Object.defineProperty(value, name, { value: revived, writable: true, enumerable: true, configurable: true });
  }
  if (!looksMarked(value)) return value;
  const [[name, inner] = ["", undefined]] = Object.entries(value);
  try {
    return markers[name]?.(inner);
  } catch {
    throw new SyntaxError(`${toJson(value)} is not a valid ${name}`);
  }
};

/**
 * Whether a whole number is the same as a number: stored are the fewest digits that name a double, and 2^60, which a double
 * holds, is not 1152921504606847000.
 */
export const isExact = (whole: bigint): boolean => {
  const [mantissa = "", exponent] = String(Number(whole)).split("e+");
  if (exponent === undefined) return mantissa === String(whole);
  const [digits = "", decimals = ""] = mantissa.split(".");
  return BigInt(digits + decimals.padEnd(Number(exponent), "0")) === whole;
};

/** A number from its text, with all digits if it is whole. */
export const numberFrom = (text: string): number | bigint =>
  /^[+-]?\d{16,}$/.test(text) && !isExact(BigInt(text)) ? BigInt(text) : Number(text);

const LONG = /\d{16}/;
const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;

/** JSON whose whole numbers keep all their digits: those that a double would round are in the form `{"$bigint"}`. @throws {SyntaxError} */
export const parseJson = (text: string): unknown => {
  const value: unknown = JSON.parse(text);
  if (!LONG.test(text)) return value;
  return JSON.parse(text.replace(TOKEN, (token) => (typeof numberFrom(token) === "bigint" ? `{"$bigint":"${token}"}` : token)));
};

/** The inverse of {@link toJson} and {@link toExactJson}. @throws {SyntaxError} if it is not JSON, or one of the forms has an invalid value */
export const fromJson = (text: string): unknown => revive(parseJson(text));
