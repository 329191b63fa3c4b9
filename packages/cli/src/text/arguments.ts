import { didYouMean, type Catalog, type StandardSchema } from "edgetable";
import { usageError } from "../failure.ts";
import { note, type Invocation } from "../invocation.ts";
import { fromJson, isRow, toJson, type Row } from "../output/json.ts";
import { showCell } from "../output/table.ts";
import { schemaOf } from "./attribute-schema.ts";
import { createFitter, type Fitter, fitTexts, problemsOf } from "./fit-texts.ts";

/** Values given on the command line. */
export interface Given {
  readonly values: Row;
  /** Names of values that were given as text (`name=value`) and have no type yet. */
  readonly texts: ReadonlySet<string>;
}

const readJson = (text: string): unknown => {
  try {
    return fromJson(text);
  } catch {
    return undefined;
  }
};

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
 * @throws {cli.usage} for anything else, and for a name that is given twice by `name=value`
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
    const name = argument.slice(0, at);
    if (texts.has(name)) throw usageError(`${what} names "${name}" twice. Give one value.`);
    values[name] = argument.slice(at + 1);
    texts.add(name);
  }
  return { values, texts };
};

/** The id of a node, part or edge as given. An edge's has `from` and `to`. */
export interface GivenId {
  readonly id: Row;
  /** Id fields that were not given, in key order. */
  readonly missing: readonly string[];
}

/** Fields of an id that one schema types: those of a node, of a part, of an edge's end or of its own key. */
interface IdFields {
  readonly end: "from" | "to" | undefined;
  readonly schema: StandardSchema | undefined;
  readonly fields: readonly string[];
}

/** The fields of the id of a node, part or edge, in the order of its key. */
const idFieldsOf = ({ nodes, parts, edges }: Catalog, name: string, given: Row): readonly IdFields[] => {
  const flat = (type: string, end?: "from" | "to"): readonly IdFields[] => {
    const part = parts[type];
    const own = nodes[type] ?? part;
    const entry: IdFields = { end, schema: own?.definition.schema, fields: own?.idFields ?? [] };
    return part ? [...flat(part.definition.of, end), entry] : [entry];
  };
  const edge = edges[name];
  if (!edge) return flat(name);
  const atEnd = (end: "from" | "to"): readonly IdFields[] => {
    const [only = "", ...others] = edge[end];
    if (others.length === 0) return flat(only, end);
    const type = given[`${end}.type`];
    const known = edge[end].find((one) => one === type);
    if (type !== undefined && known === undefined)
      throw usageError(`${end}.type of "${name}" is one of ${edge[end].join(", ")}, not ${showCell(type)}.`);
    return [{ end, schema: undefined, fields: ["type"] }, ...flat(known ?? "", end)];
  };
  return [...atEnd("from"), ...atEnd("to"), { end: undefined, schema: edge.definition.schema, fields: edge.key }];
};

const pathOf = (end: IdFields["end"], field: string): string => (end === undefined ? field : `${end}.${field}`);

/** The names of an id's fields, such as `studentId`, or `from.studentId` and `to.courseId`. */
export const idPaths = (catalog: Catalog, name: string, given: Row = {}): readonly string[] =>
  idFieldsOf(catalog, name, given).flatMap(({ end, fields }) => fields.map((field) => pathOf(end, field)));

/** The usage of an id, such as `studentId=…` or `from.studentId=… to.courseId=…`. */
export const idUsage = (catalog: Catalog, name: string): string =>
  idPaths(catalog, name)
    .map((path) => `${path}=…`)
    .join(" ");

/** An edge's id by paths: `{ from: { studentId } }` as `{ "from.studentId" }`. */
export const flattened = (values: Row): Row => {
  const flat: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(values)) {
    if ((name === "from" || name === "to") && isRow(value)) for (const field in value) flat[`${name}.${field}`] = value[field];
    else flat[name] = value;
  }
  return flat;
};

/**
 * Parses the id of a node, part or edge from `name=value` arguments, JSON, or a single value if the id has one field.
 *
 * @throws {cli.usage} for a name that is not in the id
 */
export const parseId = async (catalog: Catalog, name: string, given: readonly string[]): Promise<GivenId> => {
  const [first = ""] = given;
  const [single, ...others] = idPaths(catalog, name);
  const isBare = given.length === 1 && single !== undefined && others.length === 0 && !first.startsWith("{") && !/^[\w.]+=/.test(first);
  const named = isBare ? [`${single}=${first}`] : given;
  const { values, texts } = parseAssignments(named, "The id", `use ${idUsage(catalog, name)}.`);
  const flat = catalog.edges[name] ? flattened(values) : values;
  const paths = idPaths(catalog, name, flat);
  const unknown = Object.keys(flat).find((path) => !paths.includes(path));
  const untyped = (["from", "to"] as const).find((end) => paths.includes(`${end}.type`) && flat[`${end}.type`] === undefined);
  // Its other fields are those of a type.
  if (untyped && unknown?.startsWith(`${untyped}.`))
    throw usageError(`${untyped}.type of "${name}" is one of ${catalog.edges[name]?.[untyped].join(", ")}: give it too.`);
  if (unknown !== undefined) throw usageError(`The id of "${name}" has no field "${unknown}".${didYouMean(unknown, paths)}`);
  const id: Record<string, unknown> = {};
  for (const { end, schema, fields } of idFieldsOf(catalog, name, flat)) {
    const own = Object.fromEntries(fields.flatMap((field) => (pathOf(end, field) in flat ? [[field, flat[pathOf(end, field)]]] : [])));
    const typed = await fitTexts(schema, own, new Set(fields.filter((field) => texts.has(pathOf(end, field)))));
    if (end === undefined) Object.assign(id, typed);
    else id[end] = { ...(id[end] as Row | undefined), ...typed };
  }
  return { id, missing: paths.filter((path) => flat[path] === undefined) };
};

