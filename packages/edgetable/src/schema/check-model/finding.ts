import { EdgetableError, isEdgetableError } from "../../errors/edgetable-error.ts";
import { didYouMean } from "../../util/did-you-mean.ts";
import { jsonText } from "../../util/json-text.ts";
import { definitionOf, type Catalog, type Shape } from "../catalog.ts";
import { attributesOf } from "../facts.ts";

/** The rules of a model; docs/errors.md lists them under `schema.invalidModel`. */
export type ModelRule =
  | "name"
  | "reservedName"
  | "duplicateName"
  | "nodeType"
  | "template"
  | "attribute"
  | "setting"
  | "table"
  | "layout"
  | "slot"
  | "collision"
  | "identity"
  | "storedName"
  | "indexAttribute"
  | "keyLength";

/** One mistake of a model. */
export interface ModelFinding {
  readonly rule: ModelRule;
  /** The place in the definition, such as `edges.enrolledIn.from`. */
  readonly place: string;
  /** What is wrong, with which value, and what to do. */
  readonly message: string;
}

/** Adds a finding. */
export type Report = (rule: ModelRule, place: string, message: string) => void;

/** The names that a list may contain. */
export interface Names {
  readonly rule: ModelRule;
  /** Continues `"x" is not`. */
  readonly what: string;
  /** Undefined if unknown: then nothing is reported. */
  readonly known: readonly string[] | undefined;
}

/** Reports each name that is not among the known ones. */
export const reportUnknown = (report: Report, place: string, given: readonly string[], { rule, what, known }: Names): void => {
  // checkMembers reports a value that is not an array.
  if (!known || !Array.isArray(given)) return;
  for (const name of given)
    if (name === undefined) report(rule, place, `a name is missing. Give ${what}.`);
    else if (typeof name !== "string") report(rule, place, `${jsonText(name)} is not ${what}: give its name.`);
    else if (!known.includes(name))
      report(rule, place, `"${name}" is not ${what}.${didYouMean(name, known) || " Declare it, or leave it out."}`);
};

/**
 * Visits the entries of an optional record.
 *
 * @throws {schema.invalidModel} with the name of an entry that cannot be read
 */
export const each = <Value>(record: Readonly<Record<string, Value>> | undefined, visit: (name: string, value: Value) => void): void => {
  for (const [name, value] of Object.entries(record ?? {})) {
    try {
      visit(name, value);
    } catch (cause) {
      if (isEdgetableError(cause)) throw cause;
      throw new EdgetableError("schema.invalidModel", `"${name}" cannot be read: ${String(cause)}.`, { cause });
    }
  }
};

/**
 * The attributes that a shape's items store as they are, each with its stored name: neither read from a key nor left to the
 * edge's other copy. If the schema does not list its attributes, only those that the layout renames.
 */
export const plainAttributes = (catalog: Catalog, shape: Shape): readonly (readonly [name: string, stored: string])[] => {
  const definition = definitionOf(catalog, shape);
  const names = definition ? (attributesOf(definition) ?? Object.keys(shape.stored)) : [];
  return names
    .filter((name) => !shape.carried.includes(name) && shape.copied?.includes(name) !== false)
    .map((name) => [name, shape.stored[name] ?? name]);
};
