import { itemBytes } from "../ir/capacity.ts";
import { type KeyPiece, splitKey } from "../keys/key-pieces.ts";
import { renderTemplate } from "../keys/template.ts";
import { decodeItem, shapeOf } from "../requests/decode-item.ts";
import { type Catalog, definitionOf, keyAttributes, type Shape, tableAndIndexKeys } from "../schema/catalog.ts";
import { attributesOf } from "../schema/facts.ts";
import { declaredNames } from "../schema/standard-schema.ts";
import { systemKindOf } from "../schema/system-kinds.ts";
import type { Item } from "../transport/operations.ts";
import type { Row } from "../util/row.ts";

/** A stored attribute under the name that its type gives it. */
export interface NamedField {
  /** The field of the row. */
  readonly name: string;
  /** The attribute of the item. */
  readonly attribute: string;
}

/** A node that an item names. */
export interface NamedEnd {
  /** `from` or `to` of an edge, `owner` of a part, or the name of a reference edge that the item contains. */
  readonly role: string;
  /** The node's type. */
  readonly type: string;
  readonly id: Row;
  /** The partition key of the node's own item, as text. */
  readonly partition: string;
}

/** What one stored item is, by the model. */
export interface ItemDescription {
  /** `system` is an item of Edgetable's own; `stray` one that the model does not know. */
  readonly kind: "node" | "edge" | "part" | "system" | "stray";
  /** The name of the node, edge or part in the model; of a system item, what it is for; empty for a stray item. */
  readonly name: string;
  /** True for the copy of an edge in its target's partition. */
  readonly mirror: boolean;
  /** The id of a node, or of a part that edges may lead to; undefined for other items. */
  readonly id: Row | undefined;
  /** The row that reads give of the item; undefined for a system item and a stray one. */
  readonly row: Row | undefined;
  /** The pieces of every key attribute that the item has, the table's first. A key that no template made is one piece. */
  readonly keys: Readonly<Record<string, readonly KeyPiece[]>>;
  /** Attributes that are neither keys nor the type: in the order of the schema, then by name. */
  readonly fields: readonly NamedField[];
  /** The nodes that the item names, without the one whose partition it is in. */
  readonly ends: readonly NamedEnd[];
  /** Bytes of the item, names included, as DynamoDB counts them. */
  readonly bytes: number;
  /** When the item expires, in milliseconds since 1970; undefined if it does not. */
  readonly expires: number | undefined;
}

type Described = Pick<ItemDescription, "kind" | "name" | "mirror" | "id" | "row" | "ends">;

const stray: Described = { kind: "stray", name: "", mirror: false, id: undefined, row: undefined, ends: [] };

const keyText = (item: Item, attribute: string): string | undefined => {
  const value = item[attribute];
  if (value === undefined) return undefined;
  return "S" in value ? value.S : "N" in value ? value.N : undefined;
};

/**
 * The partition key of a node's own item, as text; undefined if the id is incomplete or there is no such type.
 *
 * @param graph the result of `defineGraph`, or its catalog
 * @param type the name of a node type
 * @param id the node's id; other fields are ignored
 * @throws {keys.wrongType} if a value of the id does not have its type, and other `keys` codes for values that no key can hold
 */
export const partitionOf = (graph: Catalog | { readonly catalog: Catalog }, type: string, id: Row): string | undefined => {
  const catalog = "catalog" in graph ? graph.catalog : graph;
  const end = catalog.ends[type];
  return end && renderTemplate(end.partition, id);
};

const endOf = (catalog: Catalog, role: string, type = "", id: unknown): NamedEnd | undefined => {
  const node = catalog.ends[type];
  if (!node || typeof id !== "object" || id === null) return undefined;
  const row = id as Row;
  const partition = partitionOf(catalog, type, row);
  if (partition === undefined) return undefined;
  return { role, type, id: Object.fromEntries(node.idFields.map((field) => [field, row[field]])), partition };
};

