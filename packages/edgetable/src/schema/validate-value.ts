import { EdgetableError } from "../errors/edgetable-error.ts";
import { didYouMean } from "../util/did-you-mean.ts";
import { attributeSchemas } from "./attribute-schemas.ts";
import type { AnySchema, SchemaIssue, SchemaResult } from "./standard-schema.ts";

type Row = Readonly<Record<string, unknown>>;
export type Maybe<T> = T | Promise<T>;

const pathOf = (issue: SchemaIssue): string =>
  (issue.path ?? []).map((step) => String(typeof step === "object" ? step.key : step)).join(".");

const invalid = (what: string, issues: readonly SchemaIssue[]): never => {
  const findings = issues.map((issue) => ({ path: pathOf(issue), message: issue.message }));
  const text = findings.map(({ path, message }) => (path === "" ? message : `"${path}": ${message}`)).join("; ");
  throw new EdgetableError("schema.invalidValue", `${what} does not fit its schema: ${text}.`, { details: { issues: findings } });
};

const whenDone = <T>(result: Maybe<SchemaResult<Row>>, finish: (result: SchemaResult<Row>) => T): Maybe<T> =>
  result instanceof Promise ? result.then(finish) : finish(result);

/**
 * The schema's output for a whole row; a promise only where the schema itself is asynchronous.
 *
 * @throws {schema.invalidValue} with every issue
 */
export const validateRow = (schema: AnySchema, row: Row, what: string): Maybe<Row> =>
  whenDone(schema["~standard"].validate(row), (result) => (result.issues ? invalid(what, result.issues) : result.value));

/**
 * Checks changed attributes alone: issues with attributes that are not among them are of no account,
 * and the values stay as they were given, because a schema's transforms need the whole row.
 *
 * @param changes the changed attributes, undefined for a removed one
 * @throws {schema.invalidValue} with every issue
 */
export const validateChanges = (schema: AnySchema, changes: Row, what: string): Maybe<void> => {
  const alone = attributeSchemas(schema);
  if (alone && passEach(alone, changes)) return undefined;
  return whenDone(schema["~standard"].validate(changes), (result) => {
    const mine = (result.issues ?? []).filter((issue) => pathOf(issue).split(".")[0]! in changes);
    if (mine.length > 0) invalid(what, mine);
  });
};

// The whole schema would first complain of every attribute that is not among the changes.
const passEach = (schemas: Readonly<Record<string, AnySchema>>, changes: Row): boolean => {
  for (const name in changes) {
    const result = schemas[name]?.["~standard"].validate(changes[name]);
    // Somebody else waits for the same schema again, and hears of its failures.
    if (result instanceof Promise) result.catch(() => undefined);
    if (result === undefined || result instanceof Promise || result.issues) return false;
  }
  return true;
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
