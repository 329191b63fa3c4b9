import { EdgetableError } from "../errors/edgetable-error.ts";

/** Least and most of an option. */
export type Range = readonly [least: number, most: number];

/**
 * An option's value, when it is a whole number in its range.
 *
 * @throws {plan.invalidOption}
 */
export const inRange = (option: string, value: number, [least, most]: Range): number => {
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  throw new EdgetableError("plan.invalidOption", `${option} is ${value}: give a whole number from ${least} to ${most}.`, {
    details: { option, value },
  });
};

/** Refuses given options that are out of their range; see {@link inRange}. */
export const checkRanges = <Name extends string>(
  options: { readonly [Key in NoInfer<Name>]?: number | undefined },
  ranges: Readonly<Record<Name, Range>>,
): void => {
  for (const name of Object.keys(ranges) as Name[]) {
    const value: number | undefined = options[name];
    if (value !== undefined) inRange(name, value, ranges[name]);
  }
};
