import { EdgetableError, isEdgetableError } from "../../errors/edgetable-error.ts";
import { didYouMean } from "../../util/did-you-mean.ts";
import { definitionOf, type Catalog, type Shape } from "../catalog.ts";
import { attributeNames } from "../standard-schema.ts";

/** What a finding is about; the rules are listed in docs/errors.md under `schema.invalidModel`. */
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
  /** Where in the definition, such as `edges.enrolledIn.from`. */
  readonly place: string;
  /** What is wrong, with which value, and what to do. */
  readonly message: string;
}

export const finding = (rule: ModelRule, place: string, message: string): ModelFinding => ({ rule, place, message });

/** A finding when something is so. */
export const when = (wrong: boolean, rule: ModelRule, ...rest: readonly [place: string, message: string]): readonly ModelFinding[] =>
  wrong ? [finding(rule, ...rest)] : [];

/** What a list of names is checked against. */
export interface Names {
  readonly rule: ModelRule;
  /** Continues `"x" is no`. */
  readonly what: string;
  /** Undefined where nobody knows. */
  readonly known: readonly string[] | undefined;
}

/** A finding for each given name that is not among the known ones. */
export const unknownNames = (place: string, given: readonly string[], { rule, what, known }: Names): readonly ModelFinding[] =>
  given
    .filter((name) => known && !known.includes(name))
    .map((name) => finding(rule, place, `"${name}" is no ${what}.${didYouMean(name, known ?? []) || " Declare it, or leave it out."}`));

/**
 * Visits the entries of an optional record.
 *
 * @throws {schema.invalidModel} that names the entry which cannot be read
 */
export const each = <Value, Result>(
  record: Readonly<Record<string, Value>> | undefined,
  visit: (name: string, value: Value) => readonly Result[],
): readonly Result[] =>
  Object.entries(record ?? {}).flatMap(([name, value]) => {
    try {
      return visit(name, value);
    } catch (cause) {
      throw isEdgetableError(cause)
        ? cause
        : new EdgetableError("schema.invalidModel", `"${name}" cannot be read: ${String(cause)}.`, { cause });
    }
  });

/**
 * The attributes that a shape's items hold as they are, each with the name it is stored under: neither
 * read back from a key nor left to the edge's other copy. Where a schema does not list its attributes,
 * those that the layout renames.
 */
export const plainAttributes = (catalog: Catalog, shape: Shape): readonly (readonly [name: string, stored: string])[] => {
  const schema = definitionOf(catalog, shape)?.schema;
  const names = schema ? (attributeNames(schema) ?? Object.keys(shape.stored)) : [];
  return names
    .filter((name) => !shape.carried.includes(name) && shape.holds?.includes(name) !== false)
    .map((name) => [name, shape.stored[name] ?? name]);
};
