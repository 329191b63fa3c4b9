import { didYouMean } from "edgetable";
import type * as Analytics from "@edgetable/analytics";
import type { Lake, Program, ResultRow } from "@edgetable/analytics";
import { withGraph } from "../connection.ts";
import { exitCode } from "../exit-codes.ts";
import { failureOf, usageError } from "../failure.ts";
import { collect, defineCommand, note, printJson, type CommandSpec, type Invocation } from "../invocation.ts";
import { counted, showUnits } from "../output/explanation.ts";
import { createProgress, type Progress } from "../output/progress.ts";
import { renderRows } from "../output/rows.ts";
import { renderTable } from "../output/table.ts";
import { loadModel, theGraph } from "../model/load-model.ts";
import { wholeNumber } from "../text/whole-number.ts";

// DuckDB takes 70 MB: those who run batch jobs install it.
const analytics = async (): Promise<typeof Analytics> => {
  try {
    return await import("@edgetable/analytics");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") throw error;
    throw usageError(`Batch jobs need a package of their own: npm install @edgetable/analytics (${failureOf(error).message})`);
  }
};

interface LakeOptions {
  readonly lake?: string;
  readonly memory?: string;
  readonly threads?: number;
}

const lakeOptions = [
  { flags: "--lake <folder>", text: "the folder of the Parquet files (default: lake)" },
  { flags: "--memory <size>", text: "memory of DuckDB, such as 4GB; beyond it, it spills to disk (default: 2GB)" },
  { flags: "--threads <n>", text: "threads of the engine, 1 to 256", parse: wholeNumber(256) },
] as const;

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

interface ExtractOptions extends LakeOptions {
  readonly export?: string;
  readonly increment?: readonly string[];
  readonly segments?: number;
  readonly units?: number;
  readonly unfit?: "refuse" | "null";
}

const extractFrom = async (
  call: Invocation<ExtractOptions>,
  source: Analytics.Scannable,
  progress: Progress,
): Promise<Analytics.ExtractReport> => {
  const { options, io } = call;
  const { extract } = await analytics();
  return extract(source, {
    into: options.lake ?? "lake",
    ...limitsOf(options),
    ...(options.segments === undefined ? {} : { segments: options.segments }),
    ...(options.units === undefined ? {} : { unitsPerSecond: options.units }),
    ...(options.unfit === undefined ? {} : { unfit: options.unfit }),
    signal: io.signal,
    onProgress: ({ rows, scan }) => progress.show(`${counted(rows, "row")}, ${showUnits(scan.cost.readUnits)}`),
  });
};

const extractCommand = defineCommand<ExtractOptions>({
  name: "extract",
  summary: "Write the whole table as typed Parquet, one folder for each node, edge and part",
  description:
    "Reads the live table by a Scan, at half a read unit for each 4 KB, or DynamoDB's own export to S3 as it lies in a folder, at no cost. An interrupted extraction goes on where it stood. An older lake is replaced once the new one is complete.",
  options: [
    ...lakeOptions,
    { flags: "--export <folder>", text: "read this export (DynamoDB JSON or Ion) in place of the table" },
    { flags: "--increment <folder>", text: "an incremental export on top of it; may be repeated", parse: collect },
    { flags: "--segments <n>", text: "parts of the table to read side by side (default: 4)", parse: wholeNumber(1_000_000) },
    { flags: "--units <n>", text: "read units a second that the Scan may take", parse: wholeNumber(10_000_000) },
    {
      flags: "--unfit <choice>",
      text: "what becomes of values that do not fit their column (default: refuse)",
      choices: ["refuse", "null"],
    },
  ],
  examples: [
    "edgetable batch extract --lake lake --units 200",
    "edgetable batch extract --export AWSDynamoDB/01693685827463-2d8752fd",
    "edgetable batch extract --export full --increment monday --increment tuesday",
  ],
  run: async (call) => {
    const { options, io } = call;
    const progress = createProgress(io);
    const read = async (): Promise<Analytics.ExtractReport> => {
      if (options.export === undefined) return withGraph(call, (db) => extractFrom(call, db, progress));
      const { connectExport } = await analytics();
      const graph = theGraph(await loadModel(options.model, io.cwd));
      const source = await connectExport(graph, options.export, {
        ...limitsOf(options),
        increments: options.increment ?? [],
        onProgress: (items) => progress.show(`${counted(items, "item")} of the export read`),
      });
      try {
        return await extractFrom(call, source, progress);
      } finally {
        await source.close();
      }
    };
    const report = await read().finally(() => progress.clear());
    if (call.options.json) printJson(call, report);
    else {
      const rows = report.tables.map(({ name, kind, rows: all }) => [name, kind, String(all)]);
      io.out.write(renderTable({ columns: [{ title: "table" }, { title: "kind" }, { title: "rows" }], rows }, io.out.columns, call.style));
      const unfit = Object.entries(report.unfit).map(
        ([place, values]) => `${counted(values, "value")} of ${place} did not fit and are null`,
      );
      note(call, [`${report.resumed ? "Resumed; " : ""}${showUnits(report.scan.cost.readUnits)}`, ...unfit].join("; "));
    }
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
      if (call.options.json) printJson(call, tables);
      else {
        const rows = tables.flatMap(({ name, rows: all, columns }) =>
          columns.map((column, at) => [
            at === 0 ? name : "",
            at === 0 ? String(all) : "",
            column.name,
            column.type,
            column.attribute ?? "",
          ]),
        );
        const columns = [{ title: "table" }, { title: "rows" }, { title: "column" }, { title: "type" }, { title: "attribute" }];
        call.io.out.write(renderTable({ columns, rows }, call.io.out.columns, call.style));
      }
      return exitCode.ok;
    }),
});

