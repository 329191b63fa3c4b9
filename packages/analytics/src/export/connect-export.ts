import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  EdgetableError,
  type AnyGraph,
  type AttributeValue,
  type BatchGetItemInput,
  type BatchGetItemOutput,
  type Item,
  type Operation,
  type QueryOutput,
  type ScanInput,
  type Transport,
} from "edgetable";
import { literal, openDuckDb, type Database, type EngineLimits } from "../duckdb.ts";
import type { Scannable } from "../extract.ts";
import { readChanges } from "./read-items.ts";
import { readManifest, type ExportManifest } from "./read-manifest.ts";

/** The table of an export, for scans. */
export interface ExportedTable extends Scannable {
  /** The exports that it was made of, in order. */
  readonly exports: readonly ExportManifest[];
  close(): Promise<void>;
}

export interface ExportOptions extends EngineLimits {
  /** Incremental exports on top of the full one, in any order: the last write of each item counts. */
  readonly increments?: readonly string[];
  /** Name of the exported table where it is another than the model's: a copy, or a restored backup. @default the model's */
  readonly table?: string;
  /** Items read so far, about every 10,000. */
  readonly onProgress?: (items: number) => void;
}

const plainKey = (value: AttributeValue | undefined): string => {
  if (value && "S" in value) return `S${value.S}`;
  // 6d2, 600 and 6E+2 are one number.
  if (value && "N" in value) return `N${canonical(value.N)}`;
  if (value && "B" in value) return `B${value.B}`;
  return "";
};

const canonical = (number: string): string => {
  const [, sign = "", whole = "", fraction = "", power = "0"] = /^([+-]?)(\d*)\.?(\d*)(?:[eE]([+-]?\d+))?$/.exec(number) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, "");
  const kept = digits.replace(/0+$/, "");
  if (kept === "") return "0";
  return `${sign === "-" ? "-" : ""}${kept}e${Number(power) - fraction.length + digits.length - kept.length}`;
};

/**
 * Refuses increments that leave out a span after the full export: what changed in it is in none of them.
 *
 * @throws {analytics.export} naming the span, as far as the summaries tell moments
 */
const checkSpans = ([full, ...increments]: readonly ExportManifest[]): void => {
  const inOrder = increments.toSorted((a, b) => Number(a.beginsAt - b.beginsAt));
  let reached = full?.takenAt ?? 0n;
  const shown = (micros: bigint): string => new Date(Number(micros / 1000n)).toISOString();
  for (const { folder, beginsAt, takenAt } of inOrder) {
    if (reached > 0n && beginsAt > reached)
      throw new EdgetableError(
        "analytics.export",
        `The exports hold no changes from ${shown(reached)} to ${shown(beginsAt)}, where ${folder} begins. Name the incremental exports of that time too.`,
        { details: { folder, from: shown(reached), to: shown(beginsAt) } },
      );
    // Where an export does not say when it ends, nobody can tell what follows it.
    reached = takenAt === 0n ? 0n : reached > takenAt ? reached : takenAt;
  }
};

const pageItems = 1000;

/**
 * Loads exports into a file of DuckDB: an export is no index, and an incremental one changes and deletes what an earlier one
 * holds.
 */
const stage = async (
  database: Database,
  manifests: readonly ExportManifest[],
  keys: readonly string[],
  onProgress?: (items: number) => void,
): Promise<void> => {
  await database.run("create table changes (key varchar, written hugeint, place bigint, item varchar)");
  const appender = await database.connection.createAppender("changes");
  let place = 0;
  const takenAt = manifests[0]?.takenAt ?? 0n;
  for (const manifest of manifests) {
    for await (const { key, after, writtenAt } of readChanges(manifest)) {
      // What was written before the full export was taken is in it already; what was deleted by then must not come back.
      if (writtenAt !== undefined && writtenAt <= takenAt) continue;
      const of = key ?? after!;
      const missing = keys.find((attribute) => of[attribute] === undefined);
      if (missing !== undefined)
        throw new EdgetableError(
          "analytics.export",
          `An item of the export of ${manifest.tableArn} lacks the key attribute "${missing}": this is an export of another table than the model's.`,
          { details: { tableArn: manifest.tableArn, attribute: missing, item: Object.keys(of) } },
        );
      appender.appendVarchar(JSON.stringify(keys.map((attribute) => plainKey(of[attribute]))));
      appender.appendHugeInt(writtenAt ?? manifest.takenAt);
      appender.appendBigInt(BigInt(place++));
      if (after) appender.appendVarchar(JSON.stringify(after));
      else appender.appendNull();
      appender.endRow();
      if (place % 10_000 === 0) onProgress?.(place);
    }
  }
  appender.closeSync();
  onProgress?.(place);
  await database.run(`create table items as select row_number() over (order by key) as place, key, item from
    (select key, item from changes qualify row_number() over (partition by key order by written desc, changes.place desc) = 1) as last_write where item is not null`);
  await database.run("drop table changes; create index by_key on items (key); create index by_place on items (place)");
};

