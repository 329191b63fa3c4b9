import type { Catalog } from "../schema/catalog.ts";
import type { Advice, CheckedPattern } from "./advice.ts";
import { distinct } from "./index-places.ts";
import { adviceRules } from "./rules/index.ts";

const rank: Readonly<Record<Advice["severity"], number>> = { error: 0, warning: 1, note: 2 };

/**
 * What may be better about a model that works: hot partitions, reads without bound, copies that go
 * stale, keys that mislead. Pure; makes no request.
 *
 * @param graph what `defineGraph` gave, or its catalog
 * @param patterns what `explainPatterns` gave
 * @returns errors first, then warnings, then notes
 * @example
 * for (const { concern, definition, message, mend } of checkGraph(education, await explainPatterns(patterns))) console.log(concern, definition, message, mend);
 */
export const checkGraph = (graph: Catalog | { readonly catalog: Catalog }, patterns: readonly CheckedPattern[] = []): readonly Advice[] => {
  const catalog = "catalog" in graph ? graph.catalog : graph;
  const all = adviceRules.flatMap((rule) => rule(catalog, patterns));
  return distinct(all, ({ rule, definition, message }) => `${rule} ${definition} ${message}`).toSorted(
    (a, b) => rank[a.severity] - rank[b.severity],
  );
};
