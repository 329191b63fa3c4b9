import { MOST_LEVELS } from "../keys/template.ts";
import { sameDecimals } from "../util/decimal.ts";
import { mapValues, type Row } from "../util/row.ts";
import type { SchemaResult } from "./standard-schema.ts";

// DynamoDB has one type of numbers: reads return safe integers as `number` and others as `bigint`, whatever the schema says.
type Form = "number" | "bigint";
type Path = readonly PropertyKey[];

const isSet = (value: unknown): value is ReadonlySet<unknown> => value instanceof Set;
const isPlain = (value: unknown): value is Row =>
  typeof value === "object" && value !== null && [Object.prototype, null].includes(Object.getPrototypeOf(value) as object | null);

/**
 * A value with its numbers in a form, as far as reads return them in the other one. What is nested deeper than DynamoDB takes is
 * left as it is, and the write refuses it.
 */
const inForm = (value: unknown, form: Form, levels = MOST_LEVELS): unknown => {
  if (typeof value === "bigint") return form === "number" && !Number.isSafeInteger(Number(value)) ? Number(value) : value;
  if (typeof value === "number") return form === "bigint" && Number.isSafeInteger(value) ? BigInt(value) : value;
  if (levels === 0) return value;
  const within = (one: unknown): unknown => inForm(one, form, levels - 1);
  if (Array.isArray(value)) return value.map(within);
  if (isSet(value)) return new Set([...value].map(within));
  return isPlain(value) ? mapValues(value, within) : value;
};

// A path may end above the number, at a union or at a set, which has no positions: all numbers below it are converted.
const convertAt = (value: unknown, [step, ...rest]: Path, form: Form): unknown => {
  if (step === undefined) return inForm(value, form);
  if (Array.isArray(value)) return value.map((one: unknown, at) => (at === step ? convertAt(one, rest, form) : one));
  if (isPlain(value)) return mapValues(value, (one, name) => (name === step ? convertAt(one, rest, form) : one));
  return inForm(value, form);
};

const isSame = (a: unknown, b: unknown): boolean => {
  if (Object.is(a, b)) return true;
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((one, at) => isSame(one, b[at]));
  if (isSet(a) && isSet(b)) return isSame([...a], [...b]);
  if (isPlain(a) && isPlain(b)) return isSame(Object.keys(a), Object.keys(b)) && isSame(Object.values(a), Object.values(b));
  return false;
};

/** Whether all numbers of a value are stored as they are if they are written as doubles. */
const isExact = (value: unknown, levels = MOST_LEVELS): boolean => {
  if (typeof value === "bigint") return Number.isFinite(Number(value)) && sameDecimals(String(value), String(Number(value)));
  if (levels === 0) return true;
  const within = (one: unknown): boolean => isExact(one, levels - 1);
  if (Array.isArray(value) || isSet(value)) return [...value].every(within);
  return !isPlain(value) || Object.values(value).every(within);
};

/** A schema makes another value of a number that had to be rounded for it. */
class RoundedError extends Error {}

/** The schema's output, where numbers that it left as they were have the given form and all digits. */
const restored = (output: unknown, given: unknown, converted: unknown): unknown => {
  if (isSame(given, converted)) return output;
  if (isSame(output, converted)) return given;
  if (Array.isArray(given) && Array.isArray(converted) && Array.isArray(output) && output.length === given.length)
    return output.map((one, at) => restored(one, given[at], converted[at]));
  if (isPlain(given) && isPlain(converted) && isPlain(output)) {
    if (Object.keys(given).some((name) => !Object.hasOwn(output, name) && !isExact(given[name]))) throw new RoundedError();
    return mapValues(output, (one, name) => restored(one, given[name], converted[name]));
  }
  if (!isExact(given)) throw new RoundedError();
  return output;
};

type Result = SchemaResult<Row>;

const FORMS: readonly (Form | undefined)[] = ["number", "bigint", undefined];

interface Tried {
  readonly path: Path;
  readonly at: number;
}

/** The path at which to try the next form: if all numbers above a refused one were converted, that may be why it is refused. */
const triedAbove = (tried: Iterable<Tried>, path: Path): Path => {
  for (const { path: above, at } of tried)
    if (FORMS[at] && above.length < path.length && above.every((step, level) => String(step) === String(path[level]))) return above;
  return path;
};

/**
 * Asks a schema again with numbers in the other form, where it refused the one in which reads return them: with `number` for
 * integers beyond 2^53 - 1, then with `bigint` for smaller ones. An output that the schema left as it was keeps all digits.
 *
 * @returns the output, or the issues of what the schema refuses in either form
 */
export const askInOtherForms = (
  ask: (value: unknown) => Result | Promise<Result>,
  given: unknown,
  first: Result,
): Result | Promise<Result> => {
  const tried = new Map<string, Tried>();
  let value = given;
  const next = (result: Result): Result | Promise<Result> => {
    if (!result.issues) {
      try {
        return { value: restored(result.value, given, value) as Row };
      } catch (error) {
        if (!(error instanceof RoundedError)) throw error;
        return first;
      }
    }
    const refused = result.issues
      .filter(({ path = [] }) => path.length <= MOST_LEVELS)
      .map(({ path = [] }) => Array.from(path, (step) => (typeof step === "object" ? step.key : step)))
      .map((path) => triedAbove(tried.values(), path));
    let isDone = true;
    for (const [id, path] of new Map(refused.map((one) => [JSON.stringify(one.map(String)), one]))) {
      const at = (tried.get(id)?.at ?? -1) + 1;
      if (at === FORMS.length) continue;
      tried.set(id, { path, at });
      isDone = false;
    }
    if (isDone) return result;
    const before = value;
    value = given;
    for (const { path, at } of tried.values()) if (FORMS[at]) value = convertAt(value, path, FORMS[at]);
    const asked = isSame(value, before) ? result : ask(value);
    return asked instanceof Promise ? asked.then(next) : next(asked);
  };
  return next(first);
};
