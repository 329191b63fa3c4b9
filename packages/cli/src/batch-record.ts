import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Lake, ResultRow, ValidationReport, WriteBackReport } from "@edgetable/analytics";
import { systemProblem } from "./failure.ts";
import { type Invocation, note } from "./invocation.ts";
import { toExactJson } from "./output/json.ts";

/** Rows that a record keeps: the first ones. */
export const RECORDED_ROWS = 1000;

/** What a batch job gave. */
export type BatchResult =
  /** How many rows there were, and the first {@link RECORDED_ROWS} of them. */
  | { readonly kind: "rows"; readonly count: number; readonly rows: readonly ResultRow[] }
  | { readonly kind: "file"; readonly count: number; readonly file: string }
  | { readonly kind: "written"; readonly report: WriteBackReport }
  | { readonly kind: "validation"; readonly report: ValidationReport };

/** The last run of a batch job, as a JSON file. The studio shows it. */
export interface BatchRecord {
  /** Tells these files from others. */
  readonly record: "edgetable batch";
  readonly job: string;
  /** What the result is, in a sentence. */
  readonly what: string;
  /** The options by which the job was run, such as `--edges enrolledIn`. */
  readonly options: string;
  readonly engine: "duckdb" | "spark";
  /** When the lake was extracted, and when the job began; ISO 8601. */
  readonly extractedAt: string;
  readonly beganAt: string;
  readonly milliseconds: number;
  readonly result: BatchResult;
}

/** The folder of the records of a lake's jobs: beside the lake, because an extraction replaces that. */
export const recordFolder = (lake: string): string => `${lake.replace(/[/\\]+$/, "")}.results`;

/**
 * Begins the record of a run. The function that it gives writes it, in the place of the one of the job's last run. A record that
 * cannot be written is no failure of the job.
 */
export const beginRecord = (
  call: Pick<Invocation, "io">,
  { folder: lake, extractedAt }: Pick<Lake, "folder" | "extractedAt">,
  run: Pick<BatchRecord, "job" | "what" | "options" | "engine">,
): ((result: BatchResult) => void) => {
  const began = Date.now();
  return (result) => {
    const record: BatchRecord = {
      record: "edgetable batch",
      ...run,
      extractedAt,
      beganAt: new Date(began).toISOString(),
      milliseconds: Date.now() - began,
      result,
    };
    const folder = recordFolder(lake);
    const file = join(folder, `${run.job}.json`);
    try {
      mkdirSync(folder, { recursive: true });
      writeFileSync(`${file}.new`, toExactJson(record));
      renameSync(`${file}.new`, file);
    } catch (error) {
      note(call, `The run was not recorded in ${folder}: ${systemProblem(error)}.`);
    }
  };
};
