import { EdgetableError } from "../errors/edgetable-error.ts";
import { didYouMean } from "../util/did-you-mean.ts";
import { isNumber, jsonText } from "../util/json-text.ts";
import { mapValues, type Row } from "../util/row.ts";
import { type AnySchema, type SchemaIssue, type SchemaResult, attributeSchemas } from "./standard-schema.ts";

/** What a schema says of an attribute's values. */
export interface AttributeKind {
  /** The type, in the words of the schema library. */
  readonly type: string;
  /** Whether numbers must be whole. */
  readonly whole: boolean;
  /** The schema of a list's elements or of a set's members, where the library gives it. */
  readonly element: AnySchema | undefined;
}

interface Check {
  readonly check?: string;
  readonly format?: string;
  readonly value?: unknown;
}

interface ZodDefinition extends Check {
  readonly type: string;
  readonly innerType?: AnySchema;
  readonly element?: AnySchema;
  readonly valueType?: AnySchema;
  readonly checks?: readonly { readonly _zod: { readonly def: Check } }[];
}

interface ValibotItem {
  readonly kind: string;
  readonly type: string;
  readonly requirement?: unknown;
}

interface ValibotSchema extends ValibotItem {
  readonly wrapped?: AnySchema;
  readonly item?: AnySchema;
  readonly value?: AnySchema;
  readonly pipe?: readonly ValibotItem[];
}

interface ArktypeJson {
  readonly domain?: string;
  readonly proto?: string;
  readonly divisor?: number;
  readonly sequence?: unknown;
}

const isWhole = (divisor: unknown): boolean => typeof divisor === "bigint" || Number.isSafeInteger(divisor);

const ofZod = (schema: AnySchema): AttributeKind | undefined => {
  const def = (schema as unknown as { readonly _zod?: { readonly def: ZodDefinition } })._zod?.def;
  if (!def) return undefined;
  if (def.innerType) return ["catch", "success"].includes(def.type) ? undefined : ofZod(def.innerType);
  const checks = [def, ...(def.checks ?? []).map((one) => one._zod.def)];
  const whole = checks.some(({ check, format, value }) =>
    check === "number_format" ? format?.includes("int") : check === "multiple_of" && isWhole(value),
  );
  return { type: def.type, whole: whole || def.type === "bigint", element: def.type === "set" ? def.valueType : def.element };
};

// Transformations whose output has the type of their input.
const KEEP_TYPE = /^(trim|to_lower|to_upper|normalize|to_min|to_max|brand|readonly)/;

const ofValibot = (schema: AnySchema): AttributeKind | undefined => {
  const { type, wrapped, item, value, pipe = [] } = schema as unknown as ValibotSchema;
  if (pipe.slice(1).some((one) => one.kind === "schema" || (one.kind === "transformation" && !KEEP_TYPE.test(one.type)))) return undefined;
  if (wrapped) return ofValibot(wrapped);
  const whole = pipe.some((one) => one.type.endsWith("integer") || (one.type === "multiple_of" && isWhole(one.requirement)));
  return { type, whole: whole || type === "bigint", element: type === "set" ? value : type === "array" ? item : undefined };
};

// A list of one element shows what is wrong with it; what is said of the list as a whole does not count.
const elementOf = (list: AnySchema): AnySchema => ({
  "~standard": {
    version: 1,
    vendor: "arktype",
    validate: (value) => {
      const result = list["~standard"].validate([value]) as SchemaResult<readonly unknown[]>;
      if (!result.issues) return { value: result.value[0] };
      const issues = result.issues.flatMap(({ message, path = [] }): SchemaIssue[] =>
        path.length > 0 ? [{ message, path: path.slice(1) }] : [],
      );
      return issues.length > 0 ? { issues } : { value };
    },
  },
});

const TUPLE = ["prefix", "optionals", "defaultables", "postfix", "variadic"];

const ofArktype = (schema: AnySchema): AttributeKind | undefined => {
  const { json } = schema as unknown as { readonly json: ArktypeJson };
  if (json.proto === "Set") return { type: "set", whole: false, element: undefined };
  if (json.proto === "Array") {
    const { sequence } = json;
    const plain = sequence !== undefined && !TUPLE.some((part) => Object.hasOwn(Object(sequence) as object, part));
    return { type: "array", whole: false, element: plain ? elementOf(schema) : undefined };
  }
  return json.domain ? { type: json.domain, whole: json.domain === "bigint" || isWhole(json.divisor), element: undefined } : undefined;
};

