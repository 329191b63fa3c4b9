import type { Call, Cost } from "../executor/call.ts";
import type { Compared } from "../ir/condition.ts";
import type { CsvExportOptions, CsvImport, CsvImportOptions, CsvSource } from "./csv-types.ts";
import type { ReadExplanation } from "./explanation.ts";
import type { Cells, Field, FieldInput, FieldValue, NewField, NewFieldType, NodeId } from "./field-types.ts";

/** What a call of a grid will do, without doing it. The fields are read to tell. */
export interface GridExplanation {
  readonly kind: "grid";
  /** The indexes that are read one after the other, with the plans that run. */
  readonly streams: readonly { readonly rows: "valued" | "empty" | "all"; readonly read: ReadExplanation }[];
  /** `least` where each row that is read is in the answer, and what the call takes at `most`. */
  readonly requests: { readonly least: number; readonly most: number };
  readonly notes: readonly string[];
}

/** A call of a grid that has not been made yet. */
export type GridCall<T> = Call<T, GridExplanation>;

/** The name of a user's field in a grid: `field:` and its id. */
export type FieldColumn = `field:${string}`;

/** What the value of a field is compared with: a value, or comparisons that its type has. */
export type FieldFilter =
  | string
  | number
  | boolean
  | readonly string[]
  | NodeId
  | {
      readonly eq?: unknown;
      readonly ne?: unknown;
      readonly lt?: string | number;
      readonly lte?: string | number;
      readonly gt?: string | number;
      readonly gte?: string | number;
      /** Inclusive at both ends. */
      readonly between?: readonly [string | number, string | number];
      readonly beginsWith?: string;
      /** A substring of a text, or one of several choices. */
      readonly contains?: string;
      readonly in?: readonly unknown[];
      /** True if the field must have a value, false if it must have none. */
      readonly exists?: boolean;
    };

/**
 * Conditions on attributes and fields, all of which must hold; with `or` (at least one of 1 to 100 must hold) and `not` (not
 * all may hold).
 */
export type GridFilter<Row> = Compared<Row> & Readonly<Record<FieldColumn, FieldFilter>> & NestedFilter<Row>;

interface NestedFilter<Row> {
  readonly or?: readonly GridFilter<Row>[];
  readonly not?: GridFilter<Row>;
}

/** A row of a grid. */
export interface GridRow<Row> {
  /** The row's own attributes: of `columns`, where these are given, with those of its id. */
  readonly row: Row;
  /** Its values of users' fields, by their ids: those that are shown and that it has. */
  readonly cells: Cells;
}

/** Which page of a grid. */
export interface GridPageOptions {
  /** Rows of the page, 1 to 1,000. @default 50 */
  readonly limit?: number | undefined;
  /** `next` or `previous` of an earlier page of the same grid. */
  readonly cursor?: string | undefined;
  /** What the page may take to find its rows: requests, 4 to 100,000, and as many as one step takes: one for each shard, and 3. At its end the page is short and says so. @default 100 */
  readonly budget?: { readonly requests?: number } | undefined;
}

/** A page of a grid, with cursors of those beside it. */
export interface GridPage<Row> {
  readonly items: readonly GridRow<Row>[];
  readonly next: string | undefined;
  readonly previous: string | undefined;
  /** Why the page is short, though there may be more rows: `next` goes on from there. */
  readonly stopped: "requests" | "time" | undefined;
}

/** Columns, filters and order of a grid, as they are saved. */
export interface ViewSettings<Row> {
  readonly columns?: readonly ((keyof Row & string) | FieldColumn)[] | undefined;
  readonly where?: GridFilter<Row> | undefined;
  /** Up to two columns. */
  readonly sort?: readonly { readonly column: (keyof Row & string) | FieldColumn; readonly direction?: "asc" | "desc" }[] | undefined;
  readonly empties?: "first" | "last" | "without" | undefined;
  /** The column to group by: pass it to `groups`. */
  readonly group?: (keyof Row & string) | FieldColumn | undefined;
}

/** A view that is to be saved. */
export interface NewView<Row> extends ViewSettings<Row> {
  /** 1 to 200 characters, which no other view of the parent has. */
  readonly name: string;
}

/** A saved view. */
export interface GridView<Row> extends NewView<Row> {
  /** Stays when the view gets another name. */
  readonly viewId: string;
}

/** What of a view is changed: its name, its settings as a whole, or both. */
export type ViewChanges<Row> = Partial<NewView<Row>>;

/** The saved views of one parent, up to 100, in one item. */
export interface Views<Row> {
  /** All views, in the order in which they were saved. One request. */
  list(): GridCall<readonly GridView<Row>[]>;
  /**
   * Saves a view. Two reads and a write.
   *
   * @throws {grid.invalidView} when another view has its name, there are 100 already, or its settings take more than 3,000 bytes
   * @throws what `page` throws for its columns, filters and order
   */
  save(view: NewView<Row>): GridCall<GridView<Row>>;
  /**
   * Gives a view another name, or other settings: those that are not given are none. Two reads and a write.
   *
   * @throws {grid.unknownView} when there is no such view, and what `save` throws
   */
  change(viewId: string, changes: ViewChanges<Row>): GridCall<GridView<Row>>;
  /** Deletes a view. @throws {grid.unknownView} when there is no such view */
  delete(viewId: string): GridCall<boolean>;
}

