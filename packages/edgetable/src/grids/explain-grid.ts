import { explainRead } from "../client/explanation.ts";
import type { GridExplanation } from "../client/grid-types.ts";
import { BATCH_GET_KEYS } from "../ir/capacity.ts";
import type { GridModel } from "./grid-model.ts";
import { decidingFields, type Resolved, shownFields } from "./grid-state.ts";
import { streamsOf } from "./read-grid.ts";

/** Explains a page. */
export const explainPage = (
  model: GridModel,
  resolved: Resolved,
  { limit, most, livingAt }: { readonly limit: number; readonly most: number; readonly livingAt: number | undefined },
): GridExplanation => {
  const { catalog } = model.driver;
  const streams = streamsOf(model, resolved, false);
  const deciding = decidingFields(resolved);
  const shown = shownFields(resolved);
  const keys = limit * (1 + new Set([...deciding, ...shown]).size);
  const notes: string[] = ["reads the fields of the parent first, in one GetItem, strongly consistent"];
  if (resolved.conditions.length > 0)
    notes.push(
      `reads rows in order and checks ${resolved.conditions.map(({ column, condition }) => `${column.name} ${condition.operator}`).join(", ")} on each`,
    );
  if (streams.some(({ rows }) => rows === "empty"))
    notes.push("rows without a value to sort by are found among all rows of the parent, in their own order");
  return {
    kind: "grid",
    streams: streams.map(({ rows, request }) => ({ rows, read: explainRead(catalog, { ...request, limit, livingAt }) })),
    requests: { least: 1 + (streams[0]?.lanes ?? 0) + Math.ceil(keys / BATCH_GET_KEYS), most },
    notes,
  };
};
