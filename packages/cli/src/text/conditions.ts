import type { StandardSchema } from "edgetable";
import { note, type Invocation } from "../invocation.ts";
import { parseAssignments } from "./assignments.ts";
import { fitTexts, problemsOf } from "./fit-texts.ts";
import { showCell } from "../output/rows.ts";

/**
 * The conditions of `--where`, their texts in the types that the schema wants. A text that no row can hold
 * is told of: it is no mistake, but finds nothing.
 *
 * @throws {cli.usage} for what is neither `name=value` nor a JSON object
 */
export const parseConditions = async (
  call: Invocation<{ readonly where?: readonly string[] }>,
  schema: StandardSchema | undefined,
): Promise<Readonly<Record<string, unknown>> | undefined> => {
  const { where = [] } = call.options;
  if (where.length === 0) return undefined;
  const { values, texts } = parseAssignments(where, "--where");
  const fitted = await fitTexts(schema, values, texts);
  for (const [name, problem] of await problemsOf(schema, fitted))
    if (texts.has(name)) note(call, `No row can have ${name}=${showCell(values[name])}: ${problem}.`);
  return fitted;
};
