import type { Style } from "./style.ts";
import { pad, widthOf, wrap } from "./width.ts";

export interface Column {
  readonly title: string;
  /** @default "left" */
  readonly align?: "left" | "right";
  /** Whether the column gives way, by breaking its lines, where the table is too wide. @default true */
  readonly flexible?: boolean;
}

export interface TableText {
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly string[])[];
}

const gap = "  ";
const narrowest = 8;
const longestWord = 30;

const naturalWidths = ({ columns, rows }: TableText): readonly number[] =>
  columns.map((column, at) =>
    Math.max(widthOf(column.title), ...rows.map((row) => Math.max(0, ...(row[at] ?? "").split("\n").map(widthOf)))),
  );

// A column gives way down to its longest word: words are broken only where they are longer than any name should be.
const leastWidth = ({ columns, rows }: TableText, at: number, natural: number): number => {
  if (columns[at]?.flexible === false) return natural;
  const words = [columns[at]?.title ?? "", ...rows.map((row) => row[at] ?? "")].flatMap((text) => text.split(/\s/));
  return Math.min(natural, Math.max(narrowest, Math.min(longestWord, Math.max(...words.map(widthOf)))));
};

const fit = (table: TableText, width: number | undefined): readonly number[] | undefined => {
  const natural = naturalWidths(table);
  if (width === undefined) return natural;
  const room = width - gap.length * (natural.length - 1);
  const least = natural.map((one, at) => leastWidth(table, at, one));
  if (least.reduce((sum, one) => sum + one, 0) > room) return undefined;
  const widths = [...natural];
  for (let over = widths.reduce((sum, one) => sum + one, 0) - room; over > 0; over--) {
    const slack = widths.map((one, at) => (one > (least[at] ?? 0) ? one : 0));
    const widest = slack.indexOf(Math.max(...slack));
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return widths;
};

const renderRow = (cells: readonly string[], widths: readonly number[], columns: readonly Column[]): readonly string[] => {
  const lines = widths.map((width, at) => wrap(cells[at] ?? "", width));
  const height = Math.max(...lines.map((one) => one.length));
  return Array.from({ length: height }, (_, line) =>
    widths
      .map((width, at) => pad(lines[at]?.[line] ?? "", width, columns[at]?.align))
      .join(gap)
      .trimEnd(),
  );
};

/** Records one under the other, for a table that no terminal of this width can hold. */
const renderRecords = ({ columns, rows }: TableText, width: number | undefined, style: Style): string => {
  const titles = Math.max(...columns.map(({ title }) => widthOf(title)));
  const records = rows.map((row) =>
    columns.flatMap(({ title }, at) => {
      if ((row[at] ?? "") === "") return [];
      const lines = wrap(row[at] ?? "", Math.max(narrowest, (width ?? Number.POSITIVE_INFINITY) - titles - gap.length));
      return lines.map((line, first) => `${style.dim(pad(first === 0 ? title : "", titles))}${gap}${line}`);
    }),
  );
  return records.map((lines) => `${lines.join("\n")}\n`).join("\n");
};

/** A table with aligned columns that fits a terminal of the given width; any width when it is undefined. */
export const renderTable = (table: TableText, width: number | undefined, style: Style): string => {
  if (table.rows.length === 0) return "";
  const widths = fit(table, width);
  if (!widths) return renderRecords(table, width, style);
  const head = renderRow(
    table.columns.map(({ title }) => title),
    widths,
    table.columns,
  ).map((line) => style.dim(line));
  // A blank line between rows only where one of them takes several lines.
  const rows = table.rows.map((row) => renderRow(row, widths, table.columns));
  const tall = rows.some((lines) => lines.length > 1);
  return `${head.join("\n")}\n${rows.map((lines) => `${lines.join("\n")}\n`).join(tall ? "\n" : "")}`;
};

/** Name and value pairs, one a line. */
export const renderPairs = (pairs: readonly (readonly [name: string, value: string])[], width: number | undefined, style: Style): string =>
  pairs.length === 0
    ? ""
    : renderRecords({ columns: pairs.map(([title]) => ({ title })), rows: [pairs.map(([, value]) => value)] }, width, style);
