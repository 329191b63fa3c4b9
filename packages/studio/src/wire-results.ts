// What the studio's server answers about results of batch jobs, as JSON.
import type { WireNode, WireRow } from "./wire.ts";

/** A result of a batch job: a record that `edgetable batch` wrote, or a file with rows. */
export interface WireResult {
  /** The file's name within the folder. */
  readonly file: string;
  /** The job of a record; the file's name without its ending otherwise. */
  readonly job: string;
  readonly kind: "rows" | "file" | "written" | "validation";
  /** When the job began, or when the file was written: milliseconds since 1970. */
  readonly at: number;
  /** How many rows, changes or differences there are; undefined if the file was not read to its end. */
  readonly count?: number;
  /** Why the file cannot be shown. */
  readonly problem?: string;
}

/** `GET /api/results`: the results in the folder that the studio was started with, the newest first. */
export interface ResultsAnswer {
  /** Undefined if there is none. */
  readonly folder?: string;
  readonly results: readonly WireResult[];
}

/** A row of a result, and the nodes that its columns name. */
export interface WireResultRow {
  readonly cells: WireRow;
  readonly nodes: Readonly<Record<string, Omit<WireNode, "row">>>;
}

/** Differences of one kind that a validation found. */
export interface WireDifferences {
  readonly what: string;
  readonly count: number;
  readonly isHarmless: boolean;
}

/** `GET /api/results/file`: one result, its rows as far as they are shown. */
export interface ResultAnswer extends WireResult {
  /** What the result is, in a sentence. */
  readonly what?: string;
  /** The options of the job, such as `--edges enrolledIn`. */
  readonly options?: string;
  readonly engine?: string;
  /** When the lake was extracted; milliseconds since 1970. */
  readonly extractedAt?: number;
  readonly milliseconds?: number;
  readonly columns: readonly string[];
  /** At most 1,000. */
  readonly rows: readonly WireResultRow[];
  /** Of a validation. */
  readonly differences?: readonly WireDifferences[];
  /** Of results that were written to the table. */
  readonly written?: { readonly written: number; readonly already: number; readonly skipped: number; readonly writeUnits: number };
}
