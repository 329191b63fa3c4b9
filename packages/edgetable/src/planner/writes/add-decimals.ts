/** A decimal: `units` times ten to the power of `exponent`. */
interface Decimal {
  readonly units: bigint;
  readonly exponent: number;
}

// The shortest decimal of a number is what is sent for it.
const decimalOf = (value: number | bigint): Decimal => {
  const [digits = "", power = "0"] = String(value).split("e");
  const point = digits.indexOf(".");
  const fraction = point < 0 ? 0 : digits.length - point - 1;
  return { units: BigInt(digits.replace(".", "")), exponent: Number(power) - fraction };
};

const unitsAt = ({ units, exponent }: Decimal, scale: number): bigint => units * 10n ** BigInt(exponent - scale);

const valueOf = (units: bigint, scale: number): number | bigint => {
  const whole = scale === 0 ? units : units / 10n ** BigInt(-scale);
  if (scale < 0 && whole * 10n ** BigInt(-scale) !== units) return Number(`${units}e${scale}`);
  return Number.isSafeInteger(Number(whole)) ? Number(whole) : whole;
};

/** The sum as DynamoDB's ADD makes it, of decimals: 0.1 and 0.2 are 0.3, and beyond 2^53 no unit is lost. */
export const addDecimals = (a: number | bigint, b: number | bigint): number | bigint => {
  if (Number.isSafeInteger(a) && Number.isSafeInteger(b)) {
    const sum = (a as number) + (b as number);
    if (Number.isSafeInteger(sum)) return sum;
  }
  const [one, other] = [decimalOf(a), decimalOf(b)];
  const scale = Math.min(one.exponent, other.exponent, 0);
  return valueOf(unitsAt(one, scale) + unitsAt(other, scale), scale);
};
