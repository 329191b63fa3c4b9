import { comparePrimary, sameValue } from "../keys/template.ts";
import { valueWithin } from "../schema/attribute-path.ts";
import { isNumber, valueAt } from "../util/row.ts";
import { type Condition, RANGES } from "./condition.ts";
import type { ComparisonOperator } from "../schema/comparisons.ts";

type Orderable = string | number | bigint;

/** The order of two values of one type: negative, 0 or positive; undefined where there is none. */
export const compareValues = (a: unknown, b: unknown): number | undefined => {
  if (typeof a === "string" && typeof b === "string") return comparePrimary(a, b);
  // A number may be read back as a bigint.
  if (isNumber(a) && isNumber(b)) return typeof a !== typeof b && sameValue(a, b) ? 0 : a < b ? -1 : a > b ? 1 : 0;
  if (a instanceof Date && b instanceof Date) return a.getTime() - b.getTime();
  return a instanceof Uint8Array && b instanceof Uint8Array ? Buffer.compare(a, b) : undefined;
};

const isIn = (value: unknown, members: Iterable<unknown>): boolean => [...members].some((member) => equal(member, value));

// Undefined members are not stored.
const membersOf = (value: object): readonly (readonly [string, unknown])[] =>
  Object.entries(value).filter(([, member]) => member !== undefined);

const equal = (a: unknown, b: unknown): boolean => {
  const order = compareValues(a, b);
  if (order !== undefined) return order === 0;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return a === b;
  if (a instanceof Uint8Array || b instanceof Uint8Array) return false;
  if (a instanceof Set || b instanceof Set)
    return a instanceof Set && b instanceof Set && a.size === b.size && [...a].every((member) => isIn(member, b));
  const [mine, others] = [membersOf(a), Object.fromEntries(membersOf(b))];
  return (
    Array.isArray(a) === Array.isArray(b) &&
    mine.length === Object.keys(others).length &&
    mine.every(([name, member]) => equal(member, others[name]))
  );
};

/** The distinct values of a list. */
export const distinctValues = (values: readonly unknown[]): readonly unknown[] =>
  values.filter((value, at) => !values.slice(0, at).some((other) => equal(other, value)));

const contains = (value: unknown, member: unknown): boolean => {
  if (value instanceof Date) return equal(value, member);
  if (typeof value === "string") return typeof member === "string" && value.includes(member);
  if (value instanceof Uint8Array) return member instanceof Uint8Array && Buffer.from(value).includes(Buffer.from(member));
  return (Array.isArray(value) || value instanceof Set) && isIn(member, value);
};

const fits = (operator: ComparisonOperator, value: unknown, operand: unknown): boolean => {
  // Values of different types have no order: no comparison of NaN holds.
  const order = RANGES.has(operator) ? (compareValues(value, operand) ?? Number.NaN) : Number.NaN;
  switch (operator) {
    case "eq":
      return value !== undefined && equal(value, operand);
    case "ne":
      return value === undefined || !equal(value, operand);
    case "lt":
      return order < 0;
    case "lte":
      return order <= 0;
    case "gt":
      return order > 0;
    case "gte":
      return order >= 0;
    case "between": {
      const [low, high] = operand as readonly [Orderable, Orderable];
      return (compareValues(value, low) ?? Number.NaN) >= 0 && (compareValues(value, high) ?? Number.NaN) <= 0;
    }
    case "beginsWith":
      return typeof value === "string" && value.startsWith(operand as string);
    case "contains":
      return contains(value, operand);
    case "in":
      return value !== undefined && isIn(value, operand as readonly unknown[]);
    case "exists":
      return (value !== undefined) === operand;
  }
};

/** True if a condition holds, as DynamoDB evaluates it: values of different types never compare, and a missing attribute satisfies only `ne` and `exists: false`. */
export const holds = (
  { operator, path, steps, slot, of = [] }: Condition,
  row: Readonly<Record<string, unknown>>,
  values: readonly unknown[],
): boolean => {
  if (operator !== "or" && operator !== "not") return fits(operator, steps ? valueWithin(row, steps) : valueAt(row, path), values[slot]);
  const some = of.some((conditions) => conditions.every((condition) => holds(condition, row, values)));
  return some === (operator === "or");
};

interface Bound {
  readonly value: unknown;
  readonly inclusive: boolean;
}

const boundsOf = (operator: ComparisonOperator, operand: unknown): { readonly low?: Bound; readonly high?: Bound } => {
  switch (operator) {
    case "gt":
    case "gte":
    case "beginsWith":
      return { low: { value: operand, inclusive: operator !== "gt" } };
    case "lt":
    case "lte":
      return { high: { value: operand, inclusive: operator === "lte" } };
    case "between": {
      const [low, high] = operand as readonly [unknown, unknown];
      return { low: { value: low, inclusive: true }, high: { value: high, inclusive: true } };
    }
    default:
      return {};
  }
};

const PRESENT: ReadonlySet<Condition["operator"]> = new Set([...RANGES, "eq", "contains", "in"] as const);

/** The fields of which every row that meets the conditions has a value other than null, as keys hold it. */
export const presentIn = (conditions: readonly Condition[]): readonly string[] => [
  ...new Set(conditions.flatMap(({ path, operator, nullable }) => (PRESENT.has(operator) && !nullable ? [path] : []))),
];

/** True if no value can satisfy all conditions on an attribute, so that nothing has to be read. */
export const contradict = (conditions: readonly Condition[], values: readonly unknown[]): boolean =>
  conditions.some(({ path, operator, slot }) => {
    if (operator === "or" || operator === "not") return false;
    const operand = values[slot];
    const beside = conditions.filter(
      (condition: Condition): condition is Condition & { readonly operator: ComparisonOperator } =>
        condition.path === path && !condition.of,
    );
    if (operator === "eq") return beside.some((other) => other.slot !== slot && !fits(other.operator, operand, values[other.slot]));
    const { low } = boundsOf(operator, operand);
    if (!low) return false;
    return beside.some((other) => {
      const otherOperand = values[other.slot];
      // A value greater than a prefix that does not begin with it is behind the prefix.
      if (other.operator === "beginsWith" && (compareValues(low.value, otherOperand) ?? 0) > 0)
        return !String(low.value).startsWith(String(otherOperand));
      const { high } = boundsOf(other.operator, otherOperand);
      const order = high && compareValues(low.value, high.value);
      return order !== undefined && (order > 0 || (order === 0 && !(low.inclusive && high?.inclusive)));
    });
  });
