import { createReadStream, statSync } from "node:fs";
import { extname, resolve } from "node:path";
import { addAbortSignal, pipeline, type Readable, Transform } from "node:stream";
import { text } from "node:stream/consumers";
import { parse, type CsvError, type Info } from "csv-parse";
import { didYouMean, EdgetableError } from "edgetable";
import { usageError } from "../failure.ts";
import type { Io } from "../io.ts";
import { isRow, parseJson, revive, toJson, type Row } from "../output/json.ts";

/** One record of an input file. */
export interface FileRecord {
  /** Its place in the file: `line 5`, `nodes.student[3]`. */
  readonly place: string;
  readonly value: Row;
  /** Which texts may stand for other values: any, as in CSV, or only dates, as in JSON. */
  readonly texts: "all" | "dates";
  /** Columns of CSV whose cell has no value here. */
  readonly empty?: readonly string[];
}

/** A record that cannot be read. Reading continues after it. */
export interface BadRecord {
  readonly place: string;
  readonly problem: string;
}

type Records = AsyncGenerator<FileRecord | BadRecord>;

export const isBad = (record: FileRecord | BadRecord): record is BadRecord => "problem" in record;

const invalidFile = (message: string): EdgetableError => new EdgetableError("load.invalidRow", message);

/** The record of a parsed JSON value. */
const recordOf = (place: string, parsed: unknown): FileRecord | BadRecord => {
  try {
    const value = revive(parsed);
    return isRow(value) ? { place, value, texts: "dates" } : { place, problem: `it is not an object: ${toJson(value).slice(0, 80)}` };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return { place, problem: error.message };
  }
};

/** Opens an input when it is read: an error that comes while nobody reads would be lost, and the reader would wait for ever. */
export type OpenInput = () => Readable;

/** The bytes of an input whose records were given. */
interface Consumed {
  bytes: number;
}

/** The lines of a text, which end with LF or CR LF alone: JSON may hold the separators U+2028 and U+2029 as they are. */
async function* linesOf(input: Readable): AsyncGenerator<string> {
  let begun: string[] = [];
  for await (const chunk of input.setEncoding("utf8") as AsyncIterable<string>) {
    let from = 0;
    for (let end = chunk.indexOf("\n"); end >= 0; end = chunk.indexOf("\n", from)) {
      yield begun.join("") + chunk.slice(from, end);
      begun = [];
      from = end + 1;
    }
    begun.push(chunk.slice(from));
  }
  const last = begun.join("");
  if (last !== "") yield last;
}

/** Reads one JSON value per line, with constant memory. */
async function* readNdjson(open: OpenInput, consumed: Consumed): Records {
  let line = 0;
  for await (const source of linesOf(open())) {
    line++;
    consumed.bytes += Buffer.byteLength(source) + 1;
    const trimmed = (line === 1 ? source.replace(/^\uFEFF/, "") : source).trim();
    if (trimmed === "") continue;
    try {
      yield recordOf(`line ${line}`, parseJson(trimmed));
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      yield { place: `line ${line}`, problem: `it is not valid JSON: ${error.message}` };
    }
  }
}

const groups = ["nodes", "parts", "edges"] as const;

// In `{ "nodes": { "student": [ … ] } }`, a node's list holds its rows; an edge's list holds ends and attributes side by side.
const groupRow = (group: (typeof groups)[number], name: string, value: unknown): unknown => {
  if (!isRow(value)) return value;
  if (group === "nodes") return { node: name, row: value };
  if (group === "parts") {
    const { owner, ...row } = value;
    return { part: name, owner, row };
  }
  const { from, to, reverse, ...attributes } = value;
  return { edge: name, from, to, attributes, ...(reverse === undefined ? {} : { reverse }) };
};

const FORMS = 'It must be a list of rows, or { "nodes": { "<name>": [ … ] }, "edges": { … }, "parts": { … } }.';

/** The groups of a JSON file. @throws {load.invalidRow} for a member that is none: its rows would be passed over */
const groupsIn = (value: unknown): Readonly<Record<string, Row>> => {
  if (!isRow(value) || Object.keys(value).length === 0) throw invalidFile(FORMS);
  for (const [name, lists] of Object.entries(value)) {
    if (!(groups as readonly string[]).includes(name)) throw invalidFile(`It has "${name}".${didYouMean(name, groups)} ${FORMS}`);
    if (!isRow(lists)) throw invalidFile(`Its "${name}" is not an object with a list for each name. ${FORMS}`);
  }
  return value as Readonly<Record<string, Row>>;
};

