import { fieldNames } from "./build-catalog.ts";
import { attributeType, KEY_FORMATS } from "./attribute-kind.ts";
import { keyAttributes } from "./catalog.ts";
import { type AnyEdge, type AnyNode, type AnyPart, endTypes, type GraphDefinition } from "./definition.ts";
import { startsAtZero } from "./derived.ts";
import type { EdgeLayout, ItemLayout, Layout } from "./layout.ts";
import { attributeSchemas, refuses } from "./standard-schema.ts";
import { own } from "../util/row.ts";

/** A delimiter that no value contains: the attribute is one value, whatever else it contains. */
const WHOLE = "\u0001";

type Definition = AnyNode | AnyEdge | AnyPart;

/** A field's type by its schema, and whether every row has it: the table's key contains it, or its schema refuses its absence. */
interface FieldInfo {
  readonly type: string | undefined;
  readonly required: boolean;
}

const infoOf = ({ nodes }: GraphDefinition, one: Definition, path: string): FieldInfo => {
  const [end = "", inner] = path.split(".");
  const owner = one.kind === "part" ? nodes[one.of] : undefined;
  if (one.kind === "edge" && inner !== undefined && (end === "from" || end === "to")) {
    const node = nodes[endTypes(one[end])[0] ?? ""];
    return { type: node && attributeType(node, inner), required: true };
  }
  const derived = "derived" in one ? one.derived?.[path] : undefined;
  if (derived && derived.operation !== "min" && derived.operation !== "max")
    return { type: "number", required: startsAtZero(derived.operation) };
  const keys = [one.kind === "edge" ? "" : one.key, owner?.key ?? ""].flatMap(fieldNames);
  const schema = one.schema && attributeSchemas(one.schema)?.each[path];
  const required = keys.includes(path) || refuses(schema, undefined);
  return { type: attributeType(one, path) ?? (owner && attributeType(owner, path)), required };
};

/** Types of schemas whose values an index key can hold. Of a union, the types are not known. */
const KEY_TYPES = ["string", "number", "bigint", "date", "enum", "literal", "picklist"];

/** The attributes of a definition that hold one field as it is, by the field's path: those that are named, and index keys. */
const verbatimOf = (definition: GraphDefinition, one: Definition, item: ItemLayout): ReadonlyMap<string, string> => {
  const { verbatim = [], attributes = {}, keys = {} } = item;
  const found = new Map<string, string>();
  if (Array.isArray(verbatim)) for (const field of verbatim as readonly string[]) found.set(attributes[field] ?? field, field);
  else for (const [attribute, path] of Object.entries(verbatim)) found.set(attribute, path);
  const { partitionKey, sortKey, indexes = {} } = definition.layout!;
  const stored = Object.keys((one.schema && attributeSchemas(one.schema)?.each) ?? {}).map(
    (field) => [attributes[field] ?? field, field] as const,
  );
  for (const index of Object.values(indexes))
    for (const attribute of keyAttributes(index)) {
      const field = stored.find(([name]) => name === attribute)?.[1];
      if (field === undefined || attribute in keys || found.has(attribute)) continue;
      if (attribute === partitionKey || attribute === sortKey) continue;
      if (KEY_TYPES.includes(attributeType(one, field) ?? "")) found.set(attribute, field);
    }
  return found;
};

/** An item's layout with a template for each attribute that holds one field as it is. Notes which of them are numbers. */
const filled = (definition: GraphDefinition, one: Definition, item: ItemLayout, numbers: Set<string>): ItemLayout => {
  const verbatim = verbatimOf(definition, one, item);
  if (verbatim.size === 0) return item;
  const keys: Record<string, string> = {};
  const delimiters: Record<string, string> = { ...item.delimiters };
  const sparse = new Set(item.sparse);
  const { partitionKey, sortKey } = definition.layout!;
  for (const [attribute, path] of verbatim) {
    const { type = "", required } = infoOf(definition, one, path);
    // No key of DynamoDB holds a boolean.
    const format = type === "boolean" ? undefined : own(KEY_FORMATS, type);
    keys[attribute] = format ? `{${path}:${format}}` : `{${path}}`;
    if (format === "number") numbers.add(attribute);
    else delimiters[attribute] ??= WHOLE;
    if (!required && attribute !== partitionKey && attribute !== sortKey) sparse.add(attribute);
  }
  // Fields are read from the first attribute that has them, and only these are there whenever the field is.
  return { ...item, keys: { ...keys, ...item.keys, ...keys }, delimiters, sparse: [...sparse] };
};

/**
 * A model whose layout has a template for each attribute that holds one field as it is: those named by `verbatim`, and keys of
 * indexes that are attributes of a schema. An optional attribute is left out where a row lacks it, and DynamoDB leaves the item out of the index.
 */
export const withVerbatim = (definition: GraphDefinition): GraphDefinition => {
  const { layout } = definition;
  if (!layout) return definition;
  const numbers = new Set<string>();
  try {
    const group = <Item extends ItemLayout>(
      definitions: Readonly<Record<string, Definition>> = {},
      items: Readonly<Record<string, Item>> = {},
    ): Readonly<Record<string, Item>> => {
      const all: Record<string, Item> = { ...items };
      for (const [name, one] of Object.entries(definitions)) {
        const full = filled(definition, one, items[name] ?? {}, numbers);
        const { mirror } = (items[name] ?? {}) as EdgeLayout;
        if (Object.keys(full).length > 0)
          all[name] = { ...full, ...(mirror ? { mirror: filled(definition, one, mirror, numbers) } : {}) } as Item;
      }
      return all;
    };
    const [nodes, edges, parts] = [
      group(definition.nodes, layout.nodes),
      group(definition.edges, layout.edges),
      group(definition.parts, layout.parts),
    ];
    const types = { ...Object.fromEntries([...numbers].map((name) => [name, "N" as const])), ...layout.types };
    const whole: Layout = { ...layout, nodes, edges, parts, ...(Object.keys(types).length > 0 ? { types } : {}) };
    return { ...definition, layout: whole };
  } catch {
    // A value of the wrong type: the checks of the model report it.
    return definition;
  }
};
