import type { Cost } from "../executor/call.ts";
import type { FieldType, NewField } from "./field-types.ts";

/** Records of a CSV file, as a parser gives them: lists of texts, the header first. */
export type CsvRecords = Iterable<readonly string[]> | AsyncIterable<readonly string[]>;

/** Starts to read a CSV file from its beginning. An import calls it twice: to plan and to write. */
export type CsvSource = readonly (readonly string[])[] | (() => CsvRecords);

/** A new field. Its choices default to the values in the file. */
export type CsvField = NewField | { readonly name: string; readonly type: "choice" | "choices"; readonly required?: boolean };

/** Where the cells of a column go: an attribute, a field (`field:` and its id), a new field, or nowhere (null). */
export type CsvTarget<Attribute extends string> = Attribute | `field:${string}` | CsvField | null;

/** How far an import has come. */
export interface CsvProgress {
  /** Records read so far. Each record is read twice: once to plan and once to write. */
  readonly step: "plan" | "write";
  readonly rows: number;
  readonly requests: number;
}

/** How a CSV file is read into a grid. */
export interface CsvImportOptions<Attribute extends string> {
  /**
   * Where columns go, by their header. @default the attribute of that name, the field of that name or id, or a new field
   * of that name whose type is inferred
   */
  readonly columns?: Readonly<Record<string, CsvTarget<Attribute>>> | undefined;
  /** True to return the plan and write nothing. @default false */
  readonly dryRun?: boolean | undefined;
  /** What happens if rows do not fit. `refuse`: nothing is written. `skip`: the other rows are written. @default "refuse" */
  readonly unfit?: "refuse" | "skip" | undefined;
  /** Whether an empty cell keeps or removes the value of an existing row. @default "keep" */
  readonly empty?: "keep" | "remove" | undefined;
  /** Rows written in parallel, 1 to 100. @default 16 */
  readonly concurrency?: number | undefined;
  /** Called after each 100 records. */
  readonly onProgress?: ((progress: CsvProgress) => void) | undefined;
  /** Milliseconds until another process may resume an import whose process died, 100 to 600,000. @default 10,000 */
  readonly lease?: number | undefined;
}

/** A column of a CSV file and where its cells go. */
export interface CsvColumn {
  /** Its name in the header. */
  readonly column: string;
  readonly to: "attribute" | "field" | "newField" | "ignored";
  /** The name of the attribute or field. */
  readonly name?: string;
  /** The id of the field, once it has one. */
  readonly fieldId?: string;
  /** The type of the field. */
  readonly type?: FieldType;
  /** True if the type was inferred from the values. */
  readonly inferred?: boolean;
  /** The choices of a new field, in the order of their first occurrence in the file. */
  readonly choices?: readonly string[];
  /** Cells that are not empty. */
  readonly values: number;
  /** The first of these cells. */
  readonly example?: string;
}

/** Something that does not fit: a cell, or a whole row. */
export interface CsvMisfit {
  /** Position of the record in the file, from 1, without the header. */
  readonly record: number;
  /** The id of the row, if it has one. */
  readonly row?: Readonly<Record<string, unknown>>;
  /** The column; undefined if the whole row does not fit. */
  readonly column?: string;
  /** The attribute or the id of the field. */
  readonly field?: string;
  /** The type of the field. */
  readonly type?: FieldType;
  readonly value?: string;
  readonly problem: "cells" | "id" | "parent" | "value" | "missing" | "notWritten";
  readonly message: string;
}

/** What an import did, or will do. */
export interface CsvImport {
  readonly columns: readonly CsvColumn[];
  /** Records, without the header. */
  readonly rows: number;
  /** Rows that did not exist before. */
  readonly created: number;
  /** Rows that existed. */
  readonly changed: number;
  /** The number of rows that do not fit, and the first 100 misfits. */
  readonly unfit: number;
  readonly misfits: readonly CsvMisfit[];
  /** False for a dry run. */
  readonly written: boolean;
  readonly cost: Cost;
}

/** How a grid is written as CSV. */
export interface CsvExportOptions {
  /** Rows per page, 1 to 1,000. @default 100 */
  readonly page?: number | undefined;
  /** One character, not a quote and not a line break. @default "," */
  readonly delimiter?: string | undefined;
  /** False to leave out the header. @default true */
  readonly header?: boolean | undefined;
  /**
   * `escape`: a text that a spreadsheet may run as a formula (it begins with `=`, `+`, `-`, `@`, a tab or a carriage return) is
   * prefixed with an apostrophe, and is then no longer read back unchanged. @default "keep"
   */
  readonly formulas?: "keep" | "escape" | undefined;
  readonly signal?: AbortSignal | undefined;
}
