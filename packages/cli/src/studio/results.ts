import { open, readdir, readFile, stat } from "node:fs/promises";
import { basename, extname, join } from "node:path";
import { parse } from "csv-parse/sync";
import type { ResultAnswer, ResultsAnswer, WireResult, WireResultRow } from "@edgetable/studio";
import type { Catalog } from "edgetable";
import { partitionOf, readNodeText } from "edgetable/check";
import { type BatchRecord, RECORDED_ROWS } from "../batch-record.ts";
import { systemProblem, usageError } from "../failure.ts";
import { fromJson, isRow, type Row } from "../output/json.ts";

/** Bytes of a file of rows that are read: its beginning. */
const BEGINNING = 4 * 1024 * 1024;
/** Bytes of a record or a list in JSON, which is read as a whole. */
const MOST = 32 * 1024 * 1024;

/** A file of results, as it is read. */
interface Read {
  readonly record?: BatchRecord;
  readonly rows: readonly Row[];
  /** Undefined if the file was not read to its end. */
  readonly count?: number;
}

const isRecord = (value: unknown): value is BatchRecord => isRow(value) && value["record"] === "edgetable batch" && isRow(value["result"]);

/** The whole lines at the beginning of a file, and whether they are all of it. */
const beginningOf = async (path: string): Promise<{ readonly text: string; readonly isWhole: boolean }> => {
  const file = await open(path);
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(BEGINNING), 0, BEGINNING, 0);
    const text = buffer.toString("utf8", 0, bytesRead);
    const isWhole = (await file.stat()).size <= bytesRead;
    return { text: isWhole ? text : text.slice(0, text.lastIndexOf("\n") + 1), isWhole };
  } finally {
    await file.close();
  }
};

/** Rows of a CSV file, or of one with a JSON object on each line: the first ones. */
const readRows = async (path: string): Promise<Read> => {
  const { text, isWhole } = await beginningOf(path);
  const rows =
    extname(path) === ".csv"
      ? // The beginning of a file may end in a quoted cell.
        parse<Row>(text, { columns: true, bom: true, relax_column_count: true, skip_empty_lines: true, skip_records_with_error: !isWhole })
      : text
          .split("\n")
          .filter((line) => line.trim() !== "")
          .map((line) => fromJson(line))
          .filter(isRow);
  return { rows: rows.slice(0, RECORDED_ROWS), ...(isWhole ? { count: rows.length } : {}) };
};

const PARQUET = "Parquet is not shown here: write the result with --out and a name in .csv or .jsonl.";

/** @throws {Error} for a file that holds no results */
const readResult = async (path: string): Promise<Read> => {
  const ending = extname(path);
  if (ending === ".parquet") throw new Error(PARQUET);
  if (ending !== ".json") return readRows(path);
  if ((await stat(path)).size > MOST) throw new Error(`It is larger than ${MOST / 1024 / 1024} MB.`);
  const text = await readFile(path, "utf8");
  let value: unknown;
  try {
    value = fromJson(text);
  } catch {
    // DuckDB writes an object on each line in .json, too.
    return readRows(path);
  }
  if (isRecord(value)) return readRecord(value);
  const rows = Array.isArray(value) ? value : [value];
  if (!rows.every(isRow)) throw new Error("It is neither a record of edgetable batch nor a list of rows.");
  return { rows: rows.slice(0, RECORDED_ROWS), count: rows.length };
};

const readRecord = async (record: BatchRecord): Promise<Read> => {
  const { result } = record;
  switch (result.kind) {
    case "rows":
      return { record, rows: result.rows, count: result.count };
    case "file":
      // A record names the file that a job wrote, and no other one.
      return {
        record,
        rows: [".csv", ".jsonl", ".json"].includes(extname(result.file)) ? (await readRows(result.file)).rows : [],
        count: result.count,
      };
    case "written":
      return {
        record,
        rows: result.report.skippedItems.map(({ definition, item, reason }) => ({ definition, ...item, reason })),
        count: result.report.written,
      };
    case "validation": {
      const { kinds } = result.report;
      const rows = kinds.flatMap(({ kind, examples }) =>
        examples.map(({ item, definition, attribute = "", stored, expected, reason }) => ({
          ...item,
          attribute,
          stored,
          expected,
          reason,
          definition,
          kind,
        })),
      );
      return { record, rows, count: kinds.reduce((sum, { count }) => sum + count, 0) };
    }
    default:
      throw new Error("A later release wrote it: update @edgetable/cli.");
  }
};

