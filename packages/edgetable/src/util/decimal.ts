// A decimal is the text of a number as DynamoDB stores it, of up to 38 digits. A double holds 17 of them.

/** A decimal as a whole number and a power of ten. */
export interface Decimal {
  readonly units: bigint;
  /** `units` times ten to the power of `exponent`. */
  readonly exponent: number;
}

/** Reads a decimal, in whatever notation. */
export const parseDecimal = (text: string): Decimal => {
  const [digits = "", power = "0"] = text.toLowerCase().split("e");
  const point = digits.indexOf(".");
  const fraction = point < 0 ? 0 : digits.length - point - 1;
  return { units: BigInt(digits.replace(".", "")), exponent: Number(power) - fraction };
};

// The sum of two such numbers is a safe integer.
const isShort = (text: string): boolean => /^-?\d{1,15}$/.test(text);

/** The exact sum, as DynamoDB's ADD computes it: without an exponent, and without zeros at its end. */
export const addDecimals = (a: string, b: string): string => {
  if (isShort(a) && isShort(b)) return String(Number(a) + Number(b));
  const [one, other] = [parseDecimal(a), parseDecimal(b)];
  const exponent = Math.min(one.exponent, other.exponent);
  const scaled = ({ units, exponent: of }: Decimal): bigint => units * 10n ** BigInt(of - exponent);
  const units = scaled(one) + scaled(other);

  if (exponent >= 0) return String(units * 10n ** BigInt(exponent));
  const sign = units < 0n ? "-" : "";
  const digits = String(units < 0n ? -units : units).padStart(1 - exponent, "0");
  const fraction = digits.slice(exponent).replace(/0+$/, "");
  return `${sign}${digits.slice(0, exponent)}${fraction === "" ? "" : `.${fraction}`}`;
};

/** The decimal with the other sign. */
export const negateDecimal = (text: string): string => (text.startsWith("-") ? text.slice(1) : text === "0" ? text : `-${text}`);

/** True if two decimals are the same number, in whatever notation. */
export const sameDecimals = (a: string, b: string): boolean => a === b || addDecimals(a, "0") === addDecimals(b, "0");

/**
 * A stored number as rows hold it. One that a double cannot hold is a bigint if it is whole; a fraction is rounded, as every
 * JavaScript client rounds it.
 */
export const readDecimal = (text: string): number | bigint => {
  const value = Number(text);
  return Number.isSafeInteger(value) || !/^-?\d+$/.test(text) ? value : BigInt(text);
};
