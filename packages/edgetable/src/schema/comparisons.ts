import { EdgetableError } from "../errors/edgetable-error.ts";
import { briefly } from "../util/check-options.ts";
import { didYouMean } from "../util/did-you-mean.ts";
import { isNumber } from "../util/row.ts";
import { isMap } from "./attribute-path.ts";

/** How an attribute is compared. `eq` is what a bare value means. */
export type ComparisonOperator = "eq" | "ne" | "lt" | "lte" | "gt" | "gte" | "between" | "beginsWith" | "contains" | "in" | "exists";

const OPERATORS: readonly ComparisonOperator[] = [
  "eq",
  "ne",
  "lt",
  "lte",
  "gt",
  "gte",
  "between",
  "beginsWith",
  "contains",
  "in",
  "exists",
];

/** The error of a condition that cannot be read. */
export const invalidCondition = (path: string, message: string, details: Readonly<Record<string, unknown>> = {}): EdgetableError =>
  new EdgetableError("plan.invalidOption", message, { details: { path, ...details } });

/** True for a list with `min` to `max` members without undefined ones. */
export const isListOf = (operand: unknown, min: number, max: number): boolean =>
  Array.isArray(operand) && operand.length >= min && operand.length <= max && !operand.includes(undefined);

// "a BETWEEN b AND c", "<" and the like compare numbers, strings and binary (Condition and filter expressions, DynamoDB).
// Undefined for a value that has no order and is no member of a set.
const orderedType = (operand: unknown): "N" | "S" | "B" | undefined => {
  if (isNumber(operand)) return "N";
  if (typeof operand === "string" || operand instanceof Date) return "S";
  return operand instanceof Uint8Array ? "B" : undefined;
};

const hasOrder = (operand: unknown): boolean => orderedType(operand) !== undefined;

/** True if all members have one type, which has an order. */
export const areOfOneType = ([first, ...more]: readonly unknown[]): boolean =>
  hasOrder(first) && more.every((one) => orderedType(one) === orderedType(first));

/** Whether the comparison accepts the operand, and a description of the operands that it accepts. */
const takes = (operator: ComparisonOperator, operand: unknown): readonly [fits: boolean, takes: string] => {
  switch (operator) {
    case "between":
      return [isListOf(operand, 2, 2) && areOfOneType(operand as readonly unknown[]), "a list of two values of one type that has an order"];
    case "lt":
    case "lte":
    case "gt":
    case "gte":
      return [hasOrder(operand), "a value that has an order: a string, a number, a date or bytes"];
    case "in":
      // "IN: up to 100 values", Limits in DynamoDB.
      return [isListOf(operand, 1, 100), "a list of 1 to 100 values"];
    case "beginsWith":
      return [typeof operand === "string", "a string"];
    case "exists":
      return [typeof operand === "boolean", "true or false"];
    default:
      return [true, "a value"];
  }
};

const checkComparison = (path: string, name: string, operand: unknown): ComparisonOperator => {
  if (!(OPERATORS as readonly string[]).includes(name))
    throw invalidCondition(path, `"${name}" is not a comparison for "${path}".${didYouMean(name, OPERATORS)}`, { operator: name });
  const operator = name as ComparisonOperator;
  if (operand === undefined) throw undefinedValue(path, `"${operator}" of `);
  const [fits, expected] = takes(operator, operand);
  if (fits) return operator;
  throw invalidCondition(
    path,
    `"${operator}" of "${path}" takes ${expected}, got ${operand instanceof Uint8Array ? "bytes" : briefly(operand)}.`,
    {
      operator,
      operand,
    },
  );
};

/** Without the condition, the call would read or write more than intended. */
export const undefinedValue = (path: string, what = ""): EdgetableError =>
  invalidCondition(
    path,
    `The condition on "${path}" cannot be checked: ${what}"${path}" is undefined. Leave the key out, or give { exists: false } to ask that the attribute is absent.`,
  );

/**
 * The comparisons in the condition on an attribute; a bare value means `eq`.
 *
 * @throws {plan.invalidOption} for an undefined value, an unknown comparison, or an operand that the comparison does not accept
 */
export const comparisonsOf = (path: string, value: unknown): readonly (readonly [ComparisonOperator, unknown])[] => {
  if (value === undefined) throw undefinedValue(path);
  if (!isMap(value)) return [["eq", value]];
  const comparisons = Object.entries(value);
  if (comparisons.length === 0)
    throw invalidCondition(path, `The condition on "${path}" is empty: give a value, or a comparison such as { eq: … }.`);
  return comparisons.map(([name, operand]) => [checkComparison(path, name, operand), operand]);
};
