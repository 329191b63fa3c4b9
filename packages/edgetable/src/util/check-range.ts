import { EdgetableError } from "../errors/edgetable-error.ts";
import { didYouMean } from "./did-you-mean.ts";
import { jsonText } from "./json-text.ts";

/** Least and most of an option. */
export type Range = readonly [least: number, most: number];

/** A value as a message has it: a number in quotes is the mistake, and JSON knows no NaN. */
export const shown = (value: unknown): string => (typeof value === "number" ? String(value) : jsonText(value));

/**
 * An option's value, when it is a whole number in its range.
 *
 * @throws {plan.invalidOption}
 */
export const inRange = (option: string, value: number, [least, most]: Range): number => {
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  throw new EdgetableError("plan.invalidOption", `${option} is ${shown(value)}: give a whole number from ${least} to ${most}.`, {
    details: { option, value },
  });
};

/**
 * Refuses a name that is none of the known ones: of an option, or a value that is one of a few words.
 *
 * @throws {plan.invalidOption}
 */
export const oneOf = (what: string, name: string, known: readonly string[]): void => {
  if (known.includes(name)) return;
  throw new EdgetableError("plan.invalidOption", `There is no ${what} "${name}".${didYouMean(name, known)}`, { details: { given: name } });
};

/**
 * A list as it was given.
 *
 * @throws {plan.invalidOption} when it is none
 */
export const listOf = <T>(given: readonly T[], what = "ids, such as [{ … }]"): readonly T[] => {
  if (Array.isArray(given)) return given;
  throw new EdgetableError("plan.invalidOption", `Give a list of ${what}: ${jsonText(given)} is none.`);
};

/**
 * The names of what an object holds.
 *
 * @param of whose object it is, where that needs to be said
 * @param example one of the names that it may hold
 * @throws {plan.invalidOption} when it is none
 */
export const namesIn = (given: unknown, of = "", example = "name"): readonly string[] => {
  if (typeof given === "object" && given !== null) return Object.keys(given);
  throw new EdgetableError(
    "plan.invalidOption",
    `Give an object${of && ` for ${of}`}, such as { ${example}: … }: ${jsonText(given)} is none.`,
  );
};
