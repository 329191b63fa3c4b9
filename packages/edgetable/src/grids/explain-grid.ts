import { explainRead } from "../client/explanation.ts";
import type { GridExplanation } from "../client/grid-types.ts";
import { BATCH_GET_KEYS } from "../ir/capacity.ts";
import type { GridModel } from "./grid-model.ts";
import { type Resolved, shownFields } from "./grid-state.ts";
import { readWithRows } from "./read-grid.ts";
import { itemsFor, usesDocuments } from "./row-document.ts";
import { MOST_KEYS } from "./row-values.ts";
import { filterColumn, MOST_RARE, streamsOf } from "./collect-rows.ts";
import { isCountedInIndex, streamsToCount } from "./count-rows.ts";
import { MOST_IN_RUN } from "./second-sort.ts";

/** Explains a page. */
export const explainPage = (
  model: GridModel,
  resolved: Resolved,
  { limit, most, livingAt }: { readonly limit: number; readonly most: number; readonly livingAt: number | undefined },
): GridExplanation => {
  const { catalog } = model.driver;
  const streams = streamsOf(model, resolved, false);
  const known = readWithRows(resolved);
  const more = shownFields(resolved).filter((field) => !known.includes(field)).length;
  const { list } = resolved;
  const queries = more > MOST_KEYS && !usesDocuments(list.storage) ? limit : 0;
  const keys = limit * (1 + itemsFor(list, known.length) + (queries > 0 ? 0 : itemsFor(list, more)));
  const notes: string[] = ["reads the fields of the parent first, in one GetItem, strongly consistent"];
  if (resolved.filters.length > 0) {
    const either = [...new Set(resolved.alternatives.map(({ name }) => name))];
    const checks = [
      ...resolved.conditions.map(({ column, condition }) => `${column.name} ${condition.operator}`),
      ...(either.length > 0 ? [`or and not of ${either.join(", ")}`] : []),
    ];
    notes.push(`reads rows in order and checks ${checks.join(", ")} on each`);
    const narrow = filterColumn(model, resolved);
    if (narrow && resolved.sort.length < 2)
      notes.push(`if few rows pass, reads those that the index of ${narrow.name} finds, and sorts up to ${MOST_RARE}`);
  }
  if (queries > 0)
    notes.push(`shows ${more} fields: reads the values of each row by a Query, which takes fewer read units than so many keys`);
  if (usesDocuments(list.storage))
    notes.push(
      "the stream's processor updates the index: a row whose value has just changed may be missing from the order of that value until then; shown values and filters are read from the row's own document",
    );
  const [first, second] = resolved.sort;
  if (first && second)
    notes.push(
      `reads the rows with one "${first.column}" as a whole and sorts them by "${second.column}"; of more than ${MOST_IN_RUN}, and of rows without a value, by the order of "${second.column}", from which they are taken`,
    );
  if (streams.some(({ rows }) => rows === "empty"))
    notes.push("rows without a value to sort by are found among all rows of the parent, in their own order");
  // What is shown is read once the rows are found, which is what the budget limits.
  const shown = queries + (queries > 0 ? 0 : Math.ceil((limit * itemsFor(list, more)) / BATCH_GET_KEYS));
  const least = 1 + (streams[0]?.lanes ?? 0) + Math.ceil(keys / BATCH_GET_KEYS) + queries;
  return {
    kind: "grid",
    streams: streams.map(({ rows, request }) => ({ rows, read: explainRead(catalog, { ...request, limit, livingAt }) })),
    requests: { least, most: Math.max(least, most + shown) },
    notes,
  };
};

/** Explains a count of rows, or of groups. */
export const explainCount = (
  model: GridModel,
  resolved: Resolved,
  { most, livingAt }: { readonly most: number; readonly livingAt: number | undefined },
): GridExplanation => {
  const { catalog } = model.driver;
  const streams = streamsToCount(model, resolved, livingAt);
  const notes = ["reads the fields of the parent first, in one GetItem, strongly consistent"];
  if (!isCountedInIndex(model, resolved, livingAt))
    notes.push("reads each row that may be in the answer, and checks it, 100 items a request");
  else if (resolved.group) notes.push("counts in the index the rows with each value, and all rows; reads one value of each group");
  else notes.push("counts the rows in the index");
  const least = 1 + streams.reduce((sum, { lanes }) => sum + lanes, 0);
  return {
    kind: "grid",
    streams: streams.map(({ rows, request }) => ({ rows, read: explainRead(catalog, { ...request, livingAt }) })),
    requests: { least, most: Math.max(least, most) },
    notes,
  };
};
