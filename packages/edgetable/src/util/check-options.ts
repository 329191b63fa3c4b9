import { EdgetableError } from "../errors/edgetable-error.ts";
import { didYouMean } from "./did-you-mean.ts";
import { jsonText } from "./json-text.ts";

/** The least and greatest value of an option, both included. */
type Range = readonly [least: number, greatest: number];

/**
 * What an option accepts: a type by its `typeof` name, a whole number in a range, one of a few words, nested options, or
 * whatever a check function does not throw for. Undefined accepts any value.
 */
type OptionCheck =
  | "boolean"
  | "string"
  | "function"
  | Range
  | readonly string[]
  | ((value: never, name: string) => unknown)
  | NestedChecks
  | undefined;

export interface NestedChecks {
  readonly [name: string]: OptionCheck;
}

/** A check for each option of an options object. */
export type OptionChecks<Options> = { readonly [Name in keyof Options]-?: OptionCheck };

const invalidOption = (message: string, details: Readonly<Record<string, unknown>> = {}): never => {
  throw new EdgetableError("plan.invalidOption", message, { details });
};

/** A value as messages show it: `"5"` and `5` differ, and NaN is not null. */
export const shown = (value: unknown): string => (typeof value === "number" ? String(value) : jsonText(value));

const LONGEST_SHOWN = 300;

/** What a caller gave, as messages show it: the beginning of a long value. */
export const briefly = (value: unknown): string => {
  const text = shown(value);
  return text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text;
};

/**
 * Returns a whole number within the range.
 *
 * @throws {plan.invalidOption} for any other value
 */
export const inRange = (option: string, value: number, [least, greatest]: Range): number => {
  if (Number.isInteger(value) && value >= least && value <= greatest) return value;
  return invalidOption(`${option} is ${briefly(value)}: give a whole number from ${least} to ${greatest}.`, { option, value });
};

/**
 * Checks that a name, or a word given as a value, is a known one.
 *
 * @throws {plan.invalidOption} for an unknown name, with the nearest known one
 */
export const oneOf = (what: string, name: string, known: readonly string[]): void => {
  if (!known.includes(name)) invalidOption(`There is no ${what} ${briefly(name)}.${didYouMean(name, known)}`, { given: name });
};

/**
 * Returns an array as it was given.
 *
 * @throws {plan.invalidOption} for any other value
 */
export const listOf = <T>(given: readonly T[], what = "ids, such as [{ … }]"): readonly T[] =>
  Array.isArray(given) ? given : invalidOption(`Expected an array of ${what}, got ${briefly(given)}.`);

/** True for an object whose names say something: not for lists, Maps, Sets and Dates. */
const hasNames = (given: unknown): given is object =>
  typeof given === "object" && given !== null && !(Symbol.iterator in given) && !(given instanceof Date);

/**
 * The member names of an object.
 *
 * @param of the option that holds the object, for the message
 * @param example a member name, for the message
 * @throws {plan.invalidOption} for a value that is not an object, or a list, Map, Set or Date, whose members would be ignored
 */
export const namesIn = (given: unknown, of = "", example = "name"): readonly string[] =>
  hasNames(given)
    ? Object.keys(given)
    : invalidOption(
        `Expected an object${of && ` for ${of}`}, such as { ${example}: … }, got ${given instanceof Map ? "a Map" : briefly(given)}.`,
      );

const checkOption = (name: string, value: unknown, check: OptionCheck): void => {
  if (check === undefined) return;
  if (typeof check === "function") check(value as never, name);
  else if (typeof check === "string") {
    if (typeof value !== check) invalidOption(`Expected a ${check} for ${name}, got ${briefly(value)}.`, { option: name, value });
  } else if (!Array.isArray(check)) checkOptions(value, check as NestedChecks, name);
  else if (typeof check[0] === "number") inRange(name, value as number, check as unknown as Range);
  else oneOf(name, value as string, check as string[]);
};

// An undefined condition is an error: without the condition, the call would read or write more than intended.
const CONDITIONS: readonly string[] = ["if", "ifVersion", "where", "whereNode"];

/**
 * Checks options by name and value. Returns them without undefined members, so that defaults may be spread before them.
 *
 * @param of the option that holds these, when they are nested
 * @throws {plan.invalidOption} for a value that is not an object, an unknown name, a value that fails its check, and an
 * undefined condition (`if`, `ifVersion`, `where`, `whereNode`)
 */
export const checkOptions = <Options>(options: Options, checks: OptionChecks<Options>, of?: string): Options => {
  const known = Object.keys(checks);
  const given: Record<string, unknown> = {};
  for (const name of namesIn(options, of, known[0])) {
    oneOf("option", name, known);
    const value = (options as Readonly<Record<string, unknown>>)[name];
    if (value === undefined) {
      if (CONDITIONS.includes(name))
        invalidOption(`${name} is undefined. Leave the option out to set no condition.`, { option: name, value });
      continue;
    }
    checkOption(name, value, (checks as NestedChecks)[name]);
    given[name] = value;
  }
  return given as Options;
};

/** Checks the `signal` option of a call. */
export const checkSignal = (signal: Partial<AbortSignal> | null): void => {
  if (typeof signal?.addEventListener === "function") return;
  invalidOption("signal is not an AbortSignal. Pass the signal of an AbortController.", { option: "signal", value: signal });
};