const readers: Readonly<Record<string, (schema: AnySchema) => AttributeKind | undefined>> = {
  zod: ofZod,
  valibot: ofValibot,
  arktype: ofArktype,
};

/** The type of an attribute's values; undefined where the library does not tell it, or a value may have several. */
export const attributeKind = (schema: AnySchema): AttributeKind | undefined => readers[schema["~standard"].vendor]?.(schema);

const NUMBERS: readonly string[] = ["number", "bigint"];
// Of a schema of any other type, such as a union or an object of arktype's, a value may still be what is asked for.
const PLAIN: readonly string[] = [...NUMBERS, "string", "boolean", "array", "set", "record", "map"];

/** Why an operand of `add` or `append` does not fit an attribute; undefined where it may fit. */
export const misfit = ({ type, whole }: AttributeKind, operand: unknown): string | undefined => {
  if (!PLAIN.includes(type)) return undefined;
  if (Array.isArray(operand)) return type === "array" ? undefined : `elements can be appended to a list only, and the schema says ${type}`;
  if (operand instanceof Set) return type === "set" ? undefined : `a Set can be added to a set only, and the schema says ${type}`;
  if (!NUMBERS.includes(type)) return `a number can be added to a number only, and the schema says ${type}`;
  return whole && isNumber(operand) && !isWhole(operand)
    ? `the schema takes whole numbers only, and ${String(operand)} has a fraction`
    : undefined;
};

export type Maybe<T> = T | Promise<T>;

const pathOf = (issue: SchemaIssue): string =>
  (issue.path ?? []).map((step) => String(typeof step === "object" ? step.key : step)).join(".");

const invalid = (what: string, issues: readonly SchemaIssue[]): never => {
  const findings = issues.map((issue) => ({ path: pathOf(issue), message: issue.message }));
  const text = findings.map(({ path, message }) => (path === "" ? message : `"${path}": ${message}`)).join("; ");
  throw new EdgetableError("schema.invalidValue", `${what} does not fit its schema: ${text}.`, { details: { issues: findings } });
};

const failed = (what: string, cause: unknown): never => {
  const said = cause instanceof Error ? cause.message : jsonText(cause);
  throw new EdgetableError("schema.failed", `The schema of ${what} failed instead of saying what does not fit: ${said}.`, {
    details: { of: what },
    cause,
  });
};

// What is asynchronous is anything that has a `then`.
const ask = (schema: AnySchema, value: unknown, what: string): Maybe<SchemaResult<Row>> => {
  try {
    const result = schema["~standard"].validate(value);
    return "then" in result ? Promise.resolve(result).catch((cause: unknown) => failed(what, cause)) : result;
  } catch (cause) {
    return failed(what, cause);
  }
};

const whenDone = <T>(result: Maybe<SchemaResult<Row>>, finish: (result: SchemaResult<Row>) => Maybe<T>): Maybe<T> =>
  result instanceof Promise ? result.then(finish) : finish(result);

/**
 * The schema's output for a whole row; a promise only where the schema itself is asynchronous.
 *
 * @throws {schema.invalidValue} with every issue
 * @throws {schema.failed} when the schema throws
 */
export const validateRow = (schema: AnySchema, row: Row, what: string): Maybe<Row> =>
  whenDone(ask(schema, row, what), (result) => (result.issues ? invalid(what, result.issues) : result.value));

/**
 * The schema's output for changed attributes: issues with attributes that are not among them are of no
 * account. Where the library does not tell each attribute's schema the values stay as they were given,
 * because the whole row's says nothing of a part of it.
 *
 * @param changes the changed attributes, undefined for a removed one
 * @throws {schema.invalidValue} with every issue
 * @throws {schema.failed} when the schema throws
 */
export const validateChanges = (schema: AnySchema, changes: Row, what: string): Maybe<Row> => {
  const alone = attributeSchemas(schema);
  const outputs = alone && !alone.ofRow ? passEach(alone.each, changes, what) : undefined;
  if (outputs) return outputs;
  const given = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
  return whenDone(ask(schema, given, what), (result) => {
    const mine = (result.issues ?? []).filter((issue) => pathOf(issue).split(".")[0]! in changes);
    if (mine.length > 0) invalid(what, mine);
    return alone ? outputsOf(alone.each, { given, changes, what }) : changes;
  });
};

type Schemas = Readonly<Record<string, AnySchema>>;

