import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { type Catalog, EdgetableError, isEdgetableError, type Jobs, type OwnJob, type WriteOutcome } from "edgetable";
import { readNodeText } from "edgetable/check";
import type { ColumnType } from "../column-type.ts";
import { literal, parquet } from "../duckdb.ts";
import { type Lake, type Program, readLakeFile, type ResultRow } from "../lake.ts";
import { type ChangeSettings, planChanges, type Target, type Targets } from "./plan-changes.ts";

type Row = Readonly<Record<string, unknown>>;

/** A connection that results are written to, such as `graph.connect()`. */
export interface Writable {
  readonly catalog: Catalog;
  readonly jobs: Jobs;
}

/** How far a write-back has come. */
export interface WriteBackProgress {
  /** Changes found in the result. */
  readonly changes: number;
  /** Changes dealt with, those of earlier runs of the job included. */
  readonly done: number;
}

export interface WriteBackOptions {
  /**
   * What is written: for each node, edge or part, its attributes and the result's columns that they are taken from, such as
   * `{ page: { rank: "rank" } }`. The attributes must be in the schema.
   */
  readonly to: Targets;
  /** Name of the job in the table, 1 to 200 characters. @default "write-back" */
  readonly job?: string;
  /**
   * What an item must still be for a change to be written: `version`: the version that was extracted; `value`: the values of
   * the written attributes that were extracted. @default "version" where the model keeps one, else "value"
   */
  readonly given?: "version" | "value";
  /** Rows without a result: left as they are, or their attributes removed. @default "keep" */
  readonly absent?: "keep" | "remove";
  /** A number that differs by at most this share of its size counts as unchanged, 0 to 1. @default 0; 1e-12 for doubles, whose sums depend on the order */
  readonly tolerance?: number;
  /** Write units per second that the changes may consume, 1 to 10,000,000. @default 100 */
  readonly unitsPerSecond?: number;
  /** Writes in flight, 1 to 1,000. @default 8 */
  readonly concurrency?: number;
  /** Milliseconds after which a job whose process died may be resumed, 100 to 600,000. @default 10,000 */
  readonly lease?: number;
  /** Called about once a second, and at the end. */
  readonly onProgress?: (progress: WriteBackProgress) => void;
  readonly signal?: AbortSignal;
}

/** An item that was left as it is. */
export interface SkippedItem {
  readonly definition: string;
  /** Its key columns in the lake. */
  readonly item: Row;
  /** The reason of the write's outcome, such as `versionConflict` or `notFound`. */
  readonly reason: string;
}

/** The result of a write-back. */
export interface WriteBackReport {
  /** Rows of the result that belong to a table that is written. */
  readonly matched: number;
  /** Rows whose attributes differ. */
  readonly changes: number;
  readonly written: number;
  /** Items that already had the new values: written by a run that was cut off, or by somebody else. */
  readonly already: number;
  /** Items that changed or went away after the extraction, and were left alone. */
  readonly skipped: number;
  /** The first 100 of those that this run skipped. */
  readonly skippedItems: readonly SkippedItem[];
  /** True if it resumed a job that was cut off. */
  readonly resumed: boolean;
  readonly writeUnits: number;
}

interface Counts {
  written: number;
  already: number;
  skipped: number;
  writeUnits: number;
}

/** The calls that a write-back makes on a member of the connection. */
interface Member {
  update(id: Row, ...rest: readonly unknown[]): PromiseLike<WriteOutcome<Row>>;
  relink(from: Row, to: Row, changes: Row, options: Row): PromiseLike<WriteOutcome<Row>>;
}

const PAGE = 500;
const NAMED = 100;
const ATTEMPTS = 5;

const valueOf = (type: ColumnType, value: unknown, isSet = false): unknown => {
  // DynamoDB has no empty set.
  if (isSet && Array.isArray(value)) return value.length === 0 ? null : new Set(value);
  if (type !== "integer" || typeof value !== "bigint") return value;
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
};

