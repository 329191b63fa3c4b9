import { EdgetableError } from "../errors/edgetable-error.ts";
import { inRange, namesIn, oneOf, type Range } from "./check-range.ts";
import { jsonText } from "./json-text.ts";

/**
 * What an option may be: a type as `typeof` says it, a whole number in a range, one of a few words, options of its
 * own, or what a check lets pass; undefined for anything.
 */
export type Kind =
  | "boolean"
  | "string"
  | "function"
  | Range
  | readonly string[]
  | ((value: never, name: string) => unknown)
  | Members
  | undefined;

export interface Members {
  readonly [name: string]: Kind;
}

/** What each of an object's options may be, none left out. */
export type Kinds<Options> = { readonly [Name in keyof Options]-?: Kind };

const invalid = (option: string, value: unknown, message: string): never => {
  throw new EdgetableError("plan.invalidOption", message, { details: { option, value } });
};

const check = (name: string, value: unknown, kind: Kind): unknown => {
  if (kind === undefined) return value;
  if (typeof kind === "function") return kind(value as never, name);
  if (typeof kind === "string")
    return typeof value === kind ? value : invalid(name, value, `${name} takes a ${kind}: ${jsonText(value)} is none.`);
  if (!Array.isArray(kind)) return checkOptions(value, kind as Members, name);
  return typeof kind[0] === "number"
    ? inRange(name, value as number, kind as unknown as Range)
    : oneOf(name, value as string, kind as string[]);
};

// Without its condition a call would read or write more than it was meant to.
const CONDITIONS: readonly string[] = ["if", "ifVersion", "where", "whereNode"];

/**
 * Options as they were given, less those that are undefined: defaults may stand before them. A condition (`if`, `ifVersion`,
 * `where`, `whereNode`) must not be undefined.
 *
 * @param of the option that they are, where they stand within others
 * @throws {plan.invalidOption} when they are no object, for a name that is none of theirs, a value that is not of its
 * kind, and a condition that is undefined
 */
export const checkOptions = <Options>(options: Options, kinds: Kinds<Options>, of?: string): Options => {
  const known = Object.keys(kinds);
  const given: Record<string, unknown> = {};
  for (const name of namesIn(options, of, known[0])) {
    oneOf("option", name, known);
    const value = (options as Readonly<Record<string, unknown>>)[name];
    if (value === undefined && CONDITIONS.includes(name))
      invalid(name, value, `${name} is undefined. Leave the option out to set no condition.`);
    if (value === undefined) continue;
    check(name, value, (kinds as Members)[name]);
    given[name] = value;
  }
  return given as Options;
};

/** What a call is stopped by. */
export const aSignal = (signal: Partial<AbortSignal> | null): void => {
  if (typeof signal?.addEventListener !== "function") invalid("signal", signal, "signal is none: give that of an AbortController.");
};
