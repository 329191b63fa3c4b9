import { EdgetableError } from "../errors/edgetable-error.ts";
import { own, type Row } from "../util/row.ts";

/** A count or a sum: whole numbers stay exact, beyond 2^53 as bigint. */
export type Amount = number | bigint;

const isWhole = (value: Amount): boolean => typeof value === "bigint" || Number.isInteger(value);

// A fraction has no exact sum with a bigint, so both become doubles.
export const add = (a: Amount, b: Amount): Amount => {
  if (typeof a === "number" && typeof b === "number") {
    const sum = a + b;
    if (Number.isSafeInteger(sum) || !isWhole(a) || !isWhole(b)) return sum;
  }
  return isWhole(a) && isWhole(b) ? BigInt(a) + BigInt(b) : Number(a) + Number(b);
};

export const times = (a: Amount, b: Amount): Amount => {
  if (typeof a === "number" && typeof b === "number") {
    const product = a * b;
    if (Number.isSafeInteger(product) || !isWhole(a) || !isWhole(b)) return product;
  }
  return isWhole(a) && isWhole(b) ? BigInt(a) * BigInt(b) : Number(a) * Number(b);
};

/**
 * The number that a row adds to a sum, minimum or maximum; undefined if the attribute is absent or null.
 *
 * @throws {plan.invalidOption} when the attribute has a value of another type
 */
export const amountIn = (row: Row, attribute: string): Amount | undefined => {
  const value = own(row, attribute);
  if (value === undefined || value === null) return undefined;
  if (typeof value === "number" || typeof value === "bigint") return value;
  throw new EdgetableError("plan.invalidOption", `"${attribute}" is not a number in every row. Use an attribute that holds only numbers.`, {
    details: { attribute, value },
  });
};