const describe = (catalog: Catalog, shape: Shape | undefined, item: Item): Described => {
  const system = systemKindOf(catalog, item);
  if (system) return { kind: "system", name: system, mirror: false, id: undefined, row: undefined, ends: [] };
  if (!shape) return stray;
  const { kind, definition: name, role } = shape;
  const row = decodeItem(catalog, shape, item);
  const idFields = kind === "edge" ? undefined : catalog.ends[name]?.idFields;
  const id = idFields && Object.fromEntries(idFields.map((field) => [field, row[field]]));
  const found =
    shape.kind === "node"
      ? Object.values(catalog.edges).flatMap((edge) =>
          edge.shapes
            .filter((other) => other.role === "reference" && other.from === name)
            .map((other) => endOf(catalog, edge.name, other.to, decodeItem(catalog, other, item)["to"])),
        )
      : shape.kind === "part"
        ? [endOf(catalog, "owner", shape.from, row)]
        : [endOf(catalog, "from", shape.from, row["from"]), endOf(catalog, "to", shape.to, row["to"])];
  const here = keyText(item, catalog.index.partitionKey);
  const ends = found.filter((end): end is NamedEnd => end !== undefined && end.partition !== here);
  return { kind, name, mirror: role === "mirror", id, row, ends };
};

/**
 * The attributes that the schema of a node, edge or part lists, in its order, also if it takes others; undefined if the schema
 * does not list them.
 *
 * @param graph the result of `defineGraph`, or its catalog
 * @param shape one of the catalog's shapes
 */
export const listedAttributes = (graph: Catalog | { readonly catalog: Catalog }, shape: Shape): readonly string[] | undefined => {
  const definition = definitionOf("catalog" in graph ? graph.catalog : graph, shape);
  return definition && (attributesOf(definition) ?? (definition.schema && declaredNames(definition.schema)));
};

/**
 * Says what a stored item is: its type in the model, its keys in the pieces of their templates, its attributes under the names of
 * their type, the nodes that it names, its size and expiry. For tools that show a table as it is stored. Pure; never throws for an
 * item that the model cannot read, which is described as `stray`.
 *
 * @param graph the result of `defineGraph`, or its catalog
 * @param item an item as DynamoDB returns it, from the table or from an index
 * @example
 * describeItem(education, { pk: { S: "STUDENT#S1" }, sk: { S: "#" } }).name; // "student"
 */
export const describeItem = (graph: Catalog | { readonly catalog: Catalog }, item: Item): ItemDescription => {
  const catalog = "catalog" in graph ? graph.catalog : graph;
  const found = shapeOf(catalog, catalog.shapes, item);
  let described: Described;
  let shape = found;
  try {
    described = describe(catalog, found, item);
  } catch {
    // A key or a value that does not read: the model does not know the item.
    shape = undefined;
    described = stray;
  }
  const templates = (described.kind !== "system" && shape?.keys) || {};
  const keys: Record<string, readonly KeyPiece[]> = {};
  const names = [...tableAndIndexKeys(catalog, undefined), ...catalog.indexes.flatMap(keyAttributes), ...Object.keys(templates)];
  for (const name of new Set(names)) {
    const text = keyText(item, name);
    if (text === undefined) continue;
    const template = templates[name];
    const pieces = template?.type === "S" ? splitKey(template, text) : undefined;
    keys[name] = pieces ?? [{ text, path: template?.fields[0] }];
  }
  const listed = (shape && listedAttributes(catalog, shape)) ?? [];
  const place = ({ name }: NamedField): number => (listed.includes(name) ? listed.indexOf(name) : listed.length);
  const fields = Object.keys(item)
    .filter((attribute) => !(attribute in keys) && attribute !== catalog.typeAttribute)
    .map((attribute) => ({ name: shape?.fields[attribute] ?? attribute, attribute }))
    .sort((a, b) => place(a) - place(b) || (a.name < b.name ? -1 : 1));
  const expiry = catalog.ttl === undefined ? undefined : item[catalog.ttl];
  const expires = expiry && "N" in expiry ? Number(expiry.N) * 1000 : undefined;
  return { ...described, keys, fields, bytes: itemBytes(item), expires };
};
