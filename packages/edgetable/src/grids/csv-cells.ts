import type { CsvExportOptions } from "../client/csv-types.ts";
import { isEdgetableError } from "../errors/edgetable-error.ts";
import type { AnyNode } from "../schema/definition.ts";
import { validate } from "../schema/check-values.ts";
import { attributeSchemas, type SchemaIssue, type StandardSchema } from "../schema/standard-schema.ts";
import { readNumber } from "./field-value.ts";
import { inOneOrder, readJsonCell, writeJsonCell } from "./json-cells.ts";

/** What a text may stand for, where the attribute takes no text. A schema does not tell its types: they are tried in this order. */
const readings: readonly ((text: string) => unknown)[] = [
  (text) => text,
  (text) => readNumber(text),
  (text) => (/^[+-]?\d+$/.test(text) ? BigInt(text) : undefined),
  (text) => (/^(?:true|false)$/i.test(text) ? /^true$/i.test(text) : undefined),
  (text) => {
    // JavaScript reads the 30th of February as the 1st of March, and a time without its zone as one of this machine's.
    const date = /^\d{4}-\d{2}-\d{2}(?:T.*(?:Z|[+-]\d{2}:?\d{2}))?$/.test(text) ? new Date(text) : undefined;
    return date && !Number.isNaN(date.getTime()) && new Date(`${text.slice(0, 10)}T12:00:00Z`).toISOString().startsWith(text.slice(0, 10))
      ? date
      : undefined;
  },
  (text) => jsonIn(text),
  (text) => {
    const list = jsonIn(text);
    return Array.isArray(list) ? new Set(list) : undefined;
  },
];

const LONGEST_JSON = 400_000;

const jsonIn = (text: string): unknown => (/^[[{]/.test(text) && text.length <= LONGEST_JSON ? readJsonCell(text) : undefined);

/** What vendors call a value of another type: "invalid_type" and "invalid_union" of zod, "schema" of valibot, "domain" of arktype. */
const OTHER_TYPE: ReadonlySet<unknown> = new Set(["invalid_type", "invalid_union", "schema", "domain"]);

/** The fault that a schema finds in an attribute, or what it makes of the value where it finds none. */
const judge = async (schema: StandardSchema | undefined, name: string, value: unknown): Promise<Fault | { readonly made: unknown }> => {
  if (!schema) return { made: value };
  const one = attributeSchemas(schema)?.each[name];
  const result = await validate(one ?? schema, one ? value : { [name]: value }, `"${name}"`);
  const { issues = [] } = result;
  const stepOf = (step: PropertyKey | { readonly key: PropertyKey } | undefined): unknown => (typeof step === "object" ? step.key : step);
  const issue: (SchemaIssue & { readonly code?: unknown; readonly kind?: unknown }) | undefined = issues.find(
    ({ path }) => one !== undefined || stepOf(path?.[0]) === name,
  );
  if (issue) return { message: issue.message, isOfType: OTHER_TYPE.has(issue.code ?? issue.kind) };
  return { made: one && result.issues === undefined ? result.value : value };
};

interface Fault {
  readonly message: string;
  /** True if the value is of another type than those that the schema takes. */
  readonly isOfType: boolean;
}

/** A cell as the value of an attribute, as the schema takes it and as the row holds it (`made`), or why it is none. */
export type ReadCell = { readonly value: unknown; readonly made: unknown } | { readonly fault: string };

/** Reads cells as values of a node's attributes. Remembers what the last cell of an attribute was read as. */
export const attributeReader = ({ schema }: AnyNode): ((name: string, text: string) => Promise<ReadCell>) => {
  const learnt = new Map<string, (typeof readings)[number]>();
  return async (name, text) => {
    const known = learnt.get(name);
    let first: Fault | undefined;
    for (const reading of known ? [known, ...readings] : readings) {
      const value = reading(text);
      if (value === undefined) continue;
      const judged = await judge(schema as StandardSchema | undefined, name, value);
      if ("made" in judged) {
        learnt.set(name, reading);
        return { value, made: judged.made };
      }
      // What a value of the right type lacks says more than that others are of another one.
      if (!first || (first.isOfType && !judged.isOfType)) first = judged;
    }
    return { fault: first?.message ?? "it does not fit" };
  };
};

/** True if an empty cell means null: the schema requires the attribute, and null is one of its values. */
export const isNullIfEmpty = async ({ schema }: AnyNode, name: string): Promise<boolean> => {
  const standard = schema as StandardSchema | undefined;
  try {
    if ("made" in (await judge(standard, name, undefined))) return false;
    const judged = await judge(standard, name, null);
    // A schema that coerces accepts null, and makes 0 or a day of 1970 of it.
    return "made" in judged && judged.made === null;
  } catch (error) {
    // A schema that throws for a missing value does not say whether it takes null.
    if (isEdgetableError(error, "schema.failed")) return false;
    throw error;
  }
};

/** The faults that a schema finds in a whole row, by attribute. */
export const faultsIn = async (
  { schema }: AnyNode,
  row: object,
): Promise<readonly { readonly attribute: string; readonly message: string }[]> => {
  const { issues = [] } = schema === undefined ? {} : await validate(schema, row, "the row");
  return issues.map(({ path, message }) => {
    const [step] = path ?? [];
    return { attribute: String((typeof step === "object" ? step.key : step) ?? ""), message };
  });
};

/** The value of an attribute as a cell. */
export const cellText = (value: unknown): string => {
  if (value === undefined || value === null) return "";
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Set) return writeJsonCell([...(inOneOrder(value) as ReadonlySet<unknown>)]);
  switch (typeof value) {
    case "string":
      return value;
    case "number":
    case "boolean":
    case "bigint":
      return String(value);
    default:
      return writeJsonCell(value);
  }
};

// What a spreadsheet may run, or send to another program.
const FORMULA = /^[=+\-@\t\r]/;
const NUMBER = /^[+-]?[\d.]+(?:e[+-]?\d+)?$/i;

/** A record as a line of CSV (RFC 4180). */
export const csvLine = (cells: readonly string[], { delimiter = ",", formulas = "keep" }: CsvExportOptions): string => {
  const written = cells.map((cell) => {
    const text = formulas === "escape" && FORMULA.test(cell) && !NUMBER.test(cell) ? `'${cell}` : cell;
    return text.includes(delimiter) || /["\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  });
  // Parsers pass over an empty line.
  return `${written.length === 1 && written[0] === "" ? '""' : written.join(delimiter)}\r\n`;
};
