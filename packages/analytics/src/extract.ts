import { existsSync } from "node:fs";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { setTimeout } from "node:timers/promises";
import { EdgetableError, type Catalog, type ScanReport, type ScanTable } from "edgetable";
import { literal, machineError, openDuckDb, parquet, type Database, type EngineLimits } from "./duckdb.ts";
import { cellTables, writeCells } from "./grid-cells.ts";
import { namer } from "./lake-tables.ts";
import { lakeFile, lakeVersion, type LakeFile, type StoredTable } from "./lake.ts";
import { Staging, type ScannedRow } from "./staging.ts";

/** A table that can be scanned: a connection, or an export. */
export interface Scannable {
  readonly catalog: Catalog;
  readonly scan: ScanTable<object>;
  /** Tells an export from another one and from the live table: an interrupted extraction is resumed from the same source only. @default the live table */
  readonly source?: string;
}

/** The progress of an extraction. */
export interface ExtractProgress {
  readonly rows: number;
  readonly scan: ScanReport;
}

export interface ExtractOptions extends EngineLimits {
  /** The folder of the lake. An existing lake is replaced when the new one is complete. */
  readonly into: string;
  /** Parts of the table to read in parallel, 1 to 1,000,000. @default 4 */
  readonly segments?: number;
  /** Read units per second that the scan may consume, such as a fifth of the table's capacity. @default no limit */
  readonly unitsPerSecond?: number;
  /** How to treat a value that does not fit its column: `"refuse"` ends the extraction, `"null"` drops and counts it. @default "refuse" */
  readonly unfit?: "refuse" | "null";
  /** Items that the model does not describe, such as another program's: `"refuse"` ends the extraction, `"skip"` leaves them out and counts them. @default "refuse" */
  readonly stray?: "refuse" | "skip";
  /** Called about once a second. */
  readonly onProgress?: (progress: ExtractProgress) => void;
  readonly signal?: AbortSignal;
}

/** The result of an extraction. */
export interface ExtractReport {
  readonly tables: readonly StoredTable[];
  /** Values dropped because they did not fit their column, by `table.column`. */
  readonly unfit: Readonly<Record<string, number>>;
  /** True if it resumed an interrupted extraction. */
  readonly resumed: boolean;
  readonly scan: ScanReport;
}

/** Rows between two positions that an interrupted extraction can resume from. */
const ROWS_TO_COMMIT = 20_000;

/** An error of the scan; for an item that the model does not describe, with what an extraction can do about it. */
const scanError = (error: unknown): unknown => {
  // By its code: the connection may come from another copy of the library.
  if (!(error instanceof Error) || (error as Partial<EdgetableError>).code !== "scan.strayItem") return error;
  return new EdgetableError(
    "scan.strayItem",
    `${error.message.replace(/ Correct the model or the item.*$/s, "")} Correct the model or the item, or have such items left out and counted (stray: "skip", on the command line --stray skip).`,
    { cause: error, details: (error as EdgetableError).details },
  );
};

/** Writes every table as Parquet, in files of about 256 MB, and the lake's own file last. */
const writeLake = async (
  database: Database,
  staging: Staging,
  target: { readonly folder: string; readonly catalog: Catalog; readonly resumed: boolean },
): Promise<LakeFile> => {
  const { folder, catalog, resumed } = target;
  await rm(folder, { recursive: true, force: true });
  const tables: StoredTable[] = [];
  for (const staged of staging.tables) {
    const { name, kind, definition, key, columns } = staged.table;
    await mkdir(join(folder, name), { recursive: true });
    await database.run(
      `copy (${staging.select(staged, resumed)}) to ${literal(join(folder, name))} (format parquet, file_size_bytes '256MB', overwrite_or_ignore true)`,
    );
    const [counted] = await database.rows(`select count(*) as rows from ${parquet(join(folder, name, "*.parquet"))}`);
    const stored: StoredTable["columns"][number][] = [];
    for (const [at, { name: column, attribute, within }] of columns.entries())
      stored.push({ name: column, attribute, type: staged.types[at] ?? "text", ...(within ? { within } : {}) });
    stored.push({ name: "more", attribute: undefined, type: "json" });
    const symmetric = kind === "edge" && catalog.edges[definition]?.definition.symmetric === true;
    tables.push({ name, kind, definition, key, rows: Number(counted?.["rows"]), columns: stored, ...(symmetric ? { symmetric } : {}) });
  }
  for (const cells of cellTables(catalog, namer(tables.map(({ name }) => name)))) {
    await mkdir(join(folder, cells.name), { recursive: true });
    tables.push(await writeCells(database, catalog, { folder, tables, ...cells }));
  }
  const file: LakeFile = { version: lakeVersion, table: catalog.table, extractedAt: new Date().toISOString(), tables };
  await writeFile(join(folder, lakeFile), `${JSON.stringify(file, undefined, 2)}\n`);
  return file;
};

