// The texts of single values in keys, including shards, and comparisons of values and keys.
import { isNumber, type Row } from "../util/row.ts";
import { type KeyDialect, type Refusal, refusal } from "./key-template.ts";

/**
 * The value of a template's field in a row; undefined if a step is missing or the value is null.
 *
 * @param steps the field's path, split at its dots
 */
export const fieldValue = (row: Row, steps: readonly string[]): unknown => {
  let value: unknown = row;
  for (const step of steps) {
    if (typeof value !== "object" || value === null) return undefined;
    value = (value as Row)[step];
  }
  return value ?? undefined;
};

// Everything up to "$" is escaped, so each written character sorts above every delimiter ("!" to "#").
const HIGHEST_ESCAPED = 0x24;
// "$" + "0".."T" for the codes 0x00..0x24: keeps their order, and needs no escaping itself.
const SHIFT = 0x30;
const NEEDS_CARE = /[\u0000-\u0024\ud800-\udfff]/;

/** Of ECMAScript 2024; Node has it since 20.0. */
interface UnicodeText {
  isWellFormed(): boolean;
}

/** True if the text survives UTF-8: a surrogate without its partner does not. */
export const isWellFormed = (text: string): boolean => (text as unknown as UnicodeText).isWellFormed();

const notUnicode: Refusal = refusal(
  "keys.notEncodable",
  "contains half of a surrogate pair, which UTF-8 cannot store",
  "Repair the text with toWellFormed() before it becomes part of a key.",
);

/** Writes a text. In a dialect with escapes, the result contains nothing that sorts below `$`. */
export const encodeText = (text: string, dialect: KeyDialect): string | Refusal => {
  if (!dialect.escapes) return isWellFormed(text) ? text : notUnicode;
  if (!NEEDS_CARE.test(text)) return text;
  if (!isWellFormed(text)) return notUnicode;
  let escaped = "";
  let from = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code > HIGHEST_ESCAPED) continue;
    escaped += text.slice(from, at) + "$" + String.fromCharCode(code + SHIFT);
    from = at + 1;
  }
  return escaped + text.slice(from);
};

/** Reads what {@link encodeText} wrote; undefined for any other text. */
export const decodeText = (text: string, dialect: KeyDialect): string | undefined => {
  if (!dialect.escapes) return isWellFormed(text) ? text : undefined;
  if (!NEEDS_CARE.test(text)) return text;
  if (!isWellFormed(text)) return undefined;
  let plain = "";
  let from = 0;
  for (let at = 0; at < text.length; at++) {
    if (text.charCodeAt(at) > HIGHEST_ESCAPED) continue;
    const code = text.charCodeAt(at + 1) - SHIFT;
    if (text[at] !== "$" || !(code >= 0 && code <= HIGHEST_ESCAPED)) return undefined;
    plain += text.slice(from, at) + String.fromCharCode(code);
    from = at + 2;
    at++;
  }
  return plain + text.slice(from);
};

const ISO_LENGTH = "0000-00-00T00:00:00.000Z".length;

/** Writes a `Date` of the years 0000 to 9999 as ISO 8601 in UTC with milliseconds. */
export const encodeDate = (value: unknown): string | Refusal => {
  if (!(value instanceof Date))
    return refusal("keys.wrongType", "is not a Date", "Give a Date, or write {field:text} for dates kept as text.");
  if (Number.isNaN(value.getTime())) return refusal("keys.notEncodable", "is an invalid Date", "Give a valid Date.");
  const text = value.toISOString();
  // Other years carry a sign and six digits, which do not sort with the rest.
  if (text.length === ISO_LENGTH) return text;
  return refusal("keys.notEncodable", "is outside the years 0000 to 9999", "Give a Date within these years.");
};

/** "Nested attribute depth: up to 32 levels", ServiceQuotas; the attribute itself is the first. */
export const MOST_LEVELS = 32;

