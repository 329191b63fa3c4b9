import { type Refusal, refusal } from "./field-format.ts";

// The text of a number is a bijection of its decimal value, the same decimal that DynamoDB's type N
// holds. Only letters and digits, so that no dialect needs to escape it:
//   negative  n, 999 - exponent, digits each subtracted from 9, z     -42   -> n49857z
//   zero      o                                                        0    -> o
//   positive  p, exponent, digits without trailing zeros               42   -> p50142
// The z sorts above every digit: -4 is greater than -4.2, of which it would else be a prefix.
const exponentBias = 500;
const maximalBigintDigits = 38; // The precision of type N, ServiceQuotas.
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

/** Writes any finite number, or a bigint of up to 38 digits; order-preserving, also across the two. */
export const encodeNumber = (value: unknown): string | Refusal => {
  if (typeof value === "number" && Number.isFinite(value)) return numberText(value);
  if (typeof value === "number") return refusal("keys.notEncodable", "is not a finite number", "Give a finite number.");
  if (typeof value !== "bigint") return refusal("keys.wrongType", "is not a number", "Give a number or a bigint.");
  if (String(value).replace("-", "").length <= maximalBigintDigits) return bigintText(value);
  return refusal("keys.notEncodable", `has more than ${maximalBigintDigits} digits`, "DynamoDB keeps no more: store it as text.");
};

const exactBigint = (digits: string, exponent: number): bigint | undefined => {
  if (exponent < digits.length - 1 || exponent >= maximalBigintDigits) return undefined;
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
