import { EdgetableError } from "../errors/edgetable-error.ts";
import { addDecimals, parseDecimal } from "../util/decimal.ts";
import { own, type Row } from "../util/row.ts";

/** A count or a sum: whole numbers stay exact, beyond 2^53 as bigint. */
export type Amount = number | bigint;

const isWhole = (value: Amount): boolean => typeof value === "bigint" || Number.isInteger(value);

// Fractions are added as decimals, as DynamoDB adds them: 0.1 and 0.2 are 0.3. A kept and a counted sum are equal, in any order of
// addition, as long as a double can represent its digits (at least 15).
export const add = (a: Amount, b: Amount): Amount => {
  if (!isWhole(a) || !isWhole(b)) return Number(addDecimals(String(a), String(b)));
  const sum = typeof a === "number" && typeof b === "number" ? a + b : undefined;
  return Number.isSafeInteger(sum) ? sum! : BigInt(a) + BigInt(b);
};

export const times = (a: Amount, b: Amount): Amount => {
  if (!isWhole(a) || !isWhole(b)) {
    const [one, other] = [parseDecimal(String(a)), parseDecimal(String(b))];
    return Number(`${one.units * other.units}e${one.exponent + other.exponent}`);
  }
  const product = typeof a === "number" && typeof b === "number" ? a * b : undefined;
  return Number.isSafeInteger(product) ? product! : BigInt(a) * BigInt(b);
};

/**
 * The number that a row adds to a sum, minimum or maximum; undefined if the attribute is absent or null.
 *
 * @throws {plan.invalidOption} if the attribute has a value of another type
 */
export const amountIn = (row: Row, attribute: string): Amount | undefined => {
  const value = own(row, attribute);
  if (value === undefined || value === null) return undefined;
  if (typeof value === "number" || typeof value === "bigint") return value;
  throw new EdgetableError("plan.invalidOption", `"${attribute}" is not a number in every row. Use an attribute that holds only numbers.`, {
    details: { attribute, value },
  });
};
