import type { AnyEdge, AnyNode, AnyPart } from "./definition.ts";
import { type AnySchema, attributeSchemas, type SchemaIssue, type SchemaResult } from "./standard-schema.ts";

/** The type of an attribute's values, by its schema. */
export interface AttributeKind {
  /** The type, in the words of the schema library. */
  readonly type: string;
  /** True if numbers must be whole. */
  readonly whole: boolean;
  /** The schema of a list's elements or a set's members, if the library exposes it. */
  readonly element: AnySchema | undefined;
}

/** The format of a key's field for values of a type that are not texts. A field without a format takes texts. */
export const KEY_FORMATS: Readonly<Record<string, string | undefined>> = {
  number: "number",
  bigint: "number",
  boolean: "boolean",
  date: "date",
};

interface Check {
  readonly check?: string;
  readonly format?: string;
  readonly value?: unknown;
}

/** What a schema of zod says of itself. */
export interface ZodDefinition extends Check {
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

/** What a schema of valibot says of itself. */
export interface ValibotSchema extends ValibotItem {
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

export const isWhole = (divisor: unknown): boolean => typeof divisor === "bigint" || Number.isSafeInteger(divisor);

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

// Transformations that keep the type of their input.
const KEEP_TYPE = /^(trim|to_lower|to_upper|normalize|to_min|to_max|brand|readonly)/;

const ofValibot = (schema: AnySchema): AttributeKind | undefined => {
  const { type, wrapped, item, value, pipe = [] } = schema as unknown as ValibotSchema;
  if (pipe.slice(1).some((one) => one.kind === "schema" || (one.kind === "transformation" && !KEEP_TYPE.test(one.type)))) return undefined;
  if (wrapped) return ofValibot(wrapped);
  const whole = pipe.some((one) => one.type.endsWith("integer") || (one.type === "multiple_of" && isWhole(one.requirement)));
  return { type, whole: whole || type === "bigint", element: type === "set" ? value : type === "array" ? item : undefined };
};

// Validates an element as a list of one element. Issues of the list as a whole do not count.
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
  if (json.proto === "Date") return { type: "date", whole: false, element: undefined };
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

/** The type of an attribute's values; undefined if the library does not expose it, or if values may have several types. */
export const attributeKind = (schema: AnySchema): AttributeKind | undefined => readers[schema["~standard"].vendor]?.(schema);

/** The type of an attribute's values by its definition's own schema; "date" for a Date. Undefined if the schema does not tell it. */
export const attributeType = (
  { schema, dates }: Pick<AnyNode | AnyEdge | AnyPart, "schema" | "dates">,
  name: string,
): string | undefined => {
  if (dates?.includes(name)) return "date";
  const attribute = schema && attributeSchemas(schema)?.each[name];
  return attribute && attributeKind(attribute)?.type;
};
