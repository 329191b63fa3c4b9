import type { Call, Cost } from "../executor/call.ts";
import type { Compared } from "../ir/condition.ts";
import type { CsvExportOptions, CsvImport, CsvImportOptions, CsvSource } from "./csv-types.ts";
import type { ReadExplanation } from "./explanation.ts";
import type { Cells, Field, FieldInput, FieldValue, NewField, NewFieldType, NodeId } from "./field-types.ts";

/** What a call of a grid will do. Explaining it reads the grid's fields. */
export interface GridExplanation {
  readonly kind: "grid";
  /** The indexes that are read, in this order, with their plans. */
  readonly streams: readonly { readonly rows: "valued" | "empty" | "all"; readonly read: ReadExplanation }[];
  /** `least`: the cost if every row read is part of the answer. `most`: the upper bound of the call's cost. */
  readonly requests: { readonly least: number; readonly most: number };
  readonly notes: readonly string[];
}

/** A call of a grid that has not been made yet. */
export type GridCall<T> = Call<T, GridExplanation>;

/** The column name of a user's field in a grid: `field:` and its id. */
export type FieldColumn = `field:${string}`;

/** What a field's value is compared with: a value, or the comparisons that the field's type supports. */
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
  /** The row's own attributes. With `columns`, only those named there and those of its id. */
  readonly row: Row;
  /** The row's values of the shown users' fields, by field id. Fields without a value are absent. */
  readonly cells: Cells;
}

/** Which page of a grid. */
export interface GridPageOptions {
  /** Rows of the page, 1 to 1,000. @default 50 */
  readonly limit?: number | undefined;
  /** `next` or `previous` of an earlier page of the same grid. */
  readonly cursor?: string | undefined;
  /**
   * The requests that a page may take to find its rows, 4 to 100,000, and at least one for each shard plus 3. When they are used
   * up, the page is short and `stopped` says so. @default 100
   */
  readonly budget?: { readonly requests?: number } | undefined;
}