/** Reads a whole JSON file: a list of records, or `{ nodes: { <name>: [ … ] }, parts: …, edges: … }`. @throws {load.invalidRow} for anything else */
async function* readJson(open: OpenInput, consumed: Consumed): Records {
  let value: unknown;
  let size = 0;
  try {
    const whole = await text(open());
    size = Buffer.byteLength(whole);
    value = parseJson(whole.replace(/^\uFEFF/, ""));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw invalidFile(
      `It is not valid JSON: ${error.message}. For one JSON value per line, use a file name that ends in .ndjson, or --format ndjson.`,
    );
  }
  if (Array.isArray(value)) {
    for (const [at, row] of value.entries()) {
      consumed.bytes = (size * (at + 1)) / value.length;
      yield recordOf(`[${at}]`, row);
    }
    return;
  }
  const given = groupsIn(value);
  const lengths = groups.flatMap((group) => Object.values(given[group] ?? {}).map((rows) => (Array.isArray(rows) ? rows.length : 1)));
  const each = size / lengths.reduce((sum, length) => sum + length, 0);
  for (const group of groups) {
    for (const [name, rows] of Object.entries(given[group] ?? {})) {
      if (!Array.isArray(rows)) yield { place: `${group}.${name}`, problem: "it is not a list" };
      else
        for (const [at, row] of rows.entries()) {
          consumed.bytes += each;
          yield recordOf(`${group}.${name}[${at}]`, groupRow(group, name, row));
        }
    }
  }
}

interface CsvOptions {
  readonly delimiter: string;
  /** Columns that the header must have. */
  readonly wanted: readonly string[];
  /** Texts of cells that mean no value, beside the empty one. */
  readonly missing: readonly string[];
  readonly consumed: Consumed;
}

const checkHeader = (header: readonly string[], { delimiter, wanted }: Pick<CsvOptions, "delimiter" | "wanted">): void => {
  const duplicate = header.find((name, at) => header.indexOf(name) !== at);
  if (duplicate !== undefined) throw invalidFile(`The header has two columns "${duplicate}".`);
  const other = [";", "\t", ",", "|"].find((one) => one !== delimiter && header[0]?.includes(one));
  if (header.length === 1 && other !== undefined)
    throw invalidFile(`The header has one column, "${header[0]}". If the delimiter is ${JSON.stringify(other)}, pass it with --delimiter.`);
  const lacking = wanted.find((name) => !header.includes(name));
  if (lacking !== undefined) throw invalidFile(`The header has no column "${lacking}".${didYouMean(lacking, header)}`);
};

/** What ends a record. By itself the parser takes the first line end for all, and leaves the CR of others in their last cells. */
export const recordEnds: readonly string[] = ["\r\n", "\n", "\r"];

/** Reads CSV in UTF-8 with a header, one record at a time. @throws {load.invalidRow} if the header cannot be read */
async function* readCsv(open: OpenInput, options: CsvOptions): Records {
  const input = open();
  const skipped: CsvError[] = [];
  const parser = parse({
    bom: true,
    delimiter: options.delimiter,
    info: true,
    record_delimiter: [...recordEnds],
    skip_empty_lines: true,
    relax_column_count: true,
    skip_records_with_error: true,
    on_skip: (error) => void (error && skipped.push(error)),
  });
  input.on("error", (error) => parser.destroy(error));
  let header: readonly string[] | undefined;
  function* takeSkipped(): Generator<BadRecord> {
    for (const error of skipped.splice(0)) yield { place: `line ${String(error["lines"])}`, problem: error.message };
  }
  // What follows a header that was skipped is none.
  const checkSkipped = (before: number): void => {
    const error = skipped.find(({ lines }) => Number(lines) < before);
    if (error) throw invalidFile(`The header cannot be read: ${error.message}.`);
  };
  for await (const { record: cells, info } of input.pipe(parser) as AsyncIterable<{ record: readonly string[]; info: Info }>) {
    options.consumed.bytes = info.bytes;
    if (!header) checkSkipped(info.lines);
    yield* takeSkipped();
    if (!header) {
      header = cells.map((name) => name.trim());
      checkHeader(header, options);
      continue;
    }
    // The parser counts to the last line of a record.
    let line = info.lines;
    for (const cell of cells) line -= cell.split("\n").length - 1;
    const place = `line ${line}`;
    if (cells.length === header.length) {
      const isEmpty = (cell = ""): boolean => cell === "" || options.missing.includes(cell);
      const given = header.flatMap((name, at) => (isEmpty(cells[at]) ? [] : [[name, cells[at]] as const]));
      const empty = header.filter((_, at) => isEmpty(cells[at]));
      yield { place, value: Object.fromEntries(given), texts: "all", empty };
    } else yield { place, problem: `it has ${cells.length} ${cells.length === 1 ? "cell" : "cells"}, the header has ${header.length}` };
  }
  if (!header) checkSkipped(Number.POSITIVE_INFINITY);
  yield* takeSkipped();
}

