import { writeSync } from "node:fs";
import { EdgetableError } from "edgetable";
import { systemProblem } from "./failure.ts";

/** What is said of an output that cannot be written. */
export const unwritable = (name: string, cause: unknown): EdgetableError =>
  new EdgetableError("cli.output", `${name} cannot be written: ${systemProblem(cause)}. What is there of it is not whole.`, {
    cause,
    details: { output: name },
  });

/**
 * Writes all of a text. A disk that fills up takes a part, and says so by a count that Node's own streams over
 * files pass over: the rest would be missing in silence.
 *
 * @throws {cli.output} when there is no room for it
 */
export const writeWhole = (file: number, text: string, name: string): void => {
  const bytes = Buffer.from(text);
  try {
    for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at);
  } catch (error) {
    throw unwritable(name, error);
  }
};
