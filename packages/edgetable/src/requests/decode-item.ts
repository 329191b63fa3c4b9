import { EdgetableError } from "../errors/edgetable-error.ts";
import { encodeKeyField, sameValue, type Template, templateMatches } from "../keys/template.ts";
import { attributesOf, HIDDEN, hiddenNames } from "../schema/facts.ts";
import { type Catalog, definitionOf, kindMarks, keyAttributes, type Shape, sourcesOf } from "../schema/catalog.ts";
import { DELETING } from "../schema/system-items.ts";
import type { AttributeValue, Item } from "../transport/operations.ts";
import { own, type Row, valueAt } from "../util/row.ts";
import { decodeValue, keyTextOf, readKey } from "./attribute-value.ts";
import { fitsMatch } from "./encode-item.ts";
import { renewFields } from "./former-fields.ts";

/** True if an item has expired, even if DynamoDB has not deleted it yet. */
export const isExpired = ({ ttl }: Pick<Catalog, "ttl">, item: Item, livingAt: number | undefined): boolean => {
  const value = livingAt === undefined || ttl === undefined ? undefined : item[ttl];
  return value !== undefined && livingAt !== undefined && "N" in value && Number(value.N) < livingAt;
};

const attributeOwner = (catalog: Catalog, shape: Shape): ReturnType<typeof definitionOf> =>
  shape.role === "reference" ? catalog.nodes[shape.from ?? ""]?.definition : definitionOf(catalog, shape);

/**
 * True if items of a kind may have the attribute by which DynamoDB removes expired ones. It deletes them even if the kind does not
 * declare the attribute.
 */
export const mayExpire = (catalog: Catalog, shape: Shape): boolean => {
  const { ttl } = catalog;
  if (ttl === undefined || shape.ttl !== undefined) return ttl !== undefined;
  const definition = attributeOwner(catalog, shape);
  const names = definition && attributesOf(definition);
  return names === undefined || names.includes(shape.fields[ttl] ?? ttl);
};

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
    // The value from an earlier key wins, even if it is null.
    if (name === undefined) {
      if (row[end] === undefined) row[end] = value;
    } else if (part.steps.length > 2) place(row, part.path, value);
    else ((row[end] ??= {}) as Record<string, unknown>)[name] ??= value;
  }
};

/** The row of a reference edge, from the row of its source. */
const referenceRow = (shape: Shape, node: Record<string, unknown>): Record<string, unknown> => {
  const row: Record<string, unknown> = { from: {}, to: {} };
  for (const path in shape.alias) place(row, path, node[shape.alias[path] as string]);
  const ends = new Set(Object.values(shape.alias ?? {}));
  const fields = shape.copied ?? Object.keys(node).filter((field) => !ends.has(field));
  for (const field of fields) if (Object.hasOwn(node, field)) row[field] = node[field];
  return row;
};

/** The mapping from attributes of a shape's items to fields. */
interface Naming {
  readonly catalog: Catalog;
  /** The field of each attribute that the model knows; undefined for an attribute that is not a field itself. */
  readonly names: ReadonlyMap<string, string | undefined>;
  /** True if attributes that the model does not name are fields, because the schema keeps them or does not list its attributes. */
  readonly open: boolean;
  /**
   * Fields that an index key contains, with the attributes that may contain a copy of them. The copy is the only source if the item
   * is not in the index.
   */
  readonly copies: readonly FieldCopy[];
}

/** An attribute in which other programs may have stored a field of a key. */
interface FieldCopy {
  readonly attribute: string;
  readonly field: string;
}

const namings = new WeakMap<Shape, Naming>();

const namingOf = (catalog: Catalog, shape: Shape): Naming => {
  const known = namings.get(shape);
  if (known?.catalog === catalog) return known;
  // Undefined if the schema lists no attributes, or keeps those that it does not list.
  const definition = attributeOwner(catalog, shape);
  const listed = definition ? attributesOf(definition) : [];
  const names = new Map<string, string | undefined>();
  for (const field of [...(listed ?? []), ...(shape.version ? ["version"] : [])]) names.set(shape.stored[field] ?? field, field);
  for (const [attribute, field] of Object.entries(shape.fields)) names.set(attribute, field);
  const copies = copiesOf(catalog, shape);
  const owner = (shape.role === "reference" ? shape.from : shape.definition) ?? "";
  const declared = (shape.kind === "edge" && shape.role !== "reference" ? catalog.edges : catalog.nodes)[owner]?.definition;
  const noField = [
    ...Object.keys(shape.keys),
    ...copies.map(({ attribute }) => attribute),
    catalog.typeAttribute,
    DELETING,
    ...(declared?.derived ? [...hiddenNames(declared), ...HIDDEN] : HIDDEN),
    "__proto__",
  ];
  for (const attribute of noField) if (attribute !== undefined) names.set(attribute, undefined);
  const tableKeys = keyAttributes(catalog.index).map((attribute) => shape.keys[attribute]);
  const keyed = new Set(tableKeys.flatMap((template) => template?.carried ?? []));
  const naming: Naming = { catalog, names, open: listed === undefined, copies: copies.filter(({ field }) => !keyed.has(field)) };
  namings.set(shape, naming);
  return naming;
};

