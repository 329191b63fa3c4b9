import type { DuckDBAppender } from "@duckdb/node-api";
import { EdgetableError, type Catalog } from "edgetable";
import { nodeText, valueWithin } from "edgetable/check";
import { columnCast, columnText, fits, widened, type ColumnType } from "./column-type.ts";
import { literal, type Database } from "./duckdb.ts";
import { lakeTables, type LakeTable } from "./lake-tables.ts";

type Row = Readonly<Record<string, unknown>>;

/** A row of `db.scan`. */
export type ScannedRow = Row & { readonly node?: string; readonly edge?: string; readonly part?: string };

/** A table that is being filled. */
export interface Staged {
  readonly table: LakeTable;
  /** The type of each column: the schema's, or the narrowest that fits the values so far. */
  readonly types: (ColumnType | undefined)[];
  /** Attributes that the schema lists. */
  readonly listed: ReadonlySet<string>;
  appender: DuckDBAppender | undefined;
  rows: number;
}

/** A row and its table. */
interface Placed {
  readonly staged: Staged;
  /** The values of `node`, of `source` and `target`, or of `owner`; without a target for a reference that a node lacks. */
  readonly leading: readonly (string | undefined)[];
  readonly attributes: Row;
}

type Shape = Catalog["shapes"][number];

const quoted = (name: string): string => `"${name}"`;
const stagingName = (table: string): string => quoted(`staged_${table}`);

/** The rows of an extraction as text, in a DuckDB file, until their types are known. */
export class Staging {
  readonly #database: Database;
  readonly #catalog: Catalog;
  readonly #source: string | undefined;
  readonly #unfit: "refuse" | "null";
  readonly #staged: ReadonlyMap<string, Staged>;
  /** By node type: the edges that are stored in the node's item. */
  readonly #references = new Map<string, { readonly shape: Shape; readonly staged: Staged }[]>();
  readonly unfit: Record<string, number> = {};
  rows = 0;
  #resumed = false;

