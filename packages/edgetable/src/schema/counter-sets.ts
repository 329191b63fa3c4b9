import { hexHashOf } from "../util/hash-text.ts";
import { jsonText } from "../util/json-text.ts";
import type { Row } from "../util/row.ts";
import type { Catalog, NodeEntry } from "./catalog.ts";
import { type AggregateFact, isSpread } from "./facts.ts";
import { COUNTER, COUNTER_TYPE, MEMO_NODE } from "./system-items.ts";
import { systemKeyItem, systemType } from "./system-key-item.ts";
import { counterOf, ownerText } from "./system-keys.ts";
import { placeText } from "./stored-id.ts";

/** The counters over which the aggregates of a node type over one kind of edges are spread. */
export interface CounterSet {
  readonly entry: NodeEntry;
  readonly edge: string;
  readonly direction: "in" | "out";
  readonly facts: readonly AggregateFact[];
  readonly shards: number;
  /** Changes with the declarations: other declarations have other counters. */
  readonly name: string;
}

const known = new WeakMap<NodeEntry, readonly CounterSet[]>();

/** The sets of counters that each node of a type has. */
export const counterSetsOf = ({ facts }: Pick<Catalog, "facts">, entry: NodeEntry): readonly CounterSet[] => {
  let sets = known.get(entry);
  if (sets) return sets;
  const byEdges = new Map<string, AggregateFact[]>();
  for (const fact of facts.aggregates) {
    if (fact.node !== entry.name || !isSpread(fact) || fact.over.kind !== "edge") continue;
    const over = `${fact.over.direction}.${fact.over.name}`;
    byEdges.set(over, [...(byEdges.get(over) ?? []), fact]);
  }
  sets = Array.from(byEdges, ([over, all]): CounterSet => {
    const shards = all[0]?.shards ?? 1;
    const [direction, edge] = [over.slice(0, over.indexOf(".")), over.slice(over.indexOf(".") + 1)];
    const what = all.map(({ attribute, operation, of, where }) => [attribute, operation, of, where]);
    const name = `${over}.${shards}.${hexHashOf(jsonText(what.toSorted())).slice(0, 8)}`;
    return { entry, edge, direction: direction === "in" ? "in" : "out", facts: all, shards, name };
  });
  known.set(entry, sets);
  return sets;
};

/** The set of counters of a node type's aggregates over the edges at one end, if there is one. */
export const counterSetAt = (
  catalog: Pick<Catalog, "facts" | "nodes">,
  { node, edge, direction }: { readonly node: string; readonly edge: string; readonly direction: "in" | "out" },
): CounterSet | undefined => {
  const entry = catalog.nodes[node];
  return entry && counterSetsOf(catalog, entry).find((set) => set.edge === edge && set.direction === direction);
};

type CounterKey = ReturnType<typeof systemKeyItem>;

/** The table key of one counter of a node. */
export const counterKey = (catalog: Catalog, { entry, name }: CounterSet, id: Row, shard: number): CounterKey =>
  systemKeyItem(catalog, counterOf(entry.name, ownerText(entry, id), name, shard));

/** The table keys of all counters of a node, in the order of their numbers. */
export const counterKeys = (catalog: Catalog, set: CounterSet, id: Row): readonly CounterKey[] =>
  Array.from({ length: set.shards }, (_, shard) => counterKey(catalog, set, id, shard));

/**
 * The counter to which an edge adds: from the node at its other end, so that whatever changes the edge later, or repeats a
 * request, finds the same one.
 *
 * @param other the other node's table key as text
 */
export const shardOf = ({ shards }: CounterSet, other: string): number => Number.parseInt(hexHashOf(other).slice(0, 8), 16) % shards;

/** What a counter's item says of itself beside what it counts. */
export const counterAttributes = (catalog: Catalog, { entry, name }: CounterSet, id: Row): Record<string, { readonly S: string }> => ({
  ...systemType(catalog, COUNTER_TYPE),
  [MEMO_NODE]: {
    S: placeText({ node: entry.name, over: name, id: Object.fromEntries(entry.idFields.map((field) => [field, id[field]])) }),
  },
});

/** The change by which a counter's item shows that it was written. */
export const RISES: Readonly<Record<string, { readonly N: string }>> = { [COUNTER]: { N: "1" } };
