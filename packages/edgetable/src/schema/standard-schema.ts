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
export type SchemaInput<S extends AnySchema> = NonNullable<S["~standard"]["types"]>["input"];
export type SchemaOutput<S extends AnySchema> = NonNullable<S["~standard"]["types"]>["output"];
