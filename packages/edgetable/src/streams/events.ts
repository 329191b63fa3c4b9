import { isDeepStrictEqual } from "node:util";
import { isEdgetableError } from "../errors/edgetable-error.ts";
import { keyId } from "../ir/write-plan.ts";
import { edgeCopies } from "../planner/writes/rules/edge-copies.ts";
import { unknownForm } from "../executor/scan/read-item.ts";
import { decodeItem, refers, shapeOf } from "../requests/decode-item.ts";
import { keyIfComplete, keyOfItem } from "../requests/encode-item.ts";
import { type Catalog, idPaths, type Shape } from "../schema/catalog.ts";
import { isSystemItem } from "../schema/system-kinds.ts";
import type { Item } from "../transport/operations.ts";
import { defined } from "../util/invariant.ts";
import { type Row, valueAt } from "../util/row.ts";
import type { StreamRecord } from "./record.ts";

/** The kinds of events of nodes, edges and parts. `expired`: DynamoDB itself deleted the item, because its `ttl` had passed. */
export type EventKind = "created" | "updated" | "deleted" | "linked" | "relinked" | "unlinked" | "expired";

/** A change of the graph, untyped; `EventOf` is the same with the types of a model. */
export interface ChangeEvent {
  readonly kind: EventKind;
  readonly of: "node" | "edge" | "part";
  /** The name of the node, edge or part in the model. */
  readonly name: string;
  readonly before: Row | undefined;
  readonly after: Row | undefined;
  /** The attributes that differ between `before` and `after`; for a new or removed row, all its attributes. */
  readonly changed: readonly string[];
}

/** A change of an item that the model does not know. */
export interface UnknownEvent {
  readonly kind: "unknown";
  /** Why it is not a row. */
  readonly reason: string;
}

/** A row of one state of an item, by the shape that it was read with. */
interface State {
  readonly shape: Shape;
  readonly row: Row;
}

/** One state of an item: its rows, or why it has no row. */
interface Reading {
  readonly states: readonly State[];
  readonly unknown: string | undefined;
}

const NOTHING: Reading = { states: [], unknown: undefined };

/** True if an edge's item is the copy that makes events: the source's copy; for a symmetric edge, the copy with the smaller key. */
const leads = (catalog: Catalog, shape: Shape, item: Item, row: Row): boolean => {
  if (shape.role === "mirror") return false;
  const entry = defined(catalog.edges[shape.definition], shape.definition);
  if (entry.definition.symmetric !== true) return true;
  const endOf = (end: "from" | "to"): { readonly type: string; readonly id: Row } => {
    const id = row[end] as Record<string, unknown>;
    const { type: _, ...own } = id;
    return { type: defined(shape[end], "an end's type"), id: shape.several ? own : id };
  };
  const attributes = Object.fromEntries(Object.entries(row).filter(([field]) => field !== "from" && field !== "to"));
  const key = keyId(keyOfItem(catalog, item));
  return edgeCopies({ entry, from: endOf("from"), to: endOf("to") }, attributes).every((copy) => {
    const other = keyIfComplete(catalog, copy.shape, copy.row);
    return other === undefined || keyId(other) >= key;
  });
};

const references = new WeakMap<Catalog, readonly Shape[]>();

/** The edges that are stored in the items of a node type. */
const referencesIn = (catalog: Catalog, node: string): readonly Shape[] => {
  let all = references.get(catalog);
  if (!all) references.set(catalog, (all = Object.values(catalog.shapesById).filter(({ role }) => role === "reference")));
  return all.filter(({ from }) => from === node);
};

const readState = (catalog: Catalog, item: Item | undefined): Reading => {
  if (!item || isSystemItem(catalog, item)) return NOTHING;
  const shape = shapeOf(catalog, catalog.shapes, item);
  if (!shape) return { states: [], unknown: unknownForm(catalog, item) };
  try {
    const row = decodeItem(catalog, shape, item);
    if (shape.kind === "edge") return leads(catalog, shape, item, row) ? { states: [{ shape, row }], unknown: undefined } : NOTHING;
    if (shape.kind === "part") return { states: [{ shape, row }], unknown: undefined };
    const edges = referencesIn(catalog, shape.definition).flatMap((reference): State[] => {
      const edge = decodeItem(catalog, reference, item);
      return refers(reference, edge) ? [{ shape: reference, row: edge }] : [];
    });
    return { states: [{ shape, row }, ...edges], unknown: undefined };
  } catch (error) {
    if (!isEdgetableError(error)) throw error;
    return { states: [], unknown: `it does not read as "${shape.definition}": ${error.message}` };
  }
};

const verbs: Readonly<Record<Shape["kind"], readonly [made: EventKind, changed: EventKind, removed: EventKind]>> = {
  node: ["created", "updated", "deleted"],
  part: ["created", "updated", "deleted"],
  edge: ["linked", "relinked", "unlinked"],
};

/** The identity of a state. Two states with the same identity are one row that changed. */
const identityOf = (catalog: Catalog, { shape, row }: State): string => {
  const ids = idPaths(catalog, shape).map((path) => valueAt(row, path));
  return JSON.stringify([shape.definition, shape.from, shape.to, ids], (_, value: unknown) =>
    typeof value === "bigint" ? `${value}n` : value,
  );
};

/**
 * The events of a record, removals before additions. Empty for Edgetable's own items, for an edge's second copy, and if no
 * attribute of the model changed.
 */
export const eventsOf = (catalog: Catalog, record: StreamRecord): readonly (ChangeEvent | UnknownEvent)[] => {
  const before = readState(catalog, record.before);
  const after = readState(catalog, record.after);
  const gone: ChangeEvent[] = [];
  const here: ChangeEvent[] = [];
  const left = new Map(after.states.map((state) => [identityOf(catalog, state), state]));
  const tell = (to: ChangeEvent[], { shape }: State, event: Pick<ChangeEvent, "kind" | "before" | "after" | "changed">): void =>
    void to.push({ of: shape.kind, name: shape.definition, ...event });
  for (const state of before.states) {
    const [, changes, removes] = verbs[state.shape.kind];
    const identity = identityOf(catalog, state);
    const now = left.get(identity);
    left.delete(identity);
    if (!now) {
      const kind = record.expired ? "expired" : removes;
      tell(gone, state, { kind, before: state.row, after: undefined, changed: Object.keys(state.row) });
      continue;
    }
    const fields = new Set([...Object.keys(state.row), ...Object.keys(now.row)]);
    const changed = [...fields].filter((field) => !isDeepStrictEqual(state.row[field], now.row[field]));
    if (changed.length > 0) tell(here, now, { kind: changes, before: state.row, after: now.row, changed });
  }
  for (const state of left.values())
    tell(here, state, { kind: verbs[state.shape.kind][0], before: undefined, after: state.row, changed: Object.keys(state.row) });
  const unknown = after.unknown ?? before.unknown;
  // The edges of a removed node end before the node; those of a new node begin after it.
  const events: (ChangeEvent | UnknownEvent)[] = [...gone.reverse(), ...here];
  if (unknown !== undefined && !isDeepStrictEqual(record.before, record.after)) events.push({ kind: "unknown", reason: unknown });
  return events;
};