const copyLists = new WeakMap<Shape, readonly FieldCopy[]>();

/** The attributes of an item that may contain copies of fields of its keys. */
const copiesOf = ({ typeAttribute }: Catalog, shape: Shape): readonly FieldCopy[] => {
  let copies = copyLists.get(shape);
  if (copies) return copies;
  copies = shape.carried.flatMap((field) => {
    const attribute = shape.stored[field] ?? field;
    // A field may have the same name as the type attribute.
    return field.includes(".") || attribute === typeAttribute || attribute in shape.keys ? [] : [{ attribute, field }];
  });
  copyLists.set(shape, copies);
  return copies;
};

/** A copy of a field that disagrees with the key that contains the field. */
export interface DriftedField {
  readonly field: string;
  /** The value in the key, which the row contains. */
  readonly value: unknown;
  /** The value in the copy. */
  readonly copy: unknown;
}

/** The fields whose copy in an item of an adopted table disagrees with its key. */
export const driftedFields = (catalog: Catalog, shape: Shape, item: Item, row: Row): readonly DriftedField[] => {
  if (shape.role === "reference") return [];
  return copiesOf(catalog, shape).flatMap(({ attribute, field }) => {
    const stored = own(item, attribute);
    const source = sourcesOf(shape, field).find((one) => Object.hasOwn(item, one.attribute));
    if (stored === undefined || !source) return [];
    const [value, copy] = [row[field], decodeValue(stored)];
    if (sameValue(value, copy)) return [];
    if (typeof copy !== "string") return [{ field, value, copy }];
    // A copy may be stored in the key's own notation: "0007" for 7.
    const isSame =
      value instanceof Date ? value.getTime() === new Date(copy).getTime() : encodeKeyField(source.template, field, value) === copy;
    return isSame ? [] : [{ field, value, copy }];
  });
};

/** Which attributes of an item its row contains. */
export interface RowOptions {
  /** Also attributes that the model does not know: those that left its schema, index keys of another deployment. @default "hide" */
  readonly unknown?: "show" | "hide" | undefined;
}

/**
 * The node's row of an item, where the shape is a reference edge, else the shape's own row. Fields of a key are read from the key;
 * a copy is only used if the key is absent.
 *
 * @throws {keys.unreadable} if a computed attribute does not match its template
 */
export const decodeOwn = (catalog: Catalog, shape: Shape, item: Item, { unknown }: RowOptions = {}): Record<string, unknown> => {
  const row: Record<string, unknown> = {};
  for (const { attribute, template } of shape.sources) {
    const stored = item[attribute];
    if (stored === undefined || !(template.type in stored || (template.verbatim && "NULL" in stored))) continue;
    const fields = readKey(template, stored);
    if (fields === undefined) {
      const text = keyTextOf(stored);
      throw new EdgetableError("keys.unreadable", `"${attribute}" is "${text}", which is not of the form ${template.source}.`, {
        details: { attribute, text, template: template.source, shape: shape.id },
      });
    }
    placeAll(template, fields, row);
  }
  for (const { attribute, template } of shape.spares) {
    const fields = readKey(template, item[attribute]);
    if (fields) placeAll(template, fields, row);
  }
  const { names, open, copies } = namingOf(catalog, shape);
  const all = open || unknown === "show";
  for (const attribute in item) {
    const field = names.get(attribute) ?? (all && !names.has(attribute) ? attribute : undefined);
    if (field !== undefined) row[field] = decodeValue(item[attribute] as AttributeValue);
  }
  for (const { attribute, field } of copies)
    if (!Object.hasOwn(row, field) && Object.hasOwn(item, attribute)) row[field] = decodeValue(item[attribute] as AttributeValue);
  if (shape.former) renewFields(shape, item, row);
  for (const field of shape.dates) {
    const value = own(row, field);
    if (typeof value === "string") row[field] = new Date(value);
    else if (field === shape.ttl && typeof value === "number") row[field] = new Date(value * 1000);
  }
  return row;
};