// From 1e-130 to 9.99e125, with 38 digits ("Supported data types and naming rules", Number).
const isInRange = (value: number | bigint): boolean => {
  const size = Math.abs(Number(value));
  return size < 1e126 && (size >= 1e-130 || size === 0) && (typeof value === "number" || /^-?\d{1,38}0*$/.test(String(value)));
};

/** Describes a number, text or `Date` that cannot be stored, such as "the number NaN"; undefined for any other value. */
export const unstorable = (value: unknown): string | undefined => {
  if (isNumber(value)) return isInRange(value) ? undefined : `the number ${value}`;
  if (typeof value === "string") return isWellFormed(value) ? undefined : "text with half of a surrogate pair";
  if (!(value instanceof Date)) return undefined;
  return Number.isNaN(value.getTime())
    ? "an invalid Date"
    : typeof encodeDate(value) === "string"
      ? undefined
      : "a Date outside the years 0000 to 9999";
};

/** Reads what {@link encodeDate} wrote; undefined for any other text. */
export const decodeDate = (text: string): Date | undefined => {
  if (text.length !== ISO_LENGTH) return undefined;
  const date = new Date(text);
  return !Number.isNaN(date.getTime()) && date.toISOString() === text ? date : undefined;
};

// A number's text is a bijection of its decimal value, the decimal that DynamoDB's type N stores. It consists of letters and
// digits, which no dialect needs to escape:
//   negative  n, 999 - exponent, digits each subtracted from 9, z     -42   -> n49857z
//   zero      o                                                        0    -> o
//   positive  p, exponent, digits without trailing zeros               42   -> p50142
// The z sorts above every digit: without it, -4 would be a prefix of -4.2, which it is greater than.
const exponentBias = 500;
// "Up to 38 digits of precision", up to 9.99…e125, ServiceQuotas: an integer of 126 digits whose last ones are zeros.
const MAX_DIGITS = 38;
const MAX_PLACES = 126;
const NUMBER_TEXT = /^(?:p\d{4,}|n\d{4,}z)$/;

const complement = (digits: string): string => {
  let result = "";
  for (let at = 0; at < digits.length; at++) result += String.fromCharCode(0x69 - digits.charCodeAt(at)); // "0" + "9" = 0x69
  return result;
};

const assemble = (negative: boolean, exponent: number, digits: string): string => {
  const text = String(exponentBias + exponent) + digits;
  return negative ? `n${complement(text)}z` : `p${text}`;
};

const numberText = (value: number): string => {
  if (value === 0) return "o";
  // Without an argument toExponential gives the shortest digits that read back as the same number.
  const text = Math.abs(value).toExponential();
  const end = text.indexOf("e");
  return assemble(value < 0, Number(text.slice(end + 1)), text.slice(0, 1) + text.slice(2, end));
};

const bigintText = (value: bigint): string => {
  if (value === 0n) return "o";
  const negative = value < 0n;
  const digits = String(negative ? -value : value);
  return assemble(negative, digits.length - 1, digits.replace(/0+$/, ""));
};

// "up to 38 digits of precision", from 1E-130 to 9.9999999999999999999999999999999999999E+125, HowItWorks.NamingRulesDataTypes.
const leastExponent = -130;
const greatestExponent = 125;
const decimalShape = /^([-+]?)(\d*)\.?(\d*)(?:[eE]([-+]?\d+))?$/;

/** The text of a decimal in DynamoDB's notation (`-0.25`, `1E+3`). It sorts as the number does and keeps every digit. */
export const decimalText = (decimal: string): string => {
  const [, sign, whole = "", fraction = "", power = "0"] = decimalShape.exec(decimal) ?? [];
  const all = whole + fraction;
  const digits = all.replace(/^0+/, "");
  if (digits === "") return "o";
  const exponent = whole.length - (all.length - digits.length) - 1 + Number(power);
  return assemble(sign === "-", exponent, digits.replace(/0+$/, ""));
};

