import type { StandardSchema } from "edgetable";

/** What a column holds. Lists and sets of one plain type stay lists; everything deeper is JSON text. */
export type ColumnType = "text" | "integer" | "whole" | "number" | "boolean" | "timestamp" | "bytes" | "texts" | "numbers" | "json";

/** The type in SQL, in words that DuckDB and Spark share where both have one. */
export const sqlTypes: Readonly<Record<ColumnType, string>> = {
  text: "varchar",
  integer: "bigint",
  // DynamoDB keeps 38 digits, and so does the widest decimal of both engines.
  whole: "decimal(38,0)",
  number: "double",
  boolean: "boolean",
  timestamp: "timestamp",
  bytes: "blob",
  texts: "varchar[]",
  numbers: "double[]",
  json: "varchar",
};

const int64 = 2n ** 63n;
// The digits of the widest decimal.
const wide = 10n ** 38n;
const isInt64 = (value: unknown): boolean => Number.isSafeInteger(value) || (typeof value === "bigint" && value >= -int64 && value < int64);
const isList = (value: unknown): value is Iterable<unknown> => Array.isArray(value) || value instanceof Set;
const every = (value: Iterable<unknown>, fits: (one: unknown) => boolean): boolean => [...value].every(fits);
const isText = (value: unknown): boolean => typeof value === "string";
const isNumber = (value: unknown): boolean => typeof value === "number";

const fitting: Readonly<Record<ColumnType, (value: unknown) => boolean>> = {
  text: isText,
  integer: isInt64,
  whole: (value) => Number.isSafeInteger(value) || (typeof value === "bigint" && value > -wide && value < wide),
  number: (value) => isNumber(value) || typeof value === "bigint",
  boolean: (value) => typeof value === "boolean",
  timestamp: (value) => value instanceof Date,
  bytes: (value) => value instanceof Uint8Array,
  texts: (value) => isList(value) && every(value, isText),
  numbers: (value) => isList(value) && every(value, isNumber),
  json: () => true,
};

/** Whether a column of the type can hold the value as it is. */
export const fits = (type: ColumnType, value: unknown): boolean => fitting[type](value);

// From the narrowest: the first that holds all values of a column is its type.
const narrowest: readonly ColumnType[] = ["text", "boolean", "timestamp", "bytes", "integer", "whole", "number", "texts", "numbers"];

/** The narrowest type that holds a value, and whatever the column held before. */
export const widened = (type: ColumnType | undefined, value: unknown): ColumnType => {
  const own = narrowest.find((one) => fits(one, value)) ?? "json";
  if (type === undefined || type === own) return own;
  const numeric: readonly ColumnType[] = ["integer", "whole", "number"];
  const [a, b] = [numeric.indexOf(type), numeric.indexOf(own)];
  return a >= 0 && b >= 0 ? numeric[Math.max(a, b)]! : "json";
};

