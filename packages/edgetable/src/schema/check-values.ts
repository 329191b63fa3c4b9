import { EdgetableError } from "../errors/edgetable-error.ts";
import { didYouMean } from "../util/did-you-mean.ts";
import { jsonText } from "../util/json-text.ts";
import { loadOnce } from "../util/load-once.ts";
import { type Row, setOwn } from "../util/row.ts";
import { type Catalog, keyAttributes, type EndEntry, type Shape } from "./catalog.ts";
import { type AnySchema, attributeSchemas, type SchemaIssue, type SchemaResult } from "./standard-schema.ts";

const invalidId = (what: string, message: string, id: unknown): never => {
  throw new EdgetableError("schema.invalidValue", `The id of "${what}" ${message}`, { details: { of: what, id } });
};

/**
 * Checks that an id has all its fields; it may have others.
 *
 * @throws {schema.invalidValue} if it is not an object, or lacks a field
 * @throws {keys.empty} if a field is an empty text
 */
export const checkId = (what: string, idFields: readonly string[], id: unknown): Row => {
  if (typeof id !== "object" || id === null)
    return invalidId(what, `must be an object${idFields.length > 0 ? ` with ${idFields.join(", ")}` : ""}; it is ${jsonText(id)}.`, id);
  for (const field of idFields) {
    const value = (id as Row)[field];
    if (value === undefined || value === null) return invalidId(what, `lacks "${field}". Give { ${idFields.join(", ")} }.`, id);
    if (value === "")
      throw new EdgetableError("keys.empty", `"${field}" of "${what}" is empty. Give at least one character.`, {
        details: { of: what, field },
      });
  }
  return id as Row;
};

/**
 * The given id fields, in order, of an id that may stop at a level of its hierarchy.
 *
 * @throws {schema.invalidValue} if a field does not belong to the id, or a level before a given one is missing
 */
export const leadingIdFields = (what: string, idFields: readonly string[], id: Row): readonly string[] => {
  const given = idFields.filter((field) => id[field] !== undefined);
  const unknown = Object.keys(id).find((field) => !idFields.includes(field));
  if (unknown !== undefined) return invalidId(what, `has no field "${unknown}".${didYouMean(unknown, idFields)}`, id);
  if (given.some((field, at) => field !== idFields[at]))
    return invalidId(what, `must give its leading levels (${idFields.join(", ")}) without a gap.`, id);
  return given;
};

/**
 * An id or row with the values of the given fields that the connection's tenant determines.
 *
 * @throws {request.otherTenant} if it names another tenant
 */
export const ofTenant = <Given>({ tenant }: Pick<Catalog, "tenant">, fields: readonly string[], given: Given): Given => {
  if (!tenant || typeof given !== "object") return given;
  const row: Record<string, unknown> = { ...(given as Row) };
  for (const field of fields) {
    const own = jsonText(tenant[field]);
    const value = jsonText((row[field] ??= tenant[field]));
    if (field in tenant && value !== own)
      throw new EdgetableError("request.otherTenant", `${field} is ${value}, and this connection's is ${own}.`, {
        details: { field, tenant },
      });
  }
  return row as Given;
};

interface AllowedFields {
  readonly fields: readonly string[];
  /** Fields that the table's keys need in addition to the id. */
  readonly further: readonly string[];
}

const checkFields = (what: string, { fields, further }: AllowedFields, id: unknown): Row => {
  const checked = checkId(what, fields, id);
  for (const field of Object.keys(checked)) {
    if (fields.includes(field) || further.includes(field)) continue;
    throw new EdgetableError("schema.unknownAttribute", `"${field}" is not part of the id of "${what}".${didYouMean(field, fields)}`, {
      details: { attribute: field, known: fields },
    });
  }
  return checked;
};

/**
 * Checks that an id has all its fields and no others.
 *
 * @throws {schema.unknownAttribute} for a field that does not belong to the id
 */
export const checkKey = (what: string, fields: readonly string[], id: unknown): Row => checkFields(what, { fields, further: [] }, id);

// Kept, because every call needs it and it depends only on the model.
const allowedByNode = new WeakMap<EndEntry, AllowedFields>();

/**
 * Checks a node's id. It may also have fields that the table's keys need, and the node's type, as ends of edges between
 * several node types do.
 *
 * @throws {schema.unknownAttribute} for any other field
 */
