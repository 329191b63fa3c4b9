import { createReadStream, statSync } from "node:fs";
import { extname, resolve } from "node:path";
import { CsvError, parse } from "csv-parse";
import { type CsvSource, EdgetableError } from "edgetable";
import { usageError } from "../failure.ts";
import type { Io } from "../io.ts";
import { inUtf8, type OpenInput, standardInput } from "./read-file.ts";

/** Parses the option `--delimiter`. @throws {cli.usage} */
export const parseDelimiter = (text: string): string => {
  if (text !== "" && !/[\r\n"]/.test(text)) return text === String.raw`\t` ? "\t" : text;
  throw usageError("It must be a character such as ; but not a quote or a line break.");
};

async function* recordsOf(open: OpenInput, delimiter: string): AsyncGenerator<readonly string[]> {
  const input = open();
  const parser = parse({ bom: true, delimiter, relax_column_count: true, skip_empty_lines: true });
  input.on("error", (error) => parser.destroy(error));
  try {
    for await (const record of input.pipe(parser) as AsyncIterable<readonly string[]>) yield record;
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw new EdgetableError("grid.invalidCsv", `Line ${String(error["lines"])} is no CSV: ${error.message}. Nothing behind it was read.`, {
      cause: error,
      details: { line: error["lines"] },
    });
  } finally {
    input.destroy();
  }
}

/** Opens a CSV file that is read more than once; standard input (`-`) is kept in memory. @throws {cli.usage} for a folder */
export const openCsv = async (name: string, { delimiter }: { readonly delimiter: string | undefined }, io: Io): Promise<CsvSource> => {
  const separator = delimiter ?? (extname(name).toLowerCase() === ".tsv" ? "\t" : ",");
  if (name === "-") {
    const records: (readonly string[])[] = [];
    for await (const record of recordsOf(() => standardInput(io), separator)) records.push(record);
    return records;
  }
  const path = resolve(io.cwd, name);
  if (statSync(path).isDirectory()) throw usageError(`${path}: it is a folder.`);
  return () => recordsOf(() => inUtf8(createReadStream(path)), separator);
};
