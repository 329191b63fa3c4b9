import { EdgetableError } from "../errors/edgetable-error.ts";
import { readTemplate, type Template } from "../keys/template.ts";
import type { Catalog } from "../schema/catalog.ts";
import type { Shape } from "../schema/shape.ts";
import { DELETING } from "../schema/system-items.ts";
import type { AttributeValue, Item } from "../transport/operations.ts";
import { decodeValue } from "./attribute-value.ts";
import type { Row } from "../util/row.ts";

const place = (row: Record<string, unknown>, path: string, value: unknown): void => {
  const dot = path.indexOf(".");
  if (dot < 0) {
    row[path] = value;
    return;
  }
  const end = path.slice(0, dot);
  const nested = (row[end] ??= {}) as Record<string, unknown>;
  nested[path.slice(dot + 1)] = value;
};

// A template has its paths split already.
const placeAll = (template: Template, fields: Row, row: Record<string, unknown>): void => {
  for (const part of template.parts) {
    if (part.kind === "literal") continue;
    const value = fields[part.path];
    if (value === undefined) continue;
    const end = part.steps[0] ?? "";
    const name = part.steps[1];
    if (name === undefined) row[end] = value;
    else if (part.steps.length > 2) place(row, part.path, value);
    else ((row[end] ??= {}) as Record<string, unknown>)[name] = value;
  }
};

const readSources = (shape: Shape, item: Item, row: Record<string, unknown>): void => {
  for (const { attribute, template } of shape.spares) {
    const value = item[attribute];
    const fields = value && "S" in value ? readTemplate(template, value.S) : undefined;
    if (fields) placeAll(template, fields, row);
  }
  for (const { attribute, template } of shape.sources) {
    const value = item[attribute];
    if (value === undefined || !("S" in value)) continue;
    const fields = readTemplate(template, value.S);
    if (fields === undefined) {
      throw new EdgetableError("keys.unreadable", `"${attribute}" is "${value.S}", which is not of the form ${template.source}.`, {
        details: { attribute, text: value.S, template: template.source, shape: shape.id },
      });
    }
    placeAll(template, fields, row);
  }
};

const reviveDates = (shape: Shape, row: Record<string, unknown>): void => {
  for (const field of shape.dates) {
    const value = row[field];
    if (typeof value === "string") row[field] = new Date(value);
  }
};

const aliased = (shape: Shape, own: Record<string, unknown>): Record<string, unknown> => {
  const row: Record<string, unknown> = { from: {}, to: {} };
  for (const path in shape.alias) place(row, path, own[shape.alias[path] as string]);
  const ends = new Set(Object.values(shape.alias ?? {}));
  const fields = shape.holds ?? Object.keys(own).filter((field) => !ends.has(field));
  for (const field of fields) if (own[field] !== undefined) row[field] = own[field];
  return row;
};

const typed = (shape: Shape, row: Record<string, unknown>): Record<string, unknown> => ({
  ...row,
  from: { type: shape.from, ...(row["from"] as object) },
  to: { type: shape.to, ...(row["to"] as object) },
});

type FieldNames = ReadonlyMap<string, string | undefined>;
const fieldNames = new WeakMap<Shape, { readonly catalog: Catalog; readonly names: FieldNames }>();

/** The fields of attributes that are called otherwise, and undefined for those that are no field. */
const fieldsOf = (catalog: Catalog, shape: Shape): FieldNames => {
  const known = fieldNames.get(shape);
  if (known?.catalog === catalog) return known.names;
  const names = new Map<string, string | undefined>(Object.entries(shape.fields));
  for (const attribute of [...Object.keys(shape.keys), catalog.typeAttribute, DELETING])
    if (attribute !== undefined) names.set(attribute, undefined);
  fieldNames.set(shape, { catalog, names });
  return names;
};

/** The node's row of an item, where the shape is a reference edge, else the shape's own row. */
export const decodeOwn = (catalog: Catalog, shape: Shape, item: Item): Record<string, unknown> => {
  const row: Record<string, unknown> = {};
  readSources(shape, item, row);
  const fields = fieldsOf(catalog, shape);
  for (const attribute in item) {
    const field = fields.has(attribute) ? fields.get(attribute) : attribute;
    if (field !== undefined) row[field] = decodeValue(item[attribute] as AttributeValue);
  }
  if (shape.dates.length > 0) reviveDates(shape, row);
  return row;
};

/** The row of an item: the inverse of `encodeItem`. */
export const decodeItem = (catalog: Catalog, shape: Shape, item: Item): Record<string, unknown> => {
  const own = decodeOwn(catalog, shape, item);
  const row = shape.role === "reference" ? aliased(shape, own) : own;
  return shape.several ? typed(shape, row) : row;
};
