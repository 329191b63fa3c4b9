import type { Catalog } from "../../../schema/catalog.ts";
import { degreeLimit } from "../../../schema/definition.ts";
import { isSpread } from "../../../schema/facts.ts";
import { defined } from "../../../util/invariant.ts";
import type { Item } from "../../../transport/operations.ts";
import type { Row } from "../../../util/row.ts";
import {
  contribute,
  type Contribution,
  type Filled,
  type ItemRule,
  type Look,
  type RowChange,
  type Subject,
  type WorkingSet,
} from "../working-set.ts";
import { isKeyDetermined } from "../../access-path.ts";
import { timesLookAt, versionLooksAt } from "./computed-attributes.ts";
import { isSameNode, shapeBetween } from "./edge-copies.ts";
import { requiredNodes } from "./required-nodes.ts";

interface RareRule {
  /** True if a model has facts that the rule derives. */
  readonly concerns: (catalog: Catalog) => boolean;
  readonly load: () => Promise<ItemRule>;
}

/** Rules that few models need. The first write to such a model loads them. */
const rareRules: readonly RareRule[] = [
  {
    concerns: ({ nodes }) => Object.values(nodes).some(({ definition }) => (definition.unique?.length ?? 0) > 0),
    load: async () => (await import("./unique-markers.ts")).uniqueMarkers,
  },
  {
    concerns: ({ edges, facts }) =>
      Object.values(edges).some(
        ({ definition: { onDelete, ...edge } }) =>
          onDelete?.from === "restrict" ||
          onDelete?.to === "restrict" ||
          (degreeLimit(edge, "from") ?? degreeLimit(edge, "to")) !== undefined,
      ) || facts.copies.some(({ onto, freshness }) => onto.kind === "edge" && freshness === "transaction"),
    load: async () => (await import("./degree-guards.ts")).degreeGuards,
  },
  {
    concerns: (catalog) =>
      Object.values(catalog.ends).some(
        ({ shape, definition, idFields }) => definition.stored === false || !isKeyDetermined(catalog, shape, new Set(idFields)),
      ),
    load: async () => (await import("./found-nodes.ts")).foundNodes,
  },
  {
    concerns: ({ facts }) => facts.copies.length > 0,
    load: async () => (await import("./copied-attributes.ts")).copiedAttributes,
  },
  {
    concerns: ({ facts }) => facts.aggregates.length + facts.summaries.length > 0,
    load: async () => (await import("./aggregates.ts")).aggregates,
  },
  {
    concerns: ({ facts }) => facts.aggregates.some(isSpread),
    load: async () => (await import("./counter-shards.ts")).counterShards,
  },
];

const loaded = new WeakMap<Catalog, readonly ItemRule[]>();

/** Loads the rules of a model, before its first write is planned. Returns undefined if they are loaded already. */
export const loadRules = (catalog: Catalog): Promise<void> | undefined => {
  if (loaded.has(catalog)) return undefined;
  const rare = rareRules.filter(({ concerns }) => concerns(catalog));
  const keep = (rules: readonly ItemRule[]): void => void loaded.set(catalog, [requiredNodes, ...rules]);
  if (rare.length > 0) return Promise.all(rare.map(({ load }) => load())).then(keep);
  keep([]);
  return undefined;
};

/** Every derived fact of a model that is stored in items other than the row's own, in the order of a transaction's items. */
const rulesOf = (catalog: Catalog): readonly ItemRule[] => defined(loaded.get(catalog), "loadRules() before a write is planned");

/** Why a write whose schema checks the whole row reads it first. */
export const WHOLE_ROW: Look = { fields: [], reason: "its schema checks the whole row" };

export const joined = (one: Look | undefined, other: Look | undefined): Look | undefined =>
  one && other ? { fields: [...one.fields, ...other.fields], reason: one.reason } : (one ?? other);

/** What a put must know of the edge before: an edge to another node may have the same key, and a second copy. */
const copiesLookAt = ({ subject, before, after }: RowChange): Look | undefined => {
  if (subject.kind !== "edge" || before !== undefined || !after) return undefined;
  const { entry, from, to } = subject;
  const isStoredTwice = entry.definition.symmetric ? !isSameNode(entry, from, to) : shapeBetween(entry.mirrors, from, to) !== undefined;
  const isKeyedByOneEnd = (shapeBetween(entry.shapes, from, to)?.unkeyed.length ?? 0) > 0;
  return isStoredTwice && isKeyedByOneEnd ? { fields: [], reason: "the copy of an edge that gives way goes with it" } : undefined;
};

/** What the rules must know of the row before a change; undefined if the change does not concern them, or is sufficient. */
export const looksAt = (catalog: Catalog, change: RowChange): Look | undefined => {
  let look = joined(joined(copiesLookAt(change), versionLooksAt(change)), timesLookAt(change));
  for (const rule of rulesOf(catalog)) look = joined(rule.looksAt?.(catalog, change), look);
  return look;
};

/**
 * What follows from a row's change in items other than its own: pure, from the row before and after. Writes, transactions, batches,
 * loads and cascades use it. For a change from null to a row, it returns everything that has to exist for the row.
 */
export const derive = (catalog: Catalog, change: RowChange): readonly Contribution[] => {
  const all: Contribution[] = [];
  for (const rule of rulesOf(catalog)) for (const one of rule.contributions(catalog, change)) all.push(one);
  return all;
};

/**
 * A row that is written whole, with the attributes that follow from other rows.
 *
 * @param image the item before: null if there is none, undefined if nobody looked
 * @returns undefined while something has to be read
 */
export const fill = (working: WorkingSet, subject: Subject, row: Row, image: Item | null | undefined): Filled => {
  let filled: Filled = { kind: "row", row };
  for (const rule of rulesOf(working.catalog)) {
    if (filled?.kind !== "row") return filled;
    if (rule.fill) filled = rule.fill(working, subject, filled, image);
  }
  return filled;
};

/** Stages what follows from a row's change. */
export const stageDerived = (working: WorkingSet, change: RowChange): void => {
  for (const rule of rulesOf(working.catalog)) {
    for (const one of rule.contributions(working.catalog, change)) contribute(working, one);
    rule.spread?.(working, change);
  }
};

/** Stages what follows from all writes of a call together. */
export const finishDerived = (working: WorkingSet): void => {
  for (const rule of rulesOf(working.catalog)) rule.finish?.(working, { looksAt, stageDerived });
};
