/** A part of an answer that is shown as one table; without columns, its rows are lines of text. */
export interface Section {
  readonly title: string | undefined;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Columns that hold nothing but numbers. */
  readonly numeric: readonly boolean[];
}

type Row = Readonly<Record<string, unknown>>;

const isRow = (value: unknown): value is Row =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);
const isRows = (value: unknown): value is readonly Row[] => Array.isArray(value) && value.length > 0 && value.every(isRow);

// A structure holds lists of rows somewhere; a row holds values, and ids one level down.
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

// An edge's end and the node that stands there have the same id: shown once.
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
  // A list of texts is a line each.
  if (Array.isArray(value)) return [{ title, columns: [], rows: value.map((member) => [cell(member)]), numeric: [] }];
  return [textSection(title, cell(value))];
};

/** The same value, with attributes in the order of another: DynamoDB gives them in none. */
const inOrderOf = (value: unknown, like: unknown): unknown => {
  if (Array.isArray(value)) return value.map((member, at) => inOrderOf(member, Array.isArray(like) ? (like[at] as unknown) : undefined));
  if (!isRow(value) || !isRow(like)) return value;
  const known = Object.keys(like).filter((name) => name in value);
  const others = Object.keys(value).filter((name) => !(name in like));
  return Object.fromEntries([...known, ...others].map((name) => [name, inOrderOf(value[name], like[name])]));
};

/** An answer as tables and lines, for people; its attributes come in the expected answer's order. */
export const answerSections = (answer: unknown, expected: unknown): readonly Section[] => sectionsOf(inOrderOf(answer, expected));
