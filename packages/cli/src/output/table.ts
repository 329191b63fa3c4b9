import { isRow, toJson } from "./json.ts";
import { pad, pairLines, visibleLine, widthOf, wrap, type Style } from "./terminal.ts";

export interface Column {
  readonly title: string;
  /** @default "left" */
  readonly align?: "left" | "right";
  /** True if the column may wrap when the table is too wide. @default true */
  readonly flexible?: boolean;
  /** True to move this column to a line below each row when the table is too wide. @default false */
  readonly below?: boolean;
}

export interface TableText {
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly string[])[];
}

const gap = "  ";
const MIN_WIDTH = 8;
const MAX_WORD = 30;

/** The column widths of a table that fits the terminal; undefined if none do. A column shrinks to its longest word at most. */
const fitWidths = ({ columns, rows }: TableText, width: number): readonly number[] | undefined => {
  const widths: number[] = [];
  const least: number[] = [];
  for (const [at, { title, flexible }] of columns.entries()) {
    let natural = widthOf(title);
    let longest = Math.max(MIN_WIDTH, ...title.split(/\s/).map(widthOf));
    for (const row of rows) {
      for (const line of (row[at] ?? "").split("\n")) natural = Math.max(natural, widthOf(line));
      for (const word of (row[at] ?? "").split(/\s/)) longest = Math.max(longest, widthOf(word));
    }
    widths.push(natural);
    least.push(flexible === false ? natural : Math.min(natural, longest, MAX_WORD));
  }
  let over = gap.length * (widths.length - 1) - width;
  for (const one of widths) over += one;
  for (; over > 0; over--) {
    let widest = -1;
    for (const [at, one] of widths.entries()) if (one > least[at]! && (widest < 0 || one > widths[widest]!)) widest = at;
    if (widest < 0) return undefined;
    widths[widest]!--;
  }
  return widths;
};

/** The lines of one row. */
const renderRow = (cells: readonly string[], widths: readonly number[], columns: readonly Column[]): readonly string[] => {
  const cellLines = widths.map((width, at) => wrap(cells[at] ?? "", width));
  const lines: string[] = [];
  for (let line = 0; cellLines.some((one) => line < one.length); line++) {
    const texts = widths.map((width, at) => pad(cellLines[at]?.[line] ?? "", width, columns[at]?.align));
    lines.push(texts.join(gap).trimEnd());
  }
  return lines;
};

/** One record below the other, for a table that is too wide for the terminal. */
const renderRecords = ({ columns, rows }: TableText, width: number, style: Style): string => {
  const titles = Math.max(...columns.map(({ title }) => widthOf(title))) + gap.length;
  const records: string[] = [];
  for (const row of rows) {
    const pairs: (readonly [string, string])[] = [];
    for (const [at, { title }] of columns.entries()) if (row[at]) pairs.push([title, row[at]]);
    records.push(`${pairLines(pairs, { titles, width: Math.max(MIN_WIDTH, width - titles), style }).join("\n")}\n`);
  }
  return records.join("\n");
};

/** A table with aligned columns that fits a terminal of the given width; undefined is any width. */
export const renderTable = (whole: TableText, columns: number | undefined, style: Style): string => {
  if (whole.rows.length === 0) return "";
  const width = columns ?? Number.POSITIVE_INFINITY;
  const at = whole.columns.findIndex(({ below }) => below);
  const fitsWhole = at < 0 || fitWidths({ ...whole, columns: whole.columns.map((one) => ({ ...one, flexible: false })) }, width);
  const table = fitsWhole ? whole : { columns: whole.columns.toSpliced(at, 1), rows: whole.rows.map((row) => row.toSpliced(at, 1)) };
  const widths = fitWidths(table, width);
  if (!widths) return renderRecords(whole, width, style);
  const titles = table.columns.map(({ title }) => title);
  let text = "";
  for (const line of renderRow(titles, widths, table.columns)) text += `${style.dim(line)}\n`;
  const blocks: string[] = [];
  let tall = false;
  for (const [index, row] of table.rows.entries()) {
    const lines = [...renderRow(row, widths, table.columns)];
    if (!fitsWhole) for (const line of wrap(whole.rows[index]?.[at] ?? "", width - gap.length)) lines.push(style.dim(gap + line));
    tall ||= lines.length > 1;
    blocks.push(`${lines.join("\n")}\n`);
  }
  // A blank line separates the rows if any of them takes several lines.
  return text + blocks.join(tall ? "\n" : "");
};

