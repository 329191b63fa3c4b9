/** A count or a sum: whole numbers stay exact, beyond 2^53 as bigint. */
export type Amount = number | bigint;

const isWhole = (value: Amount): boolean => typeof value === "bigint" || Number.isInteger(value);

// A fraction has no exact sum with a bigint; a double is what any client would give.
const combine = (a: Amount, b: Amount, plain: (a: number, b: number) => number, big: (a: bigint, b: bigint) => bigint): Amount => {
  if (typeof a === "number" && typeof b === "number") {
    const value = plain(a, b);
    if (Number.isSafeInteger(value) || !isWhole(a) || !isWhole(b)) return value;
  }
  return isWhole(a) && isWhole(b) ? big(BigInt(a), BigInt(b)) : plain(Number(a), Number(b));
};

export const add = (a: Amount, b: Amount): Amount =>
  combine(
    a,
    b,
    (x, y) => x + y,
    (x, y) => x + y,
  );

export const times = (a: Amount, b: Amount): Amount =>
  combine(
    a,
    b,
    (x, y) => x * y,
    (x, y) => x * y,
  );

export const isAmount = (value: unknown): value is Amount => typeof value === "number" || typeof value === "bigint";
