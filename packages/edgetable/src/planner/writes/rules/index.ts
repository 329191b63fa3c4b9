import type { Catalog } from "../../../schema/catalog.ts";
import { contribute, type Contribution, type ItemRule, type Look, type RowChange, type WorkingSet } from "../working-set.ts";
import { versionLooksAt } from "./computed-attributes.ts";
import { degreeGuards } from "./degree-guards.ts";
import { copiesLookAt } from "./edge-copies.ts";
import { requiredNodes } from "./required-nodes.ts";
import { uniqueMarkers } from "./unique-markers.ts";

/** Every derived fact that is stored in items other than the row's own, in the order of a transaction's items. */
const itemRules: readonly ItemRule[] = [requiredNodes, uniqueMarkers, degreeGuards];

const joined = (one: Look | undefined, other: Look | undefined): Look | undefined =>
  one && other ? { fields: [...one.fields, ...other.fields], reason: one.reason } : (one ?? other);

/** What the rules must know of the row before a change; undefined if the change concerns none of them, or tells enough. */
export const looksAt = (catalog: Catalog, change: RowChange): Look | undefined => {
  let look = joined(copiesLookAt(change), versionLooksAt(change));
  for (const rule of itemRules) look = joined(rule.looksAt?.(catalog, change), look);
  return look;
};

/**
 * What follows from a row's change in items other than its own: pure, from the row before and after. Writes, transactions,
 * batches, loads and cascades ask here; a row alone (from null to the row) tells all that has to be there for it.
 */
export const derive = (catalog: Catalog, change: RowChange): readonly Contribution[] => {
  const all: Contribution[] = [];
  for (const rule of itemRules) for (const one of rule.contributions(catalog, change)) all.push(one);
  return all;
};

/** Stages what follows from a row's change. */
export const stageDerived = (working: WorkingSet, change: RowChange): void => {
  for (const rule of itemRules) for (const one of rule.contributions(working.catalog, change)) contribute(working, one);
};