export const checkNodeId = (catalog: Catalog, entry: EndEntry, given: unknown): Row => {
  const id = ofTenant(catalog, entry.idFields, given);
  let allowed = allowedByNode.get(entry);
  if (!allowed) {
    const { idFields, shape } = entry;
    allowed = { fields: idFields, further: keyAttributes(catalog.index).flatMap((attribute) => shape.keys[attribute]?.fields ?? []) };
    allowedByNode.set(entry, allowed);
  }
  const typed = typeof id === "object" && id !== null && (id as Row)["type"] === entry.name && !allowed.fields.includes("type");
  if (!typed || allowed.further.includes("type")) return checkFields(entry.name, allowed, id);
  const { type: _type, ...own } = id as Row;
  return checkFields(entry.name, allowed, own);
};

/**
 * The node at one end of an edge. If the end may be of several node types, the id gives its `type`, unless its fields determine it.
 *
 * @throws {schema.unknownNode} if the type is not one of the end's, or cannot be determined
 */
export const checkEnd = (catalog: Catalog, types: readonly string[], given: unknown): { readonly type: string; readonly id: Row } => {
  const only = types.length === 1 ? types[0] : undefined;
  const plain = only !== undefined && typeof given === "object" && given !== null && !("type" in given) ? catalog.ends[only] : undefined;
  if (plain) return { type: plain.name, id: checkNodeId(catalog, plain, given) };
  const { type: named, ...rest } = checkId(types.join(" or "), [], given);
  const typed = typeof named === "string" && !catalog.ends[only ?? ""]?.idFields.includes("type");
  const id = typed ? rest : (given as Row);
  const fitting = types.filter((type) => {
    if (typed) return type === named;
    if (only !== undefined) return true;
    const fields = catalog.ends[type]?.idFields ?? [];
    return (
      fields.every((field) => field in id || field in (catalog.tenant ?? {})) && Object.keys(id).every((field) => fields.includes(field))
    );
  });
  const entry = fitting.length === 1 ? catalog.ends[fitting[0] ?? ""] : undefined;
  if (entry) return { type: entry.name, id: checkNodeId(catalog, entry, id) };
  const message = typed
    ? `"${named}" is not a node type of this end.${didYouMean(named, types)}`
    : `Give the type of this node: ${types.join(" or ")}.`;
  throw new EdgetableError("schema.unknownNode", message, { details: { given, types } });
};

/**
 * Refuses the stored names of renamed attributes, which an open schema accepts. A value written under such a name would be read as
 * the renamed attribute.
 *
 * @throws {schema.unknownAttribute}
 */
export const refuseStoredNames = (shape: Shape, given: readonly string[]): void => {
  for (const name of given) {
    const field = Object.hasOwn(shape.fields, name) ? shape.fields[name] : name;
    if (field === name || shape.stored[name] !== undefined) continue;
    throw new EdgetableError(
      "schema.unknownAttribute",
      `"${name}" is not an attribute of "${shape.definition}": "${field}" is stored under that name. Give "${field}" instead.`,
      { details: { attribute: name, field } },
    );
  }
};

export type Maybe<T> = T | Promise<T>;

// A path of arktype is a kind of array whose own map() makes [0] of an empty one.
const pathOf = (issue: SchemaIssue): string =>
  Array.from(issue.path ?? [], (step) => String(typeof step === "object" ? step.key : step)).join(".");

/** @throws {schema.invalidValue} with every issue */
export const throwIssues = (what: string, issues: readonly SchemaIssue[]): never => {
  const findings = issues.map((issue) => ({ path: pathOf(issue), message: issue.message }));
  const text = findings.map(({ path, message }) => (path === "" ? message : `"${path}": ${message}`)).join("; ");
  throw new EdgetableError("schema.invalidValue", `${what} does not fit its schema: ${text}.`, { details: { issues: findings } });
};

const throwFailure = (what: string, cause: unknown): never => {
  const reason = cause instanceof Error ? cause.message : jsonText(cause);
  throw new EdgetableError("schema.failed", `The schema of ${what} failed instead of reporting issues: ${reason}.`, {
    details: { of: what },
    cause,
  });
};

const loadForms = loadOnce(async () => import("./number-forms.ts"));

/**
 * A schema's result for an unchanged value; a promise only if the schema is asynchronous.
 *
 * @throws {schema.failed} if the schema throws
 */
export const ask = (schema: AnySchema, value: unknown, what: string): Maybe<SchemaResult<Row>> => {
  try {
    const result = schema["~standard"].validate(value);
    return "then" in result ? Promise.resolve(result).catch((cause: unknown) => throwFailure(what, cause)) : result;
  } catch (cause) {
    return throwFailure(what, cause);
  }
};

const askAgain = async (schema: AnySchema, value: unknown, what: string, first: SchemaResult<Row>): Promise<SchemaResult<Row>> => {
  const { askInOtherForms } = await loadForms();
  return askInOtherForms((other) => ask(schema, other, what), value, first);
};

