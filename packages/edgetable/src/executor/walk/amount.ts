/** A count or a sum: whole numbers stay exact, beyond 2^53 as bigint. */
export type Amount = number | bigint;

const isWhole = (value: Amount): boolean => typeof value === "bigint" || Number.isInteger(value);

/** One operation, on either kind of number. */
interface Arithmetic {
  readonly plain: (a: number, b: number) => number;
  readonly big: (a: bigint, b: bigint) => bigint;
}

// A fraction has no exact sum with a bigint; a double is what any client would give.
const combine = (a: Amount, b: Amount, { plain, big }: Arithmetic): Amount => {
  if (typeof a === "number" && typeof b === "number") {
    const value = plain(a, b);
    if (Number.isSafeInteger(value) || !isWhole(a) || !isWhole(b)) return value;
  }
  return isWhole(a) && isWhole(b) ? big(BigInt(a), BigInt(b)) : plain(Number(a), Number(b));
};

const addition: Arithmetic = { plain: (x, y) => x + y, big: (x, y) => x + y };
const multiplication: Arithmetic = { plain: (x, y) => x * y, big: (x, y) => x * y };

export const add = (a: Amount, b: Amount): Amount => combine(a, b, addition);

export const times = (a: Amount, b: Amount): Amount => combine(a, b, multiplication);

export const isAmount = (value: unknown): value is Amount => typeof value === "number" || typeof value === "bigint";