// The members of sets and the names of maps have no order in DynamoDB: the same value is always the same text.
const plain = (value: unknown): unknown => {
  if (typeof value === "bigint") return String(value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
  if (value instanceof Set) return [...value].map(plain).toSorted();
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
};

/** A value as text that its column's type is read from. */
export const columnText = (type: ColumnType, value: unknown): string => {
  // A replacer sees a Date only after its own toJSON, which is the ISO text that is wanted.
  if (type === "json" || type === "texts" || type === "numbers")
    return JSON.stringify(value instanceof Date ? value : plain(value), (_, inner: unknown) => plain(inner));
  return value instanceof Date ? value.toISOString() : String(plain(value));
};

/** How the staged text of a column becomes a value of its type in DuckDB. */
export const columnCast = (type: ColumnType, column: string): string => {
  if (type === "text" || type === "json") return column;
  if (type === "bytes") return `from_base64(${column})`;
  if (type === "texts" || type === "numbers") return `cast(cast(${column} as json) as ${sqlTypes[type]})`;
  return `cast(${column} as ${sqlTypes[type]})`;
};

interface ZodDefinition {
  readonly type?: string;
  readonly format?: string;
  readonly innerType?: ZodSchema;
  readonly out?: ZodSchema;
  readonly element?: ZodSchema;
  readonly valueType?: ZodSchema;
  readonly values?: readonly unknown[];
  readonly entries?: Readonly<Record<string, unknown>>;
}
interface ZodSchema {
  readonly def?: ZodDefinition;
}

const listOf = (element: ColumnType | undefined): ColumnType | undefined => {
  if (element === "text") return "texts";
  return element === "number" || element === "integer" ? "numbers" : undefined;
};

const wrappers: ReadonlySet<string | undefined> = new Set([
  "optional",
  "nullable",
  "default",
  "prefault",
  "catch",
  "readonly",
  "nonoptional",
]);

const zodType = ({ def = {} }: ZodSchema): ColumnType | undefined => {
  if (wrappers.has(def.type)) return zodType(def.innerType ?? {});
  switch (def.type) {
    case "string":
    case "template_literal":
      return "text";
    case "enum":
      // An enum of TypeScript may be of numbers.
      return Object.values(def.entries ?? {}).every(isText) ? "text" : undefined;
    case "literal":
      return def.values?.every(isText) ? "text" : undefined;
    case "number":
      return def.format === "safeint" || def.format === "int32" || def.format === "uint32" ? "integer" : "number";
    case "bigint":
      return "whole";
    case "boolean":
      return "boolean";
    case "date":
      return "timestamp";
    case "pipe":
      return zodType(def.out ?? {});
    case "array":
      return listOf(zodType(def.element ?? {})) ?? "json";
    case "set":
      return listOf(zodType(def.valueType ?? {})) ?? "json";
    case "object":
    case "record":
    case "map":
    case "tuple":
      return "json";
    default:
      return undefined;
  }
};

interface JsonSchema {
  readonly type?: string;
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
}

const jsonType = ({ type, items }: JsonSchema): ColumnType | undefined => {
  switch (type) {
    case "string":
      return "text";
    case "integer":
    case "number":
    case "boolean":
      return type;
    case "array":
      return listOf(jsonType(items ?? {})) ?? "json";
    case "object":
      return "json";
    default:
      return undefined;
  }
};

interface ValibotSchema {
  readonly type?: string;
  readonly kind?: string;
  readonly options?: readonly unknown[];
  readonly wrapped?: ValibotSchema;
  readonly item?: ValibotSchema;
  readonly value?: ValibotSchema;
  readonly pipe?: readonly ValibotSchema[];
}

const valibotTypes: Readonly<Record<string, ColumnType>> = {
  string: "text",
  number: "number",
  bigint: "whole",
  boolean: "boolean",
  date: "timestamp",
  object: "json",
  record: "json",
  map: "json",
  tuple: "json",
};

/** Transformations of texts that give texts. */
const textual = /^(?:trim|trim_start|trim_end|to_lower_case|to_upper_case|normalize)$/;

const valibotType = ({ type = "", wrapped, item, value, pipe, options }: ValibotSchema): ColumnType | undefined => {
  // Any other transformation gives whatever it likes.
  if (pipe?.some((step) => step.kind === "transformation" && !textual.test(step.type ?? ""))) return undefined;
  if (wrapped) return valibotType(wrapped);
  if (type === "picklist") return options?.every(isText) ? "text" : undefined;
  if (type === "array") return listOf(valibotType(item ?? {})) ?? "json";
  if (type === "set") return listOf(valibotType(value ?? {})) ?? "json";
  if (type === "number" && pipe?.some((step) => step.type === "integer" || step.type === "safe_integer")) return "integer";
  return valibotTypes[type];
};

type AnySchema = StandardSchema & {
  readonly shape?: Readonly<Record<string, ZodSchema>>;
  readonly entries?: Readonly<Record<string, ValibotSchema>>;
  readonly "~standard": { readonly jsonSchema?: { output(options: { readonly target: string }): JsonSchema } };
};

const isZodSet = ({ def = {} }: ZodSchema): boolean =>
  def.type === "set" || (wrappers.has(def.type) && isZodSet(def.innerType ?? {})) || (def.type === "pipe" && isZodSet(def.out ?? {}));

const isValibotSet = ({ type, wrapped }: ValibotSchema): boolean => type === "set" || (wrapped !== undefined && isValibotSet(wrapped));

/** True for an attribute that the schema makes a set: its column is a list, as that of an array. */
export const isSetAttribute = (schema: StandardSchema | undefined, attribute: string): boolean => {
  const { shape, entries } = (schema ?? {}) as Partial<AnySchema>;
  const [zod, valibot] = [shape?.[attribute], entries?.[attribute]];
  return zod ? isZodSet(zod) : valibot !== undefined && isValibotSet(valibot);
};

const mapped = <T>(
  each: Readonly<Record<string, T>>,
  type: (one: T) => ColumnType | undefined,
): ReadonlyMap<string, ColumnType | undefined> => new Map(Object.entries(each).map(([name, one]) => [name, type(one)]));

/**
 * The attributes that a schema lists, with their column types; undefined where only the values can tell. An empty map
 * where the schema lists nothing.
 */
export const attributeTypes = (schema: StandardSchema): ReadonlyMap<string, ColumnType | undefined> => {
  const { "~standard": standard, shape, entries } = schema as AnySchema;
  if (standard.vendor === "zod" && shape) return mapped(shape, zodType);
  if (standard.vendor === "valibot" && entries) return mapped(entries, valibotType);
  try {
    return mapped(standard.jsonSchema?.output({ target: "draft-2020-12" }).properties ?? {}, jsonType);
  } catch {
    // A schema that JSON Schema cannot express lists nothing.
    return new Map();
  }
};