/** Reads what {@link decimalText} wrote, in the notation in which DynamoDB returns numbers. */
export const decimalOf = (text: string): string => {
  if (text === "o") return "0";
  const negative = text.startsWith("n");
  const body = negative ? complement(text.slice(1, -1)) : text.slice(1);
  const exponent = Number(body.slice(0, 3)) - exponentBias;
  const digits = body.slice(3);
  const point = exponent + 1;
  const magnitude =
    point <= 0
      ? `0.${"0".repeat(-point)}${digits}`
      : digits.length <= point
        ? digits.padEnd(point, "0")
        : `${digits.slice(0, point)}.${digits.slice(point)}`;
  return negative ? `-${magnitude}` : magnitude;
};

/** Writes a number for a key attribute of type N. */
export const encodeStoredNumber = (value: unknown): string | Refusal => {
  const text = encodeNumber(value);
  if (typeof text !== "string" || text === "o") return text;
  const exponent = Number(text.startsWith("n") ? complement(text.slice(1, 4)) : text.slice(1, 4)) - exponentBias;
  if (exponent >= leastExponent && exponent <= greatestExponent) return text;
  return refusal("keys.notEncodable", "is outside the range of DynamoDB's numbers, 1E-130 to 1E+126", "Give a number within it.");
};

/** True if DynamoDB stores an integer exactly: up to 126 digits, all zeros after the first 38. */
const isStorable = (value: bigint): boolean => {
  const digits = String(value < 0n ? -value : value);
  return digits.length <= MAX_PLACES && digits.replace(/0+$/, "").length <= MAX_DIGITS;
};

/** The reason why DynamoDB cannot store an integer exactly. */
const notStorable: Refusal = refusal(
  "keys.notEncodable",
  `has more than ${MAX_DIGITS} significant digits, or more than ${MAX_PLACES} in all`,
  "DynamoDB does not store more: store it as text.",
);

/** Writes any finite number, or any bigint that DynamoDB can store, in one common order. */
export const encodeNumber = (value: unknown): string | Refusal => {
  if (typeof value === "number" && Number.isFinite(value)) return numberText(value);
  if (typeof value === "number") return refusal("keys.notEncodable", "is not a finite number", "Give a finite number.");
  if (typeof value !== "bigint") return refusal("keys.wrongType", "is not a number", "Give a number or a bigint.");
  return isStorable(value) ? bigintText(value) : notStorable;
};

/**
 * Reads what {@link encodeNumber} wrote: the number with this shortest decimal, else a bigint, for an integer that needs more
 * digits than a number has. Undefined for any other text. Writing the value again gives the same text, but a bigint that
 * equals a number reads as that number.
 */
export const decodeNumber = (text: string): number | bigint | undefined => {
  if (text === "o") return 0;
  if (!NUMBER_TEXT.test(text)) return undefined;
  const negative = text.startsWith("n");
  const body = negative ? complement(text.slice(1, -1)) : text.slice(1);
  const exponent = Number(body.slice(0, 3)) - exponentBias;
  const digits = body.slice(3);
  const number = Number(`${negative ? "-" : ""}${digits.slice(0, 1)}.${digits.slice(1)}e${exponent}`);
  if (Number.isFinite(number) && numberText(number) === text) return number;
  if (exponent < digits.length - 1 || exponent >= MAX_PLACES || digits.length > MAX_DIGITS) return undefined;
  const exact = BigInt(digits.padEnd(exponent + 1, "0"));
  const signed = negative ? -exact : exact;
  return bigintText(signed) === text ? signed : undefined;
};

const DIGITS = /^\d+$/;
const PLAIN_INTEGER = /^(?:0|-?[1-9]\d*)$/;

const notInteger = (value: unknown): Refusal => {
  if (!isNumber(value)) return refusal("keys.wrongType", "is not an integer", "Give an integer.");
  return refusal("keys.notEncodable", "is not a safe integer", "Give an integer up to 2^53 - 1, or write {field:number}.");
};

