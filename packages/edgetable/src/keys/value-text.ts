import { isNumber } from "../util/json-text.ts";
import { type KeyDialect, type Refusal, refusal } from "./key-template.ts";

// Everything up to "$" is escaped, so each written character sorts above every delimiter ("!" to "#").
const highestEscaped = 0x24;
// "$" + "0".."T" for the codes 0x00..0x24: keeps their order, and needs no escaping itself.
const shift = 0x30;
const needsCare = /[\u0000-\u0024\ud800-\udfff]/;

/** Of ECMAScript 2024; Node has it since 20.0. */
interface UnicodeText {
  isWellFormed(): boolean;
}

/** Whether the text survives UTF-8: a surrogate without its partner does not. */
export const isWellFormed = (text: string): boolean => (text as unknown as UnicodeText).isWellFormed();

const notUnicode: Refusal = refusal(
  "keys.notEncodable",
  "holds half of a surrogate pair, which UTF-8 cannot store",
  "Repair the text with its toWellFormed() before it becomes part of a key.",
);

const escape = (text: string): string => {
  let escaped = "";
  let from = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code > highestEscaped) continue;
    escaped += text.slice(from, at) + "$" + String.fromCharCode(code + shift);
    from = at + 1;
  }
  return escaped + text.slice(from);
};

const unescape = (text: string): string | undefined => {
  let plain = "";
  let from = 0;
  for (let at = 0; at < text.length; at++) {
    if (text.charCodeAt(at) > highestEscaped) continue;
    const code = text.charCodeAt(at + 1) - shift;
    if (text[at] !== "$" || !(code >= 0 && code <= highestEscaped)) return undefined;
    plain += text.slice(from, at) + String.fromCharCode(code);
    from = at + 2;
    at++;
  }
  return plain + text.slice(from);
};

/** Writes a text; in a dialect that escapes, the result holds nothing that sorts below `$`. */
export const encodeText = (text: string, dialect: KeyDialect): string | Refusal => {
  if (!dialect.escapes) return isWellFormed(text) ? text : notUnicode;
  if (!needsCare.test(text)) return text;
  return isWellFormed(text) ? escape(text) : notUnicode;
};

/** Reads what {@link encodeText} wrote; undefined when it did not write this. */
export const decodeText = (text: string, dialect: KeyDialect): string | undefined => {
  if (!dialect.escapes) return isWellFormed(text) ? text : undefined;
  if (!needsCare.test(text)) return text;
  return isWellFormed(text) ? unescape(text) : undefined;
};

const isoLength = "0000-00-00T00:00:00.000Z".length;

/** Writes a `Date` of the years 0000 to 9999 as ISO 8601 in UTC with milliseconds. */
export const encodeDate = (value: unknown): string | Refusal => {
  if (!(value instanceof Date))
    return refusal("keys.wrongType", "is not a Date", "Give a Date, or write {field:text} for dates kept as text.");
  if (Number.isNaN(value.getTime())) return refusal("keys.notEncodable", "is an invalid Date", "Give a valid Date.");
  const text = value.toISOString();
  // Other years carry a sign and six digits, which do not sort with the rest.
  if (text.length === isoLength) return text;
  return refusal("keys.notEncodable", "is outside the years 0000 to 9999", "Give a Date within these years.");
};

/** Reads what {@link encodeDate} wrote; undefined when it did not write this. */
export const decodeDate = (text: string): Date | undefined => {
  if (text.length !== isoLength) return undefined;
  const date = new Date(text);
  return !Number.isNaN(date.getTime()) && date.toISOString() === text ? date : undefined;
};

// The text of a number is a bijection of its decimal value, the same decimal that DynamoDB's type N
// holds. Only letters and digits, so that no dialect needs to escape it:
//   negative  n, 999 - exponent, digits each subtracted from 9, z     -42   -> n49857z
//   zero      o                                                        0    -> o
//   positive  p, exponent, digits without trailing zeros               42   -> p50142
// The z sorts above every digit: -4 is greater than -4.2, of which it would else be a prefix.
const exponentBias = 500;
// "Up to 38 digits of precision", up to 9.99…e125, ServiceQuotas: an integer of 126 digits whose last ones are zeros.
const MOST_DIGITS = 38;
const MOST_PLACES = 126;
const shape = /^(?:p\d{4,}|n\d{4,}z)$/;

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

/** The text of a decimal as DynamoDB writes a number (`-0.25`, `1E+3`): it sorts as the number does, and keeps every digit. */
export const decimalText = (decimal: string): string => {
  const [, sign, whole = "", fraction = "", power = "0"] = decimalShape.exec(decimal) ?? [];
  const all = whole + fraction;
  const digits = all.replace(/^0+/, "");
  if (digits === "") return "o";
  const exponent = whole.length - (all.length - digits.length) - 1 + Number(power);
  return assemble(sign === "-", exponent, digits.replace(/0+$/, ""));
};

