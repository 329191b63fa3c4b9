import type { WriteStream } from "node:tty";
import picocolors from "picocolors";

export type Colors = ReturnType<typeof picocolors.createColors>;

/** An output stream with its colours and width. */
export interface Terminal {
  readonly colors: Colors;
  /** Columns to fill, 60 to 100. */
  readonly width: number;
  write(text: string): void;
}

const WIDEST = 100;
const NARROWEST = 60;

export type Environment = Readonly<Record<string, string | undefined>>;

/** Colour is used on terminals, unless NO_COLOR or else FORCE_COLOR overrides it. */
const usesColor = (stream: Pick<WriteStream, "isTTY">, environment: Environment): boolean => {
  if (environment["NO_COLOR"]) return false;
  const forced = environment["FORCE_COLOR"];
  if (forced !== undefined) return forced !== "0" && forced !== "false";
  return stream.isTTY && environment["TERM"] !== "dumb";
};

/** A stream as a terminal. */
export const terminalOf = (stream: WriteStream, environment: Environment): Terminal => ({
  colors: picocolors.createColors(usesColor(stream, environment)),
  width: Math.min(WIDEST, Math.max(NARROWEST, stream.isTTY ? stream.columns : WIDEST)),
  write: (text) => void stream.write(text),
});

/** A temporary status line. */
export interface Progress {
  show(text: string): void;
  clear(): void;
}

const EVERY = 80;
const EVERY_LINE = 3000;
const clearLine = "\r\u001b[2K";

const onTerminal = (stream: WriteStream): Progress => {
  let last = 0;
  let shown = false;
  return {
    show: (text) => {
      if (performance.now() - last < EVERY) return;
      last = performance.now();
      shown = true;
      stream.write(`${clearLine}  ${text}`);
    },
    clear: () => {
      if (shown) stream.write(clearLine);
      shown = false;
    },
  };
};

// A log keeps every line, so print one only during long waits.
const inLog = (stream: WriteStream): Progress => {
  let last = performance.now();
  return {
    show: (text) => {
      if (performance.now() - last < EVERY_LINE) return;
      last = performance.now();
      stream.write(`${text}\n`);
    },
    clear: () => undefined,
  };
};

/** Progress on a stream: one line that is overwritten on a terminal, or a line every few seconds elsewhere. */
export const progressOn = (stream: WriteStream): Progress => (stream.isTTY ? onTerminal(stream) : inLog(stream));

const GAP = 2;
// A narrower column is not readable.
const LEAST = 12;

/** The layout of a table. */
export interface TableStyle {
  readonly width: number;
  /** Columns that are aligned right. */
  readonly right?: readonly boolean[];
}

const longest = (column: readonly string[]): number => Math.max(...column.map((text) => text.length));

/** Column widths that fit; the widest column shrinks first. */
const fit = (widths: readonly number[], room: number): readonly number[] => {
  const fitted = [...widths];
  for (let over = fitted.reduce((sum, width) => sum + width + GAP, -GAP) - room; over > 0; over--) {
    const widest = fitted.indexOf(Math.max(...fitted));
    if ((fitted[widest] ?? 0) <= LEAST) break;
    fitted[widest] = (fitted[widest] ?? 0) - 1;
  }
  return fitted;
};

/** Cuts a text to a width, with an ellipsis. */
export const cut = (text: string, width: number): string => (text.length <= width ? text : `${text.slice(0, Math.max(0, width - 1))}…`);

const cutInFront = (text: string, width: number): string => (text.length <= width ? text : `…${text.slice(text.length - width + 1)}`);

const sharedStart = ([first = "", ...others]: readonly string[]): number => {
  let length = first.length;
  for (const other of others) while (!other.startsWith(first.slice(0, length))) length--;
  return length;
};

/** Chooses how to cut the cells of a column: in front if the long ones differ only at their ends. */
const cutterOf = (column: readonly string[], width: number): typeof cut => {
  const long = column.filter((text) => text.length > width);
  return long.length > 1 && sharedStart(long) >= width / 2 ? cutInFront : cut;
};

/** The number of columns that fit, at least one. */
const fitting = (widths: readonly number[], room: number): number => {
  let used = 0;
  const at = widths.findIndex((width, index) => (used += Math.min(width, LEAST) + (index > 0 ? GAP : 0)) > room);
  return at < 0 ? widths.length : Math.max(1, at);
};

/** The lines of a table: headings first, and last the headings of columns that do not fit. */
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

/** Breaks text into lines at spaces, and breaks words that are longer than a line. */
export const wrap = (text: string, width: number): readonly string[] => {
  const lines: string[] = [];
  for (const word of text.split(" ").flatMap((one) => pieces(one, width))) {
    const line = lines.at(-1);
    if (line !== undefined && line.length + 1 + word.length <= width) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines;
};