/** The rows that a person reads; `--limit` has no say over `--json`. */
const show = (call: Invocation<{ readonly limit?: number }>, rows: readonly ResultRow[]): void => {
  if (call.options.json) return printJson(call, rows);
  const most = call.options.limit ?? 20;
  const first = Object.keys(rows[0] ?? {});
  call.io.out.write(renderRows(rows.slice(0, most), { columns: call.io.out.columns, style: call.style, first, ids: new Set() }));
  if (rows.length > most) note(call, `The first ${most} of ${counted(rows.length, "row")}; --limit shows more, --json all.`);
};

const limitOption = { flags: "--limit <n>", text: "rows to show (default: 20)", parse: wholeNumber(1_000_000) } as const;

const sqlCommand = defineCommand<LakeOptions & { readonly limit?: number }>({
  name: "sql",
  arguments: "<statement>",
  summary: "Run a statement of your own over the lake's tables, on DuckDB",
  options: [...lakeOptions, limitOption],
  examples: [
    'edgetable batch sql "select professor, count(*) from course group by professor"',
    "edgetable batch sql \"copy (select * from student) to 'students.csv'\"",
  ],
  run: (call) =>
    withLake(call, async (lake) => {
      show(call, await lake.query(call.args[0] ?? ""));
      return exitCode.ok;
    }),
});

interface JobOptions extends LakeOptions {
  readonly limit?: number;
  readonly engine?: "duckdb" | "spark";
  readonly edges?: string;
  readonly rounds?: number;
  readonly damping?: number;
  readonly k?: number;
  readonly from?: string;
  readonly direction?: "out" | "in" | "both";
  readonly atMost?: number;
  readonly atLeast?: number;
  readonly degreeAtMost?: number;
  readonly top?: number;
  readonly node?: string;
  readonly sum?: string;
  readonly along?: string;
  readonly edge?: string;
  readonly weight?: string;
  readonly times?: string;
  readonly at?: "source" | "target";
  readonly of?: string;
  readonly by?: string;
  readonly per?: string;
}

type Setting = Exclude<keyof JobOptions, keyof LakeOptions | "limit" | "engine">;

interface JobSpec {
  readonly what: string;
  readonly needs: readonly Setting[];
  readonly takes: readonly Setting[];
  readonly build: (module: typeof Analytics, lake: Lake, options: JobOptions & Readonly<Record<Setting, never>>) => Program;
}

const given = <Name extends Setting>(options: JobOptions, names: readonly Name[]): { readonly [One in Name]?: never } =>
  Object.fromEntries(names.flatMap((name) => (options[name] === undefined ? [] : [[name, options[name]]]))) as never;

const edgesOf = ({ edges }: JobOptions): { readonly edges?: readonly string[] } => (edges === undefined ? {} : { edges: edges.split(",") });

const chainOf = (text: string): readonly Analytics.ChainHop[] =>
  text.split(",").map((hop) => {
    const [edge = "", direction = "out"] = hop.split(":");
    if (direction !== "out" && direction !== "in") throw usageError(`"${hop}" must be an edge, or an edge with :in.`);
    return { edge, direction };
  });

const timesOf = (text: string | undefined): { readonly times?: { readonly node: string; readonly attribute: string } } => {
  if (text === undefined) return {};
  const [node = "", attribute = ""] = text.split(".");
  if (node === "" || attribute === "")
    throw usageError(`--times takes a node type and its attribute, such as course.credits; it is "${text}".`);
  return { times: { node, attribute } };
};