/** The decimal that {@link decimalText} wrote, in the notation in which DynamoDB gives numbers back. */
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

/** Writes a number that a key attribute of type N can hold. */
export const encodeStoredNumber = (value: unknown): string | Refusal => {
  const text = encodeNumber(value);
  if (typeof text !== "string" || text === "o") return text;
  const exponent = Number(text.startsWith("n") ? complement(text.slice(1, 4)) : text.slice(1, 4)) - exponentBias;
  if (exponent >= leastExponent && exponent <= greatestExponent) return text;
  return refusal("keys.notEncodable", "is outside the range of DynamoDB's numbers, 1E-130 to 1E+126", "Give a number within it.");
};

/** Whether DynamoDB holds an integer exactly: 126 digits at most, of which zeros follow the first 38. */
const isStorable = (value: bigint): boolean => {
  const digits = String(value < 0n ? -value : value);
  return digits.length <= MOST_PLACES && digits.replace(/0+$/, "").length <= MOST_DIGITS;
};

/** Says of an integer why DynamoDB does not hold it. */
const notStorable: Refusal = refusal(
  "keys.notEncodable",
  `has more than ${MOST_DIGITS} significant digits, or more than ${MOST_PLACES} in all`,
  "DynamoDB keeps no more: store it as text.",
);

/** Writes any finite number, or any integer that DynamoDB holds; order-preserving, also across the two. */
export const encodeNumber = (value: unknown): string | Refusal => {
  if (typeof value === "number" && Number.isFinite(value)) return numberText(value);
  if (typeof value === "number") return refusal("keys.notEncodable", "is not a finite number", "Give a finite number.");
  if (typeof value !== "bigint") return refusal("keys.wrongType", "is not a number", "Give a number or a bigint.");
  return isStorable(value) ? bigintText(value) : notStorable;
};

const exactBigint = (digits: string, exponent: number): bigint | undefined => {
  if (exponent < digits.length - 1 || exponent >= MOST_PLACES || digits.length > MOST_DIGITS) return undefined;
  return BigInt(digits.padEnd(exponent + 1, "0"));
};

/**
 * Reads what {@link encodeNumber} wrote: the number whose shortest decimal this is, else (an integer
 * that needs more digits than a number has) a bigint; undefined when it did not write this. Writing
 * what was read gives the same text again, but a bigint that a number can stand for reads as number.
 */
export const decodeNumber = (text: string): number | bigint | undefined => {
  if (text === "o") return 0;
  if (!shape.test(text)) return undefined;
  const negative = text.startsWith("n");
  const body = negative ? complement(text.slice(1, -1)) : text.slice(1);
  const exponent = Number(body.slice(0, 3)) - exponentBias;
  const digits = body.slice(3);
  const number = Number(`${negative ? "-" : ""}${digits.slice(0, 1)}.${digits.slice(1)}e${exponent}`);
  if (Number.isFinite(number) && numberText(number) === text) return number;
  const exact = exactBigint(digits, exponent);
  if (exact === undefined) return undefined;
  const signed = negative ? -exact : exact;
  return bigintText(signed) === text ? signed : undefined;
};

const digitsOnly = /^\d+$/;
const plainShape = /^(?:0|-?[1-9]\d*)$/;

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

/** Reads what {@link encodePadded} wrote; undefined when it did not write this. */
export const decodePadded = (text: string, width: number): number | undefined => {
  if (text.length !== width || !digitsOnly.test(text)) return undefined;
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : undefined;
};

/** Writes a safe integer, or a bigint that DynamoDB holds, as a plain decimal. */
export const encodePlain = (value: unknown): string | Refusal => {
  if (typeof value !== "bigint") return Number.isSafeInteger(value) ? String(value) : notInteger(value);
  return isStorable(value) ? String(value) : notStorable;
};

/** Reads what {@link encodePlain} wrote: a number when it is safe, else a bigint. */
export const decodePlain = (text: string): number | bigint | undefined => {
  if (text.length > 127 || !plainShape.test(text)) return undefined;
  const number = Number(text);
  if (Number.isSafeInteger(number)) return number;
  const integer = BigInt(text);
  return isStorable(integer) ? integer : undefined;
};

// UTF-16 puts U+E000..U+FFFF above the surrogates that stand for U+10000 and more; UTF-8 does not.
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

const isNumeric = (value: unknown): boolean => typeof value === "number" || typeof value === "bigint";

/** Whether two values are one and the same to a key: dates by their time, numbers by their decimal. */
export const sameValue = (a: unknown, b: unknown): boolean => {
  if (a === b) return true;
  if (a instanceof Date) return b instanceof Date && a.getTime() === b.getTime();
  // DynamoDB's type N knows no bigint: 10n ** 20n and 1e20 are one value.
  return isNumeric(a) && isNumeric(b) && encodeNumber(a) === encodeNumber(b);
};

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
