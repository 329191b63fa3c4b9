/** One thing a schema found wrong with a value. */
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