/** Writes an integer from 0 to 2^53 - 1 in exactly `width` digits. */
export const encodePadded = (value: unknown, width: number): string | Refusal => {
  const number = typeof value === "bigint" ? Number(value) : value;
  if (typeof number !== "number" || !Number.isSafeInteger(number)) return notInteger(value);
  if (number < 0) return refusal("keys.notEncodable", "is negative, which zero padding cannot order", "Write {field:number}.");
  const text = String(number);
  if (text.length <= width) return text.padStart(width, "0");
  return refusal("keys.notEncodable", `has more than ${width} digits`, "Widen the padding, or write {field:number}.");
};

/** Reads what {@link encodePadded} wrote; undefined for any other text. */
export const decodePadded = (text: string, width: number): number | undefined => {
  if (text.length !== width || !DIGITS.test(text)) return undefined;
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : undefined;
};

/** Writes a safe integer, or a bigint that DynamoDB can store, as a plain decimal. */
export const encodePlain = (value: unknown): string | Refusal => {
  if (typeof value !== "bigint") return Number.isSafeInteger(value) ? String(value) : notInteger(value);
  return isStorable(value) ? String(value) : notStorable;
};

/** Reads what {@link encodePlain} wrote: a number if it is safe, else a bigint. */
export const decodePlain = (text: string): number | bigint | undefined => {
  if (text.length > 127 || !PLAIN_INTEGER.test(text)) return undefined;
  const number = Number(text);
  if (Number.isSafeInteger(number)) return number;
  const integer = BigInt(text);
  return isStorable(integer) ? integer : undefined;
};

const SHARD_TEXT = /^(?:0|[1-9]\d{0,4})$/;

// FNV-1a, 32 bit, over the UTF-8 of a text: http://www.isthe.com/chongo/tech/comp/fnv/ (offset basis and prime).
const absorb = (hash: number, byte: number): number => Math.imul(hash ^ byte, 0x01000193);

const hashText = (text: string): number => {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) {
    const code = text.codePointAt(at) ?? 0;
    if (code < 0x80) {
      hash = absorb(hash, code);
      continue;
    }
    if (code < 0x800) hash = absorb(hash, 0xc0 | (code >> 6));
    else {
      if (code < 0x10000) hash = absorb(hash, 0xe0 | (code >> 12));
      else {
        at++;
        hash = absorb(absorb(hash, 0xf0 | (code >> 18)), 0x80 | ((code >> 12) & 0x3f));
      }
      hash = absorb(hash, 0x80 | ((code >> 6) & 0x3f));
    }
    hash = absorb(hash, 0x80 | (code & 0x3f));
  }
  // MurmurHash3's final mix: FNV's low bits alone are uneven, and a modulo of 16 uses only those.
  let mixed = hash ^ (hash >>> 16);
  mixed = Math.imul(mixed, 0x85ebca6b);
  mixed ^= mixed >>> 13;
  mixed = Math.imul(mixed, 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
};

const hashedText = (value: unknown): string | Refusal => {
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "bigint") return encodeNumber(value);
  if (typeof value === "boolean") return String(value);
  if (value instanceof Date) return encodeDate(value);
  return refusal("keys.wrongType", "has no text to take a shard from", "Give a text, number, boolean or Date.");
};

/**
 * The shard of a value, 0 to `count - 1`, as plain text: FNV-1a over the UTF-8 of its text, mixed, modulo `count`. Stored keys
 * depend on it, so it never changes. It is not padded, so a shard's name does not depend on the count: when the count grows, an
 * item with the same number need not move.
 */
export const encodeShard = (value: unknown, count: number): string | Refusal => {
  const text = hashedText(value);
  return typeof text === "string" ? String(hashText(text) % count) : text;
};

/** The shard's number; undefined if the text is not one of `count` shards. */
export const decodeShard = (text: string, count: number): number | undefined => {
  if (!SHARD_TEXT.test(text)) return undefined;
  const shard = Number(text);
  return shard < count ? shard : undefined;
};

