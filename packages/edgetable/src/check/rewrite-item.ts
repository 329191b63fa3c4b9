import { decimalText } from "../keys/template.ts";
import { decodeItem, shapeOf } from "../requests/decode-item.ts";
import { encodeItem } from "../requests/encode-item.ts";
import type { Catalog } from "../schema/catalog.ts";
import { systemKindOf } from "../schema/system-kinds.ts";
import type { AttributeValue, Item } from "../transport/operations.ts";

/** What Edgetable would write for an item that it has read. */
export interface RewrittenItem {
  /** The name of the node, edge or part in the model; undefined for an item that the model cannot read. */
  readonly name: string | undefined;
  /** The item that the row makes; undefined if it makes none. */
  readonly item: Item | undefined;
  /** Attributes that differ between the two items, or that only one of them has. Empty if both are the same. */
  readonly differing: readonly string[];
  /** Why the item cannot be read or written; undefined if it can. */
  readonly problem: string | undefined;
}

const sortedValue = (_: string, value: unknown): unknown => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  // An attribute may be called "N" too: its value is an object.
  const { N, NS, SS, BS } = value as Readonly<Record<string, unknown>>;
  if (typeof N === "string") return { N: decimalText(N) };
  if (Array.isArray(NS)) return { NS: (NS as readonly string[]).map(decimalText).toSorted() };
  const members = SS ?? BS;
  if (Array.isArray(members)) return { set: members.toSorted() };
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
};

// Every digit of a number counts: a fraction that a double cannot hold is rounded when it is read.
const inOneForm = (value: AttributeValue | undefined): string | undefined => JSON.stringify(value, sortedValue);

/**
 * Reads an item as a row and makes the item of that row: the same item, if the model describes the table as it is. Values are
 * compared as DynamoDB does: sets and maps without order, numbers by value. Pure; never throws for an item.
 *
 * @param graph the result of `defineGraph`, or its catalog
 * @param item an item as DynamoDB returns it from the table
 * @example
 * rewriteItem(education, { pk: { S: "STUDENT#S1" }, sk: { S: "#" } }).differing; // []
 */
export const rewriteItem = (graph: Catalog | { readonly catalog: Catalog }, item: Item): RewrittenItem => {
  const catalog = "catalog" in graph ? graph.catalog : graph;
  const system = systemKindOf(catalog, item);
  if (system !== undefined) return { name: system, item, differing: [], problem: undefined };
  const shape = shapeOf(catalog, catalog.shapes, item);
  if (!shape) return { name: undefined, item: undefined, differing: [], problem: "no type of the model has such keys" };
  try {
    const made = encodeItem(catalog, shape, decodeItem(catalog, shape, item));
    const names = [...new Set([...Object.keys(item), ...Object.keys(made)])];
    const differing = names.filter((name) => inOneForm(item[name]) !== inOneForm(made[name]));
    return { name: shape.definition, item: made, differing, problem: undefined };
  } catch (error) {
    return { name: shape.definition, item: undefined, differing: [], problem: (error as Error).message };
  }
};
