import { didYouMean, type Catalog, type StandardSchema } from "edgetable";
import { usageError } from "../failure.ts";
import { note, type Invocation } from "../invocation.ts";
import { fromJson, isRow, toJson, type Row } from "../output/json.ts";
import { showCell } from "../output/table.ts";
import { createFitter, fitTexts, problemsOf } from "./fit-texts.ts";

/** Values given on the command line. */
export interface Given {
  readonly values: Row;
  /** Names of values that were given as text (`name=value`) and have no type yet. */
  readonly texts: ReadonlySet<string>;
}

const parseObject = (text: string, what: string): Row => {
  let value: unknown;
  try {
    value = fromJson(text);
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    throw usageError(`${what} is not valid JSON: ${problem}. Quote it as one argument, such as '{"name":"x"}'.`);
  }
  if (isRow(value)) return value;
  throw usageError(`${what} must be a JSON object, such as '{"name":"x"}'; it is ${text}.`);
};

/**
 * Parses `name=value` arguments and JSON objects. Later ones override earlier ones.
 *
 * @throws {cli.usage} for anything else
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

/** The id of a node as given. */
export interface NodeId {
  readonly id: Row;
  /** Id fields that were not given, in key order. */
  readonly missing: readonly string[];
}

/** The usage of a node's id, such as `studentId=…`. */
export const idUsage = (catalog: Catalog, node: string): string =>
  (catalog.nodes[node]?.idFields ?? []).map((field) => `${field}=…`).join(" ");

/**
 * Parses the id of a node from `name=value` arguments, JSON, or a single value if the id has one field.
 *
 * @throws {cli.usage} for a name that is not in the id
 */
export const parseNodeId = async (catalog: Catalog, node: string, given: readonly string[]): Promise<NodeId> => {
  const entry = catalog.nodes[node];
  const fields = entry?.idFields ?? [];
  const [first = ""] = given;
  const isBare = given.length === 1 && fields.length === 1 && !first.startsWith("{") && !/^\w+=/.test(first);
  const named = isBare && !first.startsWith(`${fields[0]}=`) ? [`${fields[0]}=${first}`] : given;
  const { values, texts } = parseAssignments(named, "The id", `use ${idUsage(catalog, node)}.`);
  const unknown = Object.keys(values).find((name) => !fields.includes(name));
  if (unknown !== undefined) throw usageError(`The id of "${node}" has no field "${unknown}".${didYouMean(unknown, fields)}`);
  return { id: await fitTexts(entry?.definition.schema, values, texts), missing: fields.filter((field) => values[field] === undefined) };
};

/** Comparisons whose operands are values of the attribute, or lists of them. */
const valueComparisons: ReadonlySet<string> = new Set(["eq", "ne", "lt", "lte", "gt", "gte", "between", "in"]);

/**
 * Parses the conditions of `--where` and converts their texts to the types of the schema. Notes a value that no row can
 * have: it is not an error, but finds nothing.
 *
 * @throws {cli.usage} for anything other than `name=value` and JSON objects
 */
export const parseConditions = async (
  call: Invocation<{ readonly where?: readonly string[] }>,
  schema: StandardSchema | undefined,
): Promise<Row | undefined> => {
  const { where = [] } = call.options;
  if (where.length === 0) return undefined;
  for (const one of where) {
    const [, name, , value] = /^([^{=]*?)([<>!^~]+)=(.*)$/s.exec(one) ?? [];
    if (name === undefined) continue;
    const typed = await fitTexts(schema, { [name]: value }, new Set([name]));
    const example = toJson({ [name]: { gte: typed[name] } });
    throw usageError(
      `--where accepts name=value. Write a comparison as JSON, such as '${example}', with lt, lte, gt, gte, ne, between or beginsWith.`,
    );
  }
  const { values, texts } = parseAssignments(where, "--where");
  // JSON has no dates: text becomes a date if the schema wants one.
  const fitter = createFitter(schema);
  const withDates = async (name: string, value: unknown): Promise<unknown> => {
    if (Array.isArray(value)) return Promise.all(value.map(async (one) => withDates(name, one)));
    return typeof value === "string" ? (await fitter({ [name]: value }, "dates"))[name] : value;
  };
  const conditions: Record<string, unknown> = {};
  for (const [name, condition] of Object.entries(await fitTexts(schema, values, texts))) {
    if (!isRow(condition)) {
      conditions[name] = typeof condition === "string" ? await withDates(name, condition) : condition;
      continue;
    }
    const operands: Record<string, unknown> = {};
    for (const [operator, operand] of Object.entries(condition))
      operands[operator] = valueComparisons.has(operator) ? await withDates(name, operand) : operand;
    conditions[name] = operands;
  }
  for (const [name, problem] of await problemsOf(schema, conditions))
    if (texts.has(name)) note(call, `No row can have ${name}=${showCell(values[name])}: ${problem}.`);
  return conditions;
};
