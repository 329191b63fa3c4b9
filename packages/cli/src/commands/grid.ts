import {
  type CsvColumn,
  type CsvImport,
  type CsvImportOptions,
  type CsvMisfit,
  type CsvTarget,
  didYouMean,
  type FieldType,
} from "edgetable";
import { type UntypedGrid, type UntypedDb, withGraph } from "../connection.ts";
import { exitCode, type ExitCode } from "../exit-codes.ts";
import { usageError } from "../failure.ts";
import { collect, defineCommand, note, printJson, resumable, wholeNumber, type CommandSpec, type Invocation } from "../invocation.ts";
import { missingOption, openCsv, parseDelimiter } from "../load/read-csv.ts";
import { shownName } from "../load/read-file.ts";
import { counted } from "../output/explanation.ts";
import { toJson } from "../output/json.ts";
import { renderTable } from "../output/table.ts";
import { createProgress } from "../output/terminal.ts";
import { idUsage, parseConditions, parseId } from "../text/arguments.ts";

/** Finds the grid of a node type for the parent that the arguments name. */
const gridOf = async (db: UntypedDb, name: string, parentId: readonly string[], usage: string): Promise<UntypedGrid> => {
  const { nodes } = db.catalog;
  const parent = nodes[name]?.definition.fields?.of;
  if (parent === undefined) {
    const known = Object.keys(nodes).filter((one) => nodes[one]?.definition.fields);
    throw usageError(
      nodes[name]
        ? `"${name}" has no user-defined fields, so it has no grid.${known.length > 0 ? ` These have: ${known.join(", ")}.` : ""}`
        : `There is no node type "${name}".${didYouMean(name, known)}`,
    );
  }
  const { id, missing } = await parseId(db.catalog, parent, parentId);
  if (missing.length > 0)
    throw usageError(`The id of "${parent}" lacks ${missing.join(" and ")}: edgetable grid ${usage} ${idUsage(db.catalog, parent)}`);
  return (db as unknown as Readonly<Record<string, { grid(id: object): UntypedGrid }>>)[name]?.grid(id) as UntypedGrid;
};

const TYPES: readonly string[] = ["text", "number", "date", "boolean", "choice", "choices"];

/** Texts that commas separate. A comma before which there is no = belongs to the name of a column. */
const separated = (text: string): readonly string[] => {
  const parts: string[] = [];
  let name = "";
  for (const part of text.split(",")) {
    name += part;
    if (part.includes("=")) {
      parts.push(name);
      name = "";
    } else name += ",";
  }
  return name === "" ? parts : [...parts, name.slice(0, -1)];
};

const assignments = (given: readonly string[] = [], option: string): readonly (readonly [string, string])[] =>
  given.flatMap(separated).map((one) => {
    const at = one.lastIndexOf("=");
    if (at < 1) throw usageError(`${option} "${one}" is not of the form column=${option === "--types" ? "type" : "attribute"}.`);
    return [one.slice(0, at), one.slice(at + 1)];
  });

interface ImportOptions {
  readonly columns?: readonly string[];
  readonly types?: readonly string[];
  readonly delimiter?: string;
  readonly missing?: readonly string[];
  readonly dryRun?: boolean;
  readonly skipUnfit?: boolean;
  readonly removeEmpty?: boolean;
  readonly concurrency?: number;
}

const columnsOf = ({ columns, types }: ImportOptions): Readonly<Record<string, CsvTarget<string>>> => {
  const targets: Record<string, CsvTarget<string>> = {};
  for (const [column, target] of assignments(columns, "--columns")) targets[column] = target === "" ? null : target;
  for (const [column, type] of assignments(types, "--types")) {
    if (!TYPES.includes(type)) throw usageError(`There is no type "${type}": give ${TYPES.join(", ")}.`);
    targets[column] = { name: column, type: type as Exclude<FieldType, "reference" | "choice" | "choices"> };
  }
  return targets;
};

const fateOf = ({ to, name, inferred }: CsvColumn): string => {
  if (to === "ignored") return "ignored";
  if (to === "attribute") return `attribute ${name}`;
  return to === "field" ? `field ${name}` : `new field ${name}${inferred ? " (type inferred)" : ""}`;
};

const MOST_CHOICES = 5;