/** What counting may take. */
export interface GridCountOptions {
  /** Requests, 4 to 100,000, and as many as one step takes: one for each shard, and 3. @default 100 */
  readonly budget?: { readonly requests?: number } | undefined;
}

/** How many rows a grid has. */
export interface GridCount {
  readonly rows: number;
  /** Why not all rows were counted: there may be more. */
  readonly stopped: "requests" | "time" | undefined;
}

/** The rows of a grid that have one value of a column. */
export interface GridGroup {
  /** The value; undefined for the rows without one. Of texts that are ordered as equal, one of them. */
  readonly value: unknown;
  readonly rows: number;
}

/** The rows of a grid, counted by their values of a column. */
export interface GridGroups {
  /** In the order of the column; the rows without a value come last. */
  readonly groups: readonly GridGroup[];
  /** Why not all rows were counted: there may be more, of these values and others. */
  readonly stopped: "requests" | "time" | undefined;
}

/**
 * The rows of one parent with fixed columns and users' fields, not yet read. Builders are immutable. Mistakes in names and
 * operands are found when a call is made, which reads the fields first.
 */
export interface Grid<Row> {
  /** Shows these columns alone: attributes, and fields as `field:` and their id. @default all */
  columns(...names: readonly ((keyof Row & string) | FieldColumn)[]): Grid<Row>;
  /** Keeps the rows for which every condition holds; several calls add up. */
  where(filter: GridFilter<Row>): Grid<Row>;
  /**
   * Sorts by a column: a field, or an attribute that `sortable` or `orderBy` names. A second call sorts rows with equal values
   * by a second column. Rows that are equal in both come in their own order, turned if the last column descends.
   *
   * @throws {plan.invalidOption} for a third column
   */
  sort(column: (keyof Row & string) | FieldColumn, direction?: "asc" | "desc"): Grid<Row>;
  /**
   * Shows what a view says: its columns and order in place of those said before, its filter in addition. If a field of it was
   * deleted, or has a type by which it cannot be filtered any more, a page fails and names the field.
   */
  view(view: ViewSettings<Row>): Grid<Row>;
  /** Where rows come that have no value to sort by, in their own order. @default "last" */
  empties(place: "first" | "last" | "without"): Grid<Row>;
  /**
   * A page. One GetItem for the fields, one Query, and BatchGetItems of the rows and their values; more where a filter
   * passes rows over, up to the budget.
   *
   * @throws {grid.unknownColumn} {grid.unknownField} for a column that does not exist, or no longer does
   * @throws {grid.invalidFilter} for a comparison or an operand that the field's type does not have
   * @throws {grid.notSortable} for an attribute that no index orders
   * @throws {cursor.invalid} when the cursor is not of this grid, or the type of a field changed since
   */
  page(options?: GridPageOptions): GridCall<GridPage<Row>>;
  /**
   * Counts the rows. Without filters in the index, some 5,000 rows a request, as it shows them: an index lags by milliseconds.
   * With filters each row is read and checked, 100 items a request.
   *
   * @throws what `page` throws
   */
  count(options?: GridCountOptions): GridCall<GridCount>;
  /**
   * Counts the rows by their values of a column, of any type. A field without filters is counted in the index, as by
   * `count`, with a request more for the values of 100 groups; else each row is read and checked. Texts that begin with
   * the same 160 bytes are one group.
   *
   * @throws what `page` throws
   */
  groups(column: (keyof Row & string) | FieldColumn, options?: GridCountOptions): GridCall<GridGroups>;
  /**
   * Reads rows of the parent from CSV: attributes, fields that exist, and new fields for the other columns. The id of a row
   * is a column of the file. The whole file is read first and checked; then it is written by a job, which the same call
   * with the same file resumes. Each row is written by itself: its item, and its values by a transaction. For 100 rows two
   * reads to plan and four to write; for each row one write, and one more if it has values.
   *
   * @throws {grid.invalidCsv} when the header does not fit
   * @throws {grid.unfitRows} when rows do not fit; `details` lists them, and nothing was written, unless the fields changed meanwhile
   * @throws {grid.tooManyFields} {grid.invalidField} when a new field cannot be defined
   * @throws {job.busy} {job.mismatch} while another import into this grid runs, or was cut off
   */
  importCsv(source: CsvSource, options?: CsvImportOptions<keyof Row & string>): GridCall<CsvImport>;
  /**
   * The rows as CSV (RFC 4180), a page at a time, with the columns, filters and order of the grid. Rows that others change
   * meanwhile come as in pages. Each page costs what `page` does, however far it is; a page whose budget ends is continued.
   *
   * @throws what `page` throws, and {plan.unsupported} for a node whose schema does not tell its attributes, without `columns`
   */
  exportCsv(options?: CsvExportOptions): AsyncIterable<string>;
}

/** What of a field can be changed without touching its values. */
export interface FieldChanges {
  readonly name?: string;
  readonly required?: boolean;
  /** Null takes the default away. */
  readonly default?: FieldInput;
}

