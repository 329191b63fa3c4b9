import type { Readable } from "node:stream";
import { parse, type CsvError, type Info } from "csv-parse";
import { didYouMean, EdgetableError } from "edgetable";
import type { BadRecord, FileRecord } from "./record.ts";

type Parsed = { readonly record: readonly string[]; readonly info: Info } | { readonly skipped: CsvError };

/** The line on which a record begins: the parser counts to its end. */
const firstLine = ({ record, info }: { readonly record: readonly string[]; readonly info: Info }): number =>
  info.lines - record.reduce((sum, cell) => sum + cell.split("\n").length - 1, 0);

const toRecord = (
  header: readonly string[],
  parsed: { readonly record: readonly string[]; readonly info: Info },
): FileRecord | BadRecord => {
  const place = `line ${firstLine(parsed)}`;
  const cells = parsed.record;
  if (cells.length !== header.length)
    return { place, problem: `it has ${cells.length} ${cells.length === 1 ? "cell" : "cells"}, the header ${header.length}` };
  // An empty cell is no value: an attribute that is not there.
  return { place, value: Object.fromEntries(header.flatMap((name, at) => (cells[at] === "" ? [] : [[name, cells[at]]]))), texts: "all" };
};

/** How a CSV file is read. */
export interface CsvOptions {
  readonly delimiter: string;
  /** Columns that the header must have. */
  readonly wanted: readonly string[];
}

const checkHeader = (header: readonly string[], { delimiter, wanted }: CsvOptions): void => {
  const twice = header.find((name, at) => header.indexOf(name) !== at);
  if (twice !== undefined) throw new EdgetableError("load.invalidRow", `The header has two columns "${twice}".`);
  const other = [";", "\t", ",", "|"].find((one) => one !== delimiter && header[0]?.includes(one));
  if (header.length === 1 && other !== undefined)
    throw new EdgetableError(
      "load.invalidRow",
      `The header is one column, "${header[0]}". Is the delimiter ${JSON.stringify(other)}? Say so with --delimiter.`,
    );
  const missing = wanted.find((name) => !header.includes(name));
  if (missing !== undefined)
    throw new EdgetableError("load.invalidRow", `The header has no column "${missing}".${didYouMean(missing, header)}`);
};

/** Reads CSV with a header, in UTF-8, one record at a time. A record that does not parse is given as bad. */
export async function* readCsv(input: Readable, options: CsvOptions): AsyncGenerator<FileRecord | BadRecord> {
  const skipped: CsvError[] = [];
  const parser = parse({
    bom: true,
    delimiter: options.delimiter,
    info: true,
    skip_empty_lines: true,
    relax_column_count: true,
    skip_records_with_error: true,
    on_skip: (error) => void (error && skipped.push(error)),
  });
  input.on("error", (error) => parser.destroy(error));
  let header: readonly string[] | undefined;
  const bad = (): readonly BadRecord[] =>
    skipped.splice(0).map((error) => ({ place: `line ${String(error["lines"])}`, problem: error.message }));
  for await (const parsed of input.pipe(parser) as AsyncIterable<Extract<Parsed, { readonly record: unknown }>>) {
    yield* bad();
    if (header) yield toRecord(header, parsed);
    else checkHeader((header = parsed.record.map((name) => name.trim())), options);
  }
  yield* bad();
}