/** Name and value pairs, one per line. */
export const renderPairs = (pairs: readonly (readonly [name: string, value: string])[], width: number | undefined, style: Style): string =>
  pairs.length === 0
    ? ""
    : renderRecords(
        { columns: pairs.map(([title]) => ({ title })), rows: [pairs.map(([, value]) => value)] },
        width ?? Number.POSITIVE_INFINITY,
        style,
      );

/** A value in one cell: text as it is, everything else as JSON. */
export const showCell = (value: unknown): string => {
  if (value === undefined) return "";
  if (typeof value === "string") return value;
  if (typeof value === "bigint") return String(value);
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Set) return `{${[...value].map(showCell).join(", ")}}`;
  if (value instanceof Uint8Array) return `${value.length} bytes`;
  return toJson(value);
};

// Ids of ends and the two halves of an entry become columns; other objects stay in one cell.
const nested = ["from", "to", "edge", "node"];
const groups = ["from.", "to.", "", "node."];

const flatten = (value: unknown, prefix: string): readonly (readonly [string, string])[] => {
  if (!isRow(value)) return [[prefix === "" ? "value" : prefix.slice(0, -1), showCell(value)]];
  return Object.entries(value).flatMap(([name, one]) =>
    nested.includes(name) && isRow(one)
      ? flatten(one, name === "edge" ? "" : `${prefix}${name}.`)
      : [[`${prefix}${name}`, showCell(one)] as const],
  );
};

/** DynamoDB returns attributes in any order. This order has ends and ids first (ids in key order), then names. */
const columnOrder = (ids: ReadonlySet<string>): ((a: string, b: string) => number) => {
  const order = [...ids];
  const rank = (name: string): number => {
    const group = groups.findIndex((one) => one !== "" && name.startsWith(one));
    const prefix = groups[group] ?? "";
    const id = order.indexOf(name.slice(prefix.length));
    return (group < 0 ? groups.indexOf("") : group) * (order.length + 1) + (id < 0 ? order.length : id);
  };
  return (a, b) => rank(a) - rank(b) || (a < b ? -1 : 1);
};

/** The cells of a row by column name, such as `to.courseId`. */
export const cellsOf = (row: unknown, ids: ReadonlySet<string>): readonly (readonly [name: string, text: string])[] => {
  const order = columnOrder(ids);
  return flatten(row, "").toSorted(([a], [b]) => order(a, b));
};

/** How to render rows. */
export interface RowsStyle {
  readonly columns: number | undefined;
  readonly style: Style;
  /** Columns to put first, if a row has them. */
  readonly first?: readonly string[];
  /** Id fields, which come first in their group. */
  readonly ids: ReadonlySet<string>;
}

/** Rows as a table with the union of their columns. */
export const renderRows = (rows: readonly unknown[], { columns, style, first = [], ids }: RowsStyle): string => {
  const cells = rows.map((row) => new Map(flatten(row, "")));
  const all = new Set(cells.flatMap((row) => [...row.keys()]));
  const others = [...all].filter((name) => !first.includes(name)).toSorted(columnOrder(ids));
  const names = [...first.filter((name) => all.has(name)), ...others];
  const titled = names.map((name): Column => {
    const texts = cells.map((row) => row.get(name) ?? "");
    const numeric = texts.some((text) => text !== "") && texts.every((text) => /^-?\d*(?:\.\d*)?$/.test(text));
    return { title: visibleLine(name), align: numeric ? "right" : "left" };
  });
  return renderTable({ columns: titled, rows: cells.map((row) => names.map((name) => visibleLine(row.get(name) ?? ""))) }, columns, style);
};
