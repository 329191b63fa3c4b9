import { EdgetableError } from "../errors/edgetable-error.ts";
import { MOST_LEVELS, unstorable } from "../keys/template.ts";
import type { Shape } from "../schema/catalog.ts";
import { areOfOneType, type ComparisonOperator, comparisonsOf, invalidCondition, isListOf, undefinedValue } from "../schema/comparisons.ts";
import { briefly, namesIn, shown } from "../util/check-options.ts";
import {
  type AtPath,
  type AttributePath,
  attributesIn,
  isMap,
  isPath,
  type Flat,
  type PathSteps,
  stepsOf,
} from "../schema/attribute-path.ts";
import type { DerivedFact } from "../schema/facts.ts";

/** Comparisons that a sort key's condition can hold. */
export const RANGES: ReadonlySet<ComparisonOperator> = new Set(["lt", "lte", "gt", "gte", "between", "beginsWith"]);

/** The comparisons of one attribute, as a caller writes them; a bare value means `eq`. */
export interface Comparisons<T> {
  readonly eq?: T;
  readonly ne?: T;
  readonly lt?: Exclude<T, boolean | null>;
  readonly lte?: Exclude<T, boolean | null>;
  readonly gt?: Exclude<T, boolean | null>;
  readonly gte?: Exclude<T, boolean | null>;
  /** Inclusive at both ends. */
  readonly between?: readonly [Exclude<T, boolean | null>, Exclude<T, boolean | null>];
  /** For strings. */
  readonly beginsWith?: string extends T ? string : T extends string ? string : never;
  /** A substring of a string, or a member of a list or set. */
  readonly contains?: unknown;
  /** Any of the given values, 1 to 100 (Limits: IN takes 100 operands). */
  readonly in?: readonly T[];
  /** True if the attribute must be present, false if it must be absent. */
  readonly exists?: boolean;
}

/** Conditions on the attributes of a row, all of which must hold; with `or` and `not`, of which each takes further conditions. */
export type Where<Row> = Compared<Row> & ComparedPaths<Row> & NestedWhere<Row>;

/** Attributes with the value or the comparisons that are asked of them. */
export type Compared<Row> = {
  readonly [Field in keyof Row]?: Exclude<Row[Field], undefined> | Comparisons<Exclude<Row[Field], undefined>>;
};

/** Values within attributes, by their path, with what is asked of them. */
export type ComparedPaths<Row> = Row extends Flat
  ? unknown
  : { readonly [Path in AttributePath<Row>]?: AtPath<Row, Path> | Comparisons<AtPath<Row, Path>> };

/** What is asked of an attribute of a row, if it has one of that name: for those that are named as groups are. */
export type ComparedNamed<Row, Name extends string> = Name extends keyof Row
  ? NonNullable<Row[Name]> | Comparisons<NonNullable<Row[Name]>>
  : never;

// A type may name itself only in the members of an interface. TypeScript resolves these on demand, but a base at once.
interface NestedWhere<Row> {
  /** At least one of these, 1 to 100, must hold. */
  readonly or?: readonly Where<Row>[];
  /** These must not all hold. A comparison with an absent attribute does not hold, so its opposite does. */
  readonly not?: Where<Row>;
  readonly '["or"]'?: ComparedNamed<Row, "or">;
  readonly '["not"]'?: ComparedNamed<Row, "not">;
}

/**
 * One comparison of a plan. The value is not in it: `slot` says where in the call's parameters it
 * is, so that one plan serves every call of the same form.
 */
export interface Condition {
  /** Path into the row, such as `enrolledAt` or `to.courseId`. */
  readonly path: string;
  /** The path as steps, where it leads into an attribute: `address.city`, `tags[0]`. */
  readonly steps?: PathSteps;
  readonly operator: ComparisonOperator | "or" | "not";
  readonly slot: number;
  /** True if null is among the values that it compares with: a row that has it there is in no key. */
  readonly nullable?: true;
  /** Of `or` and `not`, whose path is empty: lists of conditions; one list holds if all its conditions do. */
  readonly of?: readonly (readonly Condition[])[];
  /** Index keys with a condition (`when`) that the values of the call fulfil, by shape and attribute: all rows that it asks for have them. */
  readonly implies?: readonly string[];
}

/** The form of conditions, without their values: lists of the same form have the same plan. */
export const conditionForm = (conditions: readonly Condition[]): string => (conditions.length === 0 ? "" : JSON.stringify(conditions));

/** The attributes, and fields of ends, that conditions compare, those within `or` and `not` included. */
export const pathsOf = (conditions: readonly Condition[]): readonly string[] =>
  conditions.flatMap(({ path, steps, of }) => (of ? of.flatMap(pathsOf) : [steps ? steps[0] : path]));

/** Conditions with the values that fill their slots. */
export interface Conditions {
  readonly conditions: readonly Condition[];
  readonly values: readonly unknown[];
}

// In memory, NaN would neither be less nor greater than a number, and an invalid Date would differ from every other.
const unstorableIn = (value: unknown, levels = MOST_LEVELS): string | undefined => {
  if (value instanceof Set && !areOfOneType([...(value as ReadonlySet<unknown>)]))
    return value.size === 0 ? "an empty set" : "a set of mixed types";
  const members = Array.isArray(value) || value instanceof Set ? value : isMap(value) ? Object.entries(value).flat() : undefined;
  if (!members) return unstorable(value);
  if (levels === 0) return `a value nested more than ${MOST_LEVELS} levels deep`;
  for (const member of members as Iterable<unknown>) {
    const what = unstorableIn(member, levels - 1);
    if (what !== undefined) return what;
  }
  return undefined;
};

type DateShapes = readonly Pick<Shape, "carried" | "dates">[];