/** True for equal values; numbers may differ in the digits in which two runs of one sum differ. */
const isSame = (stored: unknown, wanted: unknown): boolean => {
  if (typeof stored === "number" && typeof wanted === "number")
    return Math.abs(stored - wanted) <= 1e-9 * Math.max(Math.abs(stored), Math.abs(wanted));
  if (stored instanceof Date && wanted instanceof Date) return stored.getTime() === wanted.getTime();
  if (stored instanceof Set) return wanted instanceof Set && stored.size === wanted.size && [...stored].every((one) => wanted.has(one));
  if (Array.isArray(stored) && Array.isArray(wanted))
    return stored.length === wanted.length && stored.every((one, at) => isSame(one, wanted[at]));
  if (typeof stored === "bigint" || typeof wanted === "bigint") return String(stored) === String(wanted);
  return (stored ?? null) === (wanted ?? null);
};

/** True for the values that a change has none to write for: in lists, too, every digit counts. */
const isUnchanged = (old: unknown, now: unknown): boolean => {
  if (Array.isArray(old) && Array.isArray(now)) return old.length === now.length && old.every((one, at) => one === now[at]);
  return typeof now === "number" ? old === now : isSame(old, now);
};

/** One change as the calls of the library take it. */
interface Change {
  readonly set: Row;
  readonly remove: readonly string[];
  readonly before: Row;
  readonly version: number | undefined;
}

const readChange = ({ attributes, version }: Target, row: ResultRow): Change => {
  const set: Record<string, unknown> = {};
  const before: Record<string, unknown> = {};
  const remove: string[] = [];
  for (const [at, { attribute, type, isSet }] of attributes.entries()) {
    const [old, now] = [valueOf(type, row[`before_${at}`], isSet), valueOf(type, row[`after_${at}`], isSet)];
    before[attribute] = old ?? undefined;
    // Attributes of the row that did not change are not written.
    if (isUnchanged(old, now)) continue;
    if (now === null) remove.push(attribute);
    else set[attribute] = now;
  }
  const stored = version === undefined ? undefined : row[version];
  return { set, remove, before, version: stored === undefined || stored === null ? undefined : Number(stored) };
};

const conditionOf = ({ set, remove, before, version }: Change, keepsVersion: boolean): Row => {
  if (version !== undefined) return { ifVersion: version };
  // An item that is older than the setting `version` has none; a write by another would give it one.
  if (keepsVersion) return { if: { version: { exists: false } } };
  const written = [...Object.keys(set), ...remove];
  return { if: Object.fromEntries(written.map((name) => [name, before[name] === undefined ? { exists: false } : before[name]])) };
};

interface Writing {
  readonly db: Writable;
  readonly lake: Lake;
  readonly options: WriteBackOptions;
  readonly job: OwnJob;
  readonly counts: Counts;
  readonly skippedItems: SkippedItem[];
  /** Milliseconds (of `performance.now`) at which the pace allows the next write. */
  due: number;
}

