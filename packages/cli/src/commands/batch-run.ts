import { createHash } from "node:crypto";
import { join, resolve } from "node:path";
import type * as Analytics from "@edgetable/analytics";
import type { Lake, Program, ResultRow } from "@edgetable/analytics";
import { beginRecord, RECORDED_ROWS } from "../batch-record.ts";
import { type UntypedDb, withGraph } from "../connection.ts";
import { type ExitCode, exitCode } from "../exit-codes.ts";
import { usageError } from "../failure.ts";
import { collect, defineCommand, note, printJson, resumable, wholeNumber, type CommandSpec, type Invocation } from "../invocation.ts";
import { loadModel, theGraph } from "../model.ts";
import { counted } from "../output/explanation.ts";
import { createProgress } from "../output/terminal.ts";
import { givenSettings, jobOptions, jobsHelp, parseShare, programOf, type JobOptions } from "./batch-jobs.ts";
import { lakeOptions, type LakeOptions, limitOption, plainIntegers, printRows, withLake } from "./batch-lake.ts";

/** Options of a command that writes results to the table or to a file. */
export interface ResultOptions extends LakeOptions {
  readonly set?: readonly string[];
  readonly out?: string;
  readonly job?: string;
  readonly units?: number;
  readonly tolerance?: number;
  readonly given?: "version" | "value";
  readonly absent?: "keep" | "remove";
}

const resultOptions = [
  {
    flags: "--set <attribute>",
    text: "write a column of the result onto nodes, edges or parts: page.rank, or page.rank=column; can be repeated",
    parse: collect,
  },
  { flags: "--out <file>", text: "write the result to a file instead: .parquet, .csv or .jsonl" },
  { flags: "--job <name>", text: "with --set: name of the job in the table (default: write-back)" },
  { flags: "--units <n>", text: "with --set: write units per second that it may consume (default: 100)", parse: wholeNumber(10_000_000) },
  {
    flags: "--tolerance <share>",
    text: "with --set: numbers that differ by at most this share are unchanged (default: 0)",
    parse: parseShare,
  },
  {
    flags: "--given <condition>",
    text: "with --set: write if the item still has the extracted version, or the extracted value (default: version where the model keeps one)",
    choices: ["version", "value"],
  },
  {
    flags: "--absent <choice>",
    text: "with --set: what to do with the values of items without a result (default: keep)",
    choices: ["keep", "remove"],
  },
] as const;

/** `page.rank=column` as what a write-back takes. */
const targetsOf = (given: readonly string[]): Analytics.Targets => {
  const to: Record<string, Record<string, string>> = {};
  for (const text of given) {
    const [, definition, attribute, column] = /^([^.=]+)\.([^=]+?)(?:=(.+))?$/.exec(text) ?? [];
    if (definition === undefined || attribute === undefined)
      throw usageError(`--set needs an attribute of a node, edge or part, such as page.rank or page.rank=column; it is "${text}".`);
    (to[definition] ??= {})[attribute] = column ?? attribute;
  }
  return to;
};

type Settings = Required<Pick<Analytics.WriteBackOptions, "signal" | "onProgress">>;

/** Writes results to the table, and tells and records what was written. */
const writeToTable = (
  call: Invocation<ResultOptions>,
  record: ReturnType<typeof beginRecord>,
  write: (db: UntypedDb, settings: Settings) => Promise<Analytics.WriteBackReport>,
): Promise<ExitCode> =>
  withGraph(call, async (db) => {
    const { io, options } = call;
    const progress = createProgress(io);
    let report: Analytics.WriteBackReport;
    try {
      const onProgress: Settings["onProgress"] = ({ done, changes }) => progress.show(`${done} of ${counted(changes, "change")}`);
      report = await resumable(call, () => write(db, { signal: io.signal, onProgress }));
    } finally {
      progress.clear();
    }
    record({ kind: "written", report });
    if (options.json) {
      printJson(call, report);
      return exitCode.ok;
    }
    io.out.write(`${counted(report.written, "item")} written, ${report.already} already up to date, ${report.skipped} skipped\n`);
    for (const { definition, item, reason } of report.skippedItems.slice(0, 10))
      note(call, `skipped: ${definition} ${Object.values(item).map(String).join(" > ")} (${reason})`);
    const units = `${report.writeUnits} WCU${report.resumed ? "; resumed" : ""}`;
    note(call, `${counted(report.matched, "result")}, ${counted(report.changes, "change")}; ${units}`);
    return exitCode.ok;
  });

