import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { setTimeout } from "node:timers/promises";
import type { DuckDBAppender } from "@duckdb/node-api";
import { EdgetableError, type Catalog, type ScanReport, type ScanTable } from "edgetable";
import { columnCast, columnText, fits, widened, type ColumnType } from "./column-type.ts";
import { literal, openDuckDb, type Database, type EngineLimits } from "./duckdb.ts";
import { lakeFile, lakeVersion, type LakeFile, type StoredTable } from "./lake-file.ts";
import { lakeTables, type LakeTable } from "./lake-tables.ts";
import { nodeText } from "./node-text.ts";

type Row = Readonly<Record<string, unknown>>;
type ScannedRow = Row & { readonly node?: string; readonly edge?: string; readonly part?: string };

/** A connection whose table can be scanned: of a live table, or of an export. */
export interface Scannable {
  readonly catalog: Catalog;
  readonly scan: ScanTable<object>;
}

/** How far an extraction has come. */
export interface ExtractProgress {
  readonly rows: number;
  readonly scan: ScanReport;
}

export interface ExtractOptions extends EngineLimits {
  /** The folder of the lake; an older lake there is replaced once the new one is complete. */
  readonly into: string;
  /** Parts of the table to read side by side, 1 to 1,000,000. @default 4 */
  readonly segments?: number;
  /** Read units a second that the scan may take; such as a fifth of the table's capacity. @default no limit */
  readonly unitsPerSecond?: number;
  /** What becomes of a value that does not fit its column: `"refuse"` ends the extraction, `"null"` leaves it out and counts it. @default "refuse" */
  readonly unfit?: "refuse" | "null";
  /** Is told about once a second. */
  readonly onProgress?: (progress: ExtractProgress) => void;
  readonly signal?: AbortSignal;
}

/** What an extraction gave. */
export interface ExtractReport {
  readonly tables: readonly StoredTable[];
  /** Values left out because they did not fit their column, by `table.column`. */
  readonly unfit: Readonly<Record<string, number>>;
  /** Whether it went on from an extraction that had been interrupted. */
  readonly resumed: boolean;
  readonly scan: ScanReport;
}

/** A table while it is filled. */
interface Staged {
  readonly table: LakeTable;
  /** The column's type: the schema's, or the narrowest of the values so far. */
  readonly types: (ColumnType | undefined)[];
  /** Attributes that the schema lists. */
  readonly listed: ReadonlySet<string>;
  appender: DuckDBAppender | undefined;
  rows: number;
}

/** A row with the table that it belongs to. */
interface Placed {
  readonly staged: Staged;
  /** The texts of `node`, `source` and `target`, or `owner`. */
  readonly leading: readonly string[];
  readonly attributes: Row;
}

type Shape = Catalog["shapes"][number];

const quoted = (name: string): string => `"${name}"`;
const staging = ({ name }: LakeTable): string => quoted(`staged_${name}`);

// Rows between two positions that an interrupted extraction resumes from.
const rowsToCommit = 20_000;

class Staging {
  readonly #database: Database;
  readonly #catalog: Catalog;
  readonly #unfit: "refuse" | "null";
  readonly #staged: ReadonlyMap<string, Staged>;
  /** By node type: the edges that lie inside the node's item. */
  readonly #references = new Map<string, { readonly shape: Shape; readonly staged: Staged }[]>();
  readonly unfit: Record<string, number> = {};
  rows = 0;

