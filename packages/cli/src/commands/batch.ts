import type * as Analytics from "@edgetable/analytics";
import type { Lake, ResultRow } from "@edgetable/analytics";
import { withGraph } from "../connection.ts";
import { exitCode } from "../exit-codes.ts";
import { failureOf, usageError } from "../failure.ts";
import { collect, defineCommand, note, printJson, wholeNumber, type CommandSpec, type Invocation } from "../invocation.ts";
import { loadModel, theGraph } from "../model.ts";
import { counted, showUnits } from "../output/explanation.ts";
import { renderRows, renderTable } from "../output/table.ts";
import { createProgress } from "../output/terminal.ts";
import { jobOptions, jobsHelp, programOf, type JobOptions } from "./batch-jobs.ts";

// DuckDB takes 70 MB, so it is installed only by those who run batch jobs.
const analytics = async (): Promise<typeof Analytics> => {
  try {
    return await import("@edgetable/analytics");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") throw error;
    throw usageError(`Batch jobs need another package: npm install @edgetable/analytics (${failureOf(error).message})`);
  }
};

interface LakeOptions {
  readonly lake?: string;
  readonly memory?: string;
  readonly threads?: number;
}

const lakeOptions = [
  { flags: "--lake <folder>", text: "folder of the Parquet files (default: lake)" },
  { flags: "--memory <size>", text: "memory limit of DuckDB, such as 4GB; beyond it, DuckDB spills to disk (default: 2GB)" },
  { flags: "--threads <n>", text: "threads of the engine, 1 to 256", parse: wholeNumber(256) },
] as const;

const limitOption = { flags: "--limit <n>", text: "rows to show (default: 20)", parse: wholeNumber(1_000_000) } as const;

const limitsOf = ({ memory, threads }: LakeOptions): Analytics.EngineLimits => ({
  ...(memory === undefined ? {} : { memoryLimit: memory }),
  ...(threads === undefined ? {} : { threads }),
});

const withLake = async <T>({ options }: Invocation<LakeOptions>, use: (lake: Lake, module: typeof Analytics) => Promise<T>): Promise<T> => {
  const module = await analytics();
  const lake = await module.openLake(options.lake ?? "lake", limitsOf(options));
  try {
    return await use(lake, module);
  } finally {
    lake.close();
  }
};

/** Prints the first rows; with `--json`, all rows. */
const printRows = (call: Invocation<{ readonly limit?: number }>, rows: readonly ResultRow[]): void => {
  if (call.options.json) return printJson(call, rows);
  const limit = call.options.limit ?? 20;
  const first = Object.keys(rows[0] ?? {});
  call.io.out.write(renderRows(rows.slice(0, limit), { columns: call.io.out.columns, style: call.style, first, ids: new Set() }));
  if (rows.length > limit) note(call, `The first ${limit} of ${counted(rows.length, "row")}. Use --limit to show more, or --json for all.`);
};

