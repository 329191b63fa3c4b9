import type { Catalog } from "../schema/catalog.ts";
import type { Row } from "../util/row.ts";

const fieldText = (value: unknown): string => {
  if (value instanceof Date) return `=@${value.toISOString()}`;
  if (typeof value !== "string") return `=${String(value)}`;
  try {
    return encodeURIComponent(value);
  } catch {
    // A lone surrogate has no percent-encoding; JSON escapes it.
    return `=${JSON.stringify(value)}`;
  }
};

/**
 * A text that names a node across all node types, as batch results name nodes: `student:S1`, `place:US/TX/Austin`. Texts are
 * percent-encoded, and other values begin with `=`, so that no two nodes have the same text. Pure.
 *
 * @param type the node's type
 * @param fields the names of the id's fields, in the key's order
 * @param id the node's id; other fields are ignored
 */
export const nodeText = (type: string, fields: readonly string[], id: Row): string =>
  `${type}:${fields.map((field) => fieldText(id[field])).join("/")}`;

const fieldValue = (text: string): unknown => {
  if (!text.startsWith("=")) return decodeURIComponent(text);
  const value = text.slice(1);
  if (value.startsWith("@")) return new Date(value.slice(1));
  if (value.startsWith('"')) return JSON.parse(value) as unknown;
  if (value === "true" || value === "false") return value === "true";
  const number = Number(value);
  return Number.isInteger(number) && !Number.isSafeInteger(number) ? BigInt(value) : number;
};

/**
 * The node that a text from {@link nodeText} names; undefined for a type that the model does not have, and for another text. Pure;
 * never throws.
 *
 * @param graph the result of `defineGraph`, or its catalog
 */
export const readNodeText = (
  graph: Pick<Catalog, "nodes"> | { readonly catalog: Catalog },
  text: string,
): { readonly type: string; readonly id: Row } | undefined => {
  const { nodes } = "catalog" in graph ? graph.catalog : graph;
  const [type = ""] = text.split(":", 1);
  const fields = Object.hasOwn(nodes, type) ? nodes[type]?.idFields : undefined;
  const values = text.slice(type.length + 1).split("/");
  if (fields?.length !== values.length || !text.startsWith(`${type}:`)) return undefined;
  try {
    return { type, id: Object.fromEntries(fields.map((field, at) => [field, fieldValue(values[at] ?? "")])) };
  } catch {
    // Neither percent-encoding nor JSON.
    return undefined;
  }
};
