import { compareValues, fulfils, type Operator } from "../naive/condition.ts";
import type { Bound } from "./commands.ts";
import { dates, numbers, someDates, someNumbers, type Row } from "./vocabulary.ts";
import { pick, type World } from "./world.ts";

/** A condition on one attribute: as the library takes it, and as the reference decides it. */
export interface Condition {
  readonly field: string;
  readonly where: Row;
  readonly holds: (row: Row) => boolean;
}

const valuesOf = ({ texts }: World, field: string): readonly unknown[] =>
  dates.has(field) ? someDates : numbers.has(field) ? someNumbers : texts;

export const valueAt = (world: World, field: string, at: number): unknown => pick(valuesOf(world, field), at);

/** The comparison of an attribute by a bound, within `or` and `not` where it says so. */
export const filterOn = (world: World, field: string, bound: Bound): Condition => {
  const { where, holds } = conditionOn(world, field, bound);
  const other = conditionOn(world, field, { ...bound, operator: "eq", low: bound.low + 1 });
  const either = { field, where: { or: [where, other.where] }, holds: (row: Row) => holds(row) || other.holds(row) };
  switch (bound.group) {
    case "or":
      return either;
    case "not":
      return { field, where: { not: where }, holds: (row) => !holds(row) };
    case "neither":
      return { field, where: { not: either.where }, holds: (row) => !either.holds(row) };
    case "both":
      return { field, where: { or: [{ ...where, not: other.where }] }, holds: (row) => holds(row) && !other.holds(row) };
    case undefined:
      return { field, where, holds };
  }
};

/** The comparison of an attribute by a bound. */
export const conditionOn = (world: World, field: string, bound: Bound): Condition => {
  const isText = !dates.has(field) && !numbers.has(field);
  const operator: Operator = bound.operator === "beginsWith" && !isText ? "gte" : bound.operator;
  const [one, other] = [valueAt(world, field, bound.low), valueAt(world, field, bound.more)];
  const [low, high] = compareValues(one, other) <= 0 ? [one, other] : [other, one];
  const operands: Readonly<Record<string, unknown>> = { between: [low, high], in: [low, high], exists: bound.more % 2 === 0 };
  const operand = operator in operands ? operands[operator] : one;
  return { field, where: { [field]: { [operator]: operand } }, holds: (row) => fulfils(row[field], operator, operand) };
};
