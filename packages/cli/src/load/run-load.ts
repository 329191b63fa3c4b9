import type { LoadProgress, LoadReport } from "edgetable";
import type { UntypedDb } from "../connection.ts";
import { failureOf } from "../failure.ts";
import type { Io } from "../io.ts";
import { counted } from "../output/explanation.ts";
import { createProgress, progressEvery, type Progress } from "../output/progress.ts";
import { loadFile, showFailure, type FileFailure, type FileLoadOptions, type FileReport } from "./load-file.ts";
import type { OpenFile } from "./open-file.ts";

/** Failures that are printed, and of those with the same reason; the rest is counted. */
const mostShown = 20;
const mostAlike = 3;
/** Failures that the JSON answer names. */
const mostKept = 100;

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

/** What was done until Ctrl-C, or until the service gave up, and how to go on. */
const leftOff = (error: unknown, { name, job }: ShownLoad): string | undefined => {
  const { code, details } = failureOf(error);
  const report = details["report"] as LoadReport | undefined;
  if (!report) return undefined;
  const ended = `${name}: ${code === "execute.aborted" ? "interrupted" : "ended early"}`;
  if (report.position === 0 && report.items === 0) return `${ended}; nothing was written.`;
  const done = `${ended}; the first ${counted(report.position, "row")} ${report.position === 1 ? "was" : "were"} done, ${counted(report.items, "item")} written.`;
  return job === undefined ? `${done} With --job NAME a load can be gone on with.` : `${done} The same command goes on from there.`;
};

interface Failures {
  readonly first: FileFailure[];
  count: number;
  readonly add: (failure: FileFailure) => void;
}

/** Tells failures as they come: so many, and of those with one and the same reason only a few. */
const tellFailures = (name: string, progress: Progress, signal: AbortSignal): Failures => {
  const reasons = new Map<string, number>();
  let shown = 0;
  let silent = false;
  const add = (failure: FileFailure): void => {
    // Rows under way when Ctrl-C came are told by the error that ends the load.
    if (signal.aborted) return;
    failures.count++;
    if (failures.first.length < mostKept) failures.first.push(failure);
    const text = showFailure(failure);
    // The service gives each refusal an id of its own.
    const reason = text.slice(failure.place.length).replace(/ \(request \w+\)/, "");
    const alike = (reasons.get(reason) ?? 0) + 1;
    if (reasons.size < mostShown || alike > 1) reasons.set(reason, alike);
    if (shown < mostShown && alike <= mostAlike) {
      shown++;
      progress.say(`${name} ${text}`);
    } else if (!silent) {
      silent = true;
      progress.say("Further failures are counted, not shown.");
    }
  };
  const failures: Failures = { first: [], count: 0, add };
  return failures;
};

/** Loads a file before the eyes of a person: progress and failures go to standard error. */
export const runLoad = async (
  db: UntypedDb,
  file: OpenFile,
  { io, load }: { readonly io: Io; readonly load: ShownLoad },
): Promise<LoadResult> => {
  const progress = createProgress(io);
  const failures = tellFailures(load.name, progress, io.signal);
  const { name: _name, ...options } = load;
  try {
    const report = await loadFile(db, file, {
      ...options,
      onFailure: failures.add,
      signal: io.signal,
      progressEvery: progressEvery(io),
      onProgress: (state) => progress.show(showProgress(file, failures.count, state)),
    });
    return { report, failures: failures.first };
  } catch (error) {
    const text = leftOff(error, load);
    if (text !== undefined) progress.say(text);
    throw error;
  } finally {
    progress.clear();
  }
};
