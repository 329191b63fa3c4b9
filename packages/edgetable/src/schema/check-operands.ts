import { isNumber, mapValues, type Row } from "../util/row.ts";
import { attributeKind, type AttributeKind, isWhole, type ValibotSchema, type ZodDefinition } from "./attribute-kind.ts";
import { allResults, type Maybe, throwIssues, validate } from "./check-values.ts";
import { type AnySchema, askSchema, attributeSchemas, type SchemaIssue, type SchemaResult } from "./standard-schema.ts";

const NUMBERS: readonly string[] = ["number", "bigint"];
// A schema of any other type, such as a union or an arktype object, may still accept the operand.
const PLAIN: readonly string[] = [...NUMBERS, "string", "boolean", "array", "set", "record", "map"];

/** The reason why an operand of `add` or `append` does not fit an attribute; undefined if it may fit. */
export const misfit = ({ type, whole }: AttributeKind, operand: unknown): string | undefined => {
  if (!PLAIN.includes(type)) return undefined;
  if (Array.isArray(operand)) return type === "array" ? undefined : `elements can only be appended to a list, and the schema says ${type}`;
  if (operand instanceof Set) return type === "set" ? undefined : `a Set can only be added to a set, and the schema says ${type}`;
  if (!NUMBERS.includes(type)) return `a number can only be added to a number, and the schema says ${type}`;
  return whole && isNumber(operand) && !isWhole(operand)
    ? `the schema only takes whole numbers, and ${String(operand)} has a fraction`
    : undefined;
};

/** What an update does to a value within an attribute, or to members of a set. */
export interface PathChange {
  readonly verb: "set" | "remove" | "add" | "append" | "delete";
  readonly path: string;
  /** The attribute, then names of members and positions in lists. */
  readonly steps: readonly [attribute: string, ...within: (string | number)[]];
  /** Undefined for `remove`. */
  readonly value?: unknown;
}

const innerOf = (schema: AnySchema): AnySchema => {
  const { _zod, wrapped } = schema as unknown as { readonly _zod?: { readonly def: ZodDefinition }; readonly wrapped?: AnySchema };
  const inner = _zod?.def.innerType ?? wrapped;
  return inner ? innerOf(inner) : schema;
};

/** What a schema of arktype says of entries whose names it does not list. */
interface ArktypeRecord {
  readonly structure?: {
    readonly index?: readonly { readonly signature: { readonly allows: (name: string) => boolean }; readonly value: AnySchema }[];
  };
}

const entryOf = (schema: AnySchema, name: string): AnySchema | undefined =>
  (schema as unknown as ArktypeRecord).structure?.index?.find(({ signature }) => signature.allows(name))?.value;

/** The schema of what a path leads to; "unknown" if the schema has no such member, undefined if the library does not expose it. */
const schemaAt = (schema: AnySchema, steps: readonly (string | number)[]): AnySchema | "unknown" | undefined => {
  let at: AnySchema | "unknown" | undefined = schema;
  for (const step of steps) {
    if (at === undefined || at === "unknown") return at;
    const inner: AnySchema = innerOf(at);
    const { _zod, type, value } = inner as unknown as ValibotSchema & { readonly _zod?: { readonly def: ZodDefinition } };
    const known = attributeSchemas(inner);
    if (typeof step === "number") at = attributeKind(inner)?.element;
    // All members of a record have one schema.
    else if (_zod?.def.type === "record") at = _zod.def.valueType;
    else if (_zod === undefined && type === "record") at = value;
    else at = known && !Object.hasOwn(known.each, step) ? (entryOf(inner, step) ?? "unknown") : known?.each[step];
  }
  return at;
};

/** True if an object or a record may lack the member to which a path leads, as far as its schema can tell at once. */
const isOptional = (schema: AnySchema, steps: readonly (string | number)[]): boolean => {
  const parent = schemaAt(schema, steps.slice(0, -1));
  const found = parent === "unknown" ? undefined : askSchema(parent && innerOf(parent), {});
  return (
    found !== undefined && !found.issues?.some(({ path: [first] = [] }) => (typeof first === "object" ? first.key : first) === steps.at(-1))
  );
};

/**
 * The changes by path, with values as the schema of what the path leads to gives them back; a value whose schema the library
 * does not expose stays as given.
 *
 * @throws {schema.invalidValue} when the schema has no such member, refuses the value, or does not let it be removed
 */
