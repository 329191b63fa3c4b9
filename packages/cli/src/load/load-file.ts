import { EdgetableError, type Catalog, type LoadOptions, type LoadReport } from "edgetable";
import type { UntypedDb } from "../connection.ts";
import { failureOf, type Failure } from "../failure.ts";
import { toJson } from "../output/json.ts";
import type { Target } from "./mapping.ts";
import type { OpenFile } from "./open-file.ts";
import { createRowFitter, strayMember, type LoadRow } from "./fit-row.ts";
import { isBad, type FileRecord } from "./record.ts";

/** A row or record that was not loaded, and where it stands in the file. */
export interface FileFailure {
  readonly place: string;
  readonly code: string;
  readonly message: string;
  /** What is wrong with which column, where the schema says it. */
  readonly columns: readonly { readonly column: string; readonly value: unknown; readonly problem: string }[];
}

export interface FileLoadOptions extends Pick<
  LoadOptions,
  "strict" | "ends" | "collisions" | "job" | "fingerprint" | "concurrency" | "signal" | "progressEvery" | "onProgress"
> {
  /** How records become rows; none where they say it themselves. */
  readonly targets: readonly Target[];
  readonly onFailure: (failure: FileFailure) => void;
}

export interface FileReport extends LoadReport {
  /** Records of the file that could not be read at all. */
  readonly unreadable: number;
}

interface Sent {
  readonly record: FileRecord;
  readonly target: Target | undefined;
}

// Failures come back while rows are under way: far fewer than these.
const remembered = 20_000;

const columnOf = (target: Target | undefined, attribute: string): string => {
  const source = (target?.row ?? {})[attribute] ?? (target?.from ?? {})[attribute] ?? (target?.to ?? {})[attribute];
  return typeof source === "string" ? source : attribute;
};

const issuesOf = ({ details }: Failure): readonly { readonly path: string; readonly message: string }[] =>
  Array.isArray(details["issues"]) ? (details["issues"] as never) : [];

const valueOf = ({ value }: FileRecord, column: string): unknown => {
  const inner = value["row"] ?? value["attributes"];
  return value[column] ?? (typeof inner === "object" && inner !== null ? (inner as LoadRow)[column] : undefined);
};

const describe = (error: unknown, sent: Sent | undefined, row: number): FileFailure => {
  const failure = failureOf(error);
  const { code, message } = failure;
  if (!sent) return { place: `row ${row}`, code, message, columns: [] };
  const columns = issuesOf(failure).map(({ path, message: problem }) => {
    const [attribute = ""] = path.split(".");
    const column = columnOf(sent.target, attribute);
    return { column, value: valueOf(sent.record, column), problem };
  });
  return { place: sent.record.place, code, message, columns };
};

/** `line 5: "abc" in year: expected number`. */
export const showFailure = ({ place, message, columns }: FileFailure): string => {
  if (columns.length === 0) return `${place}: ${message}`;
  return `${place}: ${columns.map(({ column, value, problem }) => `${column} ${value === undefined ? "is missing" : `is ${toJson(value)}`}: ${problem}`).join("; ")}`;
};

const stops = (failure: FileFailure): EdgetableError =>
  new EdgetableError("load.invalidRow", `${showFailure(failure)}. Nothing behind it was read (--strict).`, { details: { ...failure } });

/** What went out of a file, so that a failure that comes back by its position finds its place. */
interface Outbox {
  add(sent: Sent): void;
  at(row: number): Sent | undefined;
}

const createOutbox = (): Outbox => {
  const kept = new Map<number, Sent>();
  let rows = 0;
  return {
    add: (sent) => {
      kept.set(rows, sent);
      kept.delete(rows - remembered);
      rows++;
    },
    at: (row) => kept.get(row),
  };
};

interface Reading {
  readonly catalog: Catalog;
  readonly targets: readonly Target[];
  readonly outbox: Outbox;
  readonly onBad: (failure: FileFailure) => void;
}

async function* readRows(file: OpenFile, { catalog, targets, outbox, onBad }: Reading): AsyncGenerator<LoadRow> {
  const fitter = createRowFitter(catalog);
  for await (const record of file.records) {
    const problem = isBad(record) ? record.problem : targets.length === 0 ? strayMember(record) : undefined;
    if (problem !== undefined || isBad(record)) {
      onBad({ place: record.place, code: "load.invalidRow", message: problem ?? "", columns: [] });
      continue;
    }
    const wanted = targets.filter(({ when }) => when === undefined || record.value[when] !== undefined);
    for (const target of targets.length === 0 ? [undefined] : wanted) {
      outbox.add({ record, target });
      yield await fitter.fit(record, target);
    }
  }
}

/** The error that ended a load, with the place of its row in the file. */
const withPlace = (error: unknown, outbox: Outbox): unknown => {
  const { code, details } = failureOf(error);
  const { row } = details;
  const cause = error instanceof Error ? error.cause : undefined;
  return code === "load.invalidRow" && typeof row === "number" && cause !== undefined ? stops(describe(cause, outbox.at(row), row)) : error;
};

/**
 * Loads a file's records. What does not fit is told and passed over, unless `strict`.
 *
 * @throws {load.invalidRow} for the first record that does not fit, where `strict`, with its place.
 */
export const loadFile = async (db: UntypedDb, file: OpenFile, options: FileLoadOptions): Promise<FileReport> => {
  const { targets: _targets, onFailure, ...rest } = options;
  const outbox = createOutbox();
  let unreadable = 0;
  const onBad = (failure: FileFailure): void => {
    if (options.strict) throw stops(failure);
    unreadable++;
    onFailure(failure);
  };
  const rows = readRows(file, { catalog: db.catalog, targets: options.targets, outbox, onBad });
  const tell: LoadOptions["onFailure"] = ({ row, error }) => void (options.strict || onFailure(describe(error, outbox.at(row), row)));
  try {
    // The last of several rows for one item stands, as it would in a loop over the file.
    return { ...(await db.load(rows, { ...rest, order: "kept", onFailure: tell })), unreadable };
  } catch (error) {
    throw withPlace(error, outbox);
  }
};