/** The options of a write-back that the command line names. */
const writeBackOptions = ({ set = [], job, units, tolerance, given, absent }: ResultOptions): Analytics.WriteBackOptions => ({
  to: targetsOf(set),
  ...(job === undefined ? {} : { job }),
  ...(units === undefined ? {} : { unitsPerSecond: units }),
  ...(tolerance === undefined ? {} : { tolerance }),
  ...(given === undefined ? {} : { given }),
  ...(absent === undefined ? {} : { absent }),
});

interface RunOptions extends ResultOptions, JobOptions {
  readonly limit?: number;
  readonly engine?: "duckdb" | "spark";
}

type RunSettings = Pick<Analytics.SparkOptions, "onProgress" | "signal" | "threads">;

/** Runs a program and shows its progress. */
const watched = async (
  { io, options }: Invocation<RunOptions>,
  program: Program,
  run: (settings: RunSettings) => Promise<readonly ResultRow[]>,
): Promise<readonly ResultRow[]> => {
  const progress = createProgress(io);
  const onProgress = ({ steps, round }: Analytics.ProgramProgress): void =>
    progress.show(`${program.job}: step ${steps}${round === undefined ? "" : `, round ${round}`}`);
  try {
    return await run({ onProgress, signal: io.signal, ...(options.threads === undefined ? {} : { threads: options.threads }) });
  } finally {
    progress.clear();
  }
};

/** Runs a program on Spark, keeps its result next to the lake, and gives the SELECT that reads it. */
const sparkResult = async (
  call: Invocation<RunOptions>,
  { lake, module, program }: { readonly lake: Lake; readonly module: typeof Analytics; readonly program: Program },
): Promise<string> => {
  const name = createHash("sha256").update(JSON.stringify(program)).digest("hex").slice(0, 16);
  const out = join(lake.folder, ".results", name);
  await watched(call, program, async (run) => (await module.runOnSpark(lake.folder, [program], { ...run, out }))[0] ?? []);
  return `select * from read_parquet('${join(out, program.job, "*.parquet").replaceAll("'", "''")}', hive_partitioning = false)`;
};

/** `edgetable batch run`. */
export const runCommand: CommandSpec = defineCommand<RunOptions>({
  name: "run",
  arguments: "[job]",
  summary: "Run a job over the lake, on DuckDB or Spark",
  description: `Jobs:\n${jobsHelp}\n\nBoth engines run the same SQL. Spark needs Python with pyspark 4 (EDGETABLE_PYTHON) and Java 17.`,
  options: [
    ...lakeOptions,
    ...jobOptions,
    { flags: "--engine <name>", text: "duckdb in this process, or a local Spark (default: duckdb)", choices: ["duckdb", "spark"] },
    limitOption,
    ...resultOptions,
  ],
  examples: [
    "edgetable batch run page-rank --edges follows",
    "edgetable batch run page-rank --edges follows --set person.rank --tolerance 0.001 --units 200",
    "edgetable batch run components --out components.parquet",
    "edgetable batch run recommend --edges enrolledIn --top 5",
    "edgetable batch run roll-up --node bill --sum cents --along billOf,owes:in",
    "edgetable batch run components --engine spark --json > components.json",
  ],
  run: (call) =>
    withLake(call, async (lake, module) => {
      const { options } = call;
      const program = await programOf(call, lake, module);
      if (options.set && options.out !== undefined) throw usageError("Give either --set or --out.");
      const { engine = "duckdb" } = options;
      const onSpark = engine === "spark";
      const { what } = program;
      const record = beginRecord(call, lake, { job: call.args[0] ?? program.job, what, options: givenSettings(options), engine });
      if (options.set || options.out !== undefined) {
        const results = onSpark ? await sparkResult(call, { lake, module, program }) : program;
        if (options.set)
          return writeToTable(call, record, (db, settings) =>
            module.writeBack(db, lake, results, { ...writeBackOptions(options), ...settings }),
          );
        const file = resolve(call.io.cwd, options.out ?? "");
        const rows = await module.saveResults(lake, results, file);
        record({ kind: "file", count: rows, file });
        if (options.json) printJson(call, { file: options.out, rows });
        else call.io.out.write(`${counted(rows, "row")} written to ${options.out}\n`);
        return exitCode.ok;
      }
      const rows = await watched(call, program, (run) =>
        onSpark ? module.runOnSpark(lake.folder, [program], run).then(([first]) => first ?? []) : lake.run(program, run),
      );
      record({ kind: "rows", count: rows.length, rows: rows.slice(0, RECORDED_ROWS).map(plainIntegers) });
      printRows(call, rows);
      if (!options.json) note(call, what);
      return exitCode.ok;
    }),
});