/** Gives the function that sends one change. */
const sender = ({ db, job, options: { given } }: Writing, { table, keys, version, attributes }: Target) => {
  const { kind, definition } = table;
  // A part at an end of an edge is named as a node is.
  const ends = db.catalog.ends as Catalog["nodes"];
  const member = (db as unknown as Readonly<Record<string, Member>>)[definition]!;
  const idOf = (text: unknown, several = false): Row => {
    const found = readNodeText({ nodes: ends }, String(text));
    if (!found) throw new EdgetableError("analytics.result", `${String(text)} is not a node of the model.`, { details: { node: text } });
    return several ? { type: found.type, ...found.id } : found.id;
  };
  const byVersion = version !== undefined && given !== "value";
  const { aggregates, summaries } = db.catalog.facts;
  const derived = [...aggregates.filter(({ node }) => node === definition), ...summaries.filter(({ edge }) => edge === definition)];
  const isDerived = attributes.some(({ attribute }) => derived.some((fact) => fact.attribute === attribute));
  return (row: ResultRow, change: Change): PromiseLike<WriteOutcome<Row>> => {
    const { set, remove } = change;
    const changes = remove.length === 0 ? set : { set, remove };
    const options = conditionOf(byVersion ? change : { ...change, version: undefined }, byVersion);
    const key = Object.fromEntries(keys.map(({ name, attribute = name, type }) => [attribute, valueOf(type, row[name])]));
    const { from = [], to = [] } = db.catalog.edges[definition] ?? {};
    const endsOf = () => [idOf(row["source"], from.length > 1), idOf(row["target"], to.length > 1)] as const;
    if (isDerived) {
      const values = { ...set, ...Object.fromEntries(remove.map((name) => [name, undefined])) };
      const stored = conditionOf({ ...change, version: undefined }, false)["if"] as Row;
      const [source, target] = kind === "edge" ? endsOf() : [];
      const id = kind === "edge" ? { ...key, from: source, to: target } : idOf(row["node"]);
      return job.setDerived(definition, id, values, stored) as Promise<WriteOutcome<Row>>;
    }
    if (kind === "node") return member.update(idOf(row["node"]), changes, options);
    if (kind === "part") return member.update(idOf(row["owner"]), key, changes, options);
    const ends = endsOf();
    return member.relink(...ends, changes, keys.length === 0 ? options : { ...options, key });
  };
};

/** Sends a change until it is known how it ended: each attempt is conditional, so none takes effect twice. */
const settle = async (send: () => PromiseLike<WriteOutcome<Row>>): Promise<WriteOutcome<Row>> => {
  for (let attempt = 1; ; attempt++) {
    try {
      return await send();
    } catch (error) {
      if (attempt === ATTEMPTS || !isEdgetableError(error, "execute.ambiguous")) throw error;
    }
  }
};

/** Waits until the pace allows more units than those just consumed; a pause is made up for by a second's worth at most. */
const pace = async (writing: Writing, units: number): Promise<void> => {
  const { unitsPerSecond = 100 } = writing.options;
  const now = performance.now();
  writing.due = Math.max(writing.due, now - 1000) + (units / unitsPerSecond) * 1000;
  // If the signal ends the pause, the job's next check fails with it.
  if (writing.due > now) await setTimeout(writing.due - now, undefined, { signal: writing.job.signal }).catch(() => undefined);
};

const writeRow = async (writing: Writing, target: Target, row: ResultRow): Promise<void> => {
  const { job, counts, skippedItems } = writing;
  const change = readChange(target, row);
  const send = sender(writing, target);
  job.check();
  let outcome = await settle(() => send(row, change));
  let units = outcome.cost.writeUnits;
  const stored = outcome.ok || outcome.reason !== "conditionFailed" ? undefined : outcome.current;
  const nulls = Object.keys(change.before).filter((name) => change.before[name] === undefined && stored?.[name] === null);
  if (nulls.length > 0) {
    // A lake does not tell a stored null from an absent value.
    const before = { ...change.before, ...Object.fromEntries(nulls.map((name) => [name, null])) };
    outcome = await settle(() => send(row, { ...change, before }));
    units += outcome.cost.writeUnits;
  }
  counts.writeUnits += units;
  if (outcome.ok) counts.written++;
  else {
    const { current } = outcome;
    const wanted = [...Object.entries(change.set), ...change.remove.map((name) => [name, undefined] as const)];
    if (current && wanted.every(([name, value]) => isSame(current[name], value))) counts.already++;
    else {
      counts.skipped++;
      const item = Object.fromEntries(Object.entries(row).filter(([name]) => !/^(place|at_version|(before|after)_\d+)$/.test(name)));
      if (skippedItems.length < NAMED) skippedItems.push({ definition: target.table.definition, item, reason: outcome.reason });
    }
  }
  await pace(writing, units);
};