  constructor(database: Database, catalog: Catalog, unfit: "refuse" | "null") {
    this.#database = database;
    this.#catalog = catalog;
    this.#unfit = unfit;
    this.#staged = new Map(
      lakeTables(catalog).map((table) => [
        `${table.kind}:${table.definition}`,
        {
          table,
          types: table.columns.map(({ type }) => type),
          listed: new Set(table.columns.map(({ attribute }) => attribute ?? "")),
          appender: undefined,
          rows: 0,
        },
      ]),
    );
    for (const { name, shapes } of Object.values(catalog.edges)) {
      for (const shape of shapes) {
        if (shape.role !== "reference" || shape.from === undefined) continue;
        const known = this.#references.get(shape.from) ?? [];
        this.#references.set(shape.from, [...known, { shape, staged: this.#staged.get(`edge:${name}`)! }]);
      }
    }
  }

  get tables(): readonly Staged[] {
    return [...this.#staged.values()];
  }

  /** Makes the staging tables, or takes over those of an interrupted extraction of the same tables; then gives its position. */
  async open(): Promise<string | undefined> {
    const model = JSON.stringify([this.#catalog.table, this.tables.map(({ table }) => table)]);
    await this.#database.run("create table if not exists progress (model varchar, position varchar, types varchar)");
    const [progress] = await this.#database.rows("select * from progress");
    const mine = progress?.["model"] === model;
    if (!mine) await this.#database.run(`delete from progress; insert into progress values (${literal(model)}, null, '{}')`);
    const types = JSON.parse(mine ? String(progress["types"]) : "{}") as Readonly<Record<string, (ColumnType | undefined)[]>>;
    for (const staged of this.tables) {
      const columns = [...staged.table.columns.map(({ name }) => name), "more"].map((name) => `${quoted(name)} varchar`);
      if (!mine) await this.#database.run(`drop table if exists ${staging(staged.table)}`);
      await this.#database.run(`create table if not exists ${staging(staged.table)} (${columns.join(", ")})`);
      for (const [at, type] of (types[staged.table.name] ?? []).entries()) staged.types[at] ??= type ?? undefined;
      const [counted] = await this.#database.rows(`select count(*) as rows from ${staging(staged.table)}`);
      staged.rows = Number(counted?.["rows"]);
      this.rows += staged.rows;
    }
    return mine ? ((progress["position"] as string | null) ?? undefined) : undefined;
  }

  async add(row: ScannedRow): Promise<void> {
    const placed = this.#placed(row);
    await this.#stage(placed);
    this.rows++;
    if (row.node === undefined) return;
    // A reference is an edge inside its source's own item: the scan gives the node alone.
    for (const { shape, staged } of this.#references.get(row.node) ?? []) {
      const ends = Object.entries(shape.alias ?? {}).filter(([path]) => path.startsWith("to."));
      const target = Object.fromEntries(ends.map(([path, attribute]) => [path.slice("to.".length), placed.attributes[attribute]]));
      if (Object.values(target).some((value) => value === undefined || value === null)) continue;
      const leading = [placed.leading[0]!, this.#text(shape.to!, target)];
      const attributes = Object.fromEntries((shape.holds ?? []).map((name) => [name, placed.attributes[name]]));
      await this.#stage({ staged, leading, attributes });
    }
  }

  async #stage(placed: Placed): Promise<void> {
    const { staged, leading, attributes } = placed;
    const appender = (staged.appender ??= await this.#database.connection.createAppender(`staged_${staged.table.name}`));
    const { columns } = staged.table;
    for (const text of leading) appender.appendVarchar(text);
    for (let at = leading.length; at < columns.length; at++) {
      const text = this.#textOf(placed, at, attributes[columns[at]!.attribute!]);
      if (text === undefined) appender.appendNull();
      else appender.appendVarchar(text);
    }
    const more = Object.entries(attributes).filter(([name, value]) => value !== undefined && !staged.listed.has(name));
    if (more.length === 0) appender.appendNull();
    else appender.appendVarchar(columnText("json", Object.fromEntries(more)));
    appender.endRow();
    staged.rows++;
  }

  #text(type: string, id: Row): string {
    return nodeText(type, this.#catalog.nodes[type]?.idFields ?? [], id);
  }

  #placed(row: ScannedRow): Placed {
    const kind = row.node === undefined ? (row.edge === undefined ? "part" : "edge") : "node";
    const definition = (row.node ?? row.edge ?? row.part)!;
    const staged = this.#staged.get(`${kind}:${definition}`)!;
    const { edges, parts } = this.#catalog;
    if (kind === "node") return { staged, leading: [this.#text(definition, row["row"] as Row)], attributes: row["row"] as Row };
    if (kind === "part") {
      const owner = row["owner"] as Row;
      return { staged, leading: [this.#text(parts[definition]!.definition.of, owner)], attributes: { ...owner, ...(row["row"] as Row) } };
    }
    const end = (types: readonly string[], id: Row): string => this.#text(types.length === 1 ? types[0]! : String(id["type"]), id);
    const { from, to } = edges[definition]!;
    const leading = [end(from, row["from"] as Row), end(to, row["to"] as Row)];
    return { staged, leading, attributes: (row["attributes"] as Row | undefined) ?? {} };
  }

  #textOf({ staged: { table, types }, leading }: Placed, at: number, value: unknown): string | undefined {
    if (value === undefined || value === null) return undefined;
    const { name, type: declared } = table.columns[at]!;
    if (declared === undefined) types[at] = widened(types[at], value);
    else if (!fits(declared, value)) {
      if (this.#unfit === "refuse")
        throw new EdgetableError(
          "analytics.column",
          `A value of "${table.definition}" does not fit the column ${table.name}.${name}, which the schema makes ${declared}: ${columnText("json", value)}, in ${leading.join(" > ")}. Correct the row or the schema, or have such values left out (unfit: "null", on the command line --unfit null).`,
          { details: { table: table.name, column: name, type: declared, value, row: leading } },
        );
      const place = `${table.name}.${name}`;
      this.unfit[place] = (this.unfit[place] ?? 0) + 1;
      return undefined;
    }
    // Where only the values can tell the type, the text says what each one was.
    return columnText(declared ?? "json", value);
  }

  /** Keeps what was added, with the position to go on from. */
  async commit(position: string | undefined): Promise<void> {
    for (const staged of this.tables) {
      staged.appender?.closeSync();
      staged.appender = undefined;
    }
    const types = JSON.stringify(
      Object.fromEntries(this.tables.map(({ table, types: all }) => [table.name, all.map((type) => type ?? null)])),
    );
    const text = position === undefined ? "null" : literal(position);
    await this.#database.run(`update progress set position = ${text}, types = ${literal(types)}`);
  }
}

const position = ({ kind }: LakeTable): readonly string[] =>
  kind === "node" ? ["node"] : kind === "edge" ? ["source", "target"] : ["owner"];

/** The columns that tell a row from any other: an interrupted scan may give a row twice. */
const identity = (catalog: Catalog, table: LakeTable): readonly string[] => {
  const { kind, definition, columns } = table;
  const further =
    kind === "edge" ? (catalog.edges[definition]?.key ?? []) : kind === "part" ? (catalog.parts[definition]?.idFields ?? []) : [];
  return [
    ...position(table),
    ...columns.flatMap(({ name, attribute }) => (attribute !== undefined && further.includes(attribute) ? [name] : [])),
  ];
};

const selection = (catalog: Catalog, { table, types }: Staged, resumed: boolean): string => {
  const columns = table.columns.map(({ name, type: declared }, at) => {
    const type = types[at] ?? "text";
    const plain = declared !== undefined || type === "json" || type === "texts" || type === "numbers";
    return `${columnCast(type, plain ? quoted(name) : `json_extract_string(${quoted(name)}, '$')`)} as ${quoted(name)}`;
  });
  const once = resumed
    ? ` qualify row_number() over (partition by ${identity(catalog, table).map(quoted).join(", ")} order by rowid desc) = 1`
    : "";
  return `select ${columns.join(", ")}, more from ${staging(table)}${once}`;
};

/** Writes every table as Parquet, in files of about 256 MB, and the lake's own file last. */
const writeLake = async (
  database: Database,
  catalog: Catalog,
  plan: { staged: readonly Staged[]; folder: string; resumed: boolean },
): Promise<LakeFile> => {
  const { staged, folder, resumed } = plan;
  await rm(folder, { recursive: true, force: true });
  const tables: StoredTable[] = [];
  for (const one of staged) {
    const { name, kind, definition, columns } = one.table;
    await mkdir(join(folder, name), { recursive: true });
    const target = literal(join(folder, name));
    await database.run(
      `copy (${selection(catalog, one, resumed)}) to ${target} (format parquet, file_size_bytes '256MB', overwrite_or_ignore true)`,
    );
    const [counted] = await database.rows(`select count(*) as rows from read_parquet(${literal(join(folder, name, "*.parquet"))})`);
    const stored = columns.map(({ name: column, attribute }, at) => ({
      name: column,
      attribute,
      type: one.types[at] ?? ("text" as const),
    }));
    tables.push({
      name,
      kind,
      definition,
      rows: Number(counted?.["rows"]),
      columns: [...stored, { name: "more", attribute: undefined, type: "json" }],
    });
  }
  const file: LakeFile = { version: lakeVersion, table: catalog.table, extractedAt: new Date().toISOString(), tables };
  await writeFile(join(folder, lakeFile), `${JSON.stringify(file, undefined, 2)}\n`);
  return file;
};

const checkTarget = async (into: string): Promise<void> => {
  if (!existsSync(into)) return mkdir(dirname(into), { recursive: true }).then(() => undefined);
  const isLake = await readFile(join(into, lakeFile), "utf8").then(
    () => true,
    () => false,
  );
  if (isLake) return;
  throw new EdgetableError("analytics.lake", `The folder ${into} exists and holds no lake. Name another folder, or remove it.`, {
    details: { folder: into },
  });
};

/**
 * Reads a whole table, live or exported, into typed Parquet: one folder for each node, edge and part of the model. Memory
 * does not grow with the table. An extraction that was interrupted goes on where it stood.
 *
 * Costs half a read unit for each 4 KB of a live table; an export costs nothing.
 *
 * @param source a connection, such as `graph.connect()` or `connectExport(graph, folder)`
 * @throws {analytics.lake} when the target folder holds something else
 * @throws {analytics.column} for a value that does not fit its column, unless `unfit` is `"null"`
 * @throws {analytics.engine} when disk or memory run out
 * @throws {execute.aborted} when the signal ends it; what was read is kept for the next call
 * @example
 * await extract(db, { into: "lake", unitsPerSecond: 100, onProgress: ({ rows }) => console.log(rows) });
 */
export const extract = async (source: Scannable, options: ExtractOptions): Promise<ExtractReport> => {
  const { segments = 4, unitsPerSecond, unfit = "refuse", onProgress, signal } = options;
  const into = resolve(options.into);
  await checkTarget(into);
  const { catalog } = source;
  const stagingFile = `${into}.staging.duckdb`;
  const database = await openDuckDb(stagingFile, options);
  let complete = false;
  try {
    const staged = new Staging(database, catalog, unfit);
    const from = await staged.open();
    const scan = source.scan({ segments, ...(from === undefined ? {} : { from }), ...(signal ? { signal } : {}) });
    const began = performance.now();
    let told = began;
    let committed = staged.rows;
    try {
      for await (const row of scan) {
        await staged.add(row as ScannedRow);
        if (staged.rows % 500 !== 0) continue;
        if (staged.rows - committed >= rowsToCommit) {
          await staged.commit(scan.report().position);
          committed = staged.rows;
        }
        const due = unitsPerSecond === undefined ? 0 : (scan.report().cost.readUnits / unitsPerSecond) * 1000 - (performance.now() - began);
        // A signal during the pause is met by the scan's next request.
        if (due > 0) await setTimeout(due, undefined, signal ? { signal } : {}).catch(() => undefined);
        if (performance.now() - told < 1000) continue;
        told = performance.now();
        onProgress?.({ rows: staged.rows, scan: scan.report() });
      }
    } catch (error) {
      await staged.commit(scan.report().position).catch(() => undefined);
      throw error;
    }
    await staged.commit(undefined);
    const resumed = from !== undefined;
    const { tables } = await writeLake(database, catalog, { staged: staged.tables, folder: `${into}.new`, resumed });
    await rm(into, { recursive: true, force: true });
    await rename(`${into}.new`, into);
    complete = true;
    onProgress?.({ rows: staged.rows, scan: scan.report() });
    return { tables, unfit: staged.unfit, resumed, scan: scan.report() };
  } finally {
    database.close();
    // What is left of an interrupted extraction is the beginning of the next one.
    if (complete) await Promise.all([stagingFile, `${stagingFile}.wal`].map((path) => rm(path, { force: true })));
  }
};
