import { type Refusal, refusal } from "./field-format.ts";

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
export const isStorable = (value: bigint): boolean => {
  const digits = String(value < 0n ? -value : value);
  return digits.length <= MOST_PLACES && digits.replace(/0+$/, "").length <= MOST_DIGITS;
};

/** Says of an integer why DynamoDB does not hold it. */
export const notStorable: Refusal = refusal(
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