/** Whether an attribute is a Date; undefined without shapes, where they differ, and where a key tells it. */
const isDateIn = (shapes: DateShapes, path: string): boolean | undefined => {
  const named = shapes.filter(({ dates }) => dates.includes(path));
  if (named.length > 0 && named.length === shapes.length) return true;
  return shapes.length === 0 || named.length > 0 || shapes.some(({ carried }) => carried.includes(path)) ? undefined : false;
};

const checkOperand = (path: string, operand: unknown, isDate: boolean | undefined): void => {
  const operands = [operand].flat();
  const noDate = isDate === false && operands.some((one) => one instanceof Date);
  const what = unstorableIn(operand) ?? (noDate ? "a Date" : undefined);
  const other = isDate ? operands.find((one) => one !== null && !(one instanceof Date)) : undefined;
  if (what === undefined && other === undefined) return;
  const mend = noDate ? "Give ISO 8601 text, or declare the attribute in `dates`" : "Give another value";
  const message =
    what === undefined
      ? `"${path}" is a Date, and the condition compares it with ${shown(other)}. Give a Date.`
      : `The condition on "${path}" compares it with ${what}, which DynamoDB cannot store. ${mend}.`;
  throw new EdgetableError("request.unsupportedValue", message, { details: { path, value: operand } });
};

const GROUPS: readonly string[] = ["or", "not"];

const groupMembers = (name: string, value: unknown): readonly Readonly<Record<string, unknown>>[] => {
  const members: unknown = name === "not" ? [value] : value;
  // "Maximum number of operators or functions in an expression: 300", Constraints in DynamoDB.
  if (isListOf(members, 1, 100) && (members as readonly unknown[]).every((one) => isMap(one) && Object.keys(one).length > 0))
    return members as readonly Readonly<Record<string, unknown>>[];
  const takes = name === "or" ? "a list of 1 to 100 conditions, such as [{ name: … }, { … }]" : "conditions, such as { name: … }";
  throw invalidCondition(
    name,
    `\`${name}\` takes ${takes}, got ${briefly(value)}. An attribute named "${name}" is compared as '["${name}"]'.`,
    {
      value,
    },
  );
};

/**
 * The filters in a filter: it, and those within its `or` and `not`, each without these two.
 *
 * @throws {plan.invalidOption} for a value that is no filter
 */
export const filtersIn = (where: Readonly<Record<string, unknown>>, of = ""): readonly Readonly<Record<string, unknown>>[] => {
  if (!namesIn(where, of).some((name) => GROUPS.includes(name))) return [where];
  const own = Object.fromEntries(Object.entries(where).filter(([name]) => !GROUPS.includes(name)));
  const inner = GROUPS.flatMap((name) => (Object.hasOwn(where, name) ? groupMembers(name, where[name]) : []));
  return [own, ...inner.flatMap((one) => filtersIn(one))];
};

/**
 * The attributes that a filter compares, in whatever depth.
 *
 * @throws {plan.invalidOption} for a value that is no filter
 */
export const fieldsIn = (where: Readonly<Record<string, unknown>>, of = ""): readonly string[] => {
  const [only, ...more] = filtersIn(where, of);
  if (more.length === 0) return attributesIn(Object.keys(only ?? {}));
  return [...new Set([only, ...more].flatMap((one) => attributesIn(Object.keys(one ?? {}))))];
};

/**
 * Reads a `where` object; `nested` names the fields (`from`, `to`) whose objects hold paths, not comparisons.
 *
 * @param shapes the shapes of the rows that it filters, which tell what attributes are Dates
 * @throws {plan.invalidOption} for an undefined value, an unknown comparison, or an operand that the comparison does not take
 * @throws {request.unsupportedValue} for an operand that no item holds, and for one that is not a Date where the attribute is
 */
export const readWhere = (
  where: Readonly<Record<string, unknown>>,
  nested: readonly string[] = [],
  slots = 0,
  shapes: DateShapes = [],
): Conditions => {
  const conditions: Condition[] = [];
  const values: unknown[] = [];
  const group = (operator: "or" | "not", value: unknown): void => {
    // The slot tells groups of a plan apart; its value is not looked at.
    const slot = slots + values.length;
    values.push(operator);
    const of = groupMembers(operator, value).map((member) => {
      const inner = readWhere(member, nested, slots + values.length, shapes);
      values.push(...inner.values);
      return inner.conditions;
    });
    conditions.push({ path: "", operator, slot, of });
  };
  const add = (path: string, operator: ComparisonOperator, value: unknown): void => {
    const slot = slots + values.length;
    if (operator !== "exists") checkOperand(path, value, nested.includes(path.split(".")[0]!) ? undefined : isDateIn(shapes, path));
    const steps = isPath(path) ? stepsOf(path) : undefined;
    // A field of an end has a dot as well.
    const condition = steps && !nested.includes(steps[0]) ? { path, operator, slot, steps } : { path, operator, slot };
    conditions.push([value].flat().includes(null) ? { nullable: true, ...condition } : condition);
    values.push(value);
  };
  const read = (path: string, value: unknown): void => {
    for (const [operator, operand] of comparisonsOf(path, value)) add(path, operator, operand);
  };
  for (const field of namesIn(where)) {
    const value = where[field];
    if (field === "or" || field === "not") group(field, value);
    else if (!nested.includes(field)) read(field, value);
    else if (value === undefined) throw undefinedValue(field);
    else for (const name of namesIn(value)) read(`${field}.${name}`, (value as typeof where)[name]);
  }
  return { conditions, values };
};

/** The conditions of a derived attribute on the edges or parts that it ranges over; undefined if all of them count. */
export const factWhere = ({ where, over }: Pick<DerivedFact, "where" | "over">): Conditions | undefined =>
  where && readWhere(where, over.kind === "edge" ? ["from", "to"] : []);
