import { parse } from "csv-parse/sync";
import type { ImportAnswer, RowsAnswer, WireSort, WriteAnswer } from "@edgetable/studio";
import { type AnyGraph, didYouMean, type Item, offline, type StandardSchema, type Transport, type WriteOutcome } from "edgetable";
import { describeItem, isFieldPart } from "edgetable/check";
import { type AnyRead, endOf, nodeOf, type UntypedDb, type UntypedHandle } from "../connection.ts";
import { failureOf, usageError } from "../failure.ts";
import { recordEnds } from "../load/read-file.ts";
import { isRow, type Row } from "../output/json.ts";
import { CHANGED, cellOf, isSame, matches, readCell, valuesOf } from "./cells.ts";
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

interface Changes {
  readonly set: Row;
  readonly remove: readonly string[];
}

interface Conditions {
  readonly if?: Row;
}

/** The writes of a node type whose types are unknown at compile time. */
interface UntypedWriter {
  create(row: Row): AnyWrite;
  update(id: Row, changes: Changes, options: Conditions): AnyWrite;
  delete(id: Row): AnyWrite;
}

interface EdgeKey {
  readonly key?: Row;
}

/** An edge type whose types are unknown at compile time. */
interface UntypedLinks {
  link(from: Row, to: Row, attributes?: Row): AnyWrite;
  relink(from: Row, to: Row, changes: Changes, options: EdgeKey & Conditions): AnyWrite;
  unlink(from: Row, to: Row, options: EdgeKey): AnyWrite;
  get(from: Row, to: Row, options: EdgeKey & { readonly consistent?: boolean }): AnyRead<Row | undefined>;
}

