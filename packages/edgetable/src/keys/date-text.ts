import { type Refusal, refusal } from "./field-format.ts";

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