/** Answers scans, and the reads by key with which a scan settles copies; everything else is refused. */
const exportTransport = (database: Database, keys: readonly string[], close: () => Promise<void>): Transport => {
  const itemsOf = (rows: readonly Readonly<Record<string, unknown>>[]): readonly Item[] =>
    rows.map(({ item }) => JSON.parse(String(item)) as Item);
  const scan = async (input: ScanInput): Promise<QueryOutput> => {
    const { ExclusiveStartKey: start, Segment: segment = 0, TotalSegments: segments = 1 } = input;
    const startKey = start && JSON.stringify(keys.map((attribute) => plainKey(start[attribute])));
    const after = startKey === undefined ? "0" : `(select coalesce(max(place), 0) from items where key = ${literal(startKey)})`;
    const rows = await database.rows(
      `select item from items where place > ${after} and place % ${segments} = ${segment} order by place limit ${pageItems}`,
    );
    const items = itemsOf(rows);
    const last = items.length === pageItems ? items.at(-1) : undefined;
    const lastKey = last && Object.fromEntries(keys.map((attribute) => [attribute, last[attribute]!]));
    return { Items: items, Count: items.length, ScannedCount: items.length, ...(lastKey ? { LastEvaluatedKey: lastKey } : {}) };
  };
  const batchGet = async (input: BatchGetItemInput): Promise<BatchGetItemOutput> => {
    const [table = "", { Keys: wanted } = { Keys: [] }] = Object.entries(input.RequestItems)[0] ?? [];
    const texts = wanted.map((key) => literal(JSON.stringify(keys.map((attribute) => plainKey(key[attribute])))));
    const rows = texts.length === 0 ? [] : await database.rows(`select item from items where key in (${texts.join(", ")})`);
    return { Responses: { [table]: itemsOf(rows) }, UnprocessedKeys: {} };
  };
  const answer = (operation: Operation, input: unknown): Promise<unknown> => {
    if (operation === "Scan") return scan(input as ScanInput);
    if (operation === "BatchGetItem") return batchGet(input as BatchGetItemInput);
    throw new EdgetableError("plan.unsupported", `${operation} cannot be answered from an export: it can only be scanned.`, {
      details: { operation },
    });
  };
  return { send: async (operation, input) => (await answer(operation, input)) as never, close };
};

/**
 * Opens exports of DynamoDB to S3, as they lie in a folder, as a table that can be scanned: DynamoDB JSON or Ion, full or
 * incremental. Checksums and counts are verified.
 *
 * @param folder the export's own folder, or one that holds it
 * @throws {analytics.export} when a file is missing, damaged, or of another table
 * @example
 * const source = await connectExport(education, "AWSDynamoDB/01693685827463-2d8752fd");
 * await extract(source, { into: "lake" });
 * await source.close();
 */
export const connectExport = async (graph: AnyGraph, folder: string, options: ExportOptions = {}): Promise<ExportedTable> => {
  const { increments = [], table = graph.catalog.table, onProgress } = options;
  const exports = await Promise.all([folder, ...increments].map(readManifest));
  const [full] = exports;
  if (full!.kind === "incremental")
    throw new EdgetableError(
      "analytics.export",
      `${folder} is an incremental export. Name the full export first, and this one among the increments.`,
      { details: { folder } },
    );
  const strange = exports.find(({ tableArn }) => tableArn !== full!.tableArn);
  if (strange)
    throw new EdgetableError("analytics.export", `The exports are of two tables: ${full!.tableArn} and ${strange.tableArn}.`, {
      details: { tables: [full!.tableArn, strange.tableArn] },
    });
  checkSpans(exports);
  const nameIn = (arn: string): string => arn.slice(arn.lastIndexOf("/") + 1);
  // An older summary may not name its table.
  if (full!.tableArn !== "" && nameIn(full!.tableArn) !== nameIn(table))
    throw new EdgetableError(
      "analytics.export",
      `This is an export of the table "${nameIn(full!.tableArn)}", and the model's is "${nameIn(table)}". If it is a copy of that table or a restored backup, name it: { table: "${nameIn(full!.tableArn)}" }, on the command line --export-table.`,
      { details: { tableArn: full!.tableArn, table } },
    );
  const { partitionKey, sortKey } = graph.catalog.index;
  const keys = [partitionKey, ...(sortKey === undefined ? [] : [sortKey])];
  const scratch = await mkdtemp(join(tmpdir(), "edgetable-export-"));
  const database = await openDuckDb(join(scratch, "items.duckdb"), options);
  const close = async (): Promise<void> => {
    database.close();
    await rm(scratch, { recursive: true, force: true });
  };
  try {
    await stage(database, exports, keys, onProgress);
  } catch (error) {
    await close();
    throw error;
  }
  const db = graph.connect({ transport: exportTransport(database, keys, close) });
  const source = exports.map(({ fingerprint }) => fingerprint).join(" ");
  return { catalog: graph.catalog, scan: db.scan as Scannable["scan"], source, exports, close: () => db.close() };
};
