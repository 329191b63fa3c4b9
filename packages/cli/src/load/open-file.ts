import { createReadStream, statSync } from "node:fs";
import { extname, resolve } from "node:path";
import type { Readable } from "node:stream";
import { usageError } from "../failure.ts";
import type { Io } from "../io.ts";
import { readCsv, type CsvOptions } from "./read-csv.ts";
import { readJson, readNdjson } from "./read-json.ts";
import type { BadRecord, FileRecord } from "./record.ts";

export const formats = ["csv", "json", "ndjson"] as const;
export type Format = (typeof formats)[number];

const byExtension: Readonly<Record<string, Format>> = {
  ".csv": "csv",
  ".tsv": "csv",
  ".json": "json",
  ".ndjson": "ndjson",
  ".jsonl": "ndjson",
};

/** A file whose records are being read. */
export interface OpenFile {
  readonly records: AsyncIterable<FileRecord | BadRecord>;
  /** Share of the file that was read, 0 to 1; undefined for standard input. */
  progress(): number | undefined;
  /** Bytes; undefined for standard input. */
  readonly size: number | undefined;
}

export interface FileOptions {
  readonly format?: Format;
  readonly delimiter?: string;
  /** Columns that a CSV file must have. */
  readonly wanted?: readonly string[];
}

/** What a file is called before people. */
export const shownName = (name: string): string => (name === "-" ? "standard input" : name);

const formatOf = (name: string, format: Format | undefined): Format => {
  const found = format ?? byExtension[extname(name).toLowerCase()];
  if (found) return found;
  throw usageError(`The format of ${shownName(name)} is unknown: say --format csv, json or ndjson.`);
};

const recordsOf = (input: Readable, format: Format, csv: CsvOptions): AsyncIterable<FileRecord | BadRecord> => {
  switch (format) {
    case "csv":
      return readCsv(input, csv);
    case "json":
      return readJson(input);
    case "ndjson":
      return readNdjson(input);
  }
};

/** Opens a file of rows; `-` is standard input. @throws {cli.usage} when its format cannot be told, or it is a folder. */
export const openFile = (name: string, options: FileOptions, io: Io): OpenFile => {
  const format = formatOf(name, options.format);
  const delimiter =
    options.delimiter === String.raw`\t` ? "\t" : (options.delimiter ?? (extname(name).toLowerCase() === ".tsv" ? "\t" : ","));
  const csv = { delimiter, wanted: options.wanted ?? [] };
  if (name === "-") return { records: recordsOf(io.input, format, csv), progress: () => undefined, size: undefined };
  const path = resolve(io.cwd, name);
  const found = statSync(path);
  if (found.isDirectory()) throw usageError(`${path}: it is a folder.`);
  const { size } = found;
  const input = createReadStream(path);
  return { records: recordsOf(input, format, csv), progress: () => (size === 0 ? 1 : input.bytesRead / size), size };
};
