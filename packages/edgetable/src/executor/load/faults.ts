import { EdgetableError, isEdgetableError } from "../../errors/edgetable-error.ts";
import type { LoadSettings } from "./load-settings.ts";
import { abortedLoad } from "./read-source.ts";
import type { Tally } from "./tally.ts";

interface Thrown {
  readonly error: unknown;
}

/** What failed in a load so far. Written by this file alone. */
export interface Faults {
  readonly tally: Tally;
  readonly settings: Pick<LoadSettings, "strict" | "signal" | "check" | "onFailure">;
  /** Why no more rows are read. */
  reason: Thrown | undefined;
  /** What a listener of the caller's threw: it ends the load, before any other reason, and is no fault of a row. */
  thrown: Thrown | undefined;
  /** Whether nothing more is sent either: the fault is the service's, or a listener's, not a row's. */
  halted: boolean;
  /** The first row that a fault left unwritten. */
  stuck: number;
}

/** Begins with none. */
export const noFaults = (tally: Tally, settings: Faults["settings"]): Faults => ({
  tally,
  settings,
  reason: undefined,
  thrown: undefined,
  halted: false,
  stuck: Number.POSITIVE_INFINITY,
});

/** Calls a listener of the caller's. */
export const tell = (faults: Faults, listen: () => void): void => {
  try {
    listen();
  } catch (error) {
    faults.thrown ??= { error };
    faults.halted = true;
  }
};

const ROW_CODES: ReadonlySet<string> = new Set([
  "execute.rejected",
  "execute.conflict",
  "execute.ambiguous",
  "request.itemTooLarge",
  "request.transactionTooLarge",
]);
const isOfRow = (error: EdgetableError): boolean => ROW_CODES.has(error.code) || error.code.startsWith("keys.");

const note = (faults: Faults, row: number, error: EdgetableError): void => {
  faults.tally.fail({ row, error });
  tell(faults, () => faults.settings.onFailure?.({ row, error }));
};

const leave = (faults: Faults, row: number): void => {
  faults.stuck = Math.min(faults.stuck, row);
};

const stop = (faults: Faults, row: number, error: EdgetableError): void => {
  faults.reason ??= { error };
  leave(faults, row);
};

/** Fails a row; where the load is strict, no more rows are read. */
export const failRow = (faults: Faults, row: number, error: EdgetableError): void => {
  note(faults, row, error);
  if (!faults.settings.strict) return;
  const why = new EdgetableError("load.invalidRow", `Row ${row} stops the load: ${error.message}`, {
    cause: error,
    details: { row, code: error.code, ...error.details },
  });
  stop(faults, row, why);
};

/** Fails the rows of a write: what the service says of one row fails that row, what it says of the table ends the load. */
export const failWrite = (faults: Faults, rows: readonly number[], error: EdgetableError): void => {
  for (const row of rows) {
    if (isOfRow(error)) failRow(faults, row, error);
    else {
      note(faults, row, error);
      faults.halted = true;
      stop(faults, row, error);
    }
  }
};

/** Writes rows, unless the load has been halted. Never rejects: what is thrown fails the rows. */
export const guarded = async (faults: Faults, rows: readonly number[], write: () => Promise<void>): Promise<void> => {
  try {
    if (faults.halted) leave(faults, rows[0] ?? 0);
    else await write();
  } catch (error) {
    const known = isEdgetableError(error)
      ? error
      : new EdgetableError("invariant", `a load failed unexpectedly: ${String(error)}`, { cause: error });
    failWrite(faults, rows, known);
  }
};

/** Whether another row is read. Throws what stops the load from outside: its signal, or a lease that was lost. */
export const mayGoOn = (faults: Faults): boolean => {
  const { check, signal } = faults.settings;
  try {
    check();
    if (signal?.aborted) throw abortedLoad(signal);
  } catch (error) {
    faults.halted = true;
    throw error;
  }
  return !faults.reason && !faults.thrown;
};