interface ExtractOptions extends LakeOptions {
  readonly export?: string;
  readonly increment?: readonly string[];
  readonly segments?: number;
  readonly units?: number;
  readonly unfit?: "refuse" | "null";
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
      signal: io.signal,
      onProgress: ({ rows, scan }) => progress.show(`${counted(rows, "row")}, ${showUnits(scan.cost.readUnits)}`),
    });
  try {
    if (options.export === undefined) return await withGraph(call, from);
    const graph = theGraph(await loadModel(options.model, io.cwd));
    const source = await module.connectExport(graph, options.export, {
      ...limitsOf(options),
      increments: options.increment ?? [],
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
    { flags: "--segments <n>", text: "parts of the table to read in parallel (default: 4)", parse: wholeNumber(1_000_000) },
    { flags: "--units <n>", text: "read units per second that the scan may consume (default: no limit)", parse: wholeNumber(10_000_000) },
    {
      flags: "--unfit <choice>",
      text: "how to treat values that do not fit their column (default: refuse)",
      choices: ["refuse", "null"],
    },
  ],
  examples: [
    "edgetable batch extract --lake lake --units 200",
    "edgetable batch extract --export AWSDynamoDB/01693685827463-2d8752fd",
    "edgetable batch extract --export full --increment monday --increment tuesday",
  ],
  run: async (call) => {
    const { io, options, style } = call;
    const report = await extract(call);
    if (options.json) {
      printJson(call, report);
      return exitCode.ok;
    }
    const rows = report.tables.map((table) => [table.name, table.kind, String(table.rows)]);
    io.out.write(renderTable({ columns: [{ title: "table" }, { title: "kind" }, { title: "rows" }], rows }, io.out.columns, style));
    const notes = [`${report.resumed ? "Resumed; " : ""}${showUnits(report.scan.cost.readUnits)}`];
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

interface RunOptions extends LakeOptions, JobOptions {
  readonly limit?: number;
  readonly engine?: "duckdb" | "spark";
}

const runCommand = defineCommand<RunOptions>({
  name: "run",
  arguments: "[job]",
  summary: "Run a job over the lake, on DuckDB or Spark",
  description: `Jobs:\n${jobsHelp}\n\nBoth engines run the same SQL. Spark needs Python with pyspark 4 (EDGETABLE_PYTHON) and Java 17.`,
  options: [
    ...lakeOptions,
    ...jobOptions,
    { flags: "--engine <name>", text: "duckdb in this process, or a local Spark (default: duckdb)", choices: ["duckdb", "spark"] },
    limitOption,
  ],
  examples: [
    "edgetable batch run page-rank --edges follows",
    "edgetable batch run recommend --edges enrolledIn --top 5",
    "edgetable batch run roll-up --node bill --sum cents --along billOf,owes:in",
    "edgetable batch run components --engine spark --json > components.json",
  ],
  run: (call) =>
    withLake(call, async (lake, module) => {
      const { io, options } = call;
      const { signal } = io;
      const program = programOf(call, lake, module);
      const progress = createProgress(io);
      const onProgress = ({ steps, round }: Analytics.ProgramProgress): void =>
        progress.show(`${program.job}: step ${steps}${round === undefined ? "" : `, round ${round}`}`);
      let rows: readonly ResultRow[] | undefined;
      try {
        const { threads } = options;
        if (options.engine !== "spark") rows = await lake.run(program, { onProgress, signal });
        else
          [rows] = await module.runOnSpark(lake.folder, [program], { onProgress, signal, ...(threads === undefined ? {} : { threads }) });
      } finally {
        progress.clear();
      }
      printRows(call, rows ?? []);
      if (!options.json) note(call, program.what);
      return exitCode.ok;
    }),
});

const programCommand = defineCommand<LakeOptions & JobOptions>({
  name: "program",
  arguments: "[job]",
  summary: "Print a job as JSON, for spark-submit on a cluster",
  description:
    "The driver node_modules/@edgetable/analytics/spark/driver.py runs it. Spark must be able to read the lake's folder, for example on S3.",
  options: [...lakeOptions, ...jobOptions],
  examples: [
    "edgetable batch program page-rank --edges follows > page-rank.json",
    "spark-submit node_modules/@edgetable/analytics/spark/driver.py --lake s3://bucket/lake --program page-rank.json --out s3://bucket/ranks",
  ],
  run: (call) =>
    withLake(call, async (lake, module) => {
      printJson(call, programOf(call, lake, module));
      return exitCode.ok;
    }),
});

export const batchCommand: CommandSpec = {
  name: "batch",
  group: "Data:",
  summary: "Extract the whole graph as Parquet and run SQL jobs on DuckDB or Spark",
  commands: [extractCommand, tablesCommand, sqlCommand, runCommand, programCommand],
  examples: ["edgetable batch extract", "edgetable batch run page-rank", 'edgetable batch sql "select count(*) from student"'],
};
