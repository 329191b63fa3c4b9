import { attributeNames } from "./attribute-names.ts";
import type { AnySchema } from "./standard-schema.ts";

type Schemas = Readonly<Record<string, AnySchema>>;

/** What is asked of each attribute by itself. */
export interface AttributeSchemas {
  readonly each: Schemas;
  /** Whether more than that may be asked of the row as a whole. */
  readonly ofRow: boolean;
}

interface ObjectSchema {
  /** zod: the attributes' schemas, and checks of the whole row. */
  readonly shape?: Schemas;
  readonly def?: { readonly checks?: readonly unknown[] };
  /** valibot: the attributes' schemas, and steps after them. */
  readonly entries?: Schemas;
  readonly pipe?: unknown;
  /** arktype: the attributes, of which it does not tell what else is asked. */
  readonly props?: readonly { readonly key: string; readonly value: AnySchema }[];
}

const known = new WeakMap<AnySchema, AttributeSchemas | null>();

const isStandard = (schema: AnySchema | undefined): boolean => typeof schema?.["~standard"]?.validate === "function";

const read = (schema: AnySchema): AttributeSchemas | null => {
  // Only names that are all known say that a schema is closed, and an object.
  if (!attributeNames(schema)) return null;
  const { shape, def, entries, pipe, props } = schema as unknown as ObjectSchema;
  const each = shape ?? entries ?? (props && Object.fromEntries(props.map(({ key, value }) => [key, value])));
  // zod has a method of that name.
  const ofRow = (def?.checks?.length ?? 0) > 0 || Array.isArray(pipe) || props !== undefined;
  return each && Object.values(each).every(isStandard) ? { each, ofRow } : null;
};

/** The schema of each attribute alone, where the library tells them; undefined elsewhere. */
export const attributeSchemas = (schema: AnySchema): AttributeSchemas | undefined => {
  let schemas = known.get(schema);
  if (schemas === undefined) known.set(schema, (schemas = read(schema)));
  return schemas ?? undefined;
};
