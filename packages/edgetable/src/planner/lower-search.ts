import type { Search } from "../ir/logical-plan.ts";
import type { QueryStep } from "../ir/physical-plan.ts";
import type { Catalog } from "../schema/catalog.ts";
import { queryStep } from "./query-step.ts";
import { searchPath } from "./search-path.ts";
import { ASSUMED_ROWS } from "./assumed-rows.ts";

/** The Query of a search, or the Queries of all partitions that its items may be in. */
export const lowerSearch = (catalog: Catalog, search: Search): QueryStep => {
  const path = searchPath(catalog, search);
  const { known, range, filter, forward, select } = search;
  const bytes = path.shapes[0]?.bytes ?? 0;
  return queryStep(path, range, { known, filter, forward, consistent: false, select, expect: { rows: ASSUMED_ROWS, bytes } });
};
