import { isNumber } from "../util/json-text.ts";
import type { AnySchema, SchemaIssue, SchemaResult } from "./standard-schema.ts";

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
