import { usageError } from "../failure.ts";
import { fromJson } from "../output/json.ts";
import { isRow } from "../row.ts";

/** Values given on the command line. */
export interface Given {
  readonly values: Readonly<Record<string, unknown>>;
  /** Names of those that came as text (`name=value`), whose type is still to be found. */
  readonly texts: ReadonlySet<string>;
}

/** Reads a JSON object. @throws {cli.usage} when it is none. */
const parseObject = (text: string, what: string): Readonly<Record<string, unknown>> => {
  let value: unknown;
  try {
    value = fromJson(text);
  } catch (error) {
    throw usageError(
      `${what} is no JSON: ${error instanceof Error ? error.message : String(error)}. Quote it as one argument, such as '{"name":"x"}'.`,
    );
  }
  if (isRow(value)) return value;
  throw usageError(`${what} must be a JSON object, such as '{"name":"x"}'; it is ${text}.`);
};

/**
 * Reads `name=value` arguments and JSON objects; later ones win.
 *
 * @throws {cli.usage} for anything else.
 */
export const parseAssignments = (given: readonly string[], what: string, usage?: string): Given => {
  const values: Record<string, unknown> = {};
  const texts = new Set<string>();
  for (const argument of given) {
    if (argument.startsWith("{")) {
      for (const [name, value] of Object.entries(parseObject(argument, what))) {
        values[name] = value;
        texts.delete(name);
      }
      continue;
    }
    const at = argument.indexOf("=");
    if (at < 1) throw usageError(`${what} "${argument}" is not of the form name=value${usage === undefined ? "." : `: ${usage}`}`);
    values[argument.slice(0, at)] = argument.slice(at + 1);
    texts.add(argument.slice(0, at));
  }
  return { values, texts };
};