/** The row of an item: the inverse of `encodeItem`. */
export const decodeItem = (catalog: Catalog, shape: Shape, item: Item, options?: RowOptions): Record<string, unknown> => {
  const row = decodeOwn(catalog, shape, item, options);
  const edge = shape.role === "reference" ? referenceRow(shape, row) : row;
  if (!shape.several) return edge;
  return { ...edge, from: { type: shape.from, ...(edge["from"] as object) }, to: { type: shape.to, ...(edge["to"] as object) } };
};

/** The type in an item's type attribute; undefined if it has none. */
export const typeIn = ({ typeAttribute, typeForm }: Catalog, item: Item): string | undefined => {
  const value = typeAttribute === undefined ? undefined : item[typeAttribute];
  if (value === undefined || typeForm === "S") return value && "S" in value ? value.S : undefined;
  return "SS" in value && value.SS.length === 1 ? value.SS[0] : JSON.stringify(value);
};

// The fields that both key templates of a shape contain, by its sort key. Kept, because every item that is read needs them.
const sharedFields = new WeakMap<Template, { readonly partition: Template; readonly fields: readonly string[] }>();

// Both keys of a node's item may contain its id. An edge's item may differ from it only in this.
const keysAgree = (catalog: Catalog, shape: Shape, item: Item): boolean => {
  const { partitionKey, sortKey } = catalog.index;
  if (sortKey === undefined) return true;
  const partition = shape.keys[partitionKey];
  const sort = shape.keys[sortKey];
  if (!partition || !sort) return true;
  let shared = sharedFields.get(sort);
  if (shared?.partition !== partition)
    sharedFields.set(sort, (shared = { partition, fields: sort.fields.filter((field) => partition.fields.includes(field)) }));
  if (shared.fields.length === 0) return true;
  const first = readKey(partition, item[partitionKey]) ?? {};
  const second = readKey(sort, item[sortKey]) ?? {};
  return shared.fields.every((field) => !(field in first) || !(field in second) || sameValue(first[field], second[field]));
};

/** A double holds every number of fewer characters. */
const SURE_DIGITS = 16;

const hasForm = (shape: Shape, attribute: string, item: Item): boolean => {
  const template = shape.keys[attribute];
  if (!template) return true;
  const value = item[attribute];
  // A row with a rounded number would identify no item, or another one.
  if (value && template.type === "N")
    return "N" in value && (value.N.length < SURE_DIGITS || keyTextOf(value) === keyTextOf({ N: String(decodeValue(value)) }));
  return value !== undefined && "S" in value && templateMatches(template, value.S);
};

/** True if an item's attributes satisfy the `match` of a shape. */
export const fitsMatches = ({ match }: Shape, item: Item): boolean =>
  match.every((one) => {
    const value = own(item, one.attribute);
    return fitsMatch(one, value && decodeValue(value));
  });

/** True if an item has the shape, by its type attribute and the form of its table key. */
export const isOfShape = (catalog: Catalog, shape: Shape, item: Item): boolean => {
  const type = typeIn(catalog, item);
  if (type !== undefined && type !== shape.typeValue) return false;
  for (const mark of kindMarks(catalog, shape)) {
    const value = mark.kind === "lead" ? item[mark.attribute] : undefined;
    if (mark.kind === "lead" && value && "S" in value && !value.S.startsWith(mark.text)) return false;
  }
  if (shape.match.length > 0 && !fitsMatches(shape, item)) return false;
  const { partitionKey, sortKey } = catalog.index;
  if (!hasForm(shape, partitionKey, item) || (sortKey !== undefined && !hasForm(shape, sortKey, item))) return false;
  return keysAgree(catalog, shape, item);
};

/** True if an edge's row has its ends. A node's item without the reference, or with null, contains no such edge. */
export const refers = (shape: Shape, row: Readonly<Record<string, unknown>>): boolean =>
  shape.role !== "reference" ||
  Object.keys(shape.alias ?? {}).every((path) => !path.startsWith("to.") || (valueAt(row, path) ?? null) !== null);

/** The shape of an item; undefined if the item has none of the given shapes. */
export const shapeOf = (catalog: Catalog, shapes: readonly Shape[], item: Item): Shape | undefined => {
  for (const shape of shapes) if (isOfShape(catalog, shape, item)) return shape;
  return undefined;
};
