import { parse } from "csv-parse/sync";
import type { ImportAnswer, RowsAnswer, WireCell, WireSort, WriteAnswer } from "@edgetable/studio";
import { type AnyGraph, didYouMean, type Item, offline, type StandardSchema, type Transport, type WriteOutcome } from "edgetable";
import { describeItem } from "edgetable/check";
import { nodeOf, type UntypedDb } from "../connection.ts";
import { failureOf, usageError } from "../failure.ts";
import { isRow, toExactJson, fromJson, type Row } from "../output/json.ts";
import { fitTexts, isoDate, problemsOf } from "../text/fit-texts.ts";
import { setValues } from "./fields.ts";
import { readStored, type StoredPage } from "./stored-items.ts";

/** Milliseconds for one call. */
const DEADLINE = 30_000;
/** Pages of an index that one page of rows reads at most, if a filter leaves out most of what it reads. */
const MAX_PAGES = 8;
/** Failures of an import that are told. */
const MAX_FAILURES = 20;

interface AnyWrite {
  run(options: { readonly deadline: number }): Promise<WriteOutcome<Row>>;
}

/** The writes of a node type whose types are unknown at compile time. */
interface UntypedWriter {
  create(row: Row): AnyWrite;
  update(id: Row, changes: { readonly set: Row; readonly remove: readonly string[] }, options: { readonly if?: Row }): AnyWrite;
  delete(id: Row): AnyWrite;
}

/** The writes of an edge type whose types are unknown at compile time. */
interface UntypedLinks {
  link(from: Row, to: Row, attributes?: Row): AnyWrite;
  unlink(from: Row, to: Row, options?: { readonly key?: Row }): AnyWrite;
}

/** Which rows to read. */
export interface RowsRequest extends Pick<StoredPage, "cursor" | "limit"> {
  readonly type: string;
  /** An index that gives the order; undefined for the order of the table. */
  readonly sort: string | undefined;
  readonly reverse: boolean;
  /** Attribute → what its cells have to hold: see {@link matches}. */
  readonly filters: Readonly<Record<string, string>>;
}

/** A value as a cell shows it. */
const cellText = (value: unknown): string => {
  if (value === undefined) return "";
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
  if (value instanceof Set) return [...value].map(cellText).join(", ");
  if (typeof value === "number" || typeof value === "bigint" || typeof value === "boolean") return String(value);
  return typeof value === "string" ? value : toExactJson(value);
};

const comparisons: readonly (readonly [sign: string, holds: (order: number) => boolean])[] = [
  [">=", (order) => order >= 0],
  ["<=", (order) => order <= 0],
  ["!=", (order) => order !== 0],
  [">", (order) => order > 0],
  ["<", (order) => order < 0],
  ["=", (order) => order === 0],
];

/**
 * Whether a cell has what a filter asks for: `=`, `!=`, `<`, `<=`, `>` or `>=` and a value, compared as numbers if both are;
 * without a sign, a text that the cell contains in any case. `=` alone finds cells without a value.
 */
export const matches = (value: unknown, filter: string): boolean => {
  const text = cellText(value);
  const [sign, holds] = comparisons.find(([one]) => filter.startsWith(one)) ?? [];
  if (sign === undefined || !holds) return text.toLowerCase().includes(filter.toLowerCase());
  const wanted = filter.slice(sign.length).trim();
  const [left, right] = [Number(text), Number(wanted)];
  if (text !== "" && wanted !== "" && !Number.isNaN(left) && !Number.isNaN(right)) return holds(left - right);
  if (text === "" && wanted !== "" && sign !== "!=") return false;
  return holds(text < wanted ? -1 : text > wanted ? 1 : 0);
};

/** The orders in which indexes give all nodes of a type: those by which a search without a condition has a plan. */
export const sortsOf = async (graph: AnyGraph): Promise<ReadonlyMap<string, readonly WireSort[]>> => {
  const db = graph.connect({ transport: offline }) as unknown as UntypedDb;
  const sorts = new Map<string, readonly WireSort[]>();
  for (const { name, shape, idFields } of Object.values(graph.catalog.nodes)) {
    const found: WireSort[] = [];
    for (const { name: index, sortKey } of graph.catalog.indexes) {
      const by = (shape.keys[sortKey ?? ""]?.fields ?? []).filter((field) => !idFields.includes(field));
      if (index === undefined || by.length === 0) continue;
      const isPlanned = await db
        .find(name)
        .using(index)
        .page({ limit: 1 })
        .explain()
        .then(
          () => true,
          () => false,
        );
      if (isPlanned) found.push({ index, by });
    }
    sorts.set(name, found);
  }
  await db.close();
  return sorts;
};