/** The nodes that the columns of a row name. */
const nodesIn = (catalog: Catalog, cells: Row): WireResultRow["nodes"] =>
  Object.fromEntries(
    Object.entries(cells).flatMap(([column, cell]) => {
      const node = typeof cell === "string" ? readNodeText(catalog, cell) : undefined;
      if (!node) return [];
      try {
        return [[column, { ...node, partition: partitionOf(catalog, node.type, node.id) ?? "" }]];
      } catch {
        // Not an id that the model's keys can hold.
        return [];
      }
    }),
  );

const factsOf = (file: string, at: number, { record, count }: Partial<Read>): WireResult => ({
  file,
  job: record?.job ?? basename(file, extname(file)),
  kind: record?.result.kind ?? "rows",
  at: record ? Date.parse(record.beganAt) : at,
  ...(count === undefined ? {} : { count }),
});

/** The results of batch jobs in a folder, or in one file, which pages may see: nothing else of the machine's files. */
export interface ResultFiles {
  list(): Promise<ResultsAnswer>;
  /** @throws {cli.usage} for a name that is not one of the list, and for a file that cannot be shown */
  read(file: string | undefined): Promise<ResultAnswer>;
}

/** @param path a folder or a file; undefined for none */
export const resultFiles = (catalog: Catalog, path: string | undefined): ResultFiles => {
  const names = async (): Promise<{ readonly folder: string; readonly files: readonly string[] }> => {
    if (path === undefined) return { folder: "", files: [] };
    try {
      if (!(await stat(path)).isDirectory()) return { folder: join(path, ".."), files: [basename(path)] };
      const files = (await readdir(path, { withFileTypes: true })).filter((entry) => entry.isFile()).map(({ name }) => name);
      return { folder: path, files: files.filter((name) => [".json", ".jsonl", ".csv", ".parquet"].includes(extname(name))) };
    } catch (error) {
      throw usageError(`${path}: ${systemProblem(error)}.`);
    }
  };
  const describe = async (folder: string, file: string): Promise<WireResult> => {
    let at = 0;
    try {
      at = (await stat(join(folder, file))).mtimeMs;
      // Only a record says what it is; the rows of other files are read when they are shown.
      return factsOf(file, at, extname(file) === ".json" ? await readResult(join(folder, file)) : {});
    } catch (error) {
      return { file, job: basename(file, extname(file)), kind: "rows", at, problem: systemProblem(error) };
    }
  };
  return {
    list: async () => {
      if (path === undefined) return { results: [] };
      const { folder, files } = await names();
      const results = await Promise.all(files.map((file) => describe(folder, file)));
      return { folder: path, results: results.toSorted((one, other) => other.at - one.at) };
    },
    read: async (file) => {
      const { folder, files } = await names();
      if (file === undefined || !files.includes(file)) throw usageError(`There is no result "${file ?? ""}".`);
      let read: Read;
      try {
        read = await readResult(join(folder, file));
      } catch (error) {
        throw usageError(`${file}: ${systemProblem(error)}`);
      }
      const { record, rows } = read;
      const columns = [...new Set(rows.flatMap(Object.keys))].filter((name) =>
        rows.some((row) => row[name] !== undefined && row[name] !== ""),
      );
      return {
        ...factsOf(file, (await stat(join(folder, file))).mtimeMs, read),
        ...(record && {
          what: record.what,
          options: record.options,
          engine: record.engine,
          milliseconds: record.milliseconds,
          extractedAt: Date.parse(record.extractedAt),
        }),
        columns,
        rows: rows.map((cells) => ({ cells, nodes: nodesIn(catalog, cells) })),
        ...(record?.result.kind === "validation" && {
          differences: record.result.report.kinds.map(({ what, count, isHarmless }) => ({ what, count, isHarmless })),
        }),
        ...(record?.result.kind === "written" && {
          written: (({ written, already, skipped, writeUnits }) => ({ written, already, skipped, writeUnits }))(record.result.report),
        }),
      };
    },
  };
};
