import { isNumber } from "../util/json-text.ts";

/** One fault that a schema finds in a value. */
export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

export type SchemaResult<Output> = { readonly value: Output; readonly issues?: undefined } | { readonly issues: readonly SchemaIssue[] };

/**
 * The part of Standard Schema version 1 (standardschema.dev) that Edgetable calls: any library that
 * implements it (zod, valibot, arktype and others) can describe the attributes of nodes and edges.
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

// oxlint-disable-next-line typescript/no-explicit-any -- a constraint that every schema satisfies
export type AnySchema = StandardSchema<any, any>;

/**
 * What a schema of zod 4 has beside its Standard Schema interface (zod.dev/library-authors). Asking that
 * interface for one of the two types makes the compiler resolve both; `_zod` gives each alone, for two
 * thirds of the instantiations.
 */
export interface AnyZodSchema {
  readonly _zod: { readonly output: unknown };
}

/**
 * Any schema, as a constraint. The compiler tries a union's members by their order here (TypeScript 6)
 * or by their names (7; an alias counts as one) and stops at the first that fits: zod has to come first
 * in both.
 */
// oxlint-disable-next-line typescript/no-explicit-any -- as AnySchema, whose name would come first
export type SomeSchema = AnyZodSchema | StandardSchema<any, any>;

export type SchemaOutput<S> = S extends AnyZodSchema
  ? S["_zod"]["output"]
  : S extends AnySchema
    ? NonNullable<S["~standard"]["types"]>["output"]
    : never;
export type SchemaInput<S> = S extends { readonly _zod: { readonly input: unknown } }
  ? S["_zod"]["input"]
  : S extends AnySchema
    ? NonNullable<S["~standard"]["types"]>["input"]
    : never;

type Shaped = Readonly<Record<string, unknown>>;

const keysOf = (value: unknown): readonly string[] | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? Object.keys(value) : undefined;

// Standard Schema cannot list a schema's properties, so these read each vendor's public members.
const nameReaders: Readonly<Record<string, (schema: Shaped) => readonly string[] | undefined>> = {
  zod: (schema) => keysOf(schema["shape"]),
  valibot: (schema) => keysOf(schema["entries"]),
  arktype: ({ props }) => (Array.isArray(props) ? props.map((prop: { readonly key: unknown }) => String(prop.key)) : undefined),
};

/**
 * The names of the properties that an object schema declares. Undefined if the library does not expose them, or if the schema
 * keeps unknown properties: then only the type checker finds misspelt attributes.
 */
export const attributeNames = (schema: AnySchema): readonly string[] | undefined => {
  const shaped = schema as unknown as Shaped;
  try {
    const definition = shaped["def"] as { readonly catchall?: { readonly def?: { readonly type?: string } } } | undefined;
    // zod's catchall, valibot's rest and looseObject keep unknown properties.
    const catchall = definition?.catchall?.def?.type;
    if ((catchall !== undefined && catchall !== "never") || shaped["rest"] !== undefined || shaped["type"] === "loose_object")
      return undefined;
    return nameReaders[schema["~standard"].vendor]?.(shaped);
  } catch {
    // A vendor's getter may throw (arktype's `props` of a union): the names stay unknown.
    return undefined;
  }
};

type Schemas = Readonly<Record<string, AnySchema>>;

/** The schemas of the attributes of a row. */
export interface AttributeSchemas {
  readonly each: Schemas;
  /** True if the schema may also check the row as a whole. */
  readonly ofRow: boolean;
}

interface ObjectSchema {
  /** zod: the attributes' schemas, and checks of the whole row. */
  readonly shape?: Schemas;
  readonly def?: { readonly checks?: readonly unknown[] };
  /** valibot: the attributes' schemas, and steps after them. */
  readonly entries?: Schemas;
  readonly pipe?: unknown;
  /** arktype: the attributes; it does not expose checks of the whole row. */
  readonly props?: readonly { readonly key: string; readonly value: AnySchema }[];
}

const known = new WeakMap<AnySchema, AttributeSchemas | null>();

const isStandard = (schema: AnySchema | undefined): boolean => typeof schema?.["~standard"]?.validate === "function";

const read = (schema: AnySchema): AttributeSchemas | null => {
  // Only an object schema without unknown properties has known names.
  if (!attributeNames(schema)) return null;
  const { shape, def, entries, pipe, props } = schema as unknown as ObjectSchema;
  const each = shape ?? entries ?? (props && Object.fromEntries(props.map(({ key, value }) => [key, value])));
  // zod has a method `pipe`.
  const ofRow = (def?.checks?.length ?? 0) > 0 || Array.isArray(pipe) || props !== undefined;
  return each && Object.values(each).every(isStandard) ? { each, ofRow } : null;
};

/** The schema of each attribute; undefined if the library does not expose them. */
export const attributeSchemas = (schema: AnySchema): AttributeSchemas | undefined => {
  let schemas = known.get(schema);
  if (schemas === undefined) known.set(schema, (schemas = read(schema)));
  return schemas ?? undefined;
};

/** The type of an attribute's values, by its schema. */
export interface AttributeKind {
  /** The type, in the words of the schema library. */
  readonly type: string;
  /** True if numbers must be whole. */
  readonly whole: boolean;
  /** The schema of a list's elements or a set's members, if the library exposes it. */
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