const typeOf = ({ type, choices = [] }: CsvColumn): string => {
  const shown = choices.slice(0, MOST_CHOICES).join(", ");
  return choices.length === 0
    ? (type ?? "")
    : `${type}: ${shown}${choices.length > MOST_CHOICES ? ` and ${choices.length - MOST_CHOICES} others` : ""}`;
};

const LONGEST_EXAMPLE = 40;

/** The first value of a column on one line. */
const exampleOf = ({ example = "" }: CsvColumn): string => {
  const line = example.replaceAll(/\s+/g, " ").trim();
  return line.length > LONGEST_EXAMPLE ? `${line.slice(0, LONGEST_EXAMPLE - 1)}…` : line;
};

const MOST_MISFITS = 20;

const showMisfit = ({ record, column, message }: CsvMisfit): string =>
  `record ${record}${column === undefined ? "" : `, ${column}`}: ${message}`;

const showImport = (call: Invocation<ImportOptions>, name: string, result: CsvImport): void => {
  const { io, style } = call;
  const { columns, rows, created, changed, unfit, misfits, written } = result;
  if (!written) {
    const titles = [
      { title: "column" },
      { title: "becomes" },
      { title: "type" },
      { title: "values", align: "right" as const },
      { title: "such as" },
    ];
    const lines = columns.map((column) => [column.column, fateOf(column), typeOf(column), String(column.values), exampleOf(column)]);
    io.out.write(`${renderTable({ columns: titles, rows: lines }, io.out.columns, style)}\n`);
  }
  for (const misfit of misfits.slice(0, MOST_MISFITS)) io.err.write(`${name} ${showMisfit(misfit)}\n`);
  const left = unfit === 0 ? "" : `, ${counted(unfit, "row")} ${unfit === 1 ? "does" : "do"} not fit`;
  io.out.write(
    `${name}: ${counted(rows, "row")}, ${created} new, ${changed} existing${left}. ${written ? "Written." : "Nothing was written."}\n`,
  );
};

const importCommand = defineCommand<ImportOptions>({
  name: "import",
  arguments: "<node> <file> [parent...]",
  summary: "Read CSV into the grid of a parent: attributes, fields and new fields",
  description:
    "A column goes to the attribute or field of its name; any other becomes a new field, whose type is inferred from its values. --dry-run shows what columns become and which rows do not fit, and writes nothing. Rows are found by their id, which is a column of the file. The same command resumes an import that was interrupted. Exits with 1 if rows do not fit.",
  options: [
    {
      flags: "--columns <column=attribute,...>",
      text: "where columns go: an attribute, field:ID, or nothing after = to ignore the column",
      parse: collect,
    },
    { flags: "--types <column=type,...>", text: `types of new fields: ${TYPES.join(", ")} (default: inferred)`, parse: collect },
    { flags: "--delimiter <character>", text: "the delimiter of the file (default: a comma; a tab for .tsv)", parse: parseDelimiter },
    missingOption,
    { flags: "--dry-run", text: "show the plan and write nothing" },
    { flags: "--skip-unfit", text: "leave out rows that do not fit (default: write nothing then)" },
    { flags: "--remove-empty", text: "empty cells remove the values that rows have (default: keep them)" },
    { flags: "--concurrency <n>", text: "rows written at the same time, 1 to 100 (default: 16)", parse: wholeNumber(100) },
  ],
  examples: [
    "edgetable grid import issue issues.csv projectId=35e9 --dry-run",
    'edgetable grid import issue issues.csv 35e9 --columns "Title=name,Remarks=" --types Zip=text',
  ],
  run: (call) =>
    withGraph(call, async (db): Promise<ExitCode> => {
      const { io, options } = call;
      const [node = "", file = ""] = call.args;
      const { delimiter, missing, dryRun = false, skipUnfit = false, removeEmpty = false, concurrency } = options;
      const grid = await gridOf(db, node, call.rest, "import NODE FILE");
      const source = await openCsv(file, { delimiter, missing }, io);
      const progress = createProgress(io);
      const name = shownName(file);
      try {
        const settings = {
          columns: columnsOf(options),
          dryRun,
          unfit: skipUnfit || dryRun ? "skip" : "refuse",
          empty: removeEmpty ? "remove" : "keep",
          ...(concurrency === undefined ? {} : { concurrency }),
          onProgress: ({ step, rows }) => progress.show(`${counted(rows, "row")} ${step === "plan" ? "checked" : "written"}`),
        } satisfies CsvImportOptions<string>;
        const result = await resumable(call, () => grid.importCsv(source, settings).run({ signal: io.signal }));
        progress.clear();
        if (options.json) printJson(call, { file, ...result });
        else showImport(call, name, result);
        return result.unfit === 0 ? exitCode.ok : exitCode.no;
      } finally {
        progress.clear();
      }
    }),
});

