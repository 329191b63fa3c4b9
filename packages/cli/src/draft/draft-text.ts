import type { DraftReport } from "./draft-model.ts";
import { camel } from "./infer-keys.ts";
import { printModel } from "./print-model.ts";
import { textOf } from "./sample.ts";

const count = (number: number, what: string): string => `${number.toLocaleString("en-US")} ${what}${number === 1 ? "" : "s"}`;

/** What a draft is, in lines: its kinds, and how many items read and rewrite. */
export const summaryLines = ({ draft, items, read, rewritten, graph }: DraftReport): readonly string[] => {
  const { nodes, parts, edges, table } = draft;
  const kinds = [
    Object.values(nodes).filter(({ stored }) => stored !== false).length,
    Object.keys(parts).length,
    Object.keys(edges).length,
  ];
  const ends = Object.values(nodes).filter(({ stored }) => stored === false).length;
  const names = [count(kinds[0] ?? 0, "node type"), count(kinds[1] ?? 0, "part"), count(kinds[2] ?? 0, "edge type")].join(", ");
  return [
    `Drafted from ${count(items, "item")} of the table ${table}: ${names}${ends === 0 ? "" : `, ${count(ends, "node type")} without items`}.`,
    graph === undefined
      ? "defineGraph refuses the draft: see below."
      : `${read === items ? "All" : `${read} of ${items}`} items read as rows, ${rewritten === items ? "all" : `${rewritten} of ${items}`} rewrite to the same item.`,
  ];
};

/** What to do about a table that holds items of Edgetable's own; undefined for none. */
export const ownLine = ({ own }: DraftReport): string | undefined =>
  own === 0
    ? undefined
    : `${count(own, "item")} ${own === 1 ? "is" : "are"} Edgetable's own, and left out: a model writes this table already. Use that model; a draft takes its edges for parts, and does not keep what it counts.`;

const MOST_SHOWN = 5;

/** What is wrong with a draft, in lines; empty if nothing is. */
export const problemLines = ({ findings, misfits, draft }: DraftReport): readonly string[] => {
  const keys = [draft.layout.partitionKey, draft.layout.sortKey ?? ""];
  const shown = misfits.slice(0, MOST_SHOWN).map(({ item, name, differing, problem }) => {
    const key = keys.flatMap((attribute) => textOf(item[attribute]) ?? []).join(", ");
    const what = problem ?? `would be written with other values of ${differing.join(", ")}`;
    return `${name ?? "Item"} (${key}): ${what}`;
  });
  const more = misfits.length - shown.length;
  return [...findings, ...shown, ...(more > 0 ? [`and ${more.toLocaleString("en-US")} more items`] : [])];
};

/** The model file of a draft. */
export const draftText = (report: DraftReport): string =>
  printModel(report.draft, {
    summary: [...summaryLines(report), ...problemLines(report).map((line) => `To mend: ${line}`)],
    doubts: report.doubts,
    exported: camel(report.draft.table) ?? "graph",
  });
