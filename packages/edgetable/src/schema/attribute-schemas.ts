import { attributeNames } from "./attribute-names.ts";
import type { AnySchema } from "./standard-schema.ts";

type Schemas = Readonly<Record<string, AnySchema>>;

interface ObjectSchema {
  /** zod: the attributes' schemas, and checks of the whole row. */
  readonly shape?: Schemas;
  readonly def?: { readonly checks?: readonly unknown[] };
  /** valibot: the attributes' schemas, and steps after them. */
  readonly entries?: Schemas;
  readonly pipe?: unknown;
}

const known = new WeakMap<AnySchema, Schemas | null>();

const isStandard = (schema: AnySchema | undefined): boolean => typeof schema?.["~standard"]?.validate === "function";

const read = (schema: AnySchema): Schemas | null => {
  // Only names that are all known say that a schema is closed, and an object.
  if (!attributeNames(schema)) return null;
  const { shape, def, entries, pipe } = schema as unknown as ObjectSchema;
  const schemas = shape ?? entries;
  // zod has a method of that name.
  const ofRow = (def?.checks?.length ?? 0) > 0 || Array.isArray(pipe);
  return schemas && !ofRow && Object.values(schemas).every(isStandard) ? schemas : null;
};

/**
 * The schema of each attribute alone, where nothing is asked of the row as a whole and the library
 * tells them (zod, valibot); undefined elsewhere.
 */
export const attributeSchemas = (schema: AnySchema): Schemas | undefined => {
  let schemas = known.get(schema);
  if (schemas === undefined) known.set(schema, (schemas = read(schema)));
  return schemas ?? undefined;
};
