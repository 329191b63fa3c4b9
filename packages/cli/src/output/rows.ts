import { toJson } from "./json.ts";
import type { Style } from "./style.ts";
import { renderTable } from "./table.ts";
import { visibleLine } from "./visible.ts";
import type { Row } from "../row.ts";

const isPlain = (value: unknown): value is Row =>
  typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;

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

// Ids of ends and the two halves of an entry become columns of their own; other objects stay one cell.
const nested = ["from", "to", "edge", "node"];

const flattened = (value: unknown, prefix: string): readonly (readonly [string, string])[] => {
  if (!isPlain(value)) return [[prefix === "" ? "value" : prefix.slice(0, -1), showCell(value)]];
  return Object.entries(value).flatMap(([name, one]) => {
    if (!nested.includes(name) || !isPlain(one)) return [[`${prefix}${name}`, showCell(one)] as const];
    return flattened(one, name === "edge" ? "" : `${prefix}${name}.`);
  });
};

const groups = ["from.", "to.", "", "node."];

// DynamoDB gives attributes in no order: ends and ids first, ids in their key's order, then by name.
const compare = (ids: ReadonlySet<string>) => {
  const group = (name: string): number => groups.indexOf(groups.find((one) => one !== "" && name.startsWith(one)) ?? "");
  const order = [...ids];
  const id = (name: string): number => {
    const at = order.indexOf(name.slice((groups[group(name)] ?? "").length));
    return at < 0 ? order.length : at;
  };
  return (a: string, b: string): number => group(a) - group(b) || id(a) - id(b) || (a < b ? -1 : 1);
};

/** The cells of a row by column name, such as `to.courseId`. */
export const cellsOf = (row: unknown, ids: ReadonlySet<string>): readonly (readonly [name: string, text: string])[] => {
  const order = compare(ids);
  return flattened(row, "").toSorted(([a], [b]) => order(a, b));
};

/** How rows are shown. */
export interface RowsStyle {
  readonly columns: number | undefined;
  readonly style: Style;
  /** Columns before all others, where a row has them. */
  readonly first?: readonly string[];
  /** Fields of ids: the first of their group. */
  readonly ids: ReadonlySet<string>;
}

/** Rows as a table with the union of their columns. */
export const renderRows = (rows: readonly unknown[], { columns, style, first = [], ids }: RowsStyle): string => {
  const cells = rows.map((row) => new Map(cellsOf(row, ids)));
  const all = new Set(cells.flatMap((row) => [...row.keys()]));
  const names = [...first.filter((name) => all.has(name)), ...[...all].filter((name) => !first.includes(name)).toSorted(compare(ids))];
  const numeric = (name: string): boolean =>
    cells.every((row) => /^-?\d*(?:\.\d*)?$/.test(row.get(name) ?? "")) && cells.some((row) => row.get(name));
  const table = {
    columns: names.map((title) => ({ title: visibleLine(title), align: numeric(title) ? ("right" as const) : ("left" as const) })),
    rows: cells.map((row) => names.map((name) => visibleLine(row.get(name) ?? ""))),
  };
  return renderTable(table, columns, style);
};
