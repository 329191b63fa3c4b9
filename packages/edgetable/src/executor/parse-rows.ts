import { EdgetableError, isEdgetableError } from "../errors/edgetable-error.ts";
import { keyOf, keyOfItem, VERSION } from "../requests/encode-item.ts";
import { type Catalog, definitionOf, idPaths, ownerFields, projectedAttributes, type Shape } from "../schema/catalog.ts";
import { ask, throwIssues } from "../schema/check-values.ts";
import { askInOtherForms } from "../schema/number-forms.ts";
import type { AnyEdge, AnyNode, AnyPart } from "../schema/definition.ts";
import { derivedNames } from "../schema/facts.ts";
import { type AnySchema, attributeNames, attributeSchemas, type SchemaResult } from "../schema/standard-schema.ts";
import { timeNames } from "../schema/timestamps.ts";
import { isProjected } from "../planner/projected-attributes.ts";
import type { Item } from "../transport/operations.ts";
import { own, type Row } from "../util/row.ts";
import type { CallContext, Session } from "./session.ts";

type Definition = AnyNode | AnyEdge | AnyPart;

/** A row of a shape, with the item that it was read from, if it is available. */
export interface StoredRow {
  readonly shape: Shape;
  readonly row: Row;
  readonly item?: Item | undefined;
}

/** The part of an item that a step reads: the requested fields, and the index that contains them. */
interface ReadFrom {
  readonly select?: readonly string[] | undefined;
  readonly index?: string | undefined;
}

/** Returns a row as its schema parses it; undefined if it does not fit and the call skips such rows. */
export type ParseRow = (stored: StoredRow, from?: ReadFrom) => Record<string, unknown> | undefined;

const resultOf = (schema: AnySchema, value: unknown, what: string): SchemaResult<unknown> => {
  let result = ask(schema, value, what);
  if (!(result instanceof Promise) && result.issues) result = askInOtherForms((other) => ask(schema, other, what), value, result);
  if (!(result instanceof Promise)) return result;
  result.catch(() => undefined);
  throw new EdgetableError("schema.failed", `The schema of ${what} is asynchronous: reads: "parsed" takes only synchronous schemas.`, {
    details: { of: what },
  });
};

/** The attributes of the schema that are in a part of an item; undefined if all of the item was read. */
const partOf = (catalog: Catalog, { shape }: StoredRow, { select, index }: ReadFrom): ((field: string) => boolean) | undefined => {
  const read = index === undefined ? undefined : catalog.indexes.find(({ name }) => name === index);
  const projected = read && projectedAttributes(catalog, read);
  const { copied } = shape;
  if (!select && !projected && !copied) return undefined;
  return (field) =>
    (select?.includes(field) ?? true) && (copied?.includes(field) ?? true) && (!projected || isProjected(shape, field, projected));
};

const parseWhole = (catalog: Catalog, { shape, row }: StoredRow, definition: Definition & { readonly schema: AnySchema }): Row => {
  const names = attributeNames(definition.schema);
  // These fields are not in the schema: Edgetable maintains them, or they belong to other rows.
  const kept = [
    ...(shape.kind === "edge" ? ["from", "to"] : []),
    ...(shape.kind === "part" ? ownerFields(catalog, shape.definition) : []),
    ...(definition.version ? [VERSION] : []),
    ...timeNames(definition),
    ...derivedNames(definition),
  ];
  const given: Record<string, unknown> = {};
  const rest: Record<string, unknown> = {};
  for (const field of Object.keys(row)) {
    const isOwn = !kept.includes(field) && (names?.includes(field) ?? true);
    (isOwn ? given : rest)[field] = row[field];
  }
  const what = `"${shape.definition}"`;
  const result = resultOf(definition.schema, given, what);
  return result.issues ? throwIssues(what, result.issues) : { ...(result.value as Row), ...rest };
};

const parsePart = ({ shape, row }: StoredRow, schema: AnySchema, isRead: (field: string) => boolean): Row => {
  const parsed: Record<string, unknown> = { ...row };
  for (const [field, one] of Object.entries(attributeSchemas(schema)?.each ?? {})) {
    if (!isRead(field)) continue;
    const result = resultOf(one, own(row, field), `"${field}" of "${shape.definition}"`);
    if (result.issues)
      throwIssues(
        `"${shape.definition}"`,
        result.issues.map((issue) => ({ ...issue, path: [field, ...(issue.path ?? [])] })),
      );
    else if (result.value === undefined) delete parsed[field];
    else parsed[field] = result.value;
  }
  return parsed;
};

/**
 * Makes the function that parses the rows of one call: those of types with `reads: "parsed"`. The fields that identify a row are
 * returned as stored, so that the row can be found by them. If only some attributes were read, each is parsed by its own schema, if
 * the schema's library exposes it.
 *
 * @throws {schema.failed} by the function, if a schema is asynchronous or throws
 * @throws {schema.invalidValue} by the function, for a row that does not fit, with `onStray: "throw"`
 */
export const rowParser = ({ catalog }: Session, { reading, meter }: CallContext): ParseRow => {
  const parse = (stored: StoredRow, from: ReadFrom): Record<string, unknown> => {
    const { shape, row } = stored;
    const definition = definitionOf(catalog, shape);
    if (definition?.reads !== "parsed" || !definition.schema) return row;
    const isRead = partOf(catalog, stored, from);
    const parsed: Record<string, unknown> = isRead
      ? { ...parsePart(stored, definition.schema, isRead) }
      : { ...parseWhole(catalog, stored, { ...definition, schema: definition.schema }) };
    for (const path of idPaths(catalog, shape)) if (!path.includes(".") && path in row) parsed[path] = row[path];
    return parsed;
  };
  return (stored, from = {}) => {
    try {
      return parse(stored, from);
    } catch (error) {
      const onStray = reading?.onStray;
      if (!isEdgetableError(error, "schema.invalidValue") || onStray === "throw") throw error;
      meter.strays++;
      if (typeof onStray === "function") {
        const { shape, row, item } = stored;
        const key = item ? keyOfItem(catalog, item) : keyOf(catalog, shape, row);
        onStray({ key, item: item ?? key, reason: error.message });
      }
      return undefined;
    }
  };
};