const countsOf = (saved: Readonly<Record<string, string | number>>): Counts => ({
  written: Number(saved["written"] ?? 0),
  already: Number(saved["already"] ?? 0),
  skipped: Number(saved["skipped"] ?? 0),
  writeUnits: Number(saved["writeUnits"] ?? 0),
});

/** Writes the changes of every table, from the job's position. */
const writeAll = async (writing: Writing, targets: readonly Target[], from: number): Promise<void> => {
  const { lake, job, counts, options } = writing;
  const { concurrency = 8, onProgress } = options;
  const changes = targets.reduce((sum, target) => sum + target.changes, 0);
  let reported = performance.now();
  let before = 0;
  for (const target of targets) {
    for (let place = Math.max(0, from - before); place < target.changes; place += PAGE) {
      const rows = await lake.query(
        `select * from ${parquet(target.file)} where place >= ${place} and place < ${place + PAGE} order by place`,
      );
      let next = 0;
      const lane = async (): Promise<void> => {
        for (let row = rows[next++]; row; row = rows[next++]) await writeRow(writing, target, row);
      };
      // All lanes end before the first failure is thrown: nothing is written behind the job's back.
      const ended = await Promise.allSettled(Array.from({ length: concurrency }, lane));
      const failed = ended.find((one) => one.status === "rejected");
      if (failed) throw failed.reason;
      const done = Math.min(before + place + PAGE, before + target.changes);
      job.save({ position: done, ...counts });
      if (performance.now() - reported < 1000) continue;
      reported = performance.now();
      onProgress?.({ changes, done });
    }
    before += target.changes;
  }
  onProgress?.({ changes, done: changes });
};

const hash = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 32);

/** The list of a job's changes, in its folder in the lake. */
const planIn = (folder: string): string => join(folder, "changes.json");

/** The options of a write-back, and which rows of the result belong to a table. */
type ResultOptions = WriteBackOptions & Pick<ChangeSettings, "rowsOf">;

/** The changes of a result: those that a run which was cut off left in the lake, else found anew. */
const changesOf = async (
  { catalog }: Writable,
  { lake, results, options, folder }: { lake: Lake; results: Program | string; options: ResultOptions; folder: string },
): Promise<readonly Target[]> => {
  const plan = planIn(folder);
  if (existsSync(plan)) return JSON.parse(await readFile(plan, "utf8")) as readonly Target[];
  await mkdir(folder, { recursive: true });
  const result =
    typeof results === "string" ? `(${results})` : await lake.compute(results, options.signal ? { signal: options.signal } : {});
  const { to, absent = "keep", tolerance = 0, rowsOf } = options;
  const fileOf = ({ name }: { readonly name: string }): string => join(folder, `${name}.parquet`);
  const targets = await planChanges(lake, catalog, { result, settings: { to, absent, tolerance, rowsOf }, fileOf });
  // The list comes last and at once: half of the changes are never taken for all.
  await writeFile(`${plan}.new`, JSON.stringify(targets));
  await rename(`${plan}.new`, plan);
  return targets;
};

const checkRange = (name: string, value: number | undefined, [least, most]: readonly [number, number]): void => {
  if (value === undefined || (value >= least && value <= most)) return;
  throw new EdgetableError("plan.invalidOption", `${name} must be from ${least} to ${most}; it is ${value}.`, {
    details: { option: name, value },
  });
};

