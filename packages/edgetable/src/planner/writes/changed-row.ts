import { EdgetableError } from "../../errors/edgetable-error.ts";
import type { Changes } from "../../ir/logical-write.ts";
import { isNumber } from "../../util/json-text.ts";
import { own, type Row } from "../../util/row.ts";

/** True if a change sets, removes, adds to or appends to a field. */
export const isChanged = ({ set, remove, add, append }: Changes, field: string): boolean =>
  field in set || remove.includes(field) || field in add || field in append;

// DynamoDB refuses these by the same code if the item need not be read first.
const rejectOperand = (field: string): never => {
  throw new EdgetableError("execute.rejected", `"${field}" holds a value of another type; overwrite it instead of using add or append.`, {
    details: { attribute: field },
  });
};

/** A decimal: `units` times ten to the power of `exponent`. */
interface Decimal {
  readonly units: bigint;
  readonly exponent: number;
}

// The shortest decimal of a number is what is sent for it.
const decimalOf = (value: number | bigint | string): Decimal => {
  const [digits = "", power = "0"] = String(value).toLowerCase().split("e");
  const point = digits.indexOf(".");
  const fraction = point < 0 ? 0 : digits.length - point - 1;
  return { units: BigInt(digits.replace(".", "")), exponent: Number(power) - fraction };
};

const sumOf = (one: Decimal, other: Decimal): Decimal => {
  const exponent = Math.min(one.exponent, other.exponent, 0);
  const scaled = ({ units, exponent: of }: Decimal): bigint => units * 10n ** BigInt(of - exponent);
  return { units: scaled(one) + scaled(other), exponent };
};

/** What a stored number is after an addition, as its text: a double would lose digits of it. */
export const addToStored = (stored: string, operand: number | bigint): string => {
  let { units, exponent } = sumOf(decimalOf(stored), decimalOf(operand));
  for (; exponent < 0 && units % 10n === 0n; exponent++) units /= 10n;
  return exponent === 0 ? String(units) : `${units}e${exponent}`;
};

/** The sum as DynamoDB's ADD makes it, of decimals: 0.1 and 0.2 are 0.3, and no unit is lost beyond 2^53. */
export const addDecimals = (a: number | bigint, b: number | bigint): number | bigint => {
  if (Number.isSafeInteger(a) && Number.isSafeInteger(b)) {
    const sum = (a as number) + (b as number);
    if (Number.isSafeInteger(sum)) return sum;
  }
  const { units, exponent } = sumOf(decimalOf(a), decimalOf(b));
  const unit = 10n ** BigInt(-exponent);
  const whole = units / unit;
  if (whole * unit !== units) return Number(`${units}e${exponent}`);
  return Number.isSafeInteger(Number(whole)) ? Number(whole) : whole;
};

const added = (field: string, before: unknown, operand: unknown): unknown => {
  if (operand instanceof Set) {
    const members = before instanceof Set ? before : before === undefined ? [] : rejectOperand(field);
    return new Set([...members, ...operand]);
  }
  const old = before === undefined ? 0 : before;
  return isNumber(old) ? addDecimals(old, operand as number | bigint) : rejectOperand(field);
};

/** The row after the changes. */
export const changedRow = (before: Row, changes: Changes): Row => {
  const row: Record<string, unknown> = Object.assign({}, before, changes.set);
  for (const field of changes.remove) delete row[field];
  for (const field in changes.add) row[field] = added(field, own(before, field), changes.add[field]);
  for (const field in changes.append) {
    const list = own(before, field) ?? [];
    row[field] = Array.isArray(list) ? [...(list as unknown[]), ...(changes.append[field] as unknown[])] : rejectOperand(field);
  }
  return row;
};

/** The changes with the old row at hand: what adds up becomes a plain value. */
export const resolvedChanges = (changes: Changes, after: Row): Changes => {
  const set: Record<string, unknown> = { ...changes.set };
  for (const field in changes.add) set[field] = after[field];
  for (const field in changes.append) set[field] = after[field];
  return { set, remove: changes.remove, add: {}, append: {} };
};
