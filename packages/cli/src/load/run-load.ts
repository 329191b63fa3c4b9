import type { LoadProgress } from "edgetable";
import type { UntypedDb } from "../connection.ts";
import type { Io } from "../io.ts";
import { counted } from "../output/explanation.ts";
import { createProgress, progressEvery } from "../output/progress.ts";
import { loadFile, showFailure, type FileFailure, type FileLoadOptions, type FileReport } from "./load-file.ts";
import type { OpenFile } from "./open-file.ts";

/** Failures that are printed in full; the rest is counted. */
const mostShown = 20;

export interface ShownLoad extends Omit<FileLoadOptions, "onFailure" | "signal" | "progressEvery" | "onProgress"> {
  readonly name: string;
}

/** What a load gave, with the first failures by their place in the file. */
export interface LoadResult {
  readonly report: FileReport;
  readonly failures: readonly FileFailure[];
}

const number = (value: number): string => Math.round(value).toLocaleString("en-US");

const showProgress = (file: OpenFile, failed: number, { rows, items, rate }: LoadProgress): string => {
  const share = file.progress();
  const percent = share === undefined ? "" : `${String(Math.floor(share * 100)).padStart(3)} %  `;
  return `${percent}${number(rows)} rows, ${number(items)} items, ${number(rate)}/s${failed === 0 ? "" : `, ${number(failed)} failed`}`;
};

const seconds = (milliseconds: number): string => `${(milliseconds / 1000).toFixed(milliseconds < 10_000 ? 1 : 0)} s`;

/** Rows and records that were not loaded. */
export const failedRows = ({ report }: LoadResult): number => report.failed + report.unreadable;

/** The load in one or two sentences. */
export const summary = (name: string, result: LoadResult): string => {
  const { report } = result;
  const failed = failedRows(result);
  const skipped = report.skipped === 0 ? "" : `, ${counted(report.skipped, "row")} were there from an earlier run`;
  const { items, differing } = report.collisions;
  const again =
    items === 0
      ? ""
      : `\n${counted(items, "item")} came more than once, ${number(differing)} of them with other values: the last one stands.`;
  const first = `${name}: ${counted(report.rows + report.unreadable, "row")}, ${counted(report.items, "item")} written in ${seconds(report.duration)} (${number(report.rate)}/s, ${number(report.writeUnits)} WCU)`;
  return `${first}${skipped}${failed === 0 ? "" : `, ${counted(failed, "row")} failed`}.${again}`;
};

/** Loads a file before the eyes of a person: progress and failures go to standard error. */
export const runLoad = async (
  db: UntypedDb,
  file: OpenFile,
  { io, load }: { readonly io: Io; readonly load: ShownLoad },
): Promise<LoadResult> => {
  const progress = createProgress(io);
  const failures: FileFailure[] = [];
  let failed = 0;
  const onFailure = (failure: FileFailure): void => {
    failed++;
    if (failures.length < 100) failures.push(failure);
    if (failed <= mostShown) progress.say(`${load.name} ${showFailure(failure)}`);
    if (failed === mostShown + 1) progress.say("Further failures are counted, not shown.");
  };
  const { name: _name, ...options } = load;
  try {
    const report = await loadFile(db, file, {
      ...options,
      onFailure,
      signal: io.signal,
      progressEvery: progressEvery(io),
      onProgress: (state) => progress.show(showProgress(file, failed, state)),
    });
    return { report, failures };
  } finally {
    progress.clear();
  }
};
