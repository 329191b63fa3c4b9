import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { didYouMean, EdgetableError } from "edgetable";
import { literal, openDuckDb, type Database, type EngineLimits } from "./duckdb.ts";
import { lakeFile, lakeVersion, type LakeFile, type StoredTable } from "./lake-file.ts";
import type { Program, Step } from "./program.ts";

export type ResultRow = Readonly<Record<string, unknown>>;

/** How far a program has come. */
export interface ProgramProgress {
  readonly job: string;
  /** Steps done; rounds of a repetition count each. */
  readonly steps: number;
  /** The round of the repetition under way; undefined outside one. */
  readonly round: number | undefined;
}

export interface RunProgramOptions {
  readonly onProgress?: (progress: ProgramProgress) => void;
  readonly signal?: AbortSignal;
}

/** A lake that is open for SQL on DuckDB. */
export interface Lake {
  readonly folder: string;
  readonly tables: readonly StoredTable[];
  /**
   * The rows of a statement, over the lake's tables by their names.
   *
   * @throws {analytics.sql} with the engine's message and the lake's tables
   */
  query(sql: string): Promise<readonly ResultRow[]>;
  /**
   * Runs a program and gives its result.
   *
   * @throws {execute.aborted} when the signal ends it, between two steps
   */
  run(program: Program, options?: RunProgramOptions): Promise<readonly ResultRow[]>;
  close(): void;
}

/**
 * What a lake's file says.
 *
 * @throws {analytics.lake} when the folder holds no lake, or one of another version
 */
export const readLakeFile = async (folder: string): Promise<LakeFile> => {
  const path = join(folder, lakeFile);
  let file: LakeFile;
  try {
    file = JSON.parse(await readFile(path, "utf8")) as LakeFile;
  } catch (cause) {
    throw new EdgetableError("analytics.lake", `There is no lake in ${folder}: ${lakeFile} cannot be read. Make one with extract.`, {
      cause,
      details: { folder },
    });
  }
  if (file.version === lakeVersion) return file;
  throw new EdgetableError(
    "analytics.lake",
    `The lake in ${folder} has version ${file.version}; this release reads ${lakeVersion}. Extract it again.`,
    {
      details: { folder, version: file.version },
    },
  );
};

/** A table of the lake by its name in SQL or in the model. */
export const tableOf = ({ tables }: { readonly tables: readonly StoredTable[] }, name: string, kind?: StoredTable["kind"]): StoredTable => {
  const found = tables.find((table) => (table.name === name || table.definition === name) && (kind === undefined || table.kind === kind));
  if (found) return found;
  const names = tables.filter((table) => kind === undefined || table.kind === kind).map(({ definition }) => definition);
  throw new EdgetableError(
    "analytics.lake",
    `The lake has no ${kind ?? "table"} "${name}".${didYouMean(name, names)} It has ${names.join(", ") || "none"}.`,
    {
      details: { name, known: names },
    },
  );
};

const withTables = (error: unknown, tables: readonly StoredTable[]): unknown => {
  if (!(error instanceof EdgetableError) || error.code !== "analytics.sql") return error;
  const views = tables.map(({ name }) => name).join(", ");
  return new EdgetableError("analytics.sql", `${error.message}\nThe lake's tables: ${views}.`, {
    cause: error.cause,
    details: { ...error.details, tables: views },
  });
};

const aborted = (signal: AbortSignal): EdgetableError =>
  new EdgetableError("execute.aborted", "The batch job was aborted between two steps.", {
    cause: signal.reason,
    details: { ambiguous: false },
  });

/** Interprets a program on DuckDB. */
const runSteps = async (database: Database, { job, steps: all }: Program, { onProgress, signal }: RunProgramOptions): Promise<void> => {
  let done = 0;
  const runEach = async (steps: readonly Step[], round: number | undefined): Promise<void> => {
    for (const step of steps) {
      if (signal?.aborted) throw aborted(signal);
      if (step.kind === "table") {
        await database.run(`create or replace temp table ${step.name} as ${step.select}`);
        onProgress?.({ job, steps: ++done, round });
        continue;
      }
      for (let at = 1; at <= step.atMost; at++) {
        await runEach(step.steps, at);
        if (step.until === undefined) continue;
        const [row = {}] = await database.rows(step.until);
        if (Number(Object.values(row)[0]) === 0) break;
      }
    }
  };
  await runEach(all, undefined);
};

/**
 * Opens a lake for SQL: every table of the model is a view.
 *
 * @param folder what {@link extract} wrote
 * @throws {analytics.lake} when the folder holds no lake
 * @throws {analytics.engine} when DuckDB cannot start with these limits
 * @example
 * const lake = await openLake("lake", { memoryLimit: "4GB" });
 * await lake.query("select professor, count(*) as courses from course group by professor");
 * lake.close();
 */
export const openLake = async (folder: string, limits: EngineLimits = {}): Promise<Lake> => {
  const path = resolve(folder);
  const { tables } = await readLakeFile(path);
  const database = await openDuckDb(":memory:", limits);
  await database.run(`set temp_directory = ${literal(join(path, ".spill"))}`);
  for (const { name } of tables)
    await database.run(`create view ${name} as select * from read_parquet(${literal(join(path, name, "*.parquet"))})`);
  const query: Lake["query"] = async (sql) => {
    try {
      return await database.rows(sql);
    } catch (error) {
      throw withTables(error, tables);
    }
  };
  return {
    folder: path,
    tables,
    query,
    run: async (program, options = {}) => {
      await runSteps(database, program, options);
      return query(`select * from ${program.result.table} order by ${program.result.orderBy}`);
    },
    close: () => database.close(),
  };
};
