import {
  type LoadResult,
  type PatternResult,
  type Reporter,
  type RequestResult,
  type SystemResult,
  type TableResult,
  type Totals,
  totalsOf,
} from "./run-system.ts";
import { cut, type Progress, tableLines, type Terminal, wrap } from "./terminal.ts";
import type { System } from "../system.ts";

/** A part of an answer, shown as one table. Without columns, its rows are lines of text. */
export interface Section {
  readonly title: string | undefined;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Columns that contain only numbers. */
  readonly numeric: readonly boolean[];
}

type Row = Readonly<Record<string, unknown>>;

const isRow = (value: unknown): value is Row =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);
const isRows = (value: unknown): value is readonly Row[] => Array.isArray(value) && value.length > 0 && value.every(isRow);

// A structure contains lists of rows at some depth. A row contains values, and ids one level down.
const isStructure = (value: unknown): value is Row =>
  isRow(value) && Object.values(value).some((member) => isRows(member) || isStructure(member));

const cell = (value: unknown): string => {
  if (value === undefined || value === null) return "";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "string") return value;
  return Array.isArray(value) ? value.map(cell).join(", ") : typeof value === "number" ? String(value) : JSON.stringify(value);
};

type Leaf = readonly [path: readonly string[], value: unknown];

const flatten = (row: Row, prefix: readonly string[] = []): readonly Leaf[] =>
  Object.entries(row).flatMap(([name, value]) =>
    isRow(value) ? flatten(value, [...prefix, name]) : [[[...prefix, name], value] as const],
  );

interface Column {
  readonly path: readonly string[];
  readonly cells: readonly string[];
  readonly numeric: boolean;
}

const column = (path: string, values: readonly unknown[]): Column => ({
  path: path.split("."),
  cells: values.map(cell),
  numeric: values.every((value) => value === undefined || typeof value === "number"),
});

const columnsOf = (rows: readonly Row[]): readonly Column[] => {
  const flat = rows.map((row) => new Map(flatten(row).map(([path, value]) => [path.join("."), value])));
  const paths = [...new Set(flat.flatMap((row) => [...row.keys()]))];
  return paths.map((path) =>
    column(
      path,
      flat.map((row) => row.get(path)),
    ),
  );
};

const last = ({ path }: Column): string => path.at(-1) ?? "";

// An edge's end and its node have the same id, which is shown once.
const withoutRepeats = (columns: readonly Column[]): readonly Column[] =>
  columns.filter(
    (column, at) =>
      !columns.slice(0, at).some((other) => last(other) === last(column) && other.cells.every((text, row) => text === column.cells[row])),
  );

const headings = (columns: readonly Column[]): readonly string[] =>
  columns.map((column) =>
    columns.filter((other) => last(other) === last(column)).length > 1 ? column.path.slice(-2).join(".") : last(column),
  );

const tableSection = (title: string | undefined, rows: readonly Row[]): Section => {
  const columns = withoutRepeats(columnsOf(rows));
  return {
    title,
    columns: headings(columns),
    rows: rows.map((_, at) => columns.map((column) => column.cells[at] ?? "")),
    numeric: columns.map(({ numeric }) => numeric),
  };
};

const textSection = (title: string | undefined, text: string): Section => ({ title, columns: [], rows: [[text]], numeric: [] });

const wrappers: ReadonlySet<string> = new Set(["edges", "parts", "items"]);

const structureSections = (value: Row, title: string | undefined): readonly Section[] =>
  Object.entries(value).flatMap(([name, member]) => {
    if (member === undefined || (isRow(member) && Object.keys(member).length === 0)) return [];
    return sectionsOf(member, wrappers.has(name) ? title : name);
  });

const sectionsOf = (value: unknown, title?: string): readonly Section[] => {
  if (isRows(value)) return value.some(isStructure) ? value.flatMap((member) => sectionsOf(member)) : [tableSection(title, value)];
  if (isStructure(value)) return structureSections(value, title);
  if (isRow(value)) return [tableSection(title, [value])];
  if (value === undefined || (Array.isArray(value) && value.length === 0)) return [textSection(title, "none")];
  // Each text in a list is a line.
  if (Array.isArray(value)) return [{ title, columns: [], rows: value.map((member) => [cell(member)]), numeric: [] }];
  return [textSection(title, cell(value))];
};

/** The same value with attributes in the order of another, because DynamoDB returns them in any order. */
const inOrderOf = (value: unknown, like: unknown): unknown => {
  if (Array.isArray(value)) return value.map((member, at) => inOrderOf(member, Array.isArray(like) ? (like[at] as unknown) : undefined));
  if (!isRow(value) || !isRow(like)) return value;
  const known = Object.keys(like).filter((name) => name in value);
  const others = Object.keys(value).filter((name) => !(name in like));
  return Object.fromEntries([...known, ...others].map((name) => [name, inOrderOf(value[name], like[name])]));
};