const jobs: Readonly<Record<string, JobSpec>> = {
  degrees: {
    what: "edges of each node",
    needs: [],
    takes: ["edges"],
    build: ({ degrees }, lake, options) => degrees(lake, edgesOf(options)),
  },
  "page-rank": {
    what: "which nodes the others lead to",
    needs: [],
    takes: ["edges", "rounds", "damping"],
    build: ({ pageRank }, lake, options) => pageRank(lake, { ...edgesOf(options), ...given(options, ["rounds", "damping"]) }),
  },
  components: {
    what: "which nodes are connected",
    needs: [],
    takes: ["edges"],
    build: ({ components }, lake, options) => components(lake, edgesOf(options)),
  },
  triangles: {
    what: "triangles through each node",
    needs: [],
    takes: ["edges"],
    build: ({ triangles }, lake, options) => triangles(lake, edgesOf(options)),
  },
  "k-core": {
    what: "nodes that keep k neighbours among themselves",
    needs: ["k"],
    takes: ["edges"],
    build: ({ kCore }, lake, options) => kCore(lake, { ...edgesOf(options), k: options.k }),
  },
  hops: {
    what: "the least number of hops from a set of nodes",
    needs: ["from"],
    takes: ["edges", "direction", "atMost"],
    build: ({ hops }, lake, options) => hops(lake, { ...edgesOf(options), from: options.from, ...given(options, ["direction", "atMost"]) }),
  },
  "common-neighbours": {
    what: "pairs of nodes and how many targets they share",
    needs: [],
    takes: ["edges", "atLeast", "degreeAtMost"],
    build: ({ commonNeighbours }, lake, options) =>
      commonNeighbours(lake, { ...edgesOf(options), ...given(options, ["atLeast", "degreeAtMost"]) }),
  },
  recommend: {
    what: "who took this also took",
    needs: [],
    takes: ["edges", "atLeast", "degreeAtMost", "top"],
    build: ({ recommend }, lake, options) =>
      recommend(lake, { ...edgesOf(options), ...given(options, ["atLeast", "degreeAtMost", "top"]) }),
  },
  "roll-up": {
    what: "an attribute summed along a chain of edges",
    needs: ["node", "sum", "along"],
    takes: [],
    build: ({ rollUp }, lake, { node, sum, along }) => rollUp(lake, { node, sum, along: chainOf(along) }),
  },
  "roll-up-hierarchy": {
    what: "an attribute summed over all that lies below a node",
    needs: ["node", "sum", "edge"],
    takes: ["direction"],
    build: ({ rollUpHierarchy }, lake, options) =>
      rollUpHierarchy(lake, { node: options.node, sum: options.sum, edge: options.edge, ...given(options, ["direction"]) }),
  },
  "weighted-sum": {
    what: "edges' weights summed at one of their ends",
    needs: ["edge"],
    takes: ["weight", "times", "at"],
    build: ({ weightedSum }, lake, options) =>
      weightedSum(lake, { edge: options.edge, ...given(options, ["weight", "at"]), ...timesOf(options.times) }),
  },
  top: {
    what: "the rows with the greatest values, for each group",
    needs: ["of", "by"],
    takes: ["per", "top"],
    build: ({ top }, lake, options) => top(lake, { of: options.of, by: options.by, ...given(options, ["per", "top"]) }),
  },
};