/** Comparisons whose operands are values of the attribute, or lists of them. */
const valueComparisons: ReadonlySet<string> = new Set(["eq", "ne", "lt", "lte", "gt", "gte", "between", "in"]);
const comparisons: ReadonlySet<string> = new Set([...valueComparisons, "beginsWith", "contains", "exists"]);

/** What `--where` names its conditions of. */
interface Searched {
  readonly catalog: Catalog;
  /** The node, edge or part. */
  readonly name: string;
}

/** Converts texts of conditions to the types of the attributes. JSON has no dates: there, texts become dates alone. */
const fitConditions = async ({ catalog, name }: Searched, { values, texts }: Given): Promise<Row> => {
  const fitters = new Map<unknown, Fitter>();
  const fit = async (attribute: string, value: unknown): Promise<unknown> => {
    if (Array.isArray(value)) return Promise.all(value.map(async (one) => fit(attribute, one)));
    if (typeof value !== "string") return value;
    const { schema, field } = schemaOf(catalog, name, attribute);
    const fitter = fitters.get(schema) ?? createFitter(schema);
    fitters.set(schema, fitter);
    return (await fitter({ [field]: value }, texts.has(attribute) ? new Set([field]) : "dates"))[field];
  };
  const fitAll = async (where: Row): Promise<Row> => {
    const conditions: Record<string, unknown> = {};
    for (const [attribute, condition] of Object.entries(where)) {
      if (attribute === "or" && Array.isArray(condition))
        conditions[attribute] = await Promise.all(condition.map(async (one: unknown) => (isRow(one) ? fitAll(one) : one)));
      else if (attribute === "not" && isRow(condition)) conditions[attribute] = await fitAll(condition);
      else if (isRow(condition)) {
        const operands: Record<string, unknown> = {};
        for (const [operator, operand] of Object.entries(condition))
          operands[operator] = valueComparisons.has(operator) ? await fit(attribute, operand) : operand;
        conditions[attribute] = operands;
      } else conditions[attribute] = typeof condition === "string" ? await fit(attribute, condition) : condition;
    }
    return conditions;
  };
  return fitAll(values);
};

/** Refuses comparisons that are not JSON, such as `age>=5` and `age={"gte":5}`. */
const refuseComparisons = async ({ catalog, name: searched }: Searched, where: readonly string[]): Promise<void> => {
  for (const one of where) {
    const [, name, operator, value] = /^([^{=]*?)([<>!^~]*)=(.*)$/s.exec(one) ?? [];
    if (name === undefined || operator === undefined) continue;
    const inner = operator === "" && value?.startsWith("{") ? readJson(value) : undefined;
    const names = isRow(inner) ? Object.keys(inner) : [];
    const isComparison = names.length > 0 && names.every((each) => comparisons.has(each));
    if (operator === "" && !isComparison) continue;
    const { schema, field } = schemaOf(catalog, searched, name);
    const typed = isComparison ? inner : { gte: (await fitTexts(schema, { [field]: value }, new Set([field])))[field] };
    throw usageError(
      `--where accepts name=value. Write a comparison as JSON, such as '${toJson({ [name]: typed })}', with lt, lte, gt, gte, ne, between or beginsWith.`,
    );
  }
};

/**
 * Parses the conditions of `--where` and converts their texts to the types of the attributes. Notes a value that no row can
 * have: it is not an error, but finds nothing.
 *
 * @throws {cli.usage} for anything other than `name=value` and JSON objects
 */
export const parseConditions = async (
  call: Invocation<{ readonly where?: readonly string[] }>,
  searched: Searched,
): Promise<Row | undefined> => {
  const { where = [] } = call.options;
  if (where.length === 0) return undefined;
  await refuseComparisons(searched, where);
  const given = parseAssignments(where, "--where");
  const conditions = await fitConditions(searched, given);
  for (const name of given.texts) {
    const { schema, field } = schemaOf(searched.catalog, searched.name, name);
    const problem = (await problemsOf(schema, { [field]: conditions[name] })).get(field);
    if (problem !== undefined) note(call, `No row can have ${name}=${showCell(given.values[name])}: ${problem}.`);
  }
  return conditions;
};
