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

/** The other type of {@link AnyZodSchema}, by itself too. */
interface ZodInput {
  readonly _zod: { readonly input: unknown };
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
export type SchemaInput<S> = S extends ZodInput
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
  // Schemas that the command line makes for a model that it drafts.
  edgetable: (schema) => keysOf(schema["entries"]),
  arktype: ({ props }) => (Array.isArray(props) ? props.map((prop: { readonly key: unknown }) => String(prop.key)) : undefined),
};

/** The names of the properties that an object schema declares, whatever else it takes. Undefined if the library does not expose them. */
export const declaredNames = (schema: AnySchema): readonly string[] | undefined => {
  try {
    return nameReaders[schema["~standard"].vendor]?.(schema as unknown as Shaped);
  } catch {
    // A vendor's getter may throw (arktype's `props` of a union): the names stay unknown.
    return undefined;
  }
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
  } catch {
    return undefined;
  }
  return declaredNames(schema);
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

const schemasByOwner = new WeakMap<AnySchema, AttributeSchemas | null>();

/** Whether a value is a Standard Schema. */
export const isStandard = (schema: AnySchema | undefined): boolean => typeof schema?.["~standard"]?.validate === "function";

/** The schema of each attribute; undefined if the library does not expose them. */
export const attributeSchemas = (schema: AnySchema): AttributeSchemas | undefined => {
  const known = schemasByOwner.get(schema);
  if (known !== undefined) return known ?? undefined;
  const { shape, def, entries, pipe, props } = schema as unknown as ObjectSchema;
  const each = shape ?? entries ?? (props && Object.fromEntries(props.map(({ key, value }) => [key, value])));
  // zod has a method `pipe`.
  const ofRow = (def?.checks?.length ?? 0) > 0 || Array.isArray(pipe) || props !== undefined;
  // Only an object schema without unknown properties has known names.
  const found = attributeNames(schema) && each && Object.values(each).every(isStandard) ? { each, ofRow } : null;
  schemasByOwner.set(schema, found);
  return found ?? undefined;
};

/** What a schema says of a value; undefined if it cannot be told at once: a schema may wait, or throw. */
export const askSchema = (schema: AnySchema | undefined, value: unknown): SchemaResult<unknown> | undefined => {
  try {
    const result = schema?.["~standard"].validate(value);
    if (!result || !("then" in result)) return result;
    // Zod turns what a transform throws into a rejection. Unhandled, it would end the process.
    result.then(undefined, () => undefined);
  } catch {
    // Such a schema says nothing of the value.
  }
  return undefined;
};

/** True if a schema refuses a value. False if it cannot be told at once. */
export const refuses = (schema: AnySchema | undefined, value: unknown): boolean => askSchema(schema, value)?.issues !== undefined;

/** True if the schema refuses a row without a value of the attribute, null included. False if it cannot be told at once. */
export const requiresValue = (schema: AnySchema | undefined, name: string): boolean => {
  const each = schema && attributeSchemas(schema)?.each;
  return each !== undefined && Object.hasOwn(each, name) && [undefined, null].every((nothing) => refuses(each[name], nothing));
};