/** Where a column is moved to: beside another field, or to a position from 0. */
export type ColumnPlace = { readonly before: string } | { readonly after: string } | number;

/** How far a job on the values of a field has come. */
export interface FieldProgress {
  /** Values converted or removed in this run. */
  readonly values: number;
  readonly requests: number;
}

/** How the values of a field are changed. */
export interface FieldJobOptions {
  /** Milliseconds after which an index is assumed to show what was written, 0 to 600,000. @default 1,000 */
  readonly indexLag?: number | undefined;
  /** Called after each 100 values. */
  readonly onProgress?: ((progress: FieldProgress) => void) | undefined;
}

/** How a field is given another type. */
export interface RetypeOptions extends FieldJobOptions {
  /** True to list the values that would be lost, and to change nothing. @default false */
  readonly dryRun?: boolean | undefined;
  /** What happens if values are nothing of the new type: nothing at all is changed, or these are removed. @default "refuse" */
  readonly losing?: "refuse" | "remove" | undefined;
}

/** A value that is nothing of the new type. */
export interface FieldLoss {
  /** The id of its row. */
  readonly row: Readonly<Record<string, unknown>>;
  readonly value: FieldValue["value"];
}

/** What a change of type came to. */
export interface RetypeResult {
  readonly field: Field;
  /** Values that were looked at or converted. */
  readonly values: number;
  /** Of a dry run: how many values would be lost, and the first 100. */
  readonly lost: number;
  readonly losses: readonly FieldLoss[];
  readonly cost: Cost;
}

/** The fields of one parent, in the order of their columns. */
export interface Fields {
  /** All fields. One request. */
  list(): GridCall<readonly Field[]>;
  /**
   * Adds a field behind the others. No row is touched. A read and a write of one item.
   *
   * @throws {grid.invalidField} when its definition is wrong, or another field has its name
   * @throws {grid.tooManyFields} when there are as many fields as `most` allows
   */
  define(field: NewField): GridCall<Field>;
  /** Gives a field another name. A read and a write of one item. */
  rename(fieldId: string, name: string): GridCall<Field>;
  /** Changes whether a field is required, and its default. A read and a write of one item. */
  update(fieldId: string, changes: FieldChanges): GridCall<Field>;
  /** Moves a column, and gives all fields in their new order. A read and a write of one item. */
  move(fieldId: string, place: ColumnPlace): GridCall<readonly Field[]>;
  /**
   * Gives a field another type, or other choices. A job: all values are checked first, while writers may only write what is a
   * value of both types; then each is converted. Until that is done, grids show the field and do not sort or filter by
   * it. The same call resumes a job that was cut off. Three requests for each 100 values, and a write for each.
   *
   * @throws {grid.lostValues} when values are nothing of the new type; `details` lists them, and nothing was changed
   * @throws {grid.retyping} while the field is being changed to yet another type
   * @throws {job.busy} while another process changes it
   */
  retype(fieldId: string, to: NewFieldType, options?: RetypeOptions): GridCall<RetypeResult>;
  /** Deletes a field at once, and then its values: a job, which the same call resumes. */
  delete(fieldId: string, options?: FieldJobOptions): GridCall<{ readonly values: number }>;
}

/** How values are set. */
export interface SetOptions {
  /** True for a row that is written as a whole: fields that are not given have their default, and required ones must have a value. @default false */
  readonly complete?: boolean | undefined;
}

/** How far the values of a row were set together. */
export interface SetOutcome {
  /** False where the row does not exist: nothing was set. */
  readonly ok: boolean;
  readonly reason?: "notFound";
  /**
   * `item` and `transaction`: all or nothing. `parts`: more than 100 values as items of their own, of which each 100 were set
   * together.
   */
  readonly atomic: "item" | "transaction" | "parts" | undefined;
  readonly cost: Cost;
}

/** The values of one row. */
export interface Values {
  /** All values of the row, strongly consistent; undefined if there is no such row. */
  get(): GridCall<Cells | undefined>;
  /**
   * Sets values by the fields' ids; null takes one away. Reads the row and the fields before, writes each value as an item
   * or all of them in the row's document, and reads both again: what changes fields meanwhile is noticed, and the values are
   * set anew.
   *
   * @throws {request.itemTooLarge} when the document would have more than 400 KB
   * @throws {grid.invalidValue} for a value that does not fit its field, and for a required one that is taken away
   * @throws {grid.unknownField} for a field that does not exist, or no longer does
   */
  set(values: Readonly<Record<string, FieldInput>>, options?: SetOptions): GridCall<SetOutcome>;
}

/** One call of a grid: on what it is made, what was said before, and which it is. */
export interface GridAsk {
  readonly node: string;
  readonly of: "fields" | "values" | "views" | "grid";
  /** The id of the parent, or of the row. */
  readonly id: Readonly<Record<string, unknown>>;
  /** The calls of the builder, in order. */
  readonly steps: readonly (readonly [name: string, args: readonly unknown[]])[];
  readonly call: string;
  readonly args: readonly unknown[];
}
