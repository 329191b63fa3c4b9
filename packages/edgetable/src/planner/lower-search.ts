import type { Search } from "../ir/logical-plan.ts";
import type { QueryStep } from "../ir/physical-plan.ts";
import type { Catalog } from "../schema/catalog.ts";
import { queryStep } from "./query-step.ts";
import { alternativesOf, searchPath, searchPrice } from "./search-path.ts";

/** The Query of a search, or the Queries of all partitions that its items may be in. */
export const lowerSearch = (catalog: Catalog, search: Search): QueryStep => {
  const path = searchPath(catalog, search);
  const { rows, bytes } = searchPrice(catalog, path, search);
  const alternatives = alternativesOf(catalog, search);
  const { known, range, filter, forward, select } = search;
  const step = queryStep(path, range, { known, filter, forward, consistent: false, select, expect: { rows, bytes } });
  return alternatives.length > 0 ? { ...step, alternatives } : step;
};