/**
 * A schema's result for a value. If the schema rejects a number in the form in which reads return it, the other form is tried
 * (number or bigint). A promise only if the schema is asynchronous (its result has a `then`), or refuses the value.
 *
 * @throws {schema.failed} if the schema throws
 */
export const validate = (schema: AnySchema, value: unknown, what: string): Maybe<SchemaResult<Row>> => {
  const result = ask(schema, value, what);
  if (result instanceof Promise) return result.then((one) => (one.issues ? askAgain(schema, value, what, one) : one));
  return result.issues ? askAgain(schema, value, what, result) : result;
};

const whenDone = <T>(result: Maybe<SchemaResult<Row>>, finish: (result: SchemaResult<Row>) => Maybe<T>): Maybe<T> =>
  result instanceof Promise ? result.then(finish) : finish(result);

/**
 * The schema's output for a whole row; a promise only if the schema is asynchronous.
 *
 * @throws {schema.invalidValue} with every issue
 * @throws {schema.failed} if the schema throws
 */
export const validateRow = (schema: AnySchema, row: Row, what: string): Maybe<Row> =>
  whenDone(validate(schema, row, what), (result) => (result.issues ? throwIssues(what, result.issues) : result.value));

/**
 * The schema's output for changed attributes, ignoring issues of other attributes. If the library does not expose the schema of
 * each attribute, the values stay as given, because the schema of a whole row has no output for a part of it.
 *
 * @param changes the changed attributes, undefined for a removed one
 * @param isPart true if the whole row is checked later: rules across attributes are left to that
 * @throws {schema.invalidValue} with every issue
 * @throws {schema.failed} if the schema throws
 */
export const validateChanges = (schema: AnySchema, changes: Row, what: string, isPart = false): Maybe<Row> => {
  const alone = attributeSchemas(schema);
  const outputs = alone && (isPart || !alone.ofRow) ? passEach(alone.each, changes, what) : undefined;
  if (outputs) return outputs;
  const given = Object.entries(changes).filter(([, value]) => value !== undefined);
  return whenDone(validate(schema, Object.fromEntries(given), what), (result): Maybe<Row> => {
    const mine = (result.issues ?? []).filter((issue) => pathOf(issue).split(".")[0]! in changes);
    if (mine.length > 0) throwIssues(what, mine);
    if (!alone) return changes;
    const results = given.map(([name, value]) => {
      const own = alone.each[name];
      return own ? validate(own, value, `"${name}" of ${what}`) : { value };
    });
    return allResults(results, (done) => {
      const row: Record<string, unknown> = { ...changes };
      for (const [at, [name, value]] of given.entries()) {
        const output = done[at];
        setOwn(row, name, !output || output.issues ? value : output.value);
      }
      return row;
    });
  });
};

type Schemas = Readonly<Record<string, AnySchema>>;

// Faster than the schema of the row, which reports every attribute that is missing from the changes.
const passEach = (schemas: Schemas, changes: Row, what: string): Row | undefined => {
  let outputs: Record<string, unknown> | undefined;
  for (const name in changes) {
    const value = changes[name];
    const schema = schemas[name];
    const result = schema && validate(schema, value, `"${name}" of ${what}`);
    // The caller validates again by the whole schema, which reports the failure.
    if (result instanceof Promise) result.catch(() => undefined);
    if (result === undefined || result instanceof Promise || result.issues) return undefined;
    if (value !== undefined && result.value !== value) (outputs ??= { ...changes })[name] = result.value;
  }
  return outputs ?? changes;
};

/** Uses several results; waits only if one is a promise. */
export const allResults = <T>(
  results: readonly Maybe<SchemaResult<unknown>>[],
  use: (results: readonly SchemaResult<unknown>[]) => T,
): Maybe<T> =>
  results.some((result) => result instanceof Promise)
    ? Promise.all(results.map(async (result) => result)).then(use)
    : use(results as SchemaResult<unknown>[]);

/**
 * Checks that the model has all the given attributes.
 *
 * @throws {schema.unknownAttribute} with a suggestion
 */
export const checkAttributes = (names: readonly string[] | undefined, given: readonly string[], what: string): void => {
  if (!names) return;
  const unknown = given.find((name) => !names.includes(name));
  if (unknown === undefined) return;
  throw new EdgetableError("schema.unknownAttribute", `"${unknown}" is not an attribute of ${what}.${didYouMean(unknown, names)}`, {
    details: { attribute: unknown, known: names },
  });
};