// UTF-16 sorts U+E000..U+FFFF above the surrogates of U+10000 and above; UTF-8 does not.
const rank = (unit: number): number => {
  if (unit < 0xd800) return unit;
  return unit >= 0xe000 ? unit - 0x800 : unit + 0x2000;
};

/** Compares two keys as DynamoDB does, by the bytes of their UTF-8: negative, 0 or positive. */
export const comparePrimary = (a: string, b: string): number => {
  if (a === b) return 0;
  const shared = Math.min(a.length, b.length);
  for (let at = 0; at < shared; at++) {
    const left = a.charCodeAt(at);
    const right = b.charCodeAt(at);
    if (left !== right) return rank(left) - rank(right);
  }
  return a.length - b.length;
};

/** The length of a key in bytes of UTF-8, as DynamoDB counts it. */
export const keyBytes = (text: string): number => {
  let bytes = text.length;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 0x80) continue;
    // Each half of a pair adds one byte to its unit: 2 units make 4 bytes.
    bytes += unit < 0x800 || (unit >= 0xd800 && unit < 0xe000) ? 1 : 2;
  }
  return bytes;
};

/** True if two values are the same in a key: dates by their time, numbers by their decimal. */
export const sameValue = (a: unknown, b: unknown): boolean => {
  if (a === b) return true;
  if (a instanceof Date) return b instanceof Date && a.getTime() === b.getTime();
  // DynamoDB's type N does not distinguish bigints: 10n ** 20n and 1e20 are one value.
  return isNumber(a) && isNumber(b) && encodeNumber(a) === encodeNumber(b);
};

// Marks for values that JSON cannot express. If a member name begins with the same character, another one is added before it.
const MARK = "~";
const DATE = "~date";
const NUMBER = "~number";
const SET = "~set";
const BYTES = "~bytes";
const UNDEFINED = "~undefined";

// DynamoDB stores up to 32 levels (ServiceQuotas). The limit also ends circular values.
const MAX_LEVELS = 40;

const toPlain = (value: unknown, level = 0): unknown => {
  if (isNumber(value)) {
    const number = Number(value);
    if (Number.isSafeInteger(number) || (typeof value === "number" && Number.isFinite(value) && !Number.isInteger(value))) return number;
    const text = encodeNumber(value);
    return { [NUMBER]: typeof text === "string" ? text : `${value}` };
  }
  if (value === undefined) return { [UNDEFINED]: true };
  if (typeof value !== "object" || value === null) return value;
  if (level > MAX_LEVELS) return "deeper";
  if (Array.isArray(value)) return value.map((one) => toPlain(one, level + 1));
  if (value instanceof Date) return { [DATE]: value.getTime() };
  if (value instanceof Set) return { [SET]: [...value].map((one) => toPlain(one, level + 1)) };
  if (value instanceof Uint8Array) return { [BYTES]: [...value] };
  const members: [string, unknown][] = [];
  for (const [name, member] of Object.entries(value))
    if (member !== undefined) members.push([name.startsWith(MARK) ? MARK + name : name, toPlain(member, level + 1)]);
  return Object.fromEntries(members);
};

/**
 * A text that identifies a value: two values have the same text exactly if they are the same in a key. Dates keep their
 * milliseconds; `5` and `"5"` differ; `5` and `5n` do not. Use it for Maps and Sets of ids and to bind values.
 */
export const exactText = (value: unknown): string => JSON.stringify(toPlain(value));

/** Reads the values of an id back from its {@link exactText}. */
export const readExactText = (text: string): readonly unknown[] =>
  (JSON.parse(text) as readonly unknown[]).map((plain) => {
    if (typeof plain !== "object" || plain === null) return plain;
    if (DATE in plain) return new Date(plain[DATE] as number);
    return NUMBER in plain ? decodeNumber(plain[NUMBER] as string) : undefined;
  });