export const validatePaths = (schema: AnySchema, paths: readonly PathChange[], what: string): Maybe<readonly PathChange[]> => {
  const issues: SchemaIssue[] = [];
  const asked: { readonly at: number; readonly in: PropertyKey | undefined; readonly result: Maybe<SchemaResult<unknown>> }[] = [];
  for (const [at, { verb, path, steps, value }] of paths.entries()) {
    const own = schemaAt(schema, steps);
    if (own === undefined) continue;
    if (own === "unknown") issues.push({ path: [path], message: "there is no such member" });
    else if (verb === "set" || (verb === "remove" && typeof steps.at(-1) === "string" && !isOptional(schema, steps)))
      asked.push({ at, in: undefined, result: validate(own, value, `"${path}" of ${what}`) });
    else {
      const kind = attributeKind(innerOf(own));
      const message = kind && verb !== "remove" ? misfit(kind, value) : undefined;
      if (message !== undefined) issues.push({ path: [path], message });
      else if (kind?.element && (verb === "append" || (verb === "add" && value instanceof Set)))
        for (const [index, one] of [...(value as Iterable<unknown>)].entries())
          asked.push({ at, in: index, result: validate(kind.element, one, `"${path}" of ${what}`) });
    }
  }
  if (issues.length > 0) throwIssues(what, issues);
  return allResults(
    asked.map(({ result }) => result),
    (done) => {
      const outputs = new Map<number, unknown[]>();
      for (const [number, { at, in: index }] of asked.entries()) {
        const result = done[number]!;
        const { path } = paths[at]!;
        if (result.issues)
          for (const { message, path: inner = [] } of result.issues)
            issues.push({ message, path: index === undefined ? [path, ...inner] : [path, index, ...inner] });
        else outputs.set(at, [...(outputs.get(at) ?? []), result.value]);
      }
      if (issues.length > 0) throwIssues(what, issues);
      return paths.map((change, at): PathChange => {
        const values = outputs.get(at);
        if (!values || change.verb === "remove") return change;
        if (change.verb === "add") return { ...change, value: new Set(values) };
        if (change.verb === "append") return { ...change, value: values };
        const { value: _value, ...removal } = change;
        return values[0] === undefined ? { ...removal, verb: "remove" } : { ...change, value: values[0] };
      });
    },
  );
};

interface Operands {
  readonly add: Row;
  readonly append: Row;
}

/**
 * The schema's output for the operands of `add` and `append`: elements of lists and members of sets. A number only has to fit
 * the attribute's type, because only DynamoDB knows the sum.
 *
 * @throws {schema.invalidValue} when the attribute has another type, or an element, a member or a fraction does not fit
 * @throws {schema.failed} when the schema throws
 */
export const validateOperands = <Given extends Operands>(schema: AnySchema, given: Given, what: string): Maybe<Given> => {
  const schemas = attributeSchemas(schema)?.each ?? {};
  const misfits: SchemaIssue[] = [];
  const asked: { readonly field: string; readonly path: readonly PropertyKey[]; readonly element: AnySchema; readonly value: unknown }[] =
    [];
  for (const [field, operand] of [...Object.entries(given.add), ...Object.entries(given.append)]) {
    const kind = Object.hasOwn(schemas, field) ? attributeKind(schemas[field] as AnySchema) : undefined;
    const message = kind && misfit(kind, operand);
    if (message !== undefined) misfits.push({ path: [field], message });
    const { element } = kind ?? {};
    if (!element || !(Array.isArray(operand) || operand instanceof Set)) continue;
    for (const [at, value] of [...(operand as Iterable<unknown>)].entries())
      asked.push({ field, path: Array.isArray(operand) ? [field, at] : [field], element, value });
  }
  if (misfits.length > 0) throwIssues(what, misfits);
  if (asked.length === 0) return given;
  const results = asked.map(({ field, element, value }) => validate(element, value, `"${field}" of ${what}`));
  return allResults(results, (done) => {
    const issues: SchemaIssue[] = [];
    const outputs: Record<string, unknown[]> = {};
    for (const [at, { field, path }] of asked.entries()) {
      const result = done[at];
      for (const issue of result?.issues ?? []) issues.push({ message: issue.message, path: [...path, ...(issue.path ?? [])] });
      if (result && !result.issues) (outputs[field] ??= []).push(result.value);
    }
    if (issues.length > 0) throwIssues(what, issues);
    const withOutputs = (row: Row): Row =>
      mapValues(row, (operand, field) => {
        const values = outputs[field];
        return values ? (Array.isArray(operand) ? values : new Set(values)) : operand;
      });
    return { ...given, add: withOutputs(given.add), append: withOutputs(given.append) };
  });
};
