import type { FieldFormat } from "../../keys/template.ts";
import { attributeKind, attributeType, KEY_FORMATS } from "../attribute-kind.ts";
import { type Catalog, definitionOf, type Shape } from "../catalog.ts";
import type { AnyEdge, AnyNode, AnyPart } from "../definition.ts";
import { type AnySchema, attributeSchemas, refuses } from "../standard-schema.ts";
import { valueType } from "../value-types.ts";
import { own } from "../../util/row.ts";
import { each, type Report } from "./finding.ts";

/** Types of which no key can hold a value, in the words of all schema libraries. */
const COMPOSED = /(?:^|_)(?:object|record|map|array|set|tuple)(?:_|$)/;

/** What a format of a key takes, by the words of {@link KEY_FORMATS}; undefined for formats of several types. */
const takenBy = ({ kind }: FieldFormat): string | undefined => {
  if (kind === "text" || kind === "digits" || kind === "letters") return "text";
  if (kind === "number" || kind === "padded" || kind === "plain") return "number";
  return kind === "date" || kind === "boolean" ? kind : undefined;
};

/** How values of a type are written in a key; undefined for types that are not judged. */
const formatOf = (type: string): string | undefined => (type === "string" ? "text" : own(KEY_FORMATS, type));

/** Whether a layout names a field among those that an attribute repeats. */
const isVerbatim = ({ definition: { layout } }: Catalog, { kind, definition }: Shape, path: string): boolean =>
  Object.values(layout?.[`${kind}s`]?.[definition]?.verbatim ?? {}).includes(path);

/**
 * Whether an attribute takes numbers and no text, though the type of its values is not known: its schema is a union of the types
 * of numbers, or an enumeration, or belongs to an object that takes other attributes.
 */
const isNumeric = ({ schema }: AnyNode | AnyEdge | AnyPart, name: string): boolean => {
  if (!schema) return false;
  const { shape, entries } = schema as { readonly shape?: Record<string, AnySchema>; readonly entries?: Record<string, AnySchema> };
  const one = own(attributeSchemas(schema)?.each ?? shape ?? entries ?? {}, name);
  return one !== undefined && [0, 1, 2, 1n].some((value) => !refuses(one, value)) && ["", "1", "a"].every((value) => refuses(one, value));
};

/** Fields of keys whose values their format does not take: the first write would fail, or leave the row out of the index. */
const checkFormats = (catalog: Catalog, shape: Shape, report: Report): void => {
  const definition = definitionOf(catalog, shape);
  if (!definition) return;
  const reported = new Set<string>();
  for (const { parts, source } of Object.values(shape.keys)) {
    for (const part of parts) {
      if (part.kind !== "field" || reported.has(part.path)) continue;
      const { path } = part;
      const type = valueType(catalog.definition, definition, path);
      const isComposed = type !== undefined && COMPOSED.test(type);
      const isUnclear = !isComposed && (type === undefined || formatOf(type) === undefined);
      const needed = isUnclear ? (isNumeric(definition, path) ? "number" : undefined) : type && formatOf(type);
      const taken = takenBy(part.format);
      if (!isComposed && (needed === undefined || taken === undefined || needed === taken)) continue;
      reported.add(path);
      const place = `${shape.kind}s.${shape.definition}.${path}`;
      const shown = JSON.stringify(source);
      if (source === `{${path}}` && isUnclear && isVerbatim(catalog, shape, path))
        report(
          "attribute",
          place,
          `\`verbatim\` repeats "${path}" as a text, and its schema takes numbers alone. Declare it as a number or as a bigint, of an object that takes no other attributes: reads and writes take both in either case.`,
        );
      else if (source === `{${path}}` && isVerbatim(catalog, shape, path))
        report(
          "attribute",
          place,
          `\`verbatim\` repeats texts, numbers and dates, and "${path}" is of type ${type}. Leave it out there: the item has the attribute as it is${isComposed ? "" : `, also beside an index key with {${path}:written}`}.`,
        );
      else if (isComposed)
        report(
          "attribute",
          place,
          `{${path}} in ${shown} is of type ${type}, and keys hold texts, numbers, booleans and dates. Name another attribute.`,
        );
      else {
        const padded = needed === "number" ? `, or pad it to a number of digits, such as {${path}:8}` : "";
        const written = needed === "text" ? `{${path}}` : `{${path}:${needed}}`;
        const says =
          attributeType(definition, path) === undefined
            ? `its values are ${type === undefined ? "numbers" : `of type ${type}`}`
            : `the schema says ${type}`;
        report("attribute", place, `{${path}} in ${shown} takes ${taken}s, and ${says}. Write ${written}${padded}.`);
      }
    }
  }
};

/** Settings whose attributes have values of another type than the setting is for. */
const checkNamed = ({ definition: graph, shapes }: Catalog, report: Report): void => {
  for (const group of ["nodes", "edges", "parts"] as const)
    each<AnyNode | AnyEdge | AnyPart>(graph[group], (name, one) => {
      const place = `${group}.${name}`;
      // checkMembers reports a value that is not an array.
      for (const attribute of one.kind === "node" && Array.isArray(one.unique) ? (one.unique as readonly string[]) : []) {
        const type = valueType(graph, one, attribute);
        if (type !== undefined && COMPOSED.test(type))
          report(
            "attribute",
            `${place}.unique`,
            `"${attribute}" is of type ${type}, and a unique value is a text, number, boolean or Date. Name another attribute.`,
          );
      }
      const stored = shapes.filter((shape) => shape.kind === one.kind && shape.definition === name);
      for (const [attribute, schema] of Object.entries((one.schema && attributeSchemas(one.schema)?.each) ?? {})) {
        const type = attributeKind(schema)?.type;
        const isNamed = one.dates?.includes(attribute) ?? false;
        // One that is read from a key has its format there.
        if (type === "date" && !isNamed && !stored.every(({ carried }) => carried.includes(attribute)))
          report(
            "attribute",
            `${place}.schema`,
            `"${attribute}" is a Date, which DynamoDB does not have. Name it in dates: [${JSON.stringify(attribute)}], and it is stored as text.`,
          );
        if (isNamed && type !== undefined && type !== "date" && (formatOf(type) !== undefined || COMPOSED.test(type)))
          report("attribute", `${place}.dates`, `"${attribute}" is not a Date: the schema says ${type}. Leave it out of dates.`);
      }
    });
};

/** Attributes whose values are of another type than what a model makes of them: keys, unique values, dates. */
export const checkTypes = (catalog: Catalog, report: Report): void => {
  for (const shape of catalog.shapes) checkFormats(catalog, shape, report);
  checkNamed(catalog, report);
};
