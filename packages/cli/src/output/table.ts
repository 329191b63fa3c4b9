import type { Style } from "./style.ts";
import { pad, widthOf, wrap } from "./width.ts";

export interface Column {
  readonly title: string;
  /** @default "left" */
  readonly align?: "left" | "right";
  /** Whether the column gives way, by breaking its lines, where the table is too wide. @default true */
  readonly flexible?: boolean;
  /** Where the table is too wide, this column goes to a line of its own below each row. @default false */
  readonly below?: boolean;
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
  const longest = words.reduce((most, word) => Math.max(most, widthOf(word)), narrowest);
  return Math.min(natural, longest, longestWord);
};

const sum = (widths: readonly number[]): number => widths.reduce((total, one) => total + one, gap.length * (widths.length - 1));

const fit = (table: TableText, width: number | undefined): readonly number[] | undefined => {
  const natural = naturalWidths(table);
  if (width === undefined) return natural;
  const least = natural.map((one, at) => leastWidth(table, at, one));
  if (sum(least) > width) return undefined;
  const widths = [...natural];
  for (let over = sum(widths) - width; over > 0; over--) {
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

/** The table without its column `below`, whose text then follows each row. */
const splitBelow = (
  table: TableText,
  width: number,
): { readonly table: TableText; readonly lines: readonly (readonly string[])[] } | undefined => {
  const at = table.columns.findIndex(({ below }) => below);
  if (at < 0 || sum(naturalWidths(table)) <= width) return undefined;
  const rest = { columns: table.columns.toSpliced(at, 1), rows: table.rows.map((row) => row.toSpliced(at, 1)) };
  return { table: rest, lines: table.rows.map((row) => wrap(row[at] ?? "", width - gap.length).map((line) => gap + line)) };
};

/** A table with aligned columns that fits a terminal of the given width; any width when it is undefined. */
export const renderTable = (whole: TableText, width: number | undefined, style: Style): string => {
  if (whole.rows.length === 0) return "";
  const split = width === undefined ? undefined : splitBelow(whole, width);
  const table = split?.table ?? whole;
  const widths = fit(table, width);
  if (!widths) return renderRecords(whole, width, style);
  const titles = table.columns.map(({ title }) => title);
  const head = renderRow(titles, widths, table.columns).map((line) => style.dim(line));
  const rows = table.rows.map((row, at) => [
    ...renderRow(row, widths, table.columns),
    ...(split?.lines[at] ?? []).map((line) => style.dim(line)),
  ]);
  // A blank line between rows only where one of them takes several lines.
  const tall = rows.some((lines) => lines.length > 1);
  return `${head.join("\n")}\n${rows.map((lines) => `${lines.join("\n")}\n`).join(tall ? "\n" : "")}`;
};

/** Name and value pairs, one a line. */
export const renderPairs = (pairs: readonly (readonly [name: string, value: string])[], width: number | undefined, style: Style): string =>
  pairs.length === 0
    ? ""
    : renderRecords({ columns: pairs.map(([title]) => ({ title })), rows: [pairs.map(([, value]) => value)] }, width, style);