/**
 * Reads a whole table, live or exported, into typed Parquet: one folder for each node, edge and part of the model. Memory
 * does not grow with the table. An interrupted extraction resumes where it stopped.
 *
 * Costs half a read unit per 4 KB of a live table; an export costs nothing.
 *
 * @param source a connection, such as `graph.connect()` or `connectExport(graph, folder)`
 * @throws {analytics.lake} if the target folder exists and is not a lake
 * @throws {scan.strayItem} for an item that the model does not describe, unless `stray` is `"skip"`
 * @throws {analytics.column} for a value that does not fit its column, unless `unfit` is `"null"`
 * @throws {analytics.engine} if disk or memory run out
 * @throws {execute.aborted} if the signal aborts; the rows read so far are kept for the next call
 * @example
 * await extract(db, { into: "lake", unitsPerSecond: 100, onProgress: ({ rows }) => console.log(rows) });
 */
export const extract = async (source: Scannable, options: ExtractOptions): Promise<ExtractReport> => {
  const { segments = 4, unitsPerSecond, unfit = "refuse", stray = "refuse", onProgress, signal } = options;
  const into = resolve(options.into);
  if (!existsSync(into)) await mkdir(dirname(into), { recursive: true });
  else if (!existsSync(join(into, lakeFile)))
    throw new EdgetableError("analytics.lake", `The folder ${into} exists and holds no lake. Name another folder, or remove it.`, {
      details: { folder: into },
    });
  const stagingFile = `${into}.staging.duckdb`;
  const database = await openDuckDb(stagingFile, options);
  let complete = false;
  try {
    const staging = new Staging(database, source, unfit);
    const from = await staging.open();
    const scan = source.scan({
      segments,
      ...(from === undefined ? {} : { from }),
      ...(stray === "skip" ? { onStray: "skip" } : {}),
      ...(signal ? { signal } : {}),
    });
    const began = performance.now();
    let reported = began;
    let committed = staging.rows;
    try {
      for await (const row of scan) {
        await staging.add(row as ScannedRow);
        if (staging.rows % 500 !== 0) continue;
        if (staging.rows - committed >= ROWS_TO_COMMIT) {
          await staging.commit(scan.report().position);
          committed = staging.rows;
        }
        const due = unitsPerSecond === undefined ? 0 : (scan.report().cost.readUnits / unitsPerSecond) * 1000 - (performance.now() - began);
        // If the signal ends the pause, the scan's next request fails with it.
        if (due > 0) await setTimeout(due, undefined, signal ? { signal } : {}).catch(() => undefined);
        if (performance.now() - reported < 1000) continue;
        reported = performance.now();
        onProgress?.({ rows: staging.rows, scan: scan.report() });
      }
    } catch (error) {
      await staging.commit(scan.report().position).catch(() => undefined);
      throw machineError(scanError(error), { path: stagingFile });
    }
    await staging.commit(undefined).catch((error: unknown) => {
      throw machineError(error, { path: stagingFile });
    });
    const resumed = from !== undefined;
    const { tables } = await writeLake(database, staging, { folder: `${into}.new`, catalog: source.catalog, resumed });
    await rm(into, { recursive: true, force: true });
    await rename(`${into}.new`, into);
    complete = true;
    onProgress?.({ rows: staging.rows, scan: scan.report() });
    return { tables, unfit: staging.unfit, resumed, scan: scan.report() };
  } finally {
    database.close();
    // The staging file of an interrupted extraction is the start of the next one.
    if (complete) await Promise.all([stagingFile, `${stagingFile}.wal`].map((path) => rm(path, { force: true })));
  }
};
