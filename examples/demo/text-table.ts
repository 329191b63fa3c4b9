const GAP = 2;
// Below that a column says nothing.
const LEAST = 12;

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

const cutInFront = (text: string, width: number): string => (text.length <= width ? text : `…${text.slice(text.length - width + 1)}`);

const sharedStart = ([first = "", ...others]: readonly string[]): number => {
  let length = first.length;
  for (const other of others) while (!other.startsWith(first.slice(0, length))) length--;
  return length;
};

/** How the cells of a column are cut: where those that are too long begin alike, they differ at their ends. */
const cutterOf = (column: readonly string[], width: number): typeof cut => {
  const long = column.filter((text) => text.length > width);
  return long.length > 1 && sharedStart(long) >= width / 2 ? cutInFront : cut;
};

/** How many columns there is room for, the first of them always. */
const fitting = (widths: readonly number[], room: number): number => {
  let used = 0;
  const at = widths.findIndex((width, index) => (used += Math.min(width, LEAST) + (index > 0 ? GAP : 0)) > room);
  return at < 0 ? widths.length : Math.max(1, at);
};

/** The lines of a table, the headings first, and last the headings of columns for which there is no room. */
export const tableLines = (rows: readonly (readonly string[])[], { width, right = [] }: TableStyle): readonly string[] => {
  const [headings = []] = rows;
  const columns = headings.map((_, at) => rows.map((row) => row[at] ?? ""));
  const most = fitting(columns.map(longest), width);
  const widths = fit(columns.slice(0, most).map(longest), width);
  const cutters = widths.map((room, at) => cutterOf(columns[at] ?? [], room));
  const pad = (room: number, at: number, row: readonly string[]): string => {
    const text = (cutters[at] ?? cut)(row[at] ?? "", room);
    return right[at] ? text.padStart(room) : text.padEnd(room);
  };
  const lines = rows.map((row) =>
    widths
      .map((room, at) => pad(room, at, row))
      .join(" ".repeat(GAP))
      .trimEnd(),
  );
  const left = headings.slice(most).join(", ");
  return left === "" ? lines : [...lines, cut(`… and ${left}`, width)];
};

const pieces = (word: string, width: number): readonly string[] =>
  word.length <= width ? [word] : [word.slice(0, width), ...pieces(word.slice(width), width)];

/** Breaks text into lines at spaces, and a word where it alone is longer. */
export const wrap = (text: string, width: number): readonly string[] => {
  const lines: string[] = [];
  for (const word of text.split(" ").flatMap((one) => pieces(one, width))) {
    const line = lines.at(-1);
    if (line !== undefined && line.length + 1 + word.length <= width) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines;
};
