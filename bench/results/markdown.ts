export type Cell = string | number | undefined;

/** Two significant decimals below ten, one below a hundred, none above: figures as wide as they are exact. */
export const round = (value: number): string => {
  if (!Number.isFinite(value)) return "–";
  if (Math.abs(value) < 10) return value.toFixed(2);
  return Math.abs(value) < 100 ? value.toFixed(1) : Math.round(value).toLocaleString("en-GB");
};

// A figure that is not finite is null once it was kept as JSON.
const text = (cell: Cell | null): string => {
  if (cell === undefined || cell === null) return "–";
  return typeof cell === "number" ? round(cell) : cell;
};

/** A table whose first column is text and whose others are figures. */
export const table = (head: readonly string[], rows: readonly (readonly Cell[])[]): string => {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map((_, index) => (index === 0 ? "---" : "---:"))), ...rows.map((row) => line(row.map(text)))].join("\n");
};