/** A kind of parts whose types are unknown at compile time. */
interface UntypedParts {
  create(owner: Row, row: Row): AnyWrite;
  update(owner: Row, id: Row, changes: Changes, options: Conditions): AnyWrite;
  delete(owner: Row, id: Row): AnyWrite;
  get(owner: Row, id: Row, options: { readonly consistent?: boolean }): AnyRead<Row | undefined>;
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

/** The orders in which indexes give all nodes of a type: those by which a search without a condition has a plan. */
export const sortsOf = async (graph: AnyGraph): Promise<ReadonlyMap<string, readonly WireSort[]>> => {
  const db = graph.connect({ transport: offline }) as unknown as UntypedDb;
  const sorts = new Map<string, readonly WireSort[]>();
  for (const { name, shape, idFields } of Object.values(graph.catalog.nodes)) {
    const found: WireSort[] = [];
    for (const { name: index, sortKeys } of graph.catalog.indexes) {
      const by = sortKeys.flatMap((attribute) => shape.keys[attribute]?.fields ?? []).filter((field) => !idFields.includes(field));
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
 * Reads rows of one node type, or of a kind of parts that edges lead to: by Scan of the table, or in the order of an index, those
 * that have expired in neither. A filter is applied after reading.
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
  endOf(db, type);
  const passes = (row: Row): boolean => Object.entries(filters).every(([attribute, filter]) => matches(row[attribute], filter));
  if (sort === undefined) {
    const page = { index: undefined, partition: undefined, cursor, limit };
    const take = (item: Item): Row | undefined => {
      const { kind, name, row, expires = Infinity } = describeItem(graph, item);
      return kind !== "edge" && name === type && expires >= Date.now() && row && passes(row) ? row : undefined;
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

const reasons: Readonly<Record<string, string>> = {
  exists: "A row with this id exists already.",
  notFound: "It is not there any more.",
  conditionFailed: CHANGED,
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
    notUnique: `Another row has this ${attribute} already.`,
    immutable: `"${attribute}" cannot change: immutable copies of it exist.`,
    endMissing: `There is no node at its end "${end}".`,
    degreeExceeded: `The node at its end "${end}" has ${limit} of these edges, the most that the model allows.`,
    hasEdges: `It has edges of type "${edge}". Delete those first.`,
  };
  const problem = special[reason ?? ""] ?? reasons[reason ?? ""] ?? `It was not written: ${reason}.`;
  return { ok: false, problem, cost: spent };
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

/** A stored row whose attributes are to change. */
interface Target {
  readonly schema: StandardSchema | undefined;
  update(changes: Changes, options: { readonly if: Row }): AnyWrite;
  read(): Promise<Row | undefined>;
}

/** Changes the cells of a row, if they hold what they held when the row was read: nobody's change is overwritten unseen. */
const changeCells = async (target: Target, cells: Row, was: Row): Promise<WriteAnswer> => {
  const set: Record<string, unknown> = {};
  const remove: string[] = [];
  const unchanged: Record<string, unknown> = {};
  for (const [name, cell] of Object.entries(cells)) {
    const value = await cellOf(target.schema, name, cell, was[name]);
    if (isSame(value, was[name])) continue;
    if (value === undefined || (value instanceof Set && value.size === 0)) remove.push(name);
    else set[name] = value;
    unchanged[name] = was[name] === undefined ? { exists: false } : { eq: was[name] };
  }
  if (Object.keys(unchanged).length === 0) {
    const row = await target.read();
    return { ok: true, ...(row && { row }), cost: { requests: 1, readUnits: 1, writeUnits: 0 } };
  }
  const answer = answerOf(await target.update({ set, remove }, { if: unchanged }).run({ deadline: DEADLINE }));
  const row = answer.row ?? (await target.read());
  // The same change was sent before: by a second click, or because its answer was lost.
  const isThere = row && Object.entries(set).every(([name, value]) => isSame(row[name], value));
  if (!answer.ok && isThere && remove.every((name) => row[name] === undefined)) return { ok: true, row, cost: answer.cost };
  return { ...answer, ...(row && { row }) };
};

/**
 * Changes some attributes of a node, and values of its users' fields.
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
  let shown: Row = {};
  if (Object.keys(ofFields).length > 0) {
    const answer = await setValues(db, { type, id, cells: ofFields, was });
    if (!answer.ok || Object.keys(cells).length === 0) return answer;
    shown = Object.fromEntries(Object.entries(answer.row ?? {}).filter(([name]) => name.startsWith("field:")));
  }
  const node = nodeOf(db, type) as unknown as UntypedWriter & { (id: Row): UntypedHandle };
  const answer = await changeCells(
    {
      schema: db.catalog.nodes[type]?.definition.schema,
      update: (changes, options) => node.update(id, changes, options),
      read: () => node(id).get({ consistent: true }).run({ deadline: DEADLINE }),
    },
    cells,
    was,
  );
  return answer.row ? { ...answer, row: { ...answer.row, ...shown } } : answer;
};

/** Creates a node from cells. @throws as {@link changeRow} */
export const createRow = async (db: UntypedDb, body: unknown): Promise<WriteAnswer> => {
  const given = bodyOf(body, '{ "type": …, "set": … }');
  const type = String(given["type"]);
  const row = await valuesOf(db.catalog.nodes[type]?.definition.schema, rowIn(given, "set"));
  return answerOf(await writerOf(db, type).create(row).run({ deadline: DEADLINE }));
};

/** Deletes a node, as the model says with its edges and parts. */
export const deleteRow = async (db: UntypedDb, body: unknown): Promise<WriteAnswer> => {
  const given = bodyOf(body, '{ "type": …, "id": … }');
  return answerOf(await writerOf(db, String(given["type"])).delete(rowIn(given, "id")).run({ deadline: DEADLINE }));
};

/** Links two nodes. @throws as {@link changeRow} */
export const linkNodes = async (db: UntypedDb, body: unknown): Promise<WriteAnswer> => {
  const given = bodyOf(body, '{ "edge": …, "from": …, "to": …, "set": … }');
  const edge = String(given["edge"]);
  const links = linksOf(db, edge);
  const cells = given["set"] === undefined ? {} : rowIn(given, "set");
  const attributes = await valuesOf(db.catalog.edges[edge]?.definition.schema, cells);
  const more = Object.keys(attributes).length > 0 ? [attributes] : [];
  return answerOf(await links.link(rowIn(given, "from"), rowIn(given, "to"), ...more).run({ deadline: DEADLINE }));
};

/** The edge that a body names by its ends and, where parallel edges have a key of their own, its fields. */
const edgeIn = (db: UntypedDb, given: Row) => {
  const edge = String(given["edge"]);
  const links = linksOf(db, edge);
  const key = given["key"] === undefined ? {} : { key: rowIn(given, "key") };
  return { edge, links, key, from: rowIn(given, "from"), to: rowIn(given, "to") };
};

/** Changes attributes of an edge in every place where it is stored. @throws as {@link changeRow} */
export const changeEdge = async (db: UntypedDb, body: unknown): Promise<WriteAnswer> => {
  const given = bodyOf(body, '{ "edge": …, "from": …, "to": …, "key": …, "set": …, "was": … }');
  const { edge, links, key, from, to } = edgeIn(db, given);
  return changeCells(
    {
      schema: db.catalog.edges[edge]?.definition.schema,
      update: (changes, options) => links.relink(from, to, changes, { ...key, ...options }),
      read: () => links.get(from, to, { ...key, consistent: true }).run({ deadline: DEADLINE }),
    },
    rowIn(given, "set"),
    rowIn(given, "was"),
  );
};

/** Removes an edge in every place where it is stored. */
export const unlinkNodes = async (db: UntypedDb, body: unknown): Promise<WriteAnswer> => {
  const { links, key, from, to } = edgeIn(db, bodyOf(body, '{ "edge": …, "from": …, "to": …, "key": … }'));
  return answerOf(await links.unlink(from, to, key).run({ deadline: DEADLINE }));
};

const partsOf = (db: UntypedDb, part: string): UntypedParts => {
  const names = Object.keys(db.catalog.parts).filter((name) => !isFieldPart(db.catalog.parts[name]?.definition));
  if (!names.includes(part)) throw usageError(`There is no part "${part}".${didYouMean(part, names)}`);
  return (db as unknown as Readonly<Record<string, UntypedParts>>)[part] as UntypedParts;
};

/** Creates, changes or deletes a part of a node. @throws as {@link changeRow} */
export const writePart = async (db: UntypedDb, body: unknown, what: "create" | "change" | "delete"): Promise<WriteAnswer> => {
  const given = bodyOf(body, '{ "part": …, "owner": …, "id": …, "set": …, "was": … }');
  const part = String(given["part"]);
  const [parts, owner] = [partsOf(db, part), rowIn(given, "owner")];
  const schema = db.catalog.parts[part]?.definition.schema;
  if (what === "create")
    return answerOf(await parts.create(owner, await valuesOf(schema, rowIn(given, "set"))).run({ deadline: DEADLINE }));
  const id = rowIn(given, "id");
  if (what === "delete") return answerOf(await parts.delete(owner, id).run({ deadline: DEADLINE }));
  return changeCells(
    {
      schema,
      update: (changes, options) => parts.update(owner, id, changes, options),
      read: () => parts.get(owner, id, { consistent: true }).run({ deadline: DEADLINE }),
    },
    rowIn(given, "set"),
    rowIn(given, "was"),
  );
};

/** The row of an edge as its source's copy has it: the one by which it is changed. */
export const edgeRow = (db: UntypedDb, edge: string, row: Row): Promise<Row | undefined> => {
  const fields = db.catalog.edges[edge]?.key ?? [];
  const key = fields.length === 0 ? {} : { key: Object.fromEntries(fields.map((name) => [name, row[name]])) };
  return linksOf(db, edge)
    .get(row["from"] as Row, row["to"] as Row, key)
    .run({ deadline: DEADLINE });
};

interface CsvRecord {
  readonly record: Readonly<Record<string, string>>;
  readonly info: { readonly lines: number };
}

/** The names of a header. @throws {Error} if two columns have one name: the cells of one would be lost */
const uniqueNames = (header: readonly string[]): string[] => {
  const twice = header.find((name, at) => header.indexOf(name) !== at);
  if (twice !== undefined) throw new Error(`the header has two columns "${twice}"`);
  return [...header];
};

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
      columns: uniqueNames,
      record_delimiter: [...recordEnds],
      skip_empty_lines: true,
      info: true,
    }) as unknown as readonly CsvRecord[];
  } catch (error) {
    throw usageError(`The file is not valid CSV: ${error instanceof Error ? error.message : String(error)}.`);
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
  // Of several rows with one id the last one stays.
  const { failed, failures: first, cost } = await db.load(rows(), { signal, named: MAX_FAILURES, order: "kept" });
  const failures = first.map(({ row, error }) => ({ line: lines[row] ?? 0, problem: failureOf(error).message }));
  return { rows: records.length, failed, failures, cost };
};