/**
 * Reads rows of one node type: by Scan of the table, or in the order of an index. A filter is applied after reading.
 *
 * @throws {cli.usage} for an unknown type or an invalid cursor
 * @throws {plan.noIndex} if the index does not hold all nodes of the type
 */
export const readRows = async (
  graph: AnyGraph,
  { db, transport }: { readonly db: UntypedDb; readonly transport: Transport },
  { type, sort, reverse, filters, cursor, limit }: RowsRequest,
  signal: AbortSignal,
): Promise<RowsAnswer> => {
  // Says which types there are.
  nodeOf(db, type);
  const passes = (row: Row): boolean => Object.entries(filters).every(([attribute, filter]) => matches(row[attribute], filter));
  if (sort === undefined) {
    const page = { index: undefined, partition: undefined, cursor, limit };
    const take = (item: Item): Row | undefined => {
      const { kind, name, row } = describeItem(graph, item);
      return kind === "node" && name === type && row && passes(row) ? row : undefined;
    };
    const { taken, ...answer } = await readStored({ graph, transport, signal }, page, take);
    return { rows: taken, ...answer };
  }
  const rows: Row[] = [];
  const cost = { requests: 0, readUnits: 0 };
  let scanned = 0;
  let next = cursor;
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const search = db.find(type).using(sort);
    const page = (reverse ? search.reverse() : search).page({ limit, cursor: next });
    const { value, cost: own } = await page.report({ signal, deadline: DEADLINE });
    cost.requests += own.requests;
    cost.readUnits += own.readUnits;
    scanned += value.items.length;
    rows.push(...(value.items as readonly Row[]).filter(passes));
    next = value.next;
    if (next === undefined || rows.length >= limit / 2) break;
  }
  return { rows, ...(next === undefined ? {} : { next }), scanned, cost };
};

/** A number as it was written: an integer of any size, or a fraction that a number keeps. @throws {cli.usage} */
const readNumber = (text: string): number | bigint => {
  if (/^[+-]?\d+$/.test(text)) {
    const whole = BigInt(text);
    return BigInt(Number(whole)) === whole && Number.isSafeInteger(Number(whole)) ? Number(whole) : whole;
  }
  if (!/^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text)) throw usageError(`"${text}" is not a number.`);
  const digits = text.replace(/e.*$/i, "").replaceAll(/[^\d]/g, "").replace(/^0+/, "");
  if (digits.length > 15) throw usageError(`${text} has ${digits.length} digits; a fraction keeps 15.`);
  return Number(text);
};

/** Members with commas between them; a JSON list where a member has a comma itself. */
const members = (text: string): readonly string[] => {
  if (text.startsWith("["))
    try {
      const list: unknown = JSON.parse(text);
      if (Array.isArray(list)) return list.map(String);
    } catch {
      // A text that begins with a bracket.
    }
  return text
    .split(",")
    .map((one) => one.trim())
    .filter((one) => one !== "");
};

const readBytes = (text: string): Uint8Array => {
  const bytes = Buffer.from(text, "base64");
  if (bytes.toString("base64").replace(/=+$/, "") !== text.replace(/=+$/, "")) throw usageError("Bytes are written in base64.");
  return new Uint8Array(bytes);
};

const readDate = (text: string): Date => {
  const date = isoDate(text);
  if (!date) throw usageError(`"${text}" is not a date, such as 2024-05-06T07:08:09Z.`);
  return date;
};

const readJson = (text: string): unknown => {
  try {
    return fromJson(text);
  } catch (error) {
    throw usageError(`This is not JSON: ${error instanceof Error ? error.message : String(error)}.`);
  }
};

/** Reads a text as a value of the kind that the cell held; undefined if it held no value, or a text. */
const readAs = (was: unknown, text: string): unknown => {
  if (typeof was === "number" || typeof was === "bigint") return readNumber(text.trim());
  if (was instanceof Set) {
    const [first] = was;
    return new Set(members(text).map((one) => (first === undefined ? one : (readAs(first, one) ?? one))));
  }
  if (was instanceof Uint8Array) return readBytes(text.trim());
  if (was instanceof Date) return readDate(text.trim());
  if (typeof was === "object" && was !== null) return readJson(text);
  return undefined;
};