const flagOf = (setting: string): string => `--${setting.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

const settings: readonly Setting[] = [...new Set(Object.values(jobs).flatMap(({ needs, takes }) => [...needs, ...takes]))];

const programOf = ({ args, options }: Invocation<JobOptions>, lake: Lake, module: typeof Analytics): Program => {
  const name = args[0] ?? "";
  const job = Object.hasOwn(jobs, name) ? jobs[name] : undefined;
  if (!job)
    throw usageError(
      `${name === "" ? "Name a job." : `There is no job "${name}".${didYouMean(name, Object.keys(jobs))}`} The jobs: ${Object.keys(jobs).join(", ")}.`,
    );
  const missing = job.needs.filter((setting) => options[setting] === undefined);
  if (missing.length > 0) throw usageError(`The job ${name} needs ${missing.map(flagOf).join(" and ")}.`);
  const idle = settings.filter((setting) => options[setting] !== undefined && !job.needs.includes(setting) && !job.takes.includes(setting));
  if (idle.length > 0)
    throw usageError(
      `The job ${name} does not take ${idle.map(flagOf).join(" or ")}. It takes ${[...job.needs, ...job.takes].map(flagOf).join(", ")}.`,
    );
  return job.build(module, lake, options as never);
};

const share = (text: string): number => {
  const value = Number(text);
  if (text.trim() !== "" && value >= 0 && value <= 1) return value;
  throw usageError("It must be a number from 0 to 1.");
};

const many = wholeNumber(1_000_000);

const jobOptions = [
  ...lakeOptions,
  { flags: "--edges <names>", text: "edge types to walk, with commas between (default: all)" },
  { flags: "--rounds <n>", text: "page-rank: rounds (default: 20)", parse: wholeNumber(1000) },
  { flags: "--damping <share>", text: "page-rank: the share of a rank that follows edges (default: 0.85)", parse: share },
  { flags: "--k <n>", text: "k-core: neighbours that each node must keep", parse: many },
  { flags: "--from <select>", text: "hops: a SELECT of the first nodes, in a column node" },
  {
    flags: "--direction <way>",
    text: "hops, roll-up-hierarchy: which way edges are followed (default: out)",
    choices: ["out", "in", "both"],
  },
  { flags: "--at-most <n>", text: "hops: hops at most (default: 1000)", parse: wholeNumber(1000) },
  { flags: "--at-least <n>", text: "common-neighbours, recommend: what two nodes must share (default: 2)", parse: many },
  { flags: "--degree-at-most <n>", text: "common-neighbours, recommend: leave out nodes of more edges (default: 1000)", parse: many },
  { flags: "--top <n>", text: "recommend, top: rows for each (default: 10)", parse: wholeNumber(10_000) },
  { flags: "--node <type>", text: "roll-up: the node type whose attribute is summed" },
  { flags: "--sum <attribute>", text: "roll-up: the attribute" },
  { flags: "--along <edges>", text: "roll-up: the edges to follow in order, such as billOf,owes:in" },
  { flags: "--edge <name>", text: "weighted-sum, roll-up-hierarchy: the edge type" },
  { flags: "--weight <attribute>", text: "weighted-sum: the edge's weight (default: 1)" },
  { flags: "--times <node.attribute>", text: "weighted-sum: what the weight is multiplied by" },
  { flags: "--at <end>", text: "weighted-sum: the end that gets the sum (default: source)", choices: ["source", "target"] },
  { flags: "--of <name>", text: "top: a node, edge or part" },
  { flags: "--by <attribute>", text: "top: what rows are ranked by" },
  { flags: "--per <attribute>", text: "top: a group of rows for each value of it" },
] as const;

const runCommand = defineCommand<JobOptions>({
  name: "run",
  arguments: "[job]",
  summary: "Run a job over the lake, on DuckDB or Spark",
  description: `Jobs:\n${Object.entries(jobs)
    .map(([name, { what }]) => `  ${name.padEnd(18)} ${what}`)
    .join("\n")}\n\nThe same SQL runs on both engines. Spark needs Python with pyspark 4 (EDGETABLE_PYTHON) and Java 17.`,
  options: [
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
      const program = programOf(call, lake, module);
      const progress = createProgress(io);
      const onProgress = ({ steps, round }: Analytics.ProgramProgress): void =>
        progress.show(`${program.job}: step ${steps}${round === undefined ? "" : `, round ${round}`}`);
      const run = async (): Promise<readonly ResultRow[]> => {
        if (options.engine !== "spark") return lake.run(program, { onProgress, signal: io.signal });
        const threads = options.threads === undefined ? {} : { threads: options.threads };
        const [rows = []] = await module.runOnSpark(lake.folder, [program], { onProgress, signal: io.signal, ...threads });
        return rows;
      };
      const rows = await run().finally(() => progress.clear());
      show(call, rows);
      if (!options.json) note(call, program.what);
      return exitCode.ok;
    }),
});

const programCommand = defineCommand<JobOptions>({
  name: "program",
  arguments: "[job]",
  summary: "Print a job as JSON, for spark-submit on a cluster",
  description:
    "The driver that runs it is node_modules/@edgetable/analytics/spark/driver.py; it needs the lake's folder where Spark can read it, such as S3.",
  options: jobOptions,
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
  summary: "The whole graph in SQL: extract it as Parquet, run jobs on DuckDB or Spark",
  commands: [extractCommand, tablesCommand, sqlCommand, runCommand, programCommand],
  examples: ["edgetable batch extract", "edgetable batch run page-rank", 'edgetable batch sql "select count(*) from student"'],
};
