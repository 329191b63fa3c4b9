import { type Conditions, factWhere } from "../ir/condition.ts";
import type { KeptStep } from "../ir/physical-plan.ts";
import type { LogicalWalk, WalkCollect, WalkHop } from "../ir/walk-plan.ts";
import { exactText } from "../keys/template.ts";
import type { Catalog } from "../schema/catalog.ts";
import { FRESHNESS, type Freshness } from "../schema/derived.ts";
import { type AggregateFact, attributesOf, isSpread } from "../schema/facts.ts";
import { isKeyDetermined } from "./access-path.ts";

/** Which kept counts a call may use: those kept by transaction, also those kept by stream and batch, or no kept counts. */
export type KeptChoice = "transaction" | "any" | "none";

/** The edges of a node, or its parts, that are counted. */
export interface Counted extends Conditions {
  readonly node: string;
  readonly over: { readonly kind: "edge"; readonly name: string; readonly direction: "out" | "in" | "both" } | AggregateFact["over"];
}

/** The attribute that a walk sums up over the edges of each node before its last hop. */
const summedField = (collect: WalkCollect): string | undefined =>
  collect.kind === "fold" && collect.near && collect.by === "sum" ? collect.field : undefined;

/** The last hop of a walk that only needs the number of its edges, or a sum over them; undefined if the walk needs the edges. */
const countedHop = ({ steps, collect }: Pick<LogicalWalk, "steps" | "collect">): WalkHop | undefined => {
  const hop = steps.at(-1);
  const asksNumber = collect.kind === "count" || (collect.kind === "groups" && collect.near) || summedField(collect) !== undefined;
  if (!asksNumber || hop?.kind !== "hop" || hop.rounds > 1 || hop.nodeConditions.length > 0) return undefined;
  return hop.limit === undefined && hop.index === undefined && hop.anchor === undefined ? hop : undefined;
};

/** The attributes that may replace counting the edges of a walk's last hop, by node type; undefined if there are none. */
export const keptByType = (
  catalog: Catalog,
  walk: Pick<LogicalWalk, "steps" | "collect"> & { readonly values: readonly unknown[] },
  choice: KeptChoice,
): Readonly<Record<string, KeptStep>> | undefined => {
  const hop = catalog.facts.aggregates.length > 0 ? countedHop(walk) : undefined;
  if (!hop) return undefined;
  const { edges, direction, conditions, near } = hop;
  const field = summedField(walk.collect);
  const found = near.flatMap((node) => {
    const parts: KeptStep[] = [];
    const summed: KeptStep[] = [];
    for (const name of edges) {
      const ends = catalog.edges[name];
      const [leaves, reached] = [ends?.from.includes(node) === true, ends?.to.includes(node) === true];
      if (!(leaves && direction !== "in") && !(reached && direction !== "out")) continue;
      // A node type may be at only one end of the edge type.
      const way = direction === "both" && !(leaves && reached) ? (leaves ? "out" : "in") : direction;
      const counted: Counted = { node, over: { kind: "edge", name, direction: way }, conditions, values: walk.values };
      const kept = keptCount(catalog, counted, choice);
      const sums = field !== undefined && ends && attributesOf(ends.definition)?.includes(field) !== false;
      const sum = sums ? keptFigure(catalog, counted, { choice, sum: field }) : undefined;
      // Unless there is a count for each type, all edges are listed.
      if (!kept || (sums && !sum)) return [];
      parts.push(kept);
      if (sum) summed.push(sum);
    }
    if (parts.length === 0) return [];
    const freshness = leastFresh([...parts, ...summed].map((part) => part.freshness));
    const attributes = parts.flatMap((part) => part.attributes);
    const sums = field === undefined ? {} : { sums: summed.flatMap((part) => part.attributes) };
    return [[node, { kind: "kept", node, attributes, ...sums, freshness } as const] as const];
  });
  return found.length > 0 ? Object.fromEntries(found) : undefined;
};

/** Conditions as one text, independent of their order. */
const conditionsText = ({ conditions, values }: Conditions): string => {
  const texts = conditions.map(({ path, operator, slot, of }) => {
    if (of) return exactText([operator, of.map((inner) => conditionsText({ conditions: inner, values })).toSorted()]);
    const operand = values[slot];
    const isList = operator === "in" && Array.isArray(operand);
    return exactText([path, operator, isList ? operand.map((one) => exactText(one)).toSorted() : operand]);
  });
  return [...new Set(texts)].toSorted().join();
};

const readFact = new WeakMap<AggregateFact, string>();

const factText = (fact: AggregateFact): string => {
  let text = readFact.get(fact);
  if (text === undefined) readFact.set(fact, (text = conditionsText(factWhere(fact) ?? { conditions: [], values: [] })));
  return text;
};

/** How stale an attribute may be. An attribute spread over counters shows their sum once the stream has added them up. */
const freshnessOf = (fact: AggregateFact): Freshness => (isSpread(fact) ? "stream" : fact.freshness);

const leastFresh = (all: readonly Freshness[]): Freshness => FRESHNESS[Math.max(...all.map((one) => FRESHNESS.indexOf(one)))] ?? "batch";

/**
 * The attributes of a node's item whose sum is the number of its edges or parts; undefined if the model keeps no such count, or the
 * node is not found by its id alone. Other programs may write to an adopted table without keeping counts, so only a call that
 * allows stale counts uses one there.
 */
export const keptCount = (catalog: Catalog, counted: Counted, choice: KeptChoice): KeptStep | undefined =>
  keptFigure(catalog, counted, { choice });

/** The same; with `sum`, of the sum of an attribute over them. */
const keptFigure = (
  catalog: Catalog,
  { node, over, ...asked }: Counted,
  { choice, sum }: { readonly choice: KeptChoice; readonly sum?: string },
): KeptStep | undefined => {
  const entry = catalog.nodes[node];
  // A kept count includes edges from and to other tenants, so a tenant's connection does not use it.
  if (catalog.tenant && over.kind === "edge") return undefined;
  if (!entry || choice === "none" || (choice === "transaction" && !catalog.escapes)) return undefined;
  const facts = catalog.facts.aggregates.filter(
    (fact) =>
      fact.node === node &&
      fact.operation === (sum === undefined ? "count" : "sum") &&
      fact.of === sum &&
      fact.over.kind === over.kind &&
      fact.over.name === over.name &&
      (choice === "any" || freshnessOf(fact) === "transaction"),
  );
  if (facts.length === 0 || !isKeyDetermined(catalog, entry.shape, new Set(entry.idFields))) return undefined;
  const text = conditionsText(asked);
  const isSymmetric = over.kind === "edge" && catalog.edges[over.name]?.definition.symmetric === true;
  const best = (direction: "out" | "in" | undefined): AggregateFact | undefined =>
    facts
      .filter(
        (fact) => factText(fact) === text && (direction === undefined || (fact.over.kind === "edge" && fact.over.direction === direction)),
      )
      .toSorted((a, b) => FRESHNESS.indexOf(freshnessOf(a)) - FRESHNESS.indexOf(freshnessOf(b)))[0];
  // A symmetric edge has no direction, and parts have none.
  const undirected = over.kind === "part" || isSymmetric;
  const directions = undirected ? [undefined] : over.direction === "both" ? (["out", "in"] as const) : [over.direction];
  const found = directions.map(best);
  if (!found.every((fact) => fact !== undefined)) return undefined;
  return { kind: "kept", node, attributes: found.map(({ attribute }) => attribute), freshness: leastFresh(found.map(freshnessOf)) };
};