/** The value that a person means by a text in a cell, of the type that the cell held or else one that the schema accepts. */
const readCell = async (schema: StandardSchema | undefined, name: string, text: string, was: unknown): Promise<unknown> => {
  if (typeof was === "string") return text;
  const fits = async (value: unknown): Promise<boolean> => !(await problemsOf(schema, { [name]: value })).has(name);
  const known = readAs(was, text);
  // A model may want a bigint where the cell held a number, or the reverse.
  if (known !== undefined) return typeof known === "number" && !(await fits(known)) && Number.isSafeInteger(known) ? BigInt(known) : known;
  if (!schema || (await fits(text))) return text;
  const [plain, texts] = [text.trim(), members(text)];
  const candidates = [
    () => readNumber(plain),
    () => BigInt(plain),
    async () => (await fitTexts(schema, { [name]: plain }, new Set([name])))[name],
    () => new Set(texts),
    () => new Set(texts.map(readNumber)),
    () => texts,
    () => readBytes(plain),
  ];
  for (const candidate of candidates)
    try {
      const value: unknown = await candidate();
      if (await fits(value)) return value;
    } catch {
      // Not of that kind.
    }
  return text;
};

const reasons: Readonly<Record<string, string>> = {
  exists: "There is one with this id already.",
  notFound: "It is not there any more.",
  conditionFailed: "Somebody changed it meanwhile. The cells show what is stored now: change them again.",
  versionConflict: "Somebody changed it meanwhile.",
};

const answerOf = ({ ok, reason, row, cost, ...why }: WriteOutcome<Row>): WriteAnswer => {
  const spent = { requests: cost.requests, readUnits: cost.readUnits, writeUnits: cost.writeUnits };
  if (ok) return { ok: true, ...(row === undefined ? {} : { row }), cost: spent };
  const { attribute, edge, end, limit } = why as {
    readonly attribute?: string;
    readonly edge?: string;
    readonly end?: string;
    readonly limit?: number;
  };
  const special: Readonly<Record<string, string>> = {
    notUnique: `Another one has this ${attribute}.`,
    immutable: `${attribute} cannot change: there are copies of it.`,
    endMissing: `There is no node at its end "${end}".`,
    degreeExceeded: `The node at its end "${end}" has ${limit} of these edges, and may not have more.`,
    hasEdges: `It has edges of type ${edge}, which keep it from being deleted.`,
  };
  const problem = special[reason ?? ""] ?? reasons[reason ?? ""] ?? `It was not written: ${reason}.`;
  return { ok: false, problem, cost: spent };
};

/** Whether two values are the same, sets and dates by what they hold. */
const isSame = (one: unknown, other: unknown): boolean => toExactJson([one]) === toExactJson([other]);

/** What a cell holds after a change: null removes. */
const cellOf = async (schema: StandardSchema | undefined, name: string, cell: WireCell | undefined, was: unknown): Promise<unknown> => {
  if (cell === null || cell === undefined) return undefined;
  return "text" in cell ? readCell(schema, name, cell.text, was) : cell.value;
};

const writerOf = (db: UntypedDb, type: string): UntypedWriter => nodeOf(db, type) as unknown as UntypedWriter;

const linksOf = (db: UntypedDb, edge: string): UntypedLinks => {
  const names = Object.keys(db.catalog.edges);
  if (!names.includes(edge)) throw usageError(`There is no edge type "${edge}".${didYouMean(edge, names)}`);
  return (db as unknown as Readonly<Record<string, UntypedLinks>>)[edge] as UntypedLinks;
};

const bodyOf = (body: unknown, example: string): Row => {
  if (isRow(body)) return body;
  throw usageError(`The body must be ${example}.`);
};

const rowIn = (body: Row, name: string): Row => {
  const value = body[name];
  if (isRow(value)) return value;
  throw usageError(`"${name}" must be an object.`);
};

/**
 * Changes some attributes of a row, if they hold what they held when the row was read: nobody's change is overwritten unseen.
 *
 * @throws {cli.usage} for a text that is no value of the cell's type
 * @throws {schema.invalidValue} for a value that the model does not take
 */
export const changeRow = async (db: UntypedDb, body: unknown): Promise<WriteAnswer> => {
  const given = bodyOf(body, '{ "type": …, "id": …, "set": …, "was": … }');
  const [id, was, all] = [rowIn(given, "id"), rowIn(given, "was"), rowIn(given, "set")];
  const type = String(given["type"]);
  const [ofFields, cells] = [true, false].map((isField) =>
    Object.fromEntries(Object.entries(all).filter(([name]) => name.startsWith("field:") === isField)),
  ) as [Row, Row];
  if (Object.keys(ofFields).length > 0) {
    const values = ofFields as Readonly<Record<string, WireCell>>;
    const answer = await setValues(db, { type, id, cells: values, was });
    if (!answer.ok || Object.keys(cells).length === 0) return answer;
  }
  const writer = writerOf(db, type);
  const { schema } = db.catalog.nodes[type]?.definition ?? {};
  const set: Record<string, unknown> = {};
  const remove: string[] = [];
  const unchanged: Record<string, unknown> = {};
  for (const [name, cell] of Object.entries(cells)) {
    const value = await cellOf(schema, name, cell as WireCell, was[name]);
    if (isSame(value, was[name])) continue;
    if (value === undefined || (value instanceof Set && value.size === 0)) remove.push(name);
    else set[name] = value;
    unchanged[name] = was[name] === undefined ? { exists: false } : { eq: was[name] };
  }
  const read = async (): Promise<Row | undefined> => nodeOf(db, type)(id).get({ consistent: true }).run({ deadline: DEADLINE });
  if (Object.keys(unchanged).length === 0) {
    const row = await read();
    return { ok: true, ...(row && { row }), cost: { requests: 1, readUnits: 1, writeUnits: 0 } };
  }
  const outcome = await writer.update(id, { set, remove }, { if: unchanged }).run({ deadline: DEADLINE });
  const answer = answerOf(outcome);
  const row = answer.row ?? (await read());
  return { ...answer, ...(row && { row }) };
};

