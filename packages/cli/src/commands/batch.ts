import { resolve } from "node:path";
import type * as Analytics from "@edgetable/analytics";
import { withGraph } from "../connection.ts";
import { exitCode } from "../exit-codes.ts";
import { usageError } from "../failure.ts";
import { collect, defineCommand, note, printJson, resumable, wholeNumber, type CommandSpec, type Invocation } from "../invocation.ts";
import { loadModel, theGraph } from "../model.ts";
import { counted, showUnits } from "../output/explanation.ts";
import { renderTable } from "../output/table.ts";
import { createProgress } from "../output/terminal.ts";
import { analytics, lakeOptions, type LakeOptions, limitOption, limitsOf, printRows, withLake } from "./batch-lake.ts";
import { deriveCommand, programCommand, runCommand, validateCommand } from "./batch-run.ts";

interface ExtractOptions extends LakeOptions {
  readonly export?: string;
  readonly increment?: readonly string[];
  readonly exportTable?: string;
  readonly segments?: number;
  readonly units?: number;
  readonly unfit?: "refuse" | "null";
  readonly stray?: "refuse" | "skip";
}

const extract = async (call: Invocation<ExtractOptions>): Promise<Analytics.ExtractReport> => {
  const { options, io } = call;
  const module = await analytics();
  const progress = createProgress(io);
  const from = (source: Analytics.Scannable): Promise<Analytics.ExtractReport> =>
    module.extract(source, {
      into: options.lake ?? "lake",
      ...limitsOf(options),
      ...(options.segments === undefined ? {} : { segments: options.segments }),
      ...(options.units === undefined ? {} : { unitsPerSecond: options.units }),
      ...(options.unfit === undefined ? {} : { unfit: options.unfit }),
      ...(options.stray === undefined ? {} : { stray: options.stray }),
      signal: io.signal,
      onProgress: ({ rows, scan }) => progress.show(`${counted(rows, "row")}, ${showUnits(scan.cost.readUnits)}`),
    });
  try {
    if (options.export === undefined) return await withGraph(call, from);
    const graph = theGraph(await loadModel(options.model, io.cwd));
    const source = await module.connectExport(graph, options.export, {
      ...limitsOf(options),
      increments: options.increment ?? [],
      ...(options.exportTable === undefined ? {} : { table: options.exportTable }),
      onProgress: (items) => progress.show(`${counted(items, "item")} of the export read`),
    });
    try {
      return await from(source);
    } finally {
      await source.close();
    }
  } finally {
    progress.clear();
  }
};

const extractCommand = defineCommand<ExtractOptions>({
  name: "extract",
  summary: "Write the whole table as typed Parquet, one folder for each node, edge and part",
  description:
    "Scans the live table, which costs half a read unit per 4 KB, or reads a folder with DynamoDB's own export to S3, which costs nothing. Resumes an interrupted extraction. Replaces an existing lake when the new one is complete.",
  options: [
    ...lakeOptions,
    { flags: "--export <folder>", text: "read this export (DynamoDB JSON or Ion) instead of the table" },
    { flags: "--increment <folder>", text: "an incremental export on top of it; can be repeated", parse: collect },
    { flags: "--export-table <name>", text: "the exported table's name, where it is not the model's: a copy or a restored backup" },
    { flags: "--segments <n>", text: "parts of the table to read in parallel (default: 4)", parse: wholeNumber(1_000_000) },
    { flags: "--units <n>", text: "read units per second that the scan may consume (default: no limit)", parse: wholeNumber(10_000_000) },
    {
      flags: "--unfit <choice>",
      text: "how to treat values that do not fit their column (default: refuse)",
      choices: ["refuse", "null"],
    },
    {
      flags: "--stray <choice>",
      text: "how to treat items that the model does not describe, such as another program's (default: refuse)",
      choices: ["refuse", "skip"],
    },
  ],
  examples: [
    "edgetable batch extract --lake lake --units 200",
    "edgetable batch extract --export AWSDynamoDB/01693685827463-2d8752fd",
    "edgetable batch extract --export full --increment monday --increment tuesday",
  ],
  run: async (call) => {
    const { io, options, style } = call;
    const report = await resumable(call, () => extract(call));
    if (options.json) {
      printJson(call, report);
      return exitCode.ok;
    }
    const rows = report.tables.map((table) => [table.name, table.kind, String(table.rows)]);
    io.out.write(renderTable({ columns: [{ title: "table" }, { title: "kind" }, { title: "rows" }], rows }, io.out.columns, style));
    const { cost, stray, uneven, drifted } = report.scan;
    const notes = [`${report.resumed ? "Resumed; " : ""}${showUnits(cost.readUnits)}`];
    if (stray > 0) notes.push(`${counted(stray, "item")} left out, which the model does not describe`);
    if (uneven > 0) notes.push(`${counted(uneven, "edge")} with one copy only (edgetable verify)`);
    if (drifted.items > 0) notes.push(`${counted(drifted.items, "item")} with an attribute that differs from the key (edgetable verify)`);
    for (const [place, values] of Object.entries(report.unfit))
      notes.push(`${counted(values, "value")} of ${place} did not fit and became null`);
    note(call, notes.join("; "));
    return exitCode.ok;
  },
});

