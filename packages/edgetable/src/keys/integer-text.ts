import { isNumber } from "../util/is-number.ts";
import { type Refusal, refusal } from "./field-format.ts";
import { isStorable, notStorable } from "./number-text.ts";

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
