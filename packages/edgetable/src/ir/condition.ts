import { EdgetableError } from "../errors/edgetable-error.ts";
import { didYouMean } from "../util/did-you-mean.ts";
import { namesIn } from "../util/check-options.ts";
import { jsonText } from "../util/json-text.ts";

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

/** Comparisons that a sort key's condition can hold. */
export const RANGES: ReadonlySet<ComparisonOperator> = new Set(["lt", "lte", "gt", "gte", "between", "beginsWith"]);

/** The comparisons of one attribute, as a caller writes them; a bare value means `eq`. */
export interface Comparisons<T> {
  readonly eq?: T;
  readonly ne?: T;
  readonly lt?: T;
  readonly lte?: T;
  readonly gt?: T;
  readonly gte?: T;
  /** Inclusive at both ends. */
  readonly between?: readonly [T, T];
  /** For strings. */
  readonly beginsWith?: string extends T ? string : T extends string ? string : never;
  /** A substring of a string, or a member of a list or set. */
  readonly contains?: unknown;
  /** Any of the given values, 1 to 100 (Limits: IN takes 100 operands). */
  readonly in?: readonly T[];
  /** True if the attribute must be present, false if it must be absent. */
  readonly exists?: boolean;
}

/** Conditions on the attributes of a row, all of which must hold. */
export type Where<Row> = { readonly [Field in keyof Row]?: NonNullable<Row[Field]> | Comparisons<NonNullable<Row[Field]>> };

/**
 * One comparison of a plan. The value is not in it: `slot` says where in the call's parameters it
 * is, so that one plan serves every call of the same form.
 */
export interface Condition {
  /** Path into the row, such as `enrolledAt` or `to.courseId`. */
  readonly path: string;
  readonly operator: ComparisonOperator;
  readonly slot: number;
}

/** The form of conditions, without their values: lists of the same form have the same plan. */
export const conditionForm = (conditions: readonly Condition[]): string =>
  conditions.map(({ path, operator, slot }) => `${path} ${operator} ${slot}`).join("&");

/** Conditions with the values that fill their slots. */
export interface Conditions {
  readonly conditions: readonly Condition[];
  readonly values: readonly unknown[];
}

const isPlain = (value: unknown): value is Readonly<Record<string, unknown>> => {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
};

const invalid = (path: string, message: string, details: Readonly<Record<string, unknown>> = {}): EdgetableError =>
  new EdgetableError("plan.invalidOption", message, { details: { path, ...details } });

const isList = (operand: unknown, min: number, max: number): boolean =>
  Array.isArray(operand) && operand.length >= min && operand.length <= max && !operand.includes(undefined);

/** True if the comparison takes the operand, and what it takes. */
const takes = (operator: ComparisonOperator, operand: unknown): readonly [fits: boolean, takes: string] => {
  switch (operator) {
    case "between":
      return [isList(operand, 2, 2), "a list of two values"];
    case "in":
      // "IN: up to 100 values", Limits in DynamoDB.
      return [isList(operand, 1, 100), "a list of 1 to 100 values"];
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
    throw invalid(path, `"${name}" is not a comparison for "${path}".${didYouMean(name, OPERATORS)}`, { operator: name });
  const operator = name as ComparisonOperator;
  if (operand === undefined) throw undefinedValue(path, `"${operator}" of `);
  const [fits, expected] = takes(operator, operand);
  if (fits) return operator;
  throw invalid(path, `"${operator}" of "${path}" takes ${expected}, got ${jsonText(operand)}.`, { operator, operand });
};

/** Dropping the condition would make the call read or write more than intended. */
const undefinedValue = (path: string, what = ""): EdgetableError =>
  invalid(
    path,
    `The condition on "${path}" cannot be checked: ${what}"${path}" is undefined. Leave the key out, or give { exists: false } to ask that the attribute is absent.`,
  );

/**
 * Reads a `where` object; `nested` names the fields (`from`, `to`) whose objects hold paths, not comparisons.
 *
 * @throws {plan.invalidOption} for an undefined value, an unknown comparison, or an operand that the comparison does not take
 */
export const readWhere = (where: Readonly<Record<string, unknown>>, nested: readonly string[] = [], slots = 0): Conditions => {
  const conditions: Condition[] = [];
  const values: unknown[] = [];
  const add = (path: string, operator: ComparisonOperator, value: unknown): void => {
    conditions.push({ path, operator, slot: slots + values.length });
    values.push(value);
  };
  const read = (path: string, value: unknown): void => {
    if (value === undefined) throw undefinedValue(path);
    if (!isPlain(value)) return add(path, "eq", value);
    const comparisons = Object.entries(value);
    if (comparisons.length === 0)
      throw invalid(path, `The condition on "${path}" is empty: give a value, or a comparison such as { eq: … }.`);
    for (const [name, operand] of comparisons) add(path, checkComparison(path, name, operand), operand);
  };
  for (const field of namesIn(where)) {
    const value = where[field];
    if (!nested.includes(field)) read(field, value);
    else if (value === undefined) throw undefinedValue(field);
    else for (const name of namesIn(value)) read(`${field}.${name}`, (value as typeof where)[name]);
  }
  return { conditions, values };
};
