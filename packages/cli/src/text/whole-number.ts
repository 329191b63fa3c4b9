import { usageError } from "../failure.ts";

/** A reader of whole numbers from 1 to the most. @throws {cli.usage} from it, for any other text. */
export const wholeNumber =
  (most: number): ((text: string) => number) =>
  (text) => {
    const value = Number(text);
    if (Number.isInteger(value) && value >= 1 && value <= most) return value;
    throw usageError(`It must be a whole number from 1 to ${most.toLocaleString("en-US")}.`);
  };
