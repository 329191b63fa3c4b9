import { toJson } from "./json.ts";
import type { Style } from "./style.ts";
import { renderTable } from "./table.ts";

type Row = Readonly<Record<string, unknown>>;

const isPlain = (value: unknown): value is Row => typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;

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

const flattened = (value: unknown, nested: readonly string[], prefix = ""): readonly (readonly [string, string])[] => {
  if (!isPlain(value)) return [[prefix === "" ? "value" : prefix.slice(0, -1), showCell(value)]];
  return Object.entries(value).flatMap(([name, one]) => (nested.includes(name) && isPlain(one) ? flattened(one, nested, `${prefix}${name}.`) : [[`${prefix}${name}`, showCell(one)] as const]));
};

// Ids of ends and the two halves of an entry become columns of their own; other objects stay one cell.
const nested = ["from", "to", "edge", "node"];

/** The cells of a row by column name, such as `to.courseId`. */
export const cellsOf = (row: unknown): readonly (readonly [name: string, text: string])[] => flattened(row, nested);

/** Rows as a table with the union of their columns. */
export const renderRows = (rows: readonly unknown[], columns: number | undefined, style: Style): string => {
  const cells = rows.map((row) => new Map(cellsOf(row)));
  const names = [...new Set(cells.flatMap((row) => [...row.keys()]))];
  const numeric = (name: string): boolean => cells.every((row) => /^-?\d*\.?\d*$/.test(row.get(name) ?? "")) && cells.some((row) => row.get(name));
  const table = { columns: names.map((title) => ({ title, align: numeric(title) ? ("right" as const) : ("left" as const) })), rows: cells.map((row) => names.map((name) => row.get(name) ?? "")) };
  return renderTable(table, columns, style);
};