interface ExportOptions {
  readonly columns?: readonly string[];
  readonly where?: readonly string[];
  readonly sort?: string;
  readonly desc?: boolean;
  readonly empties?: "first" | "last" | "without";
  readonly delimiter?: string;
  readonly escapeFormulas?: boolean;
}

const PAGE = 200;
const BUDGET = { requests: 1000 };

/** Prints the rows of a grid as one JSON list, a page at a time. */
const printPages = async ({ io }: Invocation<ExportOptions>, grid: UntypedGrid): Promise<void> => {
  let cursor: string | undefined;
  let before = "[\n";
  do {
    const page = await grid.page({ limit: PAGE, cursor, budget: BUDGET }).run({ signal: io.signal });
    for (const one of page.items) {
      io.out.write(`${before}${toJson(one)}`);
      before = ",\n";
    }
    await io.out.drained();
    cursor = page.next;
  } while (cursor !== undefined);
  io.out.write(before === ",\n" ? "\n]\n" : "[]\n");
};

const exportCommand = defineCommand<ExportOptions>({
  name: "export",
  arguments: "<node> [parent...]",
  summary: "Print the grid of a parent as CSV (RFC 4180), with columns, filters and order",
  description:
    "Columns are attributes, or fields as field:ID. With --json, a list of rows, each with its attributes (row) and the values of fields (cells). A text that begins with =, +, - or @ may run as a formula in a spreadsheet: --escape-formulas puts an apostrophe before it, which an import does not remove.",
  options: [
    { flags: "--columns <names>", text: "the columns, separated by commas (default: all)", parse: collect },
    { flags: "--where <condition>", text: "name=value or JSON; several add up", parse: collect },
    { flags: "--sort <column>", text: "sort by this column" },
    { flags: "--desc", text: "the greatest first" },
    {
      flags: "--empties <place>",
      text: "where rows without a value of the column come (default: last)",
      choices: ["first", "last", "without"],
    },
    { flags: "--delimiter <character>", text: "the delimiter (default: a comma)", parse: parseDelimiter },
    { flags: "--escape-formulas", text: "disarm texts that a spreadsheet may run" },
  ],
  examples: [
    "edgetable grid export issue projectId=35e9 > issues.csv",
    `edgetable grid export issue 35e9 --columns issueId,name,field:f1 --where '{"field:f1":{"gte":"2024"}}' --sort field:f1 --desc`,
  ],
  run: (call) =>
    withGraph(call, async (db) => {
      const { io, options } = call;
      const [node = ""] = call.args;
      const { columns, sort, desc = false, empties, delimiter, escapeFormulas = false } = options;
      let grid = await gridOf(db, node, call.rest, "export NODE");
      const conditions = await parseConditions(call, { catalog: db.catalog, name: node });
      if (columns) grid = grid.columns(...columns.flatMap((list) => list.split(",")));
      if (conditions) grid = grid.where(conditions as Parameters<UntypedGrid["where"]>[0]);
      if (sort !== undefined) grid = grid.sort(sort, desc ? "desc" : "asc");
      else if (desc || empties !== undefined) throw usageError("--desc and --empties need --sort.");
      if (empties !== undefined) grid = grid.empties(empties);
      if (options.json) {
        await printPages(call, grid);
        return exitCode.ok;
      }
      const pieces = grid.exportCsv({
        formulas: escapeFormulas ? "escape" : "keep",
        ...(delimiter === undefined ? {} : { delimiter }),
        signal: io.signal,
      });
      let rows = -1;
      for await (const piece of pieces) {
        // A line break between quotes ends no record.
        rows += piece.replaceAll(/"[^"]*"/g, "").split("\r\n").length - 1;
        io.out.writeExact?.(piece);
        await io.out.drained();
      }
      note(call, counted(rows, "row"));
      return exitCode.ok;
    }),
});

export const gridCommand: CommandSpec = {
  name: "grid",
  group: "Data:",
  summary: "Import CSV into grids, and export them as CSV",
  commands: [importCommand, exportCommand],
};
