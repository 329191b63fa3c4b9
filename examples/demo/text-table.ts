const GAP = 2;
const LEAST = 8;

/** How a table is laid out. */
export interface TableStyle {
  readonly width: number;
  /** Columns that are set flush right. */
  readonly right?: readonly boolean[];
}

const longest = (column: readonly string[]): number => Math.max(...column.map((text) => text.length));

/** Column widths that fit, taken from the widest first. */
const fit = (widths: readonly number[], room: number): readonly number[] => {
  const fitted = [...widths];
  for (let over = fitted.reduce((sum, width) => sum + width + GAP, -GAP) - room; over > 0; over--) {
    const widest = fitted.indexOf(Math.max(...fitted));
    if ((fitted[widest] ?? 0) <= LEAST) break;
    fitted[widest] = (fitted[widest] ?? 0) - 1;
  }
  return fitted;
};

/** Text of at most so many columns, cut with an ellipsis. */
export const cut = (text: string, width: number): string => (text.length <= width ? text : `${text.slice(0, Math.max(0, width - 1))}…`);

/** The lines of a table, the headings first. */
export const tableLines = (rows: readonly (readonly string[])[], { width, right = [] }: TableStyle): readonly string[] => {
  const columns = (rows[0] ?? []).map((_, at) => rows.map((row) => row[at] ?? ""));
  const widths = fit(columns.map(longest), width);
  const pad = (text: string, at: number): string => {
    const room = widths[at] ?? 0;
    return right[at] ? cut(text, room).padStart(room) : cut(text, room).padEnd(room);
  };
  return rows.map((row) => row.map(pad).join(" ".repeat(GAP)).trimEnd());
};

/** Breaks text into lines at spaces. */
export const wrap = (text: string, width: number): readonly string[] => {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const line = lines.at(-1);
    if (line !== undefined && line.length + 1 + word.length <= width) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines;
};
