import { EdgetableError } from "../errors/edgetable-error.ts";
import { didYouMean } from "../util/did-you-mean.ts";
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
export const validateChanges = (schema: AnySchema, changes: Row, what: string): Maybe<void> =>
  whenDone(schema["~standard"].validate(changes), (result) => {
    const mine = (result.issues ?? []).filter((issue) => pathOf(issue).split(".")[0]! in changes);
    if (mine.length > 0) invalid(what, mine);
  });

/**
 * Refuses attributes that the model does not know.
 *
 * @throws {schema.unknownAttribute} with a suggestion
 */
export const checkAttributes = (names: readonly string[] | undefined, given: readonly string[], what: string): void => {
  const unknown = names && given.find((name) => !names.includes(name));
  if (unknown === undefined || !names) return;
  throw new EdgetableError("schema.unknownAttribute", `"${unknown}" is no attribute of ${what}.${didYouMean(unknown, names)}`, {
    details: { attribute: unknown, known: names },
  });
};
