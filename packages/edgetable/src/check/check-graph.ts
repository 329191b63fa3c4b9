import type { Catalog } from "../schema/catalog.ts";
import type { Advice, AdviceRule, CheckedPattern } from "./advice.ts";
import { distinct } from "./index-places.ts";
import { costlyProjection, countedEntries, patternRequests, unboundedCollection } from "./rules/cost.ts";
import { highDelimiter, lostOrder, prefixHazard, refusedValues } from "./rules/key-order.ts";
import { fewShards, hotCounter, hotIndexPartition, sharedPartition } from "./rules/partitions.ts";
import { idleIndexKey, mutableKey, neededStream, requiredByIndex, staleCopy, unusedIndex } from "./rules/stale-keys.ts";

/** All rules, in the order in which their advice is listed. */
const rules: readonly AdviceRule[] = [
  sharedPartition,
  hotIndexPartition,
  fewShards,
  hotCounter,
  idleIndexKey,
  unusedIndex,
  requiredByIndex,
  mutableKey,
  staleCopy,
  neededStream,
  lostOrder,
  prefixHazard,
  highDelimiter,
  refusedValues,
  costlyProjection,
  countedEntries,
  unboundedCollection,
  patternRequests,
];

const RANK: Readonly<Record<Advice["severity"], number>> = { error: 0, warning: 1, note: 2 };

/**
 * Advice on a valid model: hot partitions, unbounded reads, copies that go stale, misleading keys. Pure; makes no request.
 *
 * @param graph the result of `defineGraph`, or its catalog
 * @param patterns the result of `explainPatterns`
 * @returns errors first, then warnings, then notes
 * @example
 * for (const { concern, definition, message, mend } of checkGraph(education, await explainPatterns(patterns))) console.log(concern, definition, message, mend);
 */
export const checkGraph = (graph: Catalog | { readonly catalog: Catalog }, patterns: readonly CheckedPattern[] = []): readonly Advice[] => {
  const catalog = "catalog" in graph ? graph.catalog : graph;
  const all = rules.flatMap((rule) => rule(catalog, patterns));
  const distinctAdvice = distinct(all, ({ rule, definition, message }) => `${rule} ${definition} ${message}`);
  return distinctAdvice.toSorted((a, b) => RANK[a.severity] - RANK[b.severity]);
};
