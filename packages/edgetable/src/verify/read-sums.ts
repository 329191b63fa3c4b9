import { batchGet } from "../executor/batch.ts";
import { readAll } from "../executor/run-read.ts";
import type { CallContext, Session } from "../executor/session.ts";
import type { EndId } from "../ir/logical-write.ts";
import type { LogicalPlan } from "../ir/logical-plan.ts";
import type { ReadPlan } from "../ir/physical-plan.ts";
import { keyId, sameKey } from "../ir/write-plan.ts";
import { exactText } from "../keys/template.ts";
import { planRead } from "../planner/plan.ts";
import { addTo } from "../planner/writes/rules/aggregates.ts";
import { allEdges, consistentIfPossible } from "../planner/writes/rules/degree-guards.ts";
import type { Position } from "../requests/cursor.ts";
import type { Catalog } from "../schema/catalog.ts";
import type { AggregateFact, SummaryFact } from "../schema/facts.ts";
import type { Item, Key } from "../transport/operations.ts";
import type { Row } from "../util/row.ts";
import type { SumNeed } from "./judging.ts";
import { derivedOf } from "./relations.ts";
import { seeItem, type SeenRow } from "./see-item.ts";

const PAGE = 500;

/** A read that finds rows, with the values of its slots. */
export interface Source {
  readonly plan: ReadPlan;
  readonly row: Row;
  readonly values?: readonly unknown[];
}

/** The plan that finds the edges or parts of a node that an aggregate ranges over. */
export const planOver = (catalog: Catalog, { over }: AggregateFact, node: EndId): Source => {
  if (over.kind === "edge") {
    // A symmetric edge has no direction; every node finds its edges as outgoing ones.
    const direction = catalog.edges[over.name]?.definition.symmetric ? "out" : over.direction;
    const edges = { node: node.type, edge: over.name, direction };
    const plan = consistentIfPossible((consistent) => planRead(catalog, allEdges(catalog, { ...edges, consistent })));
    return { plan, row: { from: node.id, to: node.id } };
  }
  const parts: LogicalPlan = { kind: "parts", part: over.name, known: [], range: [], filter: [], forward: true, consistent: true };
  return { plan: consistentIfPossible((consistent) => planRead(catalog, { ...parts, consistent })), row: node.id };
};

/** The plans that find the edges between the ends of an edge that an attribute of it ranges over. */
export const plansBetween = (catalog: Catalog, { over }: SummaryFact, [from, to]: readonly [EndId, EndId]): readonly Source[] => {
  const entry = catalog.edges[over.name];
  const isSymmetric = entry?.definition.symmetric === true;
  const pairs = [
    ...(isSymmetric || over.direction !== "against" ? [[from, to] as const] : []),
    ...(!isSymmetric && over.direction !== "along" ? [[to, from] as const] : []),
  ];
  return pairs.flatMap(([source, target]): Source[] => {
    if (!entry?.from.includes(source.type) || !entry.to.includes(target.type)) return [];
    const fields = Object.keys(target.id);
    const known = fields.map((field, slot) => ({ path: `to.${field}`, slot }));
    const edges = { node: source.type, edge: over.name, direction: "out" } as const;
    const plan = consistentIfPossible((consistent) => planRead(catalog, { ...allEdges(catalog, { ...edges, consistent }), known }));
    return [{ plan, row: { from: source.id, to: target.id }, values: fields.map((field) => target.id[field]) }];
  });
};

/** The rows that were found, as the copies that decide hold them; read again where another copy or an index was found. */
const leadingRows = async (
  session: Session,
  { items, isWhole }: { readonly items: readonly Item[]; readonly isWhole: boolean },
  context: CallContext,
): Promise<readonly SeenRow[]> => {
  const { catalog } = session;
  const rows: SeenRow[] = [];
  const keys = new Map<string, Key>();
  for (const item of items) {
    const seen = seeItem(catalog, item);
    if (seen.kind !== "row") continue;
    if (seen.leads && isWhole) rows.push(seen);
    else {
      const key = seen.leads || !seen.other ? seen.key : seen.other.key;
      keys.set(keyId(key), key);
    }
  }
  const read = keys.size === 0 ? [] : await batchGet(session, { keys: [...keys.values()], consistent: true }, context);
  for (const item of read) {
    const seen = seeItem(catalog, item);
    if (seen.kind === "row") rows.push(seen);
  }
  return rows;
};

/**
 * Finds what one fact of a node is made from, page by page; expired items as well. A migration computes facts before the record
 * has its model, so that the record is not asked.
 */
export const eachPage = async (
  session: Session,
  { plan, row, values = [] }: Source,
  context: CallContext,
  visit: (items: readonly Item[]) => Promise<void>,
): Promise<void> => {
  let from: Position | undefined;
  do {
    const request = { plan, binding: { row, values }, limit: PAGE, from, anyOrder: true };
    const { found, next } = await readAll(session, request, { ...context, livingAt: undefined });
    await visit(found.map(({ item }) => item));
    from = next;
  } while (from !== undefined);
};

/** The name of what one counter of a node has to count, among the sums of the node. */
export const counterSum = (counter: Key, name: string): string => `${keyId(counter)} ${name}`;

/** Adds up what a node's edges and parts make of the attributes that transactions keep in its item. */
export const readSums = async (
  session: Session,
  need: SumNeed & { readonly trustsIndexes: boolean },
  context: CallContext,
): Promise<Item> => {
  const { catalog } = session;
  const sums: Record<string, string> = {};
  const facts = catalog.facts.aggregates.filter(({ node, freshness }) => node === need.node.type && freshness === "transaction");
  const sources = new Map(facts.map((fact) => [JSON.stringify(fact.over), fact]));
  const taken = new Set<string>();
  const add = (seen: SeenRow): void => {
    // An edge from a node to itself is found in both directions, and adds to both facts at once. An edge that moves in an index
    // while its pages are read may be in two of them.
    const { subject } = seen;
    const isLoop =
      subject.kind === "edge" && subject.from.type === subject.to.type && exactText(subject.from.id) === exactText(subject.to.id);
    if (isLoop || need.trustsIndexes) {
      const id = keyId(seen.key);
      if (taken.has(id)) return;
      taken.add(id);
    }
    const { deltas, counters } = derivedOf(catalog, seen);
    for (const { key, added } of deltas) {
      if (sameKey(key, need.key)) addTo(sums, added);
    }
    for (const { key, node, added } of counters) {
      if (!sameKey(node, need.key)) continue;
      addTo(sums, Object.fromEntries(Object.entries(added).map(([name, one]) => [counterSum(key, name), one])));
    }
  };
  for (const fact of sources.values()) {
    const source = planOver(catalog, fact, need.node);
    const showsAll = source.plan.sources.every(
      (one) =>
        one.kind !== "query" ||
        one.index === undefined ||
        catalog.indexes.some(({ name, projection }) => name === one.index && projection === "ALL"),
    );
    const isWhole = source.plan.consistency !== "eventual" || (need.trustsIndexes && showsAll);
    await eachPage(session, source, context, async (items) => {
      for (const seen of await leadingRows(session, { items, isWhole }, context)) add(seen);
    });
  }
  return Object.fromEntries(Object.entries(sums).map(([name, N]) => [name, { N }]));
};
