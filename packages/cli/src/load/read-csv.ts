import { createReadStream, statSync } from "node:fs";
import { extname, resolve } from "node:path";
import { CsvError, parse } from "csv-parse";
import { type CsvSource, EdgetableError } from "edgetable";
import { usageError } from "../failure.ts";
import { collect } from "../invocation.ts";
import type { Io } from "../io.ts";
import { inUtf8, type OpenInput, recordEnds, standardInput } from "./read-file.ts";

/** Parses the option `--delimiter`. @throws {cli.usage} */
export const parseDelimiter = (text: string): string => {
  if (text !== "" && !/[\r\n"]/.test(text)) return text === String.raw`\t` ? "\t" : text;
  throw usageError("It must be a character such as ; but not a quote or a line break.");
};

/** The option `--missing`, of every command that reads CSV. */
export const missingOption: { readonly flags: string; readonly text: string; readonly parse: typeof collect } = {
  flags: "--missing <text>",
  text: "a cell that means no value, such as NA or NULL, in addition to an empty cell; can be repeated",
  parse: collect,
};

interface CsvForm {
  readonly separator: string;
  readonly missing: readonly string[];
}

async function* recordsOf(open: OpenInput, { separator: delimiter, missing }: CsvForm): AsyncGenerator<readonly string[]> {
  const input = open();
  const parser = parse({ bom: true, delimiter, record_delimiter: [...recordEnds], relax_column_count: true, skip_empty_lines: true });
  input.on("error", (error) => parser.destroy(error));
  try {
    let isHeader = true;
    for await (const record of input.pipe(parser) as AsyncIterable<readonly string[]>) {
      yield isHeader || missing.length === 0 ? record : record.map((cell) => (missing.includes(cell) ? "" : cell));
      isHeader = false;
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw new EdgetableError(
      "grid.invalidCsv",
      `Line ${String(error["lines"])} is not valid CSV: ${error.message}. The rest was not read.`,
      {
        cause: error,
        details: { line: error["lines"] },
      },
    );
  } finally {
    input.destroy();
  }
}

export interface OpenCsvOptions {
  readonly delimiter?: string | undefined;
  /** Texts of cells that mean no value, as an empty one does. */
  readonly missing?: readonly string[] | undefined;
}

/** Opens a CSV file that is read more than once; standard input (`-`) is kept in memory. @throws {cli.usage} for a folder */
export const openCsv = async (name: string, { delimiter, missing = [] }: OpenCsvOptions, io: Io): Promise<CsvSource> => {
  const separator = delimiter ?? (extname(name).toLowerCase() === ".tsv" ? "\t" : ",");
  const form: CsvForm = { separator, missing };
  if (name === "-") {
    const records: (readonly string[])[] = [];
    for await (const record of recordsOf(() => standardInput(io), form)) records.push(record);
    return records;
  }
  const path = resolve(io.cwd, name);
  if (statSync(path).isDirectory()) throw usageError(`${path}: it is a folder.`);
  return () => recordsOf(() => inUtf8(createReadStream(path)), form);
};