/** An answer as tables and lines, with attributes in the order of the expected answer. */
export const answerSections = (answer: unknown, expected: unknown): readonly Section[] => sectionsOf(inOrderOf(answer, expected));

/** Columns before a pattern's text. */
export const MARGIN = 6;
/** Columns by which text below it is indented. */
export const STEP = 2;

/** Lines with columns before them. */
export const indent = (lines: readonly string[], by = MARGIN): string => lines.map((line) => `${" ".repeat(by)}${line}\n`).join("");

/** A number with its unit, in the plural if need be. */
export const count = (number: number, unit: string): string => `${number.toLocaleString("en")} ${unit}${number === 1 ? "" : "s"}`;

/** Capacity units. */
export const units = (number: number): string => number.toLocaleString("en", { maximumFractionDigits: 1 });

/** A duration, in milliseconds or seconds. */
export const duration = (milliseconds: number): string =>
  milliseconds < 1000 ? `${milliseconds.toFixed(milliseconds < 10 ? 1 : 0)} ms` : `${(milliseconds / 1000).toFixed(1)} s`;

const MOST_LINES = 12;

const sectionLines = ({ colors, width }: Terminal, section: Section): readonly string[] => {
  if (section.columns.length === 0) {
    const room = width - MARGIN - STEP;
    const lines = section.rows.slice(0, MOST_LINES).flatMap((row) => wrap(row.join(" "), room).map((line) => cut(line, room)));
    const more = section.rows.length - MOST_LINES;
    return more > 0 ? [...lines, colors.dim(`… and ${more} more`)] : lines;
  }
  const [head = "", ...rows] = tableLines([section.columns, ...section.rows], { width: width - MARGIN - STEP, right: section.numeric });
  return [colors.dim(head), ...rows];
};

/** A part of an answer, indented by more columns if wished. */
export const answerText = (terminal: Terminal, section: Section, by = 0): string => {
  const lines = sectionLines(terminal, section);
  if (section.title === undefined) return indent(lines, MARGIN + by);
  return indent([terminal.colors.italic(section.title)], MARGIN + by) + indent(lines, MARGIN + by + STEP);
};

const ARROW = "→ ";

const requestText = ({ colors, width }: Terminal, request: RequestResult): string => {
  const place = request.index === undefined ? "" : `${request.index}: `;
  const lead = `${request.operation} `;
  const [first = "", ...more] = wrap(`${place}${request.terms}`, width - MARGIN - ARROW.length - lead.length);
  const hanging = " ".repeat(ARROW.length + lead.length);
  return indent([`${colors.dim(ARROW)}${colors.cyan(request.operation)} ${first}`, ...more.map((line) => hanging + line)]);
};

const callText = ({ name, example }: PatternResult): string => {
  const given = Object.entries(example).map(([field, value]) => `${field} = ${Array.isArray(value) ? value.join(", ") : String(value)}`);
  return [name, ...given].join(" · ");
};

const figures = (pattern: PatternResult, consistency?: string): string =>
  [
    ...(consistency === undefined ? [] : [consistency]),
    `${count(pattern.itemsRead, "item")} read`,
    `${units(pattern.predictedUnits)} RCU predicted, ${units(pattern.consumedUnits)} consumed`,
    duration(pattern.milliseconds),
  ].join(" · ");

const verdict = ({ colors, width }: Terminal, pattern: PatternResult): string => {
  if (pattern.ok) {
    const room = width - MARGIN - STEP;
    const forms = (pattern.consistency === "strong" ? ["strongly consistent", "strong"] : ["eventually consistent", "eventual"])
      .map((consistency) => figures(pattern, consistency))
      .concat(figures(pattern));
    const [first = "", ...more] = wrap(forms.find((text) => text.length <= room) ?? forms.at(-1) ?? "", room);
    return indent([`${colors.green("✓")} ${colors.dim(first)}`]) + indent(more.map(colors.dim), MARGIN + STEP);
  }
  const why = pattern.error === undefined ? `expected ${JSON.stringify(pattern.expected)}` : pattern.error;
  return indent([`${colors.red("✗")} ${colors.bold(pattern.name)}: ${why}`]);
};

// A walk sends the same request for many nodes.
const MOST_REQUESTS = 6;

const patternText = (terminal: Terminal, pattern: PatternResult, at: number): string => {
  const { colors, width } = terminal;
  const number = String(at + 1).padStart(4);
  const [question = "", ...further] = wrap(pattern.question, width - MARGIN);
  const more = pattern.requests.length - MOST_REQUESTS;
  const answer =
    pattern.error === undefined ? answerSections(pattern.answer, pattern.expected).map((section) => answerText(terminal, section)) : [];
  return [
    `${colors.dim(number)}  ${colors.bold(question)}\n`,
    indent(further.map(colors.bold)),
    indent(wrap(callText(pattern), width - MARGIN).map(colors.dim)),
    indent(wrap(pattern.call, width - MARGIN).map(colors.cyan)),
    ...answer,
    ...pattern.requests.slice(0, MOST_REQUESTS).map((request) => requestText(terminal, request)),
    ...(more > 0 ? [indent([colors.dim(`… and ${more} more like these`)], MARGIN)] : []),
    verdict(terminal, pattern),
    "\n",
  ].join("");
};