  constructor(database: Database, { catalog, source }: { readonly catalog: Catalog; readonly source?: string }, unfit: "refuse" | "null") {
    this.#database = database;
    this.#catalog = catalog;
    this.#source = source;
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

  /** Creates the staging tables, or reuses those of an interrupted extraction of the same model and source and returns its position. */
  async open(): Promise<string | undefined> {
    // In another source, the rows before a position are not the same ones.
    const model = JSON.stringify([this.#catalog.table, this.#source ?? null, this.tables.map(({ table }) => table)]);
    await this.#database.run("create table if not exists progress (model varchar, position varchar, types varchar)");
    const [progress] = await this.#database.rows("select * from progress");
    // Rows without a position cannot be continued: the whole table was read, and the lake was not written. They would come twice.
    const mine = progress?.["model"] === model && typeof progress["position"] === "string";
    this.#resumed = mine;
    if (!mine) await this.#database.run(`delete from progress; insert into progress values (${literal(model)}, null, '{}')`);
    const types = JSON.parse(mine ? String(progress["types"]) : "{}") as Readonly<Record<string, (ColumnType | undefined)[]>>;
    for (const staged of this.tables) {
      const columns = [...staged.table.columns.map(({ name }) => name), "more"].map((name) => `${quoted(name)} varchar`);
      if (!mine) await this.#database.run(`drop table if exists ${stagingName(staged.table.name)}`);
      await this.#database.run(`create table if not exists ${stagingName(staged.table.name)} (${columns.join(", ")})`);
      for (const [at, type] of (types[staged.table.name] ?? []).entries()) staged.types[at] ??= type ?? undefined;
      const [counted] = await this.#database.rows(`select count(*) as rows from ${stagingName(staged.table.name)}`);
      staged.rows = Number(counted?.["rows"]);
      this.rows += staged.rows;
    }
    return mine ? String(progress["position"]) : undefined;
  }

  async add(row: ScannedRow): Promise<void> {
    const placed = this.#placed(row);
    await this.#stage(placed);
    this.rows++;
    if (row.node === undefined) return;
    // A reference edge is stored in its source's item, so the scan returns only the node.
    for (const { shape, staged } of this.#references.get(row.node) ?? []) {
      const ends = Object.entries(shape.alias ?? {}).filter(([path]) => path.startsWith("to."));
      const target = Object.fromEntries(ends.map(([path, attribute]) => [path.slice("to.".length), placed.attributes[attribute]]));
      const isMissing = Object.values(target).some((value) => value === undefined || value === null);
      // Where the node was read before the interruption, it may have had a reference then.
      if (isMissing && !this.#resumed) continue;
      const leading = [placed.leading[0]!, isMissing ? undefined : this.#nodeText(shape.to!, target)];
      const attributes = Object.fromEntries((shape.copied ?? []).map((name) => [name, placed.attributes[name]]));
      await this.#stage({ staged, leading, attributes });
    }
  }

  async #stage(placed: Placed): Promise<void> {
    const { staged, leading, attributes } = placed;
    const appender = (staged.appender ??= await this.#database.connection.createAppender(`staged_${staged.table.name}`));
    const { columns } = staged.table;
    for (const text of leading)
      if (text === undefined) appender.appendNull();
      else appender.appendVarchar(text);
    for (let at = leading.length; at < columns.length; at++) {
      const { attribute, within } = columns[at]!;
      const text = this.#columnText(placed, at, within ? valueWithin(attributes, within) : attributes[attribute!]);
      if (text === undefined) appender.appendNull();
      else appender.appendVarchar(text);
    }
    const more = Object.entries(attributes).filter(([name, value]) => value !== undefined && !staged.listed.has(name));
    if (more.length === 0) appender.appendNull();
    else appender.appendVarchar(columnText("json", Object.fromEntries(more)));
    appender.endRow();
    staged.rows++;
  }

  #nodeText(type: string, id: Row): string {
    return nodeText(type, this.#catalog.ends[type]?.idFields ?? [], id);
  }

  #placed(row: ScannedRow): Placed {
    const kind = row.node === undefined ? (row.edge === undefined ? "part" : "edge") : "node";
    const definition = (row.node ?? row.edge ?? row.part)!;
    const staged = this.#staged.get(`${kind}:${definition}`)!;
    const { edges, parts, ends } = this.#catalog;
    if (kind === "node") return { staged, leading: [this.#nodeText(definition, row["row"] as Row)], attributes: row["row"] as Row };
    if (kind === "part") {
      const owner = row["owner"] as Row;
      const attributes = { ...owner, ...(row["row"] as Row) };
      const leading = [this.#nodeText(parts[definition]!.definition.of, owner)];
      return { staged, leading: ends[definition] ? [...leading, this.#nodeText(definition, attributes)] : leading, attributes };
    }
    const end = (types: readonly string[], id: Row): string => this.#nodeText(types.length === 1 ? types[0]! : String(id["type"]), id);
    const { from, to } = edges[definition]!;
    const leading = [end(from, row["from"] as Row), end(to, row["to"] as Row)];
    return { staged, leading, attributes: (row["attributes"] as Row | undefined) ?? {} };
  }

  #columnText({ staged: { table, types }, leading }: Placed, at: number, value: unknown): string | undefined {
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
    // If only the values tell the type, JSON text preserves the type of each.
    return columnText(declared ?? "json", value);
  }

  /** Saves the rows added so far, with the position to resume from. */
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

  /** The SELECT that turns the staged texts of a table into typed columns. After a resumed scan, it drops rows that came twice. */
  select({ table, types }: Staged, resumed: boolean): string {
    const { name, kind, definition, key, columns } = table;
    const selected = columns.map(({ name: column, type: declared }, at) => {
      const type = types[at] ?? "text";
      const plain = declared !== undefined || type === "json" || type === "texts" || type === "numbers";
      return `${columnCast(type, plain ? quoted(column) : `json_extract_string(${quoted(column)}, '$')`)} as ${quoted(column)}`;
    });
    const from = `select ${selected.join(", ")}, more from ${stagingName(name)}`;
    if (!resumed) return from;
    // A node has one reference of a type: the one that was read last, even if it leads elsewhere.
    const isReference = kind === "edge" && this.#catalog.edges[definition]?.definition.stored === "reference";
    const leading = kind === "node" ? ["node"] : kind === "part" ? ["owner"] : isReference ? ["source"] : ["source", "target"];
    const last = `${from} qualify row_number() over (partition by ${[...leading, ...key].map(quoted).join(", ")} order by rowid desc) = 1`;
    return isReference ? `select * from (${last}) as read_last where target is not null` : last;
  }
}