/** Creates a node from cells. @throws as {@link changeRow} */
export const createRow = async (db: UntypedDb, body: unknown): Promise<WriteAnswer> => {
  const given = bodyOf(body, '{ "type": …, "set": … }');
  const type = String(given["type"]);
  const { schema } = db.catalog.nodes[type]?.definition ?? {};
  const row: Record<string, unknown> = {};
  for (const [name, cell] of Object.entries(rowIn(given, "set"))) {
    const value = await cellOf(schema, name, cell as WireCell, undefined);
    if (value !== undefined && value !== "") row[name] = value;
  }
  return answerOf(await writerOf(db, type).create(row).run({ deadline: DEADLINE }));
};

/** Deletes a node, as the model says with its edges and parts. */
export const deleteRow = async (db: UntypedDb, body: unknown): Promise<WriteAnswer> => {
  const given = bodyOf(body, '{ "type": …, "id": … }');
  return answerOf(await writerOf(db, String(given["type"])).delete(rowIn(given, "id")).run({ deadline: DEADLINE }));
};

/** Links two nodes, or unlinks them. */
export const linkNodes = async (db: UntypedDb, body: unknown, unlinks: boolean): Promise<WriteAnswer> => {
  const given = bodyOf(body, '{ "edge": …, "from": …, "to": …, "set": … }');
  const edge = String(given["edge"]);
  const links = linksOf(db, edge);
  const { schema } = db.catalog.edges[edge]?.definition ?? {};
  const attributes: Record<string, unknown> = {};
  for (const [name, cell] of Object.entries(given["set"] === undefined ? {} : rowIn(given, "set"))) {
    const value = await cellOf(schema, name, cell as WireCell, undefined);
    if (value !== undefined && value !== "") attributes[name] = value;
  }
  const hasSome = Object.keys(attributes).length > 0;
  const [from, to] = [rowIn(given, "from"), rowIn(given, "to")];
  return answerOf(
    await (
      unlinks ? links.unlink(from, to, hasSome ? { key: attributes } : {}) : links.link(from, to, ...(hasSome ? [attributes] : []))
    ).run({ deadline: DEADLINE }),
  );
};

interface CsvRecord {
  readonly record: Readonly<Record<string, string>>;
  readonly info: { readonly lines: number };
}

/**
 * Writes the rows of a CSV file whose header names attributes. Rows are written whole: a second import of the same file changes
 * nothing, and one of fewer columns removes the others' values.
 */
export const importRows = async (db: UntypedDb, body: unknown, signal: AbortSignal): Promise<ImportAnswer> => {
  const given = bodyOf(body, '{ "type": …, "csv": … }');
  const type = String(given["type"]);
  nodeOf(db, type);
  let records: readonly CsvRecord[];
  try {
    records = parse(String(given["csv"]), {
      bom: true,
      columns: true,
      skip_empty_lines: true,
      info: true,
    }) as unknown as readonly CsvRecord[];
  } catch (error) {
    throw usageError(`The file is no CSV: ${error instanceof Error ? error.message : String(error)}.`);
  }
  const { schema } = db.catalog.nodes[type]?.definition ?? {};
  const lines: number[] = [];
  async function* rows(): AsyncGenerator<Row> {
    for (const { record, info } of records) {
      lines.push(info.lines);
      const row: Record<string, unknown> = {};
      for (const [name, text] of Object.entries(record)) if (text !== "") row[name] = await readCell(schema, name, text, undefined);
      yield { node: type, row };
    }
  }
  const { failed, failures: first, cost } = await db.load(rows(), { signal, named: MAX_FAILURES });
  const failures = first.map(({ row, error }) => ({ line: lines[row] ?? 0, problem: failureOf(error).message }));
  return { rows: records.length, failed, failures, cost };
};
