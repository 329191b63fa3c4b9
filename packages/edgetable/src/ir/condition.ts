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

/** Comparisons of which a sort key can take one or two. */
export const RANGES: ReadonlySet<ComparisonOperator> = new Set(["lt", "lte", "gt", "gte", "between", "beginsWith"]);

/** The comparisons of one attribute, as a caller writes them; a bare value means `eq`. */
export interface Comparisons<T> {
  readonly eq?: T;
  readonly ne?: T;
  readonly lt?: T;
  readonly lte?: T;
  readonly gt?: T;
  readonly gte?: T;
  /** Both ends included. */
  readonly between?: readonly [T, T];
  /** Of text. */
  readonly beginsWith?: string extends T ? string : T extends string ? string : never;
  /** A substring of text, or a member of a list or set. */
  readonly contains?: unknown;
  /** Any of the given values, 1 to 100 (Limits: IN takes 100 operands). */
  readonly in?: readonly T[];
  /** Whether the attribute is there at all. */
  readonly exists?: boolean;
}

/** Conditions on the attributes of a row, all of which must hold. */
export type Where<Row> = { readonly [Field in keyof Row]?: NonNullable<Row[Field]> | Comparisons<NonNullable<Row[Field]>> };

/**
 * One comparison of a plan. The value is not in it: `slot` says where in the call's parameters it
 * stands, so that one plan serves every call of the same form.
 */
export interface Condition {
  /** Path into the row, such as `enrolledAt` or `to.courseId`. */
  readonly path: string;
  readonly operator: ComparisonOperator;
  readonly slot: number;
}

/** What conditions ask, whatever their values: two lists of the same form are planned alike. */
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

const checkOperator = (path: string, name: string): ComparisonOperator => {
  if ((OPERATORS as readonly string[]).includes(name)) return name as ComparisonOperator;
  throw new EdgetableError("plan.invalidOption", `"${name}" is no comparison of "${path}".${didYouMean(name, OPERATORS)}`, {
    details: { path, operator: name },
  });
};

const isList = (operand: unknown, least: number, most: number): boolean =>
  Array.isArray(operand) && operand.length >= least && operand.length <= most && !operand.includes(undefined);

// "IN: up to 100 values", Limits in DynamoDB.
const operands: { readonly [Operator in ComparisonOperator]?: readonly [takes: string, fits: (operand: unknown) => boolean] } = {
  between: ["a list of two values", (operand) => isList(operand, 2, 2)],
  in: ["a list of 1 to 100 values", (operand) => isList(operand, 1, 100)],
  beginsWith: ["a text", (operand) => typeof operand === "string"],
  exists: ["true or false", (operand) => typeof operand === "boolean"],
};

const checkOperand = (path: string, operator: ComparisonOperator, operand: unknown): void => {
  const [takes, fits] = operands[operator] ?? [];
  if (!fits || fits(operand)) return;
  throw new EdgetableError("plan.invalidOption", `"${operator}" of "${path}" takes ${takes}; ${jsonText(operand)} is none.`, {
    details: { path, operator, operand },
  });
};

const refuse = (path: string, message: string): never => {
  throw new EdgetableError("plan.invalidOption", `The condition on "${path}" ${message}`, { details: { path } });
};

// Dropping the condition would make the call read or write more than it was meant to.
const refuseUndefined = (path: string, operator = ""): never =>
  refuse(
    path,
    `cannot be checked: ${operator && `"${operator}" of `}"${path}" is undefined. Leave the key out, or give { exists: false } to ask that the attribute is absent.`,
  );

/**
 * Reads a `where` object; `nested` names the fields (`from`, `to`) whose objects hold paths, not comparisons.
 *
 * @throws {plan.invalidOption} for a value that is undefined, an unknown comparison, and an operand that it does not take
 */
export const readWhere = (where: Readonly<Record<string, unknown>>, nested: readonly string[] = [], slots = 0): Conditions => {
  const conditions: Condition[] = [];
  const values: unknown[] = [];
  const add = (path: string, operator: ComparisonOperator, value: unknown): void => {
    conditions.push({ path, operator, slot: slots + values.length });
    values.push(value);
  };
  const read = (path: string, value: unknown): void => {
    if (value === undefined) refuseUndefined(path);
    if (!isPlain(value)) return add(path, "eq", value);
    const comparisons = Object.entries(value);
    if (comparisons.length === 0) refuse(path, "is empty: give a value, or a comparison such as { eq: … }.");
    for (const [name, operand] of comparisons) {
      const operator = checkOperator(path, name);
      if (operand === undefined) refuseUndefined(path, operator);
      checkOperand(path, operator, operand);
      add(path, operator, operand);
    }
  };
  for (const field of namesIn(where)) {
    const value = where[field];
    if (!nested.includes(field)) read(field, value);
    else if (value === undefined) refuseUndefined(field);
    else for (const name of namesIn(value)) read(`${field}.${name}`, (value as typeof where)[name]);
  }
  return { conditions, values };
};