const tablesCommand = defineCommand<LakeOptions>({
  name: "tables",
  summary: "List the tables and columns of a lake, for SQL",
  options: lakeOptions,
  examples: ["edgetable batch tables", "edgetable batch tables --lake lake --json"],
  run: (call) =>
    withLake(call, async ({ tables }) => {
      const { io, options, style } = call;
      if (options.json) {
        printJson(call, tables);
        return exitCode.ok;
      }
      const lines: string[][] = [];
      for (const { name, rows, columns } of tables)
        for (const [at, column] of columns.entries())
          lines.push([at === 0 ? name : "", at === 0 ? String(rows) : "", column.name, column.type, column.attribute ?? ""]);
      const columns = [{ title: "table" }, { title: "rows" }, { title: "column" }, { title: "type" }, { title: "attribute" }];
      io.out.write(renderTable({ columns, rows: lines }, io.out.columns, style));
      return exitCode.ok;
    }),
});

const sqlCommand = defineCommand<LakeOptions & { readonly limit?: number }>({
  name: "sql",
  arguments: "<statement>",
  summary: "Run an SQL statement over the lake's tables, on DuckDB",
  options: [...lakeOptions, limitOption],
  examples: [
    'edgetable batch sql "select professor, count(*) from course group by professor"',
    "edgetable batch sql \"copy (select * from student) to 'students.csv'\"",
  ],
  run: (call) =>
    withLake(call, async (lake) => {
      printRows(call, await lake.query(call.args[0] ?? ""));
      return exitCode.ok;
    }),
});

interface BulkOptions extends LakeOptions {
  readonly into?: string;
  readonly lists?: "native" | "text";
}

const formats: readonly Analytics.BulkFormat[] = ["neptune-gremlin", "neptune-opencypher", "neo4j"];

const bulkCommand = defineCommand<BulkOptions>({
  name: "bulk",
  arguments: "<format>",
  summary: "Write the lake as CSV files for the bulk loader of Neptune or Neo4j",
  description: `Formats: ${formats.join(", ")}. Prints the command that loads the files.`,
  options: [
    ...lakeOptions,
    { flags: "--into <folder>", text: "an empty or absent folder for the files (default: the format's name)" },
    {
      flags: "--lists <choice>",
      text: "lists and sets as the format's arrays, or as JSON text; Neptune keeps arrays as sets (default: native)",
      choices: ["native", "text"],
    },
  ],
  examples: ["edgetable batch bulk neo4j", "edgetable batch bulk neptune-gremlin --into neptune --lists text"],
  run: (call) =>
    withLake(call, async (lake, module) => {
      const { io, options, args } = call;
      const format = formats.find((one) => one === args[0]);
      if (!format) throw usageError(`There is no format "${args[0] ?? ""}". The formats: ${formats.join(", ")}.`);
      const lists = options.lists === undefined ? {} : { lists: options.lists };
      const report = await module.writeBulk(lake, { into: resolve(io.cwd, options.into ?? format), format, ...lists });
      if (options.json) {
        printJson(call, report);
        return exitCode.ok;
      }
      for (const { path, rows } of report.files) io.out.write(`${path}: ${counted(rows, "row")}\n`);
      if (report.added > 0) note(call, `${counted(report.added, "node")} without an item, named only by edges or parts`);
      if (report.asText.length > 0) note(call, `lists as JSON text: ${report.asText.join(", ")}`);
      note(call, `Load with:\n${report.load}`);
      return exitCode.ok;
    }),
});

interface ReportOptions extends LakeOptions {
  readonly into?: string;
  readonly edges?: string;
  readonly top?: number;
}

const reportCommand = defineCommand<ReportOptions>({
  name: "report",
  summary: "Write a page about the graph: degrees, components, top nodes, and what changed since the last report",
  description:
    "The page is one HTML file that loads nothing. The figures of a run are saved beside it, and the next report in the same folder is compared with them.",
  options: [
    ...lakeOptions,
    { flags: "--into <folder>", text: "folder of the page (default: report)" },
    { flags: "--edges <names>", text: "edge types, separated by commas (default: all)" },
    { flags: "--top <n>", text: "nodes and components in each list, 1 to 100 (default: 15)", parse: wholeNumber(100) },
  ],
  examples: ["edgetable batch extract && edgetable batch report", "edgetable batch report --edges follows --into report/follows"],
  run: (call) =>
    withLake(call, async (lake, module) => {
      const { io, options } = call;
      const progress = createProgress(io);
      let report: Analytics.WrittenReport;
      try {
        report = await module.writeReport(lake, {
          into: resolve(io.cwd, options.into ?? "report"),
          ...(options.edges === undefined ? {} : { edges: options.edges.split(",").map((name) => name.trim()) }),
          ...(options.top === undefined ? {} : { top: options.top }),
          signal: io.signal,
          onProgress: ({ job, round }) => progress.show(`${job}${round === undefined ? "" : `, round ${round}`}`),
        });
      } finally {
        progress.clear();
      }
      if (options.json) {
        printJson(call, report);
        return exitCode.ok;
      }
      const { page, numbers, comparedWith } = report;
      io.out.write(`${page}\n`);
      const since = comparedWith === undefined ? "the first report in its folder" : `compared with the lake of ${comparedWith}`;
      note(call, `${counted(numbers.linked, "node")} with edges in ${counted(numbers.components, "component")}; ${since}`);
      return exitCode.ok;
    }),
});

export const batchCommand: CommandSpec = {
  name: "batch",
  group: "Data:",
  summary: "Extract the whole graph as Parquet and run SQL jobs on DuckDB or Spark",
  commands: [
    extractCommand,
    tablesCommand,
    sqlCommand,
    runCommand,
    deriveCommand,
    validateCommand,
    programCommand,
    bulkCommand,
    reportCommand,
  ],
  examples: ["edgetable batch extract", "edgetable batch run page-rank", 'edgetable batch sql "select count(*) from student"'],
};