const systemText = ({ colors, width }: Terminal, { name, title, source }: Pick<System, "name" | "title" | "source">): string =>
  indent(
    [colors.dim("─".repeat(width)), colors.bold(colors.cyan(name)), ...wrap(title, width), ...wrap(source, width).map(colors.dim), ""],
    0,
  );

const loadText = ({ colors, width }: Terminal, { table, variant }: Pick<TableResult, "table" | "variant">, load: LoadResult): string => {
  const took = `rows written in ${count(load.requests, "request")}, ${units(load.writeUnits)} WCU, ${duration(load.milliseconds)}`;
  return indent([`Table ${table}${variant === undefined ? "" : `, ${variant}`}`, ...wrap(took, width).map(colors.dim), ""], 0);
};

/** Prints readable text, pattern by pattern. */
export const textReporter = (terminal: Terminal, progress: Progress): Reporter => {
  const print = (text: string): void => {
    progress.clear();
    terminal.write(text);
  };
  return {
    system: (system) => print(systemText(terminal, system)),
    loading: (table, requests) => progress.show(`writing the rows of ${table.table}: ${count(requests, "request")}`),
    loaded: ({ table, variant }, load) => print(loadText(terminal, { table, variant }, load)),
    pattern: (pattern, at) => print(patternText(terminal, pattern, at)),
  };
};

/** Prints nothing until the end; progress goes to another stream. */
export const silentReporter = (progress: Progress): Reporter => ({
  system: ({ name }) => progress.show(name),
  loading: ({ table }, requests) => progress.show(`writing the rows of ${table}: ${count(requests, "request")}`),
  loaded: () => undefined,
  pattern: ({ name }) => progress.show(`asking ${name}`),
});

/** A system that has been run: its tables and patterns, as {@link textReporter} prints them. */
export const systemInFull = (terminal: Terminal, result: SystemResult): string =>
  systemText(terminal, result) +
  result.tables
    .map((table) => loadText(terminal, table, table.load) + table.patterns.map((one, at) => patternText(terminal, one, at)).join(""))
    .join("");

/** The patterns of a system that were not answered as expected. */
export const failuresOf = (terminal: Terminal, { tables }: SystemResult): string =>
  tables.flatMap(({ patterns }) => patterns.map((one, at) => (one.ok ? "" : patternText(terminal, one, at)))).join("");

const summaryHeadings = ["system", "patterns", "requests", "items", "RCU predicted", "RCU consumed", "time"];

const totalFigures = (totals: Totals, milliseconds: number): readonly string[] => [
  String(totals.patterns),
  String(totals.requests),
  totals.itemsRead.toLocaleString("en"),
  totals.predictedUnits.toFixed(1),
  totals.consumedUnits.toFixed(1),
  `${(milliseconds / 1000).toFixed(2)} s`,
];

const totalVerdict = ({ colors }: Terminal, totals: Totals): string => {
  if (totals.failed.length === 0) return `${colors.green("✓")} ${totals.patterns} of ${totals.patterns} patterns answered as expected\n`;
  const names = totals.failed.join(", ");
  return `${colors.red("✗")} ${totals.failed.length} of ${totals.patterns} patterns did not answer as expected: ${colors.bold(names)}\n`;
};

const systemsText = (systems: number): string => {
  if (systems === 0) return "tables that change";
  return systems === 1 ? "one system" : `${systems} systems`;
};

/** The first line of the demo. */
export const headText = ({ colors }: Terminal, about: { readonly systems: number; readonly engine: string }): string =>
  `${colors.bold("Edgetable")} · ${systemsText(about.systems)}, on an in-memory engine (dynoxide ${about.engine})\n`;

/** The table at the end of the demo. */
export const summaryText = (terminal: Terminal, systems: readonly SystemResult[]): string => {
  const { colors, width } = terminal;
  const all = totalsOf(systems);
  const time = systems.reduce((sum, system) => sum + system.milliseconds, 0);
  const rows = systems.map((system) => [system.name, ...totalFigures(totalsOf([system]), system.milliseconds)]);
  const total = systems.length > 1 ? [["total", ...totalFigures(all, time)]] : [];
  const [head = "", ...lines] = tableLines([summaryHeadings, ...rows, ...total], { width, right: summaryHeadings.map((_, at) => at > 0) });
  const body = lines.map((line, at) => (at === systems.length ? colors.bold(line) : line));
  return [colors.dim("─".repeat(width)), colors.dim(head), ...body, "", totalVerdict(terminal, all)].join("\n");
};
