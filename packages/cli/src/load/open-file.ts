import { createReadStream, statSync } from "node:fs";
import { extname, resolve } from "node:path";
import type { Readable } from "node:stream";
import { usageError } from "../failure.ts";
import type { Io } from "../io.ts";
import { readCsv } from "./read-csv.ts";
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
}

const formatOf = (name: string, format: Format | undefined): Format => {
  const found = format ?? byExtension[extname(name).toLowerCase()];
  if (found) return found;
  throw usageError(`The format of ${name === "-" ? "standard input" : name} is unknown: say --format csv, json or ndjson.`);
};

const recordsOf = (input: Readable, format: Format, delimiter: string): AsyncIterable<FileRecord | BadRecord> => {
  switch (format) {
    case "csv":
      return readCsv(input, delimiter);
    case "json":
      return readJson(input);
    case "ndjson":
      return readNdjson(input);
  }
};

/** Opens a file of rows; `-` is standard input. @throws {cli.usage} when its format cannot be told. */
export const openFile = (name: string, options: FileOptions, io: Io): OpenFile => {
  const format = formatOf(name, options.format);
  const delimiter = options.delimiter === String.raw`\t` ? "\t" : (options.delimiter ?? (extname(name) === ".tsv" ? "\t" : ","));
  if (name === "-") return { records: recordsOf(io.input, format, delimiter), progress: () => undefined, size: undefined };
  const path = resolve(io.cwd, name);
  const { size } = statSync(path);
  const input = createReadStream(path);
  return { records: recordsOf(input, format, delimiter), progress: () => (size === 0 ? 1 : input.bytesRead / size), size };
};
