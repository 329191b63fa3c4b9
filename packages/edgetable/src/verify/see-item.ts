import { isEdgetableError } from "../errors/edgetable-error.ts";
import { endOf, nearestKind, withoutEnds } from "../executor/scan/read-item.ts";
import { keyId } from "../ir/write-plan.ts";
import { edgeCopies, type EdgeCopy } from "../planner/writes/rules/edge-copies.ts";
import type { Subject } from "../planner/writes/working-set.ts";
import { decodeItem, shapeOf } from "../requests/decode-item.ts";
import { keyIfComplete, keyOfItem } from "../requests/encode-item.ts";
import type { Catalog, Shape } from "../schema/catalog.ts";
import { type SystemKind, systemKindOf } from "../schema/system-kinds.ts";
import type { Item, Key } from "../transport/operations.ts";
import { defined } from "../util/invariant.ts";
import type { Row } from "../util/row.ts";

/** The other copy of an edge that is stored twice. */
export interface OtherCopy extends EdgeCopy {
  readonly key: Key;
}

/** An item that is a row of the model, or one of the two of an edge. */
export interface SeenRow {
  readonly kind: "row";
  readonly key: Key;
  readonly item: Item;
  readonly shape: Shape;
  readonly row: Row;
  readonly subject: Subject;
  /** False of the copy that follows the other one: nothing but the other copy is derived from it. */
  readonly leads: boolean;
  /** Undefined of what is stored once. */
  readonly other: OtherCopy | undefined;
}

/** What an item of the table is. */
export type Seen =
  | SeenRow
  | { readonly kind: SystemKind; readonly key: Key; readonly item: Item }
  | {
      readonly kind: "unclaimed";
      readonly key: Key;
      readonly item: Item;
      /** The definition that it resembles most, and the first attribute by which it is not of it. */
      readonly nearest: string | undefined;
      readonly attribute: string | undefined;
      readonly reason: string;
    };

const seeEdge = (catalog: Catalog, shape: Shape, { item, row, key }: Pick<SeenRow, "item" | "row" | "key">): SeenRow => {
  const entry = defined(catalog.edges[shape.definition], shape.definition);
  const subject = { kind: "edge", entry, from: endOf(shape, row, "from"), to: endOf(shape, row, "to") } as const;
  const once: SeenRow = { kind: "row", key, item, shape, row, subject, leads: true, other: undefined };
  if (entry.definition.symmetric !== true && entry.mirrors.length === 0) return once;
  const [own, second] = edgeCopies(subject, withoutEnds(row));
  // An edge from a node to itself, with no direction, is one item.
  if (!second) return once;
  const copy = shape.role === "mirror" ? own : second;
  const otherKey = keyIfComplete(catalog, copy.shape, copy.row);
  if (!otherKey) return once;
  const leads = entry.definition.symmetric ? keyId(key) < keyId(otherKey) : shape.role === "own";
  return { ...once, leads, other: { ...copy, key: otherKey } };
};

/** What an item is, of which the model may know nothing. */
export const seeItem = (catalog: Catalog, item: Item): Seen => {
  const key = keyOfItem(catalog, item);
  const system = systemKindOf(catalog, item);
  if (system) return { kind: system, key, item };
  const shape = shapeOf(catalog, catalog.shapes, item);
  if (!shape) {
    const near = nearestKind(catalog, item);
    if (!near)
      return { kind: "unclaimed", key, item, nearest: undefined, attribute: undefined, reason: "Nothing in the model has this form." };
    return { kind: "unclaimed", key, item, nearest: near.definition, attribute: near.attribute, reason: `It ${near.text}.` };
  }
  try {
    const row = decodeItem(catalog, shape, item);
    if (shape.kind === "edge") return seeEdge(catalog, shape, { item, row, key });
    const subject: Subject =
      shape.kind === "node"
        ? { kind: "node", entry: defined(catalog.nodes[shape.definition], shape.definition) }
        : { kind: "part", entry: defined(catalog.parts[shape.definition], shape.definition) };
    return { kind: "row", key, item, shape, row, subject, leads: true, other: undefined };
  } catch (error) {
    if (!isEdgetableError(error)) throw error;
    const attribute = error.details["attribute"];
    const reason = `It does not read as "${shape.definition}": ${error.message}`;
    return {
      kind: "unclaimed",
      key,
      item,
      nearest: shape.definition,
      attribute: typeof attribute === "string" ? attribute : undefined,
      reason,
    };
  }
};
