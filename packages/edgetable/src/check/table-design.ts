import { isOneWay } from "../keys/template.ts";
import { encodeItem } from "../requests/encode-item.ts";
import { createTableInput } from "../requests/table.ts";
import { type Catalog, definitionOf, type Shape } from "../schema/catalog.ts";
import { keptByStream } from "../schema/describe-model.ts";
import { attributeKind } from "../schema/attribute-kind.ts";
import { derivedNames } from "../schema/facts.ts";
import { attributeSchemas } from "../schema/standard-schema.ts";
import { VERSION } from "../schema/system-items.ts";
import type { CreateTableInput, Item } from "../transport/operations.ts";

/** The table of a model: what it is created with, and its other settings. */
export interface TableDesign {
  /** The CreateTable request: keys, types of the key attributes, indexes, on demand, and a stream where the model needs one. */
  readonly input: CreateTableInput;
  /** The attribute by which DynamoDB removes expired items; undefined if none expire. */
  readonly ttl: string | undefined;
  /** Undefined if the model leaves the setting as it is. */
  readonly deletionProtection: boolean | undefined;
  /** Undefined if the model leaves the setting as it is. */
  readonly pointInTimeRecovery: boolean | undefined;
}

/**
 * The table that a model needs. Pure.
 *
 * @param graph the result of `defineGraph`, or its catalog
 * @example
 * tableDesign(education).input.KeySchema; // [{ AttributeName: "pk", KeyType: "HASH" }, { AttributeName: "sk", KeyType: "RANGE" }]
 */
export const tableDesign = (graph: Catalog | { readonly catalog: Catalog }): TableDesign => {
  const catalog = "catalog" in graph ? graph.catalog : graph;
  const { stream, deletionProtection, pointInTimeRecovery } = catalog.definition.settings ?? {};
  return {
    input: createTableInput(catalog, stream ?? keptByStream(catalog).length > 0),
    ttl: catalog.ttl,
    deletionProtection,
    pointInTimeRecovery,
  };
};

const EXAMPLE_TIME = Date.UTC(2030, 0, 1);

const exampleOf = (type: string | undefined, name: string, number: number): unknown => {
  switch (type) {
    case "number":
    case "bigint":
      return number;
    case "boolean":
      return true;
    case "date":
      return new Date(EXAMPLE_TIME + number * 86_400_000);
    case "digits":
      return String(number);
    case "letters":
      return `${name.replace(/[^A-Za-z]/g, "")}${number === 1 ? "A" : "B"}`;
    case "string":
      return `${name}${number}`;
    default:
      return undefined;
  }
};

const FORMATS: Readonly<Record<string, string>> = {
  text: "string",
  digits: "digits",
  letters: "letters",
  number: "number",
  plain: "number",
  padded: "number",
  date: "date",
  boolean: "boolean",
};

const exampleRow = (catalog: Catalog, shape: Shape, number: number): Record<string, unknown> => {
  const definition = definitionOf(catalog, shape);
  const schemas = (definition?.schema && attributeSchemas(definition.schema)?.each) ?? {};
  const derived = definition ? derivedNames(definition) : [];
  const row: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(schemas)) {
    if (derived.includes(name)) continue;
    const value = name === shape.ttl ? EXAMPLE_TIME / 1000 + number : exampleOf(attributeKind(schema)?.type, name, number);
    if (value !== undefined) row[name] = shape.dates.includes(name) && !(value instanceof Date) ? new Date(EXAMPLE_TIME) : value;
  }
  for (const template of Object.values(shape.keys))
    for (const part of template.parts) {
      if (part.kind === "literal" || isOneWay(part.format)) continue;
      const format = part.format.kind === "either" ? part.format.formats[0]?.kind : part.format.kind;
      const name = part.steps.at(-1) ?? "";
      const value = exampleOf(FORMATS[format ?? "text"], name, number);
      let at = row;
      for (const step of part.steps.slice(0, -1)) at = (at[step] ??= {}) as Record<string, unknown>;
      // What the schema takes may have letters that the key refuses.
      if (at[name] === undefined || format === "digits" || format === "letters") at[name] = value;
    }
  for (const { field, values, beginsWith, exists } of shape.match)
    if (exists === false) delete row[field];
    else if (!exists) row[field] = values ? values[0] : `${beginsWith}${number}`;
  if (shape.version) row[VERSION] = 1;
  return row;
};

/**
 * Items as a model would write them, two of each kind, with values that stand for others: `STUDENT#studentId1`. For tools that show
 * a design. Kinds whose keys no such values make are left out. Pure.
 *
 * @param graph the result of `defineGraph`, or its catalog
 * @example
 * exampleItems(education).length;
 */
export const exampleItems = (graph: Catalog | { readonly catalog: Catalog }): readonly Item[] => {
  const catalog = "catalog" in graph ? graph.catalog : graph;
  return catalog.shapes.flatMap((shape) =>
    [1, 2].flatMap((number) => {
      try {
        return [encodeItem(catalog, shape, exampleRow(catalog, shape, number))];
      } catch {
        return [];
      }
    }),
  );
};
