import { encodeNumber } from "./number-text.ts";

const isNumeric = (value: unknown): boolean => typeof value === "number" || typeof value === "bigint";

/** Whether two values are one and the same to a key: dates by their time, numbers by their decimal. */
export const sameValue = (a: unknown, b: unknown): boolean => {
  if (a === b) return true;
  if (a instanceof Date) return b instanceof Date && a.getTime() === b.getTime();
  // DynamoDB's type N knows no bigint: 10n ** 20n and 1e20 are one value.
  return isNumeric(a) && isNumeric(b) && encodeNumber(a) === encodeNumber(b);
};
