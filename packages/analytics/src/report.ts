import { access, mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { parquet } from "./duckdb.ts";
import { components, degrees, pageRank, wholeNumber } from "./jobs/graph-jobs.ts";
import { type Lake, readLakeFile, type ResultRow, type RunProgramOptions } from "./lake.ts";
import type { ReportData, ReportedNode, ReportNumbers } from "./report-page.ts";
import { saveResults } from "./write-back/write-back.ts";

/** Where a report goes and what it is about. */
export interface ReportOptions extends RunProgramOptions {
  /** The folder of the page. The figures of a run stay beside it, and the next run compares itself with them. */
  readonly into: string;
  /** Names of edge types. @default every edge type of the model */
  readonly edges?: readonly string[];
  /** Nodes and components in each list, 1 to 100. @default 15 */
  readonly top?: number;
}

/** A report that was written. */
export interface WrittenReport {
  /** The page: one file, which loads nothing. */
  readonly page: string;
  readonly numbers: ReportNumbers;
  /** When the lake of the compared run was extracted; undefined for the first report in its folder. */
  readonly comparedWith: string | undefined;
}

const PAGE = "index.html";
const SUMMARY = "summary.json";
const NODES = "nodes.parquet";

/** The figures of a run that the next one is compared with. */
interface Summary {
  readonly version: 1;
  readonly table: string;
  /** The edge types that it is about; undefined for all. */
  readonly edges: readonly string[] | undefined;
  readonly extractedAt: string;
  readonly numbers: ReportNumbers;
  readonly rows: Readonly<Record<string, number>>;
}

/** The run before in the same folder, of the same table and edges; undefined if there is none to compare with. */
const readSummary = async (folder: string, table: string, edges: readonly string[] | undefined): Promise<Summary | undefined> => {
  try {
    const summary = JSON.parse(await readFile(join(folder, SUMMARY), "utf8")) as Summary;
    if (summary.version !== 1 || summary.table !== table || summary.edges?.join() !== edges?.join()) return undefined;
    if (summary.numbers.linked > 0) await access(join(folder, NODES));
    return summary;
  } catch {
    // The first report, or files that somebody else changed.
    return undefined;
  }
};

const numberIn = (row: ResultRow | undefined, name: string): number => Number(row?.[name] ?? 0);

const histogram = async (lake: Lake, column: "in_degree" | "out_degree"): Promise<ReportData["degrees"]["in"]> => {
  const rows = await lake.query(
    `select ${column} as degree, count(*) as nodes from degrees where ${column} > 0 group by ${column} order by 1`,
  );
  return rows.map((row) => ({ degree: numberIn(row, "degree"), nodes: numberIn(row, "nodes") }));
};

const nodeOf = (row: ResultRow): ReportedNode => ({
  node: String(row["node"]),
  degree: numberIn(row, "degree"),
  rank: numberIn(row, "rank"),
  place: numberIn(row, "place"),
  ...(row["degree_before"] === undefined || row["degree_before"] === null ? {} : { degreeBefore: numberIn(row, "degree_before") }),
  ...(row["place_before"] === undefined || row["place_before"] === null ? {} : { placeBefore: numberIn(row, "place_before") }),
});

// What a report shows of each node, in one table: `report_nodes`.
const REPORT_NODES = `select degrees.node, degrees.degree, ranks.rank, components.component,
  row_number() over (order by ranks.rank desc, degrees.node) as place
  from degrees join ranks on ranks.node = degrees.node join components on components.node = degrees.node`;

/** The rows of each table, the distribution of degrees, components and top nodes; with what changed since the run before. */
const collectData = async (lake: Lake, folder: string, { edges, top: given = 15, ...run }: ReportOptions): Promise<ReportData> => {
  const top = wholeNumber("top", given, [1, 100]);
  const file = await readLakeFile(lake.folder);
  const before = await readSummary(folder, file.table, edges);
  const rowsOf = (kind: string): number => lake.tables.reduce((sum, table) => sum + (table.kind === kind ? table.rows : 0), 0);
  const counts = { nodes: rowsOf("node"), edges: rowsOf("edge"), parts: rowsOf("part") };
  const tables = lake.tables.map(({ name, kind, rows }) => ({ name, kind, rows, rowsBefore: before?.rows[name] }));
  const base = {
    table: file.table,
    extractedAt: file.extractedAt,
    comparedWith: before?.extractedAt,
    numbersBefore: before?.numbers,
    tables,
  };
  if (!lake.tables.some(({ kind }) => kind === "edge"))
    return {
      ...base,
      numbers: { ...counts, linked: 0, components: 0, largest: 0 },
      degrees: { in: [], out: [] },
      components: [],
      top: [],
      changes: undefined,
    };
  const chosen = edges ? { edges } : {};
  for (const program of [degrees(lake, chosen), pageRank(lake, chosen), components(lake, chosen)]) await lake.compute(program, run);
  await lake.query(`create or replace temp table report_nodes as ${REPORT_NODES}`);
  const sizes = await lake.query("select component, count(*) as nodes from report_nodes group by component order by nodes desc, component");
  const previous = before && before.numbers.linked > 0 ? parquet(join(folder, NODES)) : undefined;
  const joined = previous
    ? `select now.*, old.degree as degree_before, old.place as place_before from report_nodes as now left join ${previous} as old on old.node = now.node`
    : "select * from report_nodes";
  const highest = await lake.query(`select * from (${joined}) as shown order by place limit ${top}`);
  const numbers: ReportNumbers = {
    ...counts,
    linked: sizes.reduce((sum, row) => sum + numberIn(row, "nodes"), 0),
    components: sizes.length,
    largest: numberIn(sizes[0], "nodes"),
  };
  return {
    ...base,
    numbers,
    degrees: { in: await histogram(lake, "in_degree"), out: await histogram(lake, "out_degree") },
    components: sizes.slice(0, top).map((row) => ({ component: String(row["component"]), nodes: numberIn(row, "nodes") })),
    top: highest.map(nodeOf),
    changes: previous === undefined ? undefined : await changesSince(lake, previous, top),
  };
};

const changesSince = async (lake: Lake, previous: string, top: number): Promise<NonNullable<ReportData["changes"]>> => {
  const both = `select coalesce(now.node, old.node) as node, now.degree as degree, now.rank as rank, now.place as place,
    old.degree as degree_before, old.place as place_before from report_nodes as now full join ${previous} as old on old.node = now.node`;
  const [counts] =
    await lake.query(`select count(*) filter (where degree_before is null) as added, count(*) filter (where degree is null) as gone,
    count(*) filter (where degree <> degree_before) as changed from (${both}) as both_runs`);
  const moved = await lake.query(`select * from (${both}) as both_runs where coalesce(degree, 0) <> coalesce(degree_before, 0)
    order by abs(coalesce(degree, 0) - coalesce(degree_before, 0)) desc, node limit ${top}`);
  return {
    added: numberIn(counts, "added"),
    gone: numberIn(counts, "gone"),
    changed: numberIn(counts, "changed"),
    moved: moved.map((row) => ({ ...nodeOf(row), degreeBefore: numberIn(row, "degree_before") })),
  };
};

/**
 * Writes a page about a lake's graph: the distribution of degrees, the largest components, the nodes with the highest
 * PageRank, and what changed since the last report in the same folder. The page is one file of HTML, which loads nothing.
 *
 * @throws {analytics.lake} for an edge type that the lake does not have
 * @throws {plan.invalidOption} for `top` beyond its range
 * @throws {execute.aborted} if the signal aborts, between two steps
 * @example
 * const { page } = await writeReport(lake, { into: "report" });
 */
export const writeReport = async (lake: Lake, options: ReportOptions): Promise<WrittenReport> => {
  const folder = resolve(options.into);
  const data = await collectData(lake, folder, options);
  const { renderReport } = await import("./report-page.ts");
  const page = renderReport(data);
  await mkdir(folder, { recursive: true });
  const put = async (name: string, write: (path: string) => Promise<unknown>): Promise<void> => {
    const next = join(folder, `.next-${name}`);
    await write(next);
    await rename(next, join(folder, name));
  };
  const { table, extractedAt, numbers, tables, comparedWith } = data;
  const rows = Object.fromEntries(tables.map((one) => [one.name, one.rows]));
  const summary: Summary = { version: 1, table, edges: options.edges, extractedAt, numbers, rows };
  if (data.numbers.linked > 0)
    await put(NODES, (path) => saveResults(lake, "select node, degree, rank, place, component from report_nodes", path));
  await put(SUMMARY, (path) => writeFile(path, `${JSON.stringify(summary, null, 2)}\n`));
  await put(PAGE, (path) => writeFile(path, page));
  return { page: join(folder, PAGE), numbers, comparedWith };
};