// The whole schema would first complain of every attribute that is not among the changes.
const passEach = (schemas: Schemas, changes: Row, what: string): Row | undefined => {
  let outputs: Record<string, unknown> | undefined;
  for (const name in changes) {
    const value = changes[name];
    const schema = schemas[name];
    const result = schema && ask(schema, value, `"${name}" of ${what}`);
    // Somebody else waits for the same schema again, and hears of its failures.
    if (result instanceof Promise) result.catch(() => undefined);
    if (result === undefined || result instanceof Promise || result.issues) return undefined;
    if (value !== undefined && result.value !== value) (outputs ??= { ...changes })[name] = result.value;
  }
  return outputs ?? changes;
};

const outputsOf = (
  schemas: Schemas,
  { given, changes, what }: { readonly given: Row; readonly changes: Row; readonly what: string },
): Maybe<Row> => {
  const names = Object.keys(given);
  const results = names.map((name) => {
    const [schema, value] = [schemas[name], given[name]];
    return schema ? ask(schema, value, `"${name}" of ${what}`) : { value };
  });
  const give = (done: readonly SchemaResult<unknown>[]): Row => ({
    ...changes,
    ...Object.fromEntries(done.map((result, at) => [names[at], result.issues ? given[names[at] as string] : result.value])),
  });
  return results.some((result) => result instanceof Promise)
    ? Promise.all(results.map(async (result) => result)).then(give)
    : give(results as SchemaResult<unknown>[]);
};

interface Operands {
  readonly add: Row;
  readonly append: Row;
}

/**
 * The schema's output for what an update adds and appends: elements of lists and members of sets. A number that is
 * added has to fit the attribute's type and nothing else, because only DynamoDB knows the sum.
 *
 * @throws {schema.invalidValue} where the attribute has another type, and where an element, a member or a fraction does not fit
 * @throws {schema.failed} when the schema throws
 */
export const validateOperands = <Given extends Operands>(schema: AnySchema, given: Given, what: string): Maybe<Given> => {
  const each = attributeSchemas(schema)?.each ?? {};
  const operands = [...Object.entries(given.add), ...Object.entries(given.append)].flatMap(([field, operand]) => {
    const kind = Object.hasOwn(each, field) ? attributeKind(each[field] as AnySchema) : undefined;
    return kind ? [{ field, operand, kind }] : [];
  });
  const misfits = operands.flatMap(({ field, operand, kind }) => {
    const message = misfit(kind, operand);
    return message === undefined ? [] : [{ path: [field], message }];
  });
  if (misfits.length > 0) invalid(what, misfits);
  const asked = operands.flatMap(({ field, operand, kind: { element } }) =>
    element && (Array.isArray(operand) || operand instanceof Set)
      ? [...(operand as Iterable<unknown>)].map((value, at) => ({
          field,
          path: Array.isArray(operand) ? [field, at] : [field],
          result: ask(element, value, `"${field}" of ${what}`),
        }))
      : [],
  );
  const finish = (results: readonly SchemaResult<unknown>[]): Given => {
    const issues = results.flatMap((result, at) =>
      (result.issues ?? []).map(({ message, path = [] }) => ({ message, path: [...(asked[at]?.path ?? []), ...path] })),
    );
    if (issues.length > 0) invalid(what, issues);
    const outputs: Record<string, unknown[]> = {};
    for (const [at, { field }] of asked.entries()) (outputs[field] ??= []).push((results[at] as { readonly value: unknown }).value);
    const passed = (row: Row): Row =>
      mapValues(row, (operand, field) => {
        const values = outputs[field];
        return values ? (Array.isArray(operand) ? values : new Set(values)) : operand;
      });
    return { ...given, add: passed(given.add), append: passed(given.append) };
  };
  if (asked.length === 0) return given;
  const results = asked.map(({ result }) => result);
  return results.some((result) => result instanceof Promise)
    ? Promise.all(results.map(async (result) => result)).then(finish)
    : finish(results as SchemaResult<unknown>[]);
};

/**
 * Refuses attributes that the model does not know.
 *
 * @throws {schema.unknownAttribute} with a suggestion
 */
export const checkAttributes = (names: readonly string[] | undefined, given: readonly string[], what: string): void => {
  if (!names) return;
  const unknown = given.find((name) => !names.includes(name));
  if (unknown === undefined) return;
  throw new EdgetableError("schema.unknownAttribute", `"${unknown}" is no attribute of ${what}.${didYouMean(unknown, names)}`, {
    details: { attribute: unknown, known: names },
  });
};
