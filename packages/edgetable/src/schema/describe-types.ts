import { mapValues } from "../util/row.ts";
import type { Catalog } from "./catalog.ts";
import { type AnySchema, attributeSchemas, requiresValue } from "./standard-schema.ts";

/** What the values of an attribute are; empty if the schema's library does not tell, or if it takes several types. */
export type DescribedType = "text" | "number" | "boolean" | "date" | "list" | "map" | "set" | "bytes" | "";

/** The attributes that the schemas of a model declare, by definition. Definitions whose schemas do not tell are left out. */
export type DescribedTypes = Readonly<Record<string, Readonly<Record<string, DescribedType>>>>;

// By the names that zod and valibot give their schemas.
const TYPES: Readonly<Record<string, DescribedType>> = {
  string: "text",
  enum: "text",
  picklist: "text",
  template_literal: "text",
  number: "number",
  int: "number",
  bigint: "number",
  boolean: "boolean",
  date: "date",
  array: "list",
  tuple: "list",
  object: "map",
  strict_object: "map",
  loose_object: "map",
  record: "map",
  set: "set",
};

interface TypedSchema {
  readonly type?: unknown;
  /** zod: what a wrapper such as `optional` is around, what a pipe gives out, and the values of a literal. */
  readonly def?: { readonly type?: unknown; readonly innerType?: TypedSchema; readonly out?: TypedSchema; readonly values?: unknown };
  /** zod and valibot: the values of an enumeration. */
  readonly options?: unknown;
  /** valibot: what a wrapper is around. */
  readonly wrapped?: TypedSchema;
}

const DEEPEST = 8;

/** What a schema is without its wrappers; undefined if there are too many. */
const unwrapped = (schema: TypedSchema, levels = DEEPEST): TypedSchema | undefined => {
  const { def, wrapped } = schema;
  const within = def?.innerType ?? wrapped ?? (def?.type === "pipe" ? def.out : undefined);
  if (!within) return schema;
  return levels === 0 ? undefined : unwrapped(within, levels - 1);
};

const read = <Told>(schema: AnySchema, tell: (plain: TypedSchema) => Told): Told | undefined => {
  try {
    const plain = unwrapped(schema as unknown as TypedSchema);
    return plain && tell(plain);
  } catch {
    // A vendor's getter may throw: what the schema takes stays unknown.
    return undefined;
  }
};

const typeOfSchema = (schema: AnySchema): DescribedType =>
  read(schema, ({ def, type }) => {
    const name = def?.type ?? type;
    return typeof name === "string" && Object.hasOwn(TYPES, name) ? TYPES[name] : undefined;
  }) ?? "";

/** So many values of an enumeration are recorded. Of a longer one, nothing is. */
const MOST_VALUES = 50;

/** The texts that an enumeration takes. */
const valuesOfSchema = (schema: AnySchema): readonly string[] | undefined =>
  read(schema, ({ def, options }) => {
    const values = def?.values ?? options;
    const isShort = Array.isArray(values) && values.length <= MOST_VALUES;
    return isShort && values.every((value) => typeof value === "string") ? values : undefined;
  });

/** What is told of each definition whose schema tells it. */
const describeEach = <Told>(
  { nodes, edges, parts }: Catalog,
  tell: (each: Readonly<Record<string, AnySchema>>, schema: AnySchema | undefined) => Told | undefined,
): Readonly<Record<string, Told>> => {
  const all: Record<string, Told> = {};
  for (const { name, definition } of [nodes, edges, parts].flatMap((kinds) => Object.values(kinds))) {
    const each = definition.schema && attributeSchemas(definition.schema)?.each;
    const told = each && tell(each, definition.schema);
    if (told) all[name] = told;
  }
  return all;
};

/** The attributes that a row may lack by the schemas of a model, by definition. */
export type DescribedOptional = Readonly<Record<string, readonly string[]>>;

/** Names the attributes that a model's schemas do not require. */
export const describeOptional = (catalog: Catalog): DescribedOptional =>
  describeEach(catalog, (each, schema) => {
    const names = Object.keys(each).filter((attribute) => !requiresValue(schema, attribute));
    return names.length > 0 ? names : undefined;
  });

/** Describes the attributes of a model's schemas. */
export const describeTypes = (catalog: Catalog): DescribedTypes => describeEach(catalog, (each) => mapValues(each, typeOfSchema));

/** The texts that the enumerations of a model's schemas take, by definition and attribute. */
export type DescribedValues = Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;

/** Describes the attributes whose schemas are enumerations of texts. */
export const describeValues = (catalog: Catalog): DescribedValues =>
  describeEach(catalog, (each) => {
    const own: Record<string, readonly string[]> = {};
    for (const attribute in each) {
      const taken = valuesOfSchema(each[attribute]!);
      if (taken) own[attribute] = taken;
    }
    return Object.keys(own).length > 0 ? own : undefined;
  });