export const formats = ["csv", "json", "ndjson"] as const;
export type Format = (typeof formats)[number];

const byExtension: Readonly<Record<string, Format>> = {
  ".csv": "csv",
  ".tsv": "csv",
  ".json": "json",
  ".ndjson": "ndjson",
  ".jsonl": "ndjson",
};

/** An open file of records. */
export interface OpenFile {
  readonly records: AsyncIterable<FileRecord | BadRecord>;
  /** The share of the file whose records were given, 0 to 1; undefined for standard input. */
  progress(): number | undefined;
  /** Bytes; undefined for standard input. */
  readonly size: number | undefined;
}

export interface FileOptions {
  readonly format?: Format;
  readonly delimiter?: string;
  /** Columns that a CSV file must have. */
  readonly wanted?: readonly string[];
  /** Texts of a CSV file's cells that mean no value, as an empty one does. */
  readonly missing?: readonly string[];
}

/**
 * The bytes of a file, as they are, as long as they are UTF-8: other text would be read with other characters.
 *
 * @throws {load.invalidRow} as an error of the stream, from the first other byte on
 */
export const inUtf8 = (input: Readable): Readable => {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let line = 1;
  const check = (chunk: Buffer | undefined, done: (error: Error | null, chunk?: Buffer) => void): void => {
    try {
      const text = chunk ? decoder.decode(chunk, { stream: true }) : decoder.decode();
      line += text.split("\n").length - 1;
      done(null, chunk);
    } catch {
      done(invalidFile(`It is not UTF-8 (line ${line} or after). Save it as UTF-8, or convert it: iconv -f latin1 -t utf-8.`));
    }
  };
  const checked = new Transform({ transform: (chunk: Buffer, _, done) => check(chunk, done), flush: (done) => check(undefined, done) });
  return pipeline(input, checked, () => undefined);
};

/** Standard input in UTF-8, whose reading ends with the command: nobody may ever write to it again. */
export const standardInput = ({ input, signal }: Io): Readable => inUtf8(addAbortSignal(signal, input));

/** The name of a file in messages. */
export const shownName = (name: string): string => (name === "-" ? "standard input" : name);

/** Opens a file of rows; `-` is standard input. @throws {cli.usage} if its format is unknown, or it is a folder */
export const openFile = (name: string, options: FileOptions, io: Io): OpenFile => {
  const extension = extname(name).toLowerCase();
  const format = options.format ?? byExtension[extension];
  if (!format) throw usageError(`The format of ${shownName(name)} is unknown. Pass --format csv, json or ndjson.`);
  const { delimiter = extension === ".tsv" ? "\t" : ",", wanted = [], missing = [] } = options;
  const consumed: Consumed = { bytes: 0 };
  const read = (open: OpenInput): Records => {
    if (format === "csv") return readCsv(open, { delimiter, wanted, missing, consumed });
    return format === "json" ? readJson(open, consumed) : readNdjson(open, consumed);
  };
  if (name === "-") return { records: read(() => standardInput(io)), progress: () => undefined, size: undefined };
  const path = resolve(io.cwd, name);
  const found = statSync(path);
  if (found.isDirectory()) throw usageError(`${path}: it is a folder.`);
  const { size } = found;
  const progress = (): number => (size === 0 ? 1 : Math.min(1, consumed.bytes / size));
  return { records: read(() => inUtf8(createReadStream(path))), progress, size };
};
