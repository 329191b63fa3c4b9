import type { ColumnType } from "./column-type.ts";

/** A column as it is stored. */
export interface StoredColumn {
  readonly name: string;
  /** The attribute of the model that it holds; undefined for `node`, `source`, `target`, `owner` and `more`. */
  readonly attribute?: string | undefined;
  readonly type: ColumnType;
}

/** A table as it is stored: a folder of Parquet files. */
export interface StoredTable {
  readonly name: string;
  readonly kind: "node" | "edge" | "part";
  readonly definition: string;
  readonly rows: number;
  readonly columns: readonly StoredColumn[];
}

/** What stands in a lake's `lake.json`. */
export interface LakeFile {
  readonly version: number;
  /** The DynamoDB table that it was extracted from. */
  readonly table: string;
  readonly extractedAt: string;
  readonly tables: readonly StoredTable[];
}

export const lakeFile = "lake.json";
export const lakeVersion = 1;
