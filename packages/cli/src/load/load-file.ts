import { EdgetableError, type LoadOptions, type LoadProgress, type LoadReport } from "edgetable";
import type { UntypedDb } from "../connection.ts";
import { failureOf } from "../failure.ts";
import type { Io } from "../io.ts";
import { counted } from "../output/explanation.ts";
import { isRow, toJson, type Row } from "../output/json.ts";
import { createProgress, progressEvery, type Progress } from "../output/terminal.ts";
import { createRowFitter, unknownMember, valueAt } from "./fit-row.ts";
import type { Target } from "./mapping.ts";
import { isBad, type FileRecord, type OpenFile } from "./read-file.ts";

/** A row or record that was not loaded, with its place in the file. */
export interface FileFailure {
  readonly place: string;
  readonly code: string;
  readonly message: string;
  /** The columns that the schema rejects. */
  readonly columns: readonly { readonly column: string; readonly value: unknown; readonly problem: string }[];
}

/** Failures that are printed, and how many of those with the same reason; the others are counted. */
const MAX_SHOWN = 20;
const MAX_ALIKE = 3;
/** Failures in the JSON answer. */
const MAX_KEPT = 100;
/** Sent rows that are remembered. A failure is reported while its row is in flight, well within this number. */
const MAX_SENT = 20_000;

export interface FileLoad extends Pick<LoadOptions, "strict" | "ends" | "collisions" | "job" | "fingerprint" | "concurrency"> {
  readonly name: string;
  /** How records become rows; empty if the records say it themselves. */
  readonly targets: readonly Target[];
}

/** The result of a load, with the first failures. */
export interface LoadResult {
  readonly report: LoadReport;
  /** Records of the file that could not be read. */
  readonly unreadable: number;
  readonly failures: readonly FileFailure[];
}

const UNKNOWN_IN_DUMP = 'If this file is a dump, add such attributes to the model, or omit them with "edgetable dump --unknown hide".';

interface Sent {
  readonly record: FileRecord;
  readonly target: Target | undefined;
}

const describe = (error: unknown, sent: Sent | undefined, row: number): FileFailure => {
  const { code, message: reason, details } = failureOf(error);
  const maybeDumped = code === "schema.unknownAttribute" && sent !== undefined && sent.target === undefined;
  const message = maybeDumped ? `${reason} ${UNKNOWN_IN_DUMP}` : reason;
  if (!sent) return { place: `row ${row}`, code, message, columns: [] };
  const { record, target } = sent;
  const columns: FileFailure["columns"][number][] = [];
  const issues = Array.isArray(details["issues"]) ? (details["issues"] as { readonly path: string; readonly message: string }[]) : [];
  for (const { path, message: problem } of issues) {
    const [attribute = ""] = path.split(".");
    const source = target?.row?.[attribute] ?? target?.from?.[attribute] ?? target?.to?.[attribute];
    const column = typeof source === "string" ? source : attribute;
    const inner = record.value["row"] ?? record.value["attributes"];
    columns.push({ column, value: record.value[column] ?? (isRow(inner) ? inner[column] : undefined), problem });
  }
  return { place: record.place, code, message, columns };
};

/** `line 5: year is "abc": expected number`. */
const showFailure = ({ place, message, columns }: FileFailure): string => {
  const problems = columns.map(
    ({ column, value, problem }) => `${column} ${value === undefined ? "is missing" : `is ${toJson(value)}`}: ${problem}`,
  );
  return `${place}: ${problems.length === 0 ? message : problems.join("; ")}`;
};

const strictError = (failure: FileFailure): EdgetableError =>
  new EdgetableError("load.invalidRow", `${showFailure(failure)}. The rest of the file was not read (--strict).`, {
    details: { ...failure },
  });

/** Rows and records that were not loaded. */
export const failedRows = ({ report, unreadable }: LoadResult): number => report.failed + unreadable;

const number = (value: number): string => Math.round(value).toLocaleString("en-US");

/** A time that is left, as `40 s`, `12 min` or `3 h 5 min`. */
const showLeft = (milliseconds: number): string => {
  const seconds = Math.ceil(milliseconds / 1000);
  if (seconds < 100) return `${seconds} s`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 100 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
};

/** Summarises a load in one or two sentences. */
export const summary = (name: string, result: LoadResult): string => {
  const { report, unreadable } = result;
  const { items, differing } = report.collisions;
  const seconds = `${(report.duration / 1000).toFixed(report.duration < 10_000 ? 1 : 0)} s`;
  const failed = failedRows(result);
  let text = `${name}: ${counted(report.rows + unreadable, "row")}, ${counted(report.items, "item")} written in ${seconds} (${number(report.rate)}/s, ${number(report.writeUnits)} WCU)`;
  if (report.skipped > 0) text += `, ${counted(report.skipped, "row")} skipped because an earlier run loaded them`;
  if (failed > 0) text += `, ${counted(failed, "row")} failed`;
  text += ".";
  if (items > 0)
    text += `\n${counted(items, "row")} gave an item again that an earlier row had given, ${number(differing)} of them with different values: the last one was kept.`;
  return text;
};

