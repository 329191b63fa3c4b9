import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { EdgetableError } from "edgetable";
import { openDuckDb, parquet } from "./duckdb.ts";
import { type Program, type ProgramProgress, readLakeFile, type ResultRow } from "./lake.ts";

export interface SparkOptions {
  /** A Python with `pyspark` 4. @default EDGETABLE_PYTHON, else "python3" */
  readonly python?: string;
  /** Threads of the local Spark, 1 to 256. @default 2 */
  readonly threads?: number;
  /** Keeps each program's result here as Parquet, in a folder named after its job. @default results are read and removed */
  readonly out?: string;
  readonly onProgress?: (progress: ProgramProgress) => void;
  readonly signal?: AbortSignal;
}

/** The driver that runs programs on Spark, also with `spark-submit` and EMR Serverless. */
export const sparkDriver: string = fileURLToPath(new URL("../spark/driver.py", import.meta.url));

interface DriverLine extends Partial<ProgramProgress> {
  readonly error?: string;
  readonly done?: string;
}

const hint = (stderr: string): string => {
  if (/No module named 'pyspark'/.test(stderr)) return "pyspark is missing: pip install pyspark==4.3.0, or name another Python.";
  if (/JAVA_HOME|java.*not found|UnsupportedClassVersionError|JavaPackage/i.test(stderr))
    return "Spark 4 needs Java 17 or newer: set JAVA_HOME.";
  return stderr.trim().split("\n").slice(-5).join("\n");
};

/**
 * Runs programs on a local Apache Spark, in one session, over the same lake that DuckDB reads.
 *
 * @param folder the lake
 * @returns the rows of each program's result, in the order of the programs
 * @throws {plan.invalidOption} if `out` is given for two programs of one job
 * @throws {analytics.engine} if Python, pyspark or Java is missing, or Spark fails
 * @throws {analytics.sql} if Spark rejects a statement
 * @throws {execute.aborted} if the signal aborts
 * @example
 * const [ranks] = await runOnSpark("lake", [pageRank(lake)], { threads: 2 });
 */
export const runOnSpark = async (
  folder: string,
  programs: readonly Program[],
  options: SparkOptions = {},
): Promise<readonly (readonly ResultRow[])[]> => {
  const { python = process.env["EDGETABLE_PYTHON"] ?? "python3", threads = 2, onProgress, signal } = options;
  const lake = resolve(folder);
  const twice = options.out === undefined ? undefined : programs.find(({ job }, at) => programs.findIndex((one) => one.job === job) < at);
  if (twice)
    throw new EdgetableError(
      "plan.invalidOption",
      `Two programs are of the job "${twice.job}", and \`out\` has one folder for both. Run them one after the other, each with its own \`out\`.`,
      {
        details: { option: "out", job: twice.job },
      },
    );
  await readLakeFile(lake);
  const scratch = await mkdtemp(join(tmpdir(), "edgetable-spark-"));
  try {
    const outs = programs.map(({ job }, at) => (options.out === undefined ? join(scratch, `${at}`) : join(resolve(options.out), job)));
    const files = programs.map((_, at) => join(scratch, `${at}.json`));
    await Promise.all(programs.map((program, at) => writeFile(files[at]!, JSON.stringify(program))));
    const args = [
      sparkDriver,
      "--lake",
      lake,
      "--local",
      String(threads),
      ...files.flatMap((file, at) => ["--program", file, "--out", outs[at]!]),
    ];
    const child = spawn(python, args, { stdio: ["ignore", "pipe", "pipe"], ...(signal ? { signal } : {}) });
    let stderr = "";
    child.stderr.on("data", (chunk: Buffer) => (stderr = `${stderr}${chunk.toString()}`.slice(-20_000)));
    const ended = new Promise<number | null | Error>((done) => {
      child.once("error", done);
      child.once("close", done);
    });
    let refused: string | undefined;
    for await (const text of createInterface({ input: child.stdout })) {
      if (!text.startsWith("{")) continue;
      const line = JSON.parse(text) as DriverLine;
      refused ??= line.error;
      if (line.job !== undefined) onProgress?.({ job: line.job, steps: line.steps ?? 0, round: line.round ?? undefined });
    }
    const code = await ended;
    if (signal?.aborted)
      throw new EdgetableError("execute.aborted", "The batch job on Spark was aborted.", {
        cause: signal.reason,
        details: { ambiguous: false },
      });
    if (code instanceof Error)
      throw new EdgetableError("analytics.engine", `${python} did not start: ${code.message}`, { cause: code, details: { python } });
    if (code !== 0) {
      throw new EdgetableError(
        refused === undefined ? "analytics.engine" : "analytics.sql",
        refused === undefined ? `Spark ended with exit code ${code}. ${hint(stderr)}` : `Spark refused the program: ${refused}`,
        { details: { python, code, stderr } },
      );
    }
    const database = await openDuckDb(":memory:", {});
    try {
      const results: (readonly ResultRow[])[] = [];
      for (const [at, { result }] of programs.entries())
        results.push(await database.rows(`select * from ${parquet(join(outs[at]!, "*.parquet"))} order by ${result.orderBy}`));
      return results;
    } finally {
      database.close();
    }
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
};
