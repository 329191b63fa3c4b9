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
  /** zod: what a wrapper such as `optional` is around, and what a pipe gives out. */
  readonly def?: { readonly type?: unknown; readonly innerType?: TypedSchema; readonly out?: TypedSchema };
  /** valibot: what a wrapper is around. */
  readonly wrapped?: TypedSchema;
}

const DEEPEST = 8;

const typeOf = ({ def, wrapped, type }: TypedSchema, levels = DEEPEST): DescribedType => {
  const within = def?.innerType ?? wrapped ?? (def?.type === "pipe" ? def.out : undefined);
  if (within) return levels === 0 ? "" : typeOf(within, levels - 1);
  const name = def?.type ?? type;
  return typeof name === "string" && Object.hasOwn(TYPES, name) ? (TYPES[name] ?? "") : "";
};

const typeOfSchema = (schema: AnySchema): DescribedType => {
  try {
    return typeOf(schema as unknown as TypedSchema);
  } catch {
    // A vendor's getter may throw: the type stays unknown.
    return "";
  }
};

/** The attributes that a row may lack by the schemas of a model, by definition. */
export type DescribedOptional = Readonly<Record<string, readonly string[]>>;

/** Names the attributes that a model's schemas do not require. */
export const describeOptional = ({ nodes, edges, parts }: Catalog): DescribedOptional => {
  const optional: Record<string, readonly string[]> = {};
  for (const { name, definition } of [nodes, edges, parts].flatMap((all) => Object.values(all))) {
    const each = definition.schema && attributeSchemas(definition.schema)?.each;
    const names = Object.keys(each ?? {}).filter((attribute) => !requiresValue(definition.schema, attribute));
    if (names.length > 0) optional[name] = names;
  }
  return optional;
};

/** Describes the attributes of a model's schemas. */
export const describeTypes = ({ nodes, edges, parts }: Catalog): DescribedTypes => {
  const types: Record<string, Readonly<Record<string, DescribedType>>> = {};
  for (const { name, definition } of [nodes, edges, parts].flatMap((all) => Object.values(all))) {
    const each = definition.schema && attributeSchemas(definition.schema)?.each;
    if (each) types[name] = mapValues(each, typeOfSchema);
  }
  return types;
};
