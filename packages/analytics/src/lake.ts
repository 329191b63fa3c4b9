import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { didYouMean, EdgetableError } from "edgetable";
import type { ColumnType } from "./column-type.ts";
import { type Database, type EngineLimits, literal, openDuckDb, parquet } from "./duckdb.ts";

/** A stored column. */
export interface StoredColumn {
  readonly name: string;
  /** The attribute of the model; undefined for `node`, `source`, `target`, `owner` and `more`. */
  readonly attribute?: string | undefined;
  readonly type: ColumnType;
  /** Of a value within an attribute, which `attribute` names by its path: the path as steps. */
  readonly within?: readonly (string | number)[];
}

/** A stored table: a folder of Parquet files. */
export interface StoredTable {
  readonly name: string;
  /** Rows of a node, edge or part; or `cells`: the values of the fields that users define for a node type. */
  readonly kind: "node" | "edge" | "part" | "cells";
  readonly definition: string;
  /** Columns that tell two rows with the same ends or owner apart; undefined in a lake of an older release. */
  readonly key?: readonly string[];
  readonly rows: number;
  readonly columns: readonly StoredColumn[];
  /** True for an edge without direction: one row stands for both ways. */
  readonly symmetric?: boolean;
}

/** The contents of a lake's `lake.json`. */
export interface LakeFile {
  readonly version: number;
  /** The DynamoDB table that it was extracted from. */
  readonly table: string;
  readonly extractedAt: string;
  readonly tables: readonly StoredTable[];
}

export const lakeFile = "lake.json";
export const lakeVersion = 1;

/** One step of a batch program. Its SELECTs mean the same in DuckDB and Spark. */
export type Step =
  /** Stores the rows of a SELECT under a name. A later step with the same name replaces them, even if its SELECT reads them. */
  | { readonly kind: "table"; readonly name: string; readonly select: string }
  /** Repeats steps up to `atMost` times. Ends after the round in which `until`, a SELECT of one number, returns 0. */
  | { readonly kind: "repeat"; readonly atMost: number; readonly until?: string; readonly steps: readonly Step[] };

/** A batch job as data, which every engine interprets. */
export interface Program {
  readonly job: string;
  /** Its result, in one sentence. */
  readonly what: string;
  readonly steps: readonly Step[];
  /** The table with the result, and its order. */
  readonly result: { readonly table: string; readonly orderBy: string };
}

export type ResultRow = Readonly<Record<string, unknown>>;

/** The progress of a program. */
export interface ProgramProgress {
  readonly job: string;
  /** Completed steps; each round of a repetition counts. */
  readonly steps: number;
  /** The current round of a repetition; undefined outside one. */
  readonly round: number | undefined;
}

export interface RunProgramOptions {
  readonly onProgress?: (progress: ProgramProgress) => void;
  readonly signal?: AbortSignal;
}

/** A lake opened for SQL on DuckDB. */
export interface Lake {
  readonly folder: string;
  /** When it was extracted; ISO 8601. */
  readonly extractedAt: string;
  readonly tables: readonly StoredTable[];
  /**
   * Runs a statement over the lake's tables and returns its rows.
   *
   * @throws {analytics.sql} with the engine's message and the lake's tables
   */
  query(sql: string): Promise<readonly ResultRow[]>;
  /**
   * Runs a program and leaves its result as a temporary table, in no order, for further SQL.
   *
   * @returns the table's name
   * @throws {execute.aborted} if the signal aborts, between two steps
   */
  compute(program: Program, options?: RunProgramOptions): Promise<string>;
  /**
   * Runs a program and returns its result.
   *
   * @throws {execute.aborted} if the signal aborts, between two steps
   */
  run(program: Program, options?: RunProgramOptions): Promise<readonly ResultRow[]>;
  close(): void;
}

/**
 * Reads a lake's file.
 *
 * @throws {analytics.lake} if the folder holds no lake, or one of another version
 */
export const readLakeFile = async (folder: string): Promise<LakeFile> => {
  const path = join(folder, lakeFile);
  let file: LakeFile;
  try {
    file = JSON.parse(await readFile(path, "utf8")) as LakeFile;
  } catch (cause) {
    throw new EdgetableError("analytics.lake", `There is no lake in ${folder}: ${lakeFile} cannot be read. Make one with extract().`, {
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

/** The rows of an edge's table, for a FROM clause: those of an edge without direction from each of its ends. */
export const edgeRows = ({ name, symmetric, columns }: StoredTable): string => {
  if (!symmetric) return name;
  const other = { source: "target", target: "source" } as Readonly<Record<string, string>>;
  const named = columns.map((column) => column.name);
  const turned = named.map((column) => (other[column] === undefined ? column : `${other[column]} as ${column}`));
  return `(select ${named.join(", ")} from ${name} union all select ${turned.join(", ")} from ${name} where source <> target)`;
};

/** Finds a table of the lake by its name in SQL or in the model. */
export const tableOf = ({ tables }: { readonly tables: readonly StoredTable[] }, name: string, kind?: StoredTable["kind"]): StoredTable => {
  const found = tables.find((table) => (table.name === name || table.definition === name) && (kind === undefined || table.kind === kind));
  if (found) return found;
  const names = tables.filter((table) => kind === undefined || table.kind === kind).map(({ definition }) => definition);
  throw new EdgetableError("analytics.lake", `The lake has no ${kind ?? "table"} "${name}".${didYouMean(name, names)}`, {
    details: { name, known: names },
  });
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

const namesOf = (steps: readonly Step[]): readonly string[] =>
  steps.flatMap((step) => (step.kind === "table" ? step.name : namesOf(step.steps)));

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
 * @param folder the folder that {@link extract} wrote
 * @throws {analytics.lake} if the folder holds no lake
 * @throws {analytics.engine} if DuckDB cannot start with these limits
 * @example
 * const lake = await openLake("lake", { memoryLimit: "4GB" });
 * await lake.query("select professor, count(*) as courses from course group by professor");
 * lake.close();
 */
export const openLake = async (folder: string, limits: EngineLimits = {}): Promise<Lake> => {
  const path = resolve(folder);
  const { tables, extractedAt } = await readLakeFile(path);
  const database = await openDuckDb(":memory:", limits);
  await database.run(`set temp_directory = ${literal(join(path, ".spill"))}`);
  for (const { name } of tables) await database.run(`create view ${name} as select * from ${parquet(join(path, name, "*.parquet"))}`);
  const query: Lake["query"] = async (sql) => {
    try {
      return await database.rows(sql);
    } catch (error) {
      throw withTables(error, tables);
    }
  };
  const drop = async (names: readonly string[]): Promise<void> => {
    for (const name of new Set(names)) await database.run(`drop table if exists temp.${name}`);
  };
  const compute: Lake["compute"] = async (program, options = {}) => {
    // A temporary table hides a table of the lake: of a program, its result alone stays, and no longer than until the next one.
    await drop(tables.map(({ name }) => name));
    const { table } = program.result;
    try {
      await runSteps(database, program, options);
    } finally {
      await drop(namesOf(program.steps).filter((name) => name !== table));
    }
    return table;
  };
  return {
    folder: path,
    extractedAt,
    tables,
    query,
    compute,
    run: async (program, options) => query(`select * from ${await compute(program, options)} order by ${program.result.orderBy}`),
    close: () => database.close(),
  };
};
