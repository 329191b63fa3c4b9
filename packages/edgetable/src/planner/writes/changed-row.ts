import { EdgetableError } from "../../errors/edgetable-error.ts";
import type { Changes } from "../../ir/logical-write.ts";
import type { PathChange } from "../../schema/check-operands.ts";
import type { AttributePathChange, Term } from "../../ir/write-plan.ts";
import { defined } from "../../util/invariant.ts";
import { isNumber } from "../../util/json-text.ts";
import { own, type Row } from "../../util/row.ts";

/** How changes within attributes are planned. */
export interface PathRules {
  /**
   * The row after the changes.
   *
   * @throws {execute.rejected} for a path whose parent is missing or of another type
   */
  readonly apply: (before: Row, changes: readonly PathChange[]) => Row;
  /** The changes as the item takes them; `attributeOf` tells where it stores a field, if it does. */
  readonly encode: (changes: readonly PathChange[], attributeOf: (field: string) => string | undefined) => readonly AttributePathChange[];
  /** What must hold for DynamoDB to find the parents of the paths. */
  readonly terms: (changes: readonly AttributePathChange[]) => readonly Term[];
}

let loaded: PathRules | undefined;

/** Few programs change values within attributes: what plans it is loaded before the first of them. */
export const usePathRules = (rules: PathRules): void => {
  loaded = rules;
};

export const pathRules = (): PathRules => defined(loaded, "the rules of paths before a change by path is planned");

/** True if a change sets, removes, adds to or appends to a field, or to what lies within it. */
export const isChanged = ({ set, remove, add, append, paths }: Changes, field: string): boolean =>
  field in set || remove.includes(field) || field in add || field in append || (paths?.some(({ steps }) => steps[0] === field) ?? false);

// DynamoDB refuses these by the same code if the item need not be read first.
export const rejectOperand = (field: string): never => {
  throw new EdgetableError(
    "execute.rejected",
    `"${field}" holds a value of another type; overwrite it instead of using add, append or delete.`,
    {
      details: { attribute: field },
    },
  );
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

/** A value after an addition. */
export const added = (field: string, before: unknown, operand: unknown): unknown => {
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
  return changes.paths ? pathRules().apply(row, changes.paths) : row;
};

/** The changes with the old row at hand: what adds up becomes a plain value. */
export const resolvedChanges = (changes: Changes, after: Row): Changes => {
  const set: Record<string, unknown> = { ...changes.set };
  for (const field in changes.add) set[field] = after[field];
  for (const field in changes.append) set[field] = after[field];
  const remove = [...changes.remove];
  for (const { steps } of changes.paths ?? []) {
    if (after[steps[0]] !== undefined) set[steps[0]] = after[steps[0]];
    else if (!remove.includes(steps[0])) remove.push(steps[0]);
  }
  return { set, remove, add: {}, append: {} };
};