/** A page of a grid, with cursors of those beside it. */
export interface GridPage<Row> {
  readonly items: readonly GridRow<Row>[];
  readonly next: string | undefined;
  readonly previous: string | undefined;
  /** Why the page is short although there may be more rows; `next` continues from there. */
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

/** A view to save. */
export interface NewView<Row> extends ViewSettings<Row> {
  /** 1 to 200 characters, unique among the views of the parent. */
  readonly name: string;
}

/** A saved view. */
export interface GridView<Row> extends NewView<Row> {
  /** Does not change when the view is renamed. */
  readonly viewId: string;
}

/** Changes of a view: its name, its settings as a whole, or both. */
export type ViewChanges<Row> = Partial<NewView<Row>>;

/** The saved views of one parent, up to 100, in one item. */
export interface Views<Row> {
  /** All views, in the order in which they were saved. One request. */
  list(): GridCall<readonly GridView<Row>[]>;
  /**
   * Saves a view. Two reads and a write.
   *
   * @throws {grid.invalidView} if another view has its name, there are 100 views already, or its settings take more than 3,000
   * bytes
   * @throws the errors of `page` for its columns, filters and order
   */
  save(view: NewView<Row>): GridCall<GridView<Row>>;
  /**
   * Renames a view or replaces its settings; settings that are not given are removed. Two reads and a write.
   *
   * @throws {grid.unknownView} if there is no such view, and the errors of `save`
   */
  change(viewId: string, changes: ViewChanges<Row>): GridCall<GridView<Row>>;
  /** Deletes a view. @throws {grid.unknownView} when there is no such view */
  delete(viewId: string): GridCall<boolean>;
}

/** The budget of counting. */
export interface GridCountOptions {
  /** Requests, 4 to 100,000, and at least one for each shard plus 3. @default 100 */
  readonly budget?: { readonly requests?: number } | undefined;
}

/** How many rows a grid has. */
export interface GridCount {
  readonly rows: number;
  /** Why counting stopped early; undefined if all rows were counted. */
  readonly stopped: "requests" | "time" | undefined;
}

/** The rows of a grid that have one value of a column. */
export interface GridGroup {
  /** The value; undefined for the rows without one. If several texts sort as equal, one of them. */
  readonly value: unknown;
  readonly rows: number;
}

/** The rows of a grid, counted by their values of a column. */
export interface GridGroups {
  /** In the order of the column; the rows without a value come last. */
  readonly groups: readonly GridGroup[];
  /** Why counting stopped early: there may be more rows with these values and with others. Undefined if all rows were counted. */
  readonly stopped: "requests" | "time" | undefined;
}

/**
 * A query for the rows of one parent, with fixed columns and users' fields. Builders are immutable. Wrong names and operands are
 * reported when a call is made, because it reads the fields first.
 */
export interface Grid<Row> {
  /** Shows only these columns: attributes, and fields as `field:` and their id. @default all */
  columns(...names: readonly ((keyof Row & string) | FieldColumn)[]): Grid<Row>;
  /** Keeps the rows for which every condition holds; several calls add up. */
  where(filter: GridFilter<Row>): Grid<Row>;
  /**
   * Sorts by a column: a field, or an attribute that `sortable` or `orderBy` names. A second call sorts rows with equal values by a
   * second column. Rows with equal values in both come in their default order, which is reversed if the last column descends.
   *
   * @throws {plan.invalidOption} for a third column
   */
  sort(column: (keyof Row & string) | FieldColumn, direction?: "asc" | "desc"): Grid<Row>;
  /**
   * Applies a view: its columns and order replace those given before, and its filter is added. If one of its fields was deleted, or
   * has a new type that does not support the filter, a page fails and names the field.
   */
  view(view: ViewSettings<Row>): Grid<Row>;
  /** Where rows without a value to sort by come. They are in their default order. @default "last" */
  empties(place: "first" | "last" | "without"): Grid<Row>;
  /**
   * A page. One GetItem for the fields, one Query, and BatchGetItems of the rows and their values; more where a filter passes rows
   * over, up to the budget.
   *
   * @throws {grid.unknownColumn} {grid.unknownField} for a column that does not exist, or was deleted
   * @throws {grid.invalidFilter} for a comparison or an operand that the field's type does not support
   * @throws {grid.notSortable} for an attribute that no index orders
   * @throws {cursor.invalid} if the cursor belongs to another grid, or the type of a field has changed since
   */
  page(options?: GridPageOptions): GridCall<GridPage<Row>>;
  /**
   * Counts the rows. Without filters it counts them in the index, some 5,000 rows per request; an index lags by milliseconds. With
   * filters it reads and checks each row, 100 items per request.
   *
   * @throws the errors of `page`
   */
  count(options?: GridCountOptions): GridCall<GridCount>;
  /**
   * Counts the rows by their values of a column, of any type. A field without filters is counted in the index, as by `count`, with
   * one more request for the values of each 100 groups. Otherwise each row is read and checked. Texts that begin with the same 160
   * bytes are one group.
   *
   * @throws the errors of `page`
   */
  groups(column: (keyof Row & string) | FieldColumn, options?: GridCountOptions): GridCall<GridGroups>;
  /**
   * Reads rows of the parent from CSV: attributes, fields that exist, and new fields for the other columns. The id of a row is a
   * column of the file. The whole file is first read and checked. Then a job writes it; the same call with the same file resumes
   * the job. Each row is written by itself: its item, and its values in a transaction. Each 100 rows take two reads to plan and
   * four to write. Each row takes one write, and another one if it has values.
   *
   * @throws {grid.invalidCsv} if the header does not fit
   * @throws {grid.unfitRows} if rows do not fit. `details` lists them. Nothing was written, unless the fields changed in the
   * meantime
   * @throws {grid.tooManyFields} {grid.invalidField} if a new field cannot be defined
   * @throws {job.busy} {job.mismatch} while another import into this grid is running or was interrupted
   */
  importCsv(source: CsvSource, options?: CsvImportOptions<keyof Row & string>): GridCall<CsvImport>;
  /**
   * The rows as CSV (RFC 4180), a page at a time, with the columns, filters and order of the grid. Rows that others change in the
   * meantime come as they do in pages. Each page costs what `page` costs, at any position. If the budget of a page ends, the export
   * continues with the next one.
   *
   * @throws the errors of `page`, and {plan.unsupported} without `columns` for a node whose schema does not list its attributes
   */
  exportCsv(options?: CsvExportOptions): AsyncIterable<string>;
}

/** The settings of a field that can be changed without touching its values. */
export interface FieldChanges {
  readonly name?: string;
  readonly required?: boolean;
  /** Null removes the default. */
  readonly default?: FieldInput;
}

/** The new place of a column: beside another field, or a position from 0. */
export type ColumnPlace = { readonly before: string } | { readonly after: string } | number;

/** The progress of a job on the values of a field. */
export interface FieldProgress {
  /** Values converted or removed in this run. */
  readonly values: number;
  readonly requests: number;
}

/** How the values of a field are changed. */
export interface FieldJobOptions {
  /** Milliseconds until an index is assumed to show earlier writes, 0 to 600,000. @default 1,000 */
  readonly indexLag?: number | undefined;
  /** Called after each 100 values. */
  readonly onProgress?: ((progress: FieldProgress) => void) | undefined;
}

/** How the type of a field is changed. */
export interface RetypeOptions extends FieldJobOptions {
  /** True to list the values that would be lost and change nothing. @default false */
  readonly dryRun?: boolean | undefined;
  /**
   * What happens if values cannot be converted to the new type. `refuse`: nothing is changed. `remove`: these values are removed.
   * @default "refuse"
   */
  readonly losing?: "refuse" | "remove" | undefined;
}

/** A value that cannot be converted to the new type. */
export interface FieldLoss {
  /** The id of its row. */
  readonly row: Readonly<Record<string, unknown>>;
  readonly value: FieldValue["value"];
}

/** The result of a change of type. */
export interface RetypeResult {
  readonly field: Field;
  /** Values that were checked or converted. */
  readonly values: number;
  /** The values that would be lost, for a dry run: their number, and the first 100. */
  readonly lost: number;
  readonly losses: readonly FieldLoss[];
  readonly cost: Cost;
}

/** The fields of one parent, in the order of their columns. */
export interface Fields {
  /** All fields. One request. */
  list(): GridCall<readonly Field[]>;
  /**
   * Adds a field after the others, without changing any row. A read and a write of one item.
   *
   * @throws {grid.invalidField} if its definition is wrong, or another field has its name
   * @throws {grid.tooManyFields} if there are as many fields as `most` allows
   */
  define(field: NewField): GridCall<Field>;
  /** Renames a field. A read and a write of one item. */
  rename(fieldId: string, name: string): GridCall<Field>;
  /** Changes whether a field is required, and its default. A read and a write of one item. */
  update(fieldId: string, changes: FieldChanges): GridCall<Field>;
  /** Moves a column, and returns all fields in their new order. A read and a write of one item. */
  move(fieldId: string, place: ColumnPlace): GridCall<readonly Field[]>;
  /**
   * Changes the type or the choices of a field. It is a job: it first checks all values, while writers may only write values that
   * fit both types, and then converts each. Until it ends, grids show the field but do not sort or filter by it. The same call
   * resumes an interrupted job. Takes three requests for each 100 values, and a write for each value.
   *
   * @throws {grid.lostValues} if values cannot be converted to the new type; `details` lists them, and nothing was changed
   * @throws {grid.retyping} while the field is being changed to a third type
   * @throws {job.busy} while another process changes it
   */
  retype(fieldId: string, to: NewFieldType, options?: RetypeOptions): GridCall<RetypeResult>;
  /** Deletes a field immediately, and then its values by a job, which the same call resumes. */
  delete(fieldId: string, options?: FieldJobOptions): GridCall<{ readonly values: number }>;
}

/** How values are set. */
export interface SetOptions {
  /**
   * True if the row is written as a whole: fields that are not given get their default, and required fields must have a value.
   * @default false
   */
  readonly complete?: boolean | undefined;
}

/** Which values of a row were set together. */
export interface SetOutcome {
  /** False if the row does not exist; then nothing was set. */
  readonly ok: boolean;
  readonly reason?: "notFound";
  /**
   * `item` and `transaction`: all or nothing. `parts`: more than 100 values, stored as separate items, 100 of which were set
   * together at a time.
   */
  readonly atomic: "item" | "transaction" | "parts" | undefined;
  readonly cost: Cost;
}

/** The values of one row. */
export interface Values {
  /** All values of the row, strongly consistent; undefined if the row does not exist. */
  get(): GridCall<Cells | undefined>;
  /**
   * Sets values by field id; null removes a value. Reads the row and the fields, writes each value as an item or all of them in the
   * row's document, and reads both again. If the fields changed in the meantime, it sets the values again.
   *
   * @throws {request.itemTooLarge} if the document would have more than 400 KB
   * @throws {grid.invalidValue} for a value that does not fit its field, and for the removal of a required value
   * @throws {grid.unknownField} for a field that does not exist, or was deleted
   */
  set(values: Readonly<Record<string, FieldInput>>, options?: SetOptions): GridCall<SetOutcome>;
}

/** One call of a grid: the node it starts from, the builder calls before it, and its name and arguments. */
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