/** The work of {@link writeBack}. */
export const writeRows = async (db: Writable, lake: Lake, results: Program | string, options: ResultOptions): Promise<WriteBackReport> => {
  const { job: name = "write-back", to, given, absent, tolerance, lease, signal } = options;
  checkRange("tolerance", tolerance, [0, 1]);
  checkRange("unitsPerSecond", options.unitsPerSecond, [1, 10_000_000]);
  checkRange("concurrency", options.concurrency, [1, 1000]);
  const { table, extractedAt } = await readLakeFile(lake.folder);
  if (table !== db.catalog.table)
    throw new EdgetableError(
      "analytics.lake",
      `The lake in ${lake.folder} was extracted from "${table}"; the connection writes to "${db.catalog.table}".`,
      { details: { folder: lake.folder, table } },
    );
  const fingerprint = hash(JSON.stringify([extractedAt, results, to, given, absent, tolerance]));
  const folder = join(lake.folder, ".write-back", hash(name), fingerprint);
  const run = (): Promise<WriteBackReport> =>
    db.jobs.run(name, { fingerprint, ...(lease === undefined ? {} : { lease }), ...(signal ? { signal } : {}) }, async (job) => {
      const targets = await changesOf(db, { lake, results, options, folder });
      const counts = countsOf(job.saved);
      const skippedItems: SkippedItem[] = [];
      const from = Number(job.saved["position"] ?? 0);
      await writeAll({ db, lake, options, job, counts, skippedItems, due: performance.now() }, targets, from);
      const sum = (of: "matched" | "changes"): number => targets.reduce((total, target) => total + target[of], 0);
      return { matched: sum("matched"), changes: sum("changes"), ...counts, skippedItems, resumed: job.saved["position"] !== undefined };
    });
  const report = await run().catch(async (error: unknown) => {
    // A result that is refused leaves nothing to resume.
    const isRefused = isEdgetableError(error) && ["analytics.result", "analytics.sql"].includes(error.code) && !existsSync(planIn(folder));
    if (isRefused) await db.jobs.forget(name);
    const isOtherInput = isEdgetableError(error, "job.mismatch") && error.details["wanted"] === undefined;
    if (!isOtherInput) throw error;
    // What an older lake's job had left to write is out of date.
    await db.jobs.forget(name);
    return run();
  });
  await rm(join(lake.folder, ".write-back", hash(name)), { recursive: true, force: true });
  return report;
};

/**
 * Writes a job's results onto nodes, edges and parts of the table that the lake was extracted from: only values that differ
 * from the lake's, and only on items that have not changed since. Runs as a job of the table: one process at a time, and
 * the same call resumes it. A change is never written twice. A newer lake or other results supersede a job that was cut off.
 *
 * One UpdateItem for each change, at the pace of `unitsPerSecond`; a transaction for edges that are stored twice.
 *
 * @param db a connection to the table
 * @param results a program, or a SELECT over the lake's tables, with a column `node` (or `source` and `target`, or `owner`, and the item's own key columns)
 * @throws {analytics.result} if the result does not fit the model, or has two rows for one item
 * @throws {analytics.lake} if the lake is one of another table
 * @throws {job.busy} while another process writes
 * @throws {execute.aborted} if the signal aborts; call again to resume
 * @example
 * await writeBack(db, lake, pageRank(lake, { edges: ["linksTo"] }), { to: { page: { rank: "rank" } }, tolerance: 0.001 });
 */
export const writeBack = (db: Writable, lake: Lake, results: Program | string, options: WriteBackOptions): Promise<WriteBackReport> =>
  writeRows(db, lake, results, options);

/** Writes a job's results to a file: Parquet, CSV or JSON Lines, by the name's ending. */
export const saveResults = async (lake: Lake, results: Program | string, file: string): Promise<number> => {
  const [, ending = ""] = /\.(parquet|csv|jsonl?)$/.exec(file) ?? [];
  const format = { parquet: "parquet", csv: "csv, header true", json: "json", jsonl: "json" }[ending];
  if (format === undefined)
    throw new EdgetableError("plan.invalidOption", `The file "${file}" must end in .parquet, .csv or .jsonl.`, { details: { file } });
  const source = typeof results === "string" ? results : `select * from ${await lake.compute(results)} order by ${results.result.orderBy}`;
  const [row] = await lake.query(`copy (${source}) to ${literal(file)} (format ${format})`);
  return Number(Object.values(row ?? {})[0] ?? 0);
};
