import {
  DuckDBBlobValue,
  DuckDBDecimalValue,
  DuckDBInstance,
  DuckDBListValue,
  DuckDBStructValue,
  DuckDBTimestampTZValue,
  DuckDBTimestampValue,
  type DuckDBConnection,
  type DuckDBValue,
} from "@duckdb/node-api";
import { EdgetableError } from "edgetable";

/** Resource limits of DuckDB. */
export interface EngineLimits {
  /** Memory, such as `2GB` (decimal). Beyond it DuckDB spills to disk. @default "2GB" */
  readonly memoryLimit?: string;
  /** Threads, 1 to 256. @default the processors of the machine, at most 8 */
  readonly threads?: number;
}

export interface Database {
  readonly connection: DuckDBConnection;
  run(sql: string): Promise<void>;
  rows(sql: string): Promise<readonly Readonly<Record<string, unknown>>[]>;
  close(): void;
}

/** Converts a value to JavaScript without loss: decimals keep their digits, and 64-bit integers their precision. */
const plainValue = (value: DuckDBValue): unknown => {
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof DuckDBDecimalValue) return value.scale === 0 ? value.value : value.toString();
  if (value instanceof DuckDBTimestampValue || value instanceof DuckDBTimestampTZValue) return new Date(Number(value.micros / 1000n));
  if (value instanceof DuckDBBlobValue) return new Uint8Array(value.bytes);
  if (value instanceof DuckDBListValue) return value.items.map(plainValue);
  if (value instanceof DuckDBStructValue)
    return Object.fromEntries(Object.entries(value.entries).map(([name, one]) => [name, plainValue(one)]));
  return value.toString();
};

/** A text as a SQL literal. */
export const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/**
 * Rows of Parquet files, for a FROM clause. A folder above them may be called `year=2024`: it is no column of theirs.
 *
 * @param path a file, or a pattern
 */
export const parquet = (path: string): string => `read_parquet(${literal(path)}, hive_partitioning = false)`;

const messageOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause));

/** An error of the machine (disk, memory) as Edgetable's own; any other error as it is. */
export const machineError = (cause: unknown, details: Readonly<Record<string, unknown>> = {}): unknown => {
  const message = messageOf(cause);
  const isMachine = /no space left|file too large|quota|out of memory|could not allocate|could not write|failed to offload/i.test(message);
  if (cause instanceof EdgetableError || !isMachine) return cause;
  return new EdgetableError("analytics.engine", `DuckDB ran out of room: ${message} Raise memoryLimit, or free disk space.`, {
    cause,
    details,
  });
};

/** Throws the engine's error, as one of the machine or of the statement. */
const failed = (sql: string, cause: unknown): never => {
  const error = machineError(cause, { sql });
  if (error instanceof EdgetableError) throw error;
  throw new EdgetableError("analytics.sql", `DuckDB refused the statement: ${messageOf(cause)}`, { cause, details: { sql } });
};

/**
 * Opens DuckDB, in memory or on a file.
 *
 * @throws {analytics.engine} if it cannot start with these limits or open the file
 */
export const openDuckDb = async (path: string, { memoryLimit = "2GB", threads }: EngineLimits): Promise<Database> => {
  let instance: DuckDBInstance;
  try {
    instance = await DuckDBInstance.create(path, {
      memory_limit: memoryLimit,
      ...(threads === undefined ? {} : { threads: String(threads) }),
    });
  } catch (cause) {
    throw new EdgetableError(
      "analytics.engine",
      `DuckDB did not start on ${path}: ${cause instanceof Error ? cause.message : String(cause)}`,
      {
        cause,
        details: { path, memoryLimit, threads },
      },
    );
  }
  const connection = await instance.connect();
  // Timestamps are UTC, whatever the machine's time zone.
  await connection.run("set timezone = 'UTC'");
  return {
    connection,
    run: async (sql) => {
      try {
        await connection.run(sql);
      } catch (cause) {
        failed(sql, cause);
      }
    },
    rows: async (sql) => {
      try {
        const rows = (await connection.runAndReadAll(sql)).getRowObjects();
        return rows.map((row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, plainValue(value)])));
      } catch (cause) {
        return failed(sql, cause);
      }
    },
    close: () => {
      connection.closeSync();
      instance.closeSync();
    },
  };
};