/** `edgetable batch program`. */
export const programCommand: CommandSpec = defineCommand<LakeOptions & JobOptions>({
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
      printJson(call, await programOf(call, lake, module));
      return exitCode.ok;
    }),
});

/** `edgetable batch derive`. */
export const deriveCommand: CommandSpec = defineCommand<LakeOptions & Pick<ResultOptions, "units" | "job">>({
  name: "derive",
  summary: 'Compute derived attributes declared with freshness "batch", and write those that changed',
  description: "Writes an attribute only if it still has the value that was extracted. The same command resumes an interrupted run.",
  options: [
    ...lakeOptions,
    { flags: "--job <name>", text: "name of the job in the table (default: derived)" },
    { flags: "--units <n>", text: "write units per second that it may consume (default: 100)", parse: wholeNumber(10_000_000) },
  ],
  examples: ["edgetable batch extract && edgetable batch derive", "edgetable batch derive --units 500"],
  run: (call) =>
    withLake(call, (lake, module) => {
      const { units, job } = call.options;
      const run = { job: "derive", what: "Derived attributes that changed, written to the table.", options: "", engine: "duckdb" } as const;
      return writeToTable(call, beginRecord(call, lake, run), (db, settings) =>
        module.derive(db, lake, {
          ...settings,
          ...(job === undefined ? {} : { job }),
          ...(units === undefined ? {} : { unitsPerSecond: units }),
        }),
      );
    }),
});

/** `edgetable batch validate`. */
export const validateCommand: CommandSpec = defineCommand<LakeOptions & { readonly examples?: number }>({
  name: "validate",
  summary: "Recompute from the lake what transactions and streams keep, and report differences",
  description:
    "Checks derived attributes, copies, the ends of edges, and unique values, without a request to the table. In a lake from a live table, rows written during the scan may differ too; edgetable verify judges those. Exit code 1 if anything is wrong.",
  options: [...lakeOptions, { flags: "--examples <n>", text: "examples of each kind (default: 10)", parse: wholeNumber(100_000) }],
  examples: ["edgetable batch validate", "edgetable batch validate --lake lake --json"],
  run: (call) =>
    withLake(call, async (lake, module) => {
      const { io, options } = call;
      const { catalog } = theGraph(await loadModel(options.model, io.cwd));
      const run = { job: "validate", what: "Differences between stored values and those that follow from other rows.", options: "" };
      const record = beginRecord(call, lake, { ...run, engine: "duckdb" });
      const report = await module.validate(lake, catalog, options.examples === undefined ? {} : { examples: options.examples });
      record({ kind: "validation", report });
      if (options.json) printJson(call, report);
      else {
        for (const { what, count, examples } of report.kinds) {
          io.out.write(`${count} × ${what}\n`);
          for (const { definition, item, reason } of examples)
            io.out.write(`  ${definition} ${Object.values(item).map(String).join(" > ")}: ${reason}\n`);
        }
        note(call, `${counted(report.rows, "row")}: ${report.clean ? "nothing is wrong" : "some of them are wrong"}`);
      }
      return report.clean ? exitCode.ok : exitCode.no;
    }),
});
