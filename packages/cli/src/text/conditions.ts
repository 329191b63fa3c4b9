import type { StandardSchema } from "edgetable";
import { note, type Invocation } from "../invocation.ts";
import { parseAssignments } from "./assignments.ts";
import { createFitter, fitTexts, problemsOf } from "./fit-texts.ts";
import { usageError } from "../failure.ts";
import { toJson } from "../output/json.ts";
import { showCell } from "../output/rows.ts";
import { isRow, type Row } from "../row.ts";

/** Comparisons whose operands are values of the attribute, or lists of them. */
const COMPARISONS: ReadonlySet<string> = new Set(["eq", "ne", "lt", "lte", "gt", "gte", "between", "in"]);

// JSON has no dates: where the schema wants one it is a text, as in a file of rows.
const withDates = async (schema: StandardSchema | undefined, filter: Row): Promise<Row> => {
  const fitter = createFitter(schema);
  const fit = async (name: string, value: unknown): Promise<unknown> => {
    if (Array.isArray(value)) return Promise.all(value.map(async (one) => fit(name, one)));
    return typeof value === "string" ? (await fitter({ [name]: value }, "dates"))[name] : value;
  };
  const fitted: Record<string, unknown> = {};
  for (const [name, asked] of Object.entries(filter)) {
    if (!isRow(asked)) fitted[name] = typeof asked === "string" ? await fit(name, asked) : asked;
    else {
      const operands = Object.entries(asked).map(async ([operator, operand]) => {
        return [operator, COMPARISONS.has(operator) ? await fit(name, operand) : operand] as const;
      });
      fitted[name] = Object.fromEntries(await Promise.all(operands));
    }
  }
  return fitted;
};

const checkOperators = async (where: readonly string[], schema: StandardSchema | undefined): Promise<void> => {
  const [, name, , value] = where.map((one) => /^([^{=]*?)([<>!^~]+)=(.*)$/s.exec(one)).find((match) => match !== null) ?? [];
  if (name === undefined) return;
  const typed = await fitTexts(schema, { [name]: value }, new Set([name]));
  const example = toJson({ [name]: { gte: typed[name] } });
  throw usageError(`--where takes name=value; a comparison is JSON, such as '${example}', with lt, lte, gt, gte, ne, between, beginsWith.`);
};

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
  await checkOperators(where, schema);
  const { values, texts } = parseAssignments(where, "--where");
  const fitted = await withDates(schema, await fitTexts(schema, values, texts));
  for (const [name, problem] of await problemsOf(schema, fitted))
    if (texts.has(name)) note(call, `No row can have ${name}=${showCell(values[name])}: ${problem}.`);
  return fitted;
};