/** Says what an interrupted load completed, and how to resume it. */
const interruption = (error: unknown, { name, job }: FileLoad, given: number): string | undefined => {
  const { code, details } = failureOf(error);
  const report = details["report"] as LoadReport | undefined;
  if (!report) return undefined;
  const ended = `${name}: ${code === "execute.aborted" ? "interrupted" : "ended early"}`;
  if (given === 0) return `${ended}; nothing was written.`;
  if (report.position === 0 && report.items === 0)
    return code === "execute.aborted"
      ? `${ended} before a write was answered: the first rows may have been written.`
      : `${ended}; nothing was written.`;
  const done = `${ended}; the first ${counted(report.position, "row")} ${report.position === 1 ? "was" : "were"} processed, ${counted(report.items, "item")} written.`;
  return job === undefined ? `${done} Pass --job NAME to make a load resumable.` : `${done} Run the same command to resume.`;
};

/** Collects failures and prints the first of them: few with the same reason. */
const createFailures = (name: string, progress: Progress, signal: AbortSignal) => {
  const reasons = new Map<string, number>();
  const first: FileFailure[] = [];
  let count = 0;
  let shown = 0;
  let silent = false;
  const add = (failure: FileFailure): void => {
    // After Ctrl-C, the error that ends the load covers the rows in flight.
    if (signal.aborted) return;
    count++;
    if (first.length < MAX_KEPT) first.push(failure);
    const text = showFailure(failure);
    // Each error of the service has its own request id.
    const reason = text.slice(failure.place.length).replace(/ \(request \w+\)/, "");
    const alike = (reasons.get(reason) ?? 0) + 1;
    if (reasons.size < MAX_SHOWN || alike > 1) reasons.set(reason, alike);
    if (shown < MAX_SHOWN && alike <= MAX_ALIKE) {
      shown++;
      progress.say(`${name} ${text}`);
    } else if (!silent) {
      silent = true;
      progress.say("Further failures are counted but not shown.");
    }
  };
  return { first, add, count: () => count };
};

/**
 * Loads a file. Prints progress and failures on standard error. Rows that do not fit are reported and skipped, unless `strict`.
 *
 * @throws {load.invalidRow} under `strict`, for the first row that does not fit, with its place
 */
export const loadFile = async (
  db: UntypedDb,
  file: OpenFile,
  { io, load }: { readonly io: Io; readonly load: FileLoad },
): Promise<LoadResult> => {
  const { name, targets, ...options } = load;
  const { signal } = io;
  const progress = createProgress(io);
  const failures = createFailures(name, progress, signal);
  const sent = new Map<number, Sent>();
  let unreadable = 0;
  let count = 0;
  let isRead = false;

  async function* rows(): AsyncGenerator<Row> {
    const fitter = createRowFitter(db.catalog);
    for await (const record of file.records) {
      const problem = isBad(record) ? record.problem : targets.length === 0 ? unknownMember(record) : undefined;
      if (problem !== undefined || isBad(record)) {
        const failure = { place: record.place, code: "load.invalidRow", message: problem ?? "", columns: [] };
        if (options.strict) throw strictError(failure);
        unreadable++;
        failures.add(failure);
        continue;
      }
      for (const target of targets.length === 0 ? [undefined] : targets) {
        if (target?.when !== undefined && valueAt(record.value, target.when) === undefined) continue;
        sent.set(count, { record, target });
        sent.delete(count - MAX_SENT);
        count++;
        yield await fitter(record, target);
      }
    }
    isRead = true;
  }
  const estimated = (): number | undefined => {
    const share = file.progress();
    return isRead ? count : share === undefined || share === 0 ? undefined : count / share;
  };
  const onProgress = ({ position, estimated: of, left, items, rate }: LoadProgress): void => {
    const total = of ?? (file.size !== undefined && isRead ? count : undefined);
    const percent = total === undefined ? "" : `${String(Math.floor((position / Math.max(1, total)) * 100)).padStart(3)} %  `;
    const all = total === undefined || position >= total ? "" : ` of ${isRead ? "" : "about "}${number(total)}`;
    const failed = failures.count() === 0 ? "" : `, ${number(failures.count())} failed`;
    const time = left === undefined || left < 1000 ? "" : `, ${showLeft(left)} left`;
    progress.show(`${percent}${number(position)}${all} rows, ${number(items)} items, ${number(rate)}/s${time}${failed}`);
  };
  try {
    const report = await db.load(rows(), {
      ...options,
      // The last of several rows for one item is kept, as in a loop over the file.
      order: "kept",
      signal,
      progressEvery: progressEvery(io),
      estimated,
      onProgress,
      onFailure: ({ row, error }) => void (options.strict || failures.add(describe(error, sent.get(row), row))),
    });
    return { report, unreadable, failures: failures.first };
  } catch (error) {
    const { code, details } = failureOf(error);
    const row = details["row"];
    const cause = error instanceof Error ? error.cause : undefined;
    const placed =
      code === "load.invalidRow" && typeof row === "number" && cause !== undefined
        ? strictError(describe(cause, sent.get(row), row))
        : error;
    const text = interruption(placed, load, count);
    if (text !== undefined) progress.say(text);
    throw placed;
  } finally {
    progress.clear();
  }
};
