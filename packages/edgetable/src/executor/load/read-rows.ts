import { isEdgetableError } from "../../errors/edgetable-error.ts";
import type { LogicalWrite } from "../../ir/logical-write.ts";
import { hasPassed } from "../../util/time.ts";
import type { Session } from "../session.ts";
import { validateWrite } from "../validate-write.ts";
import type { Pause } from "./batches.ts";
import type { CollisionFinder } from "./collisions.ts";
import { failRow, type Faults, mayGoOn } from "./faults.ts";
import type { LoadSettings, LoadSource } from "./load-settings.ts";
import { planRow, type PlannedRow } from "./plan-row.ts";
import { readSource } from "./read-source.ts";
import type { RowWriter } from "./write-rows.ts";

// Milliseconds between two pauses of a load that otherwise waits for nothing.
const LONGEST_BREATH = 20;

/** What takes the rows of a source, one after the other. */
export interface Reading {
  readonly session: Session;
  readonly source: LoadSource;
  readonly settings: LoadSettings;
  readonly faults: Faults;
  readonly collisions: CollisionFinder;
  readonly writer: RowWriter;
  /** Rows that were taken: the next one has this number. */
  rows: number;
  /** When it last paused. */
  breathed: number;
}

const failPlanning = ({ faults }: Reading, row: number, error: unknown): undefined => {
  if (!isEdgetableError(error)) throw error;
  failRow(faults, row, error);
};

const writeRow = ({ settings, collisions, writer }: Reading, row: number, planned: PlannedRow): Pause => {
  collisions.see(row, planned);
  return row < settings.from ? undefined : writer.write(row, planned);
};

const validRow = async (reading: Reading, row: number, valid: Promise<LogicalWrite>): Promise<void> => {
  let planned: PlannedRow;
  try {
    planned = planRow(reading.session.catalog, await valid);
  } catch (error) {
    return failPlanning(reading, row, error);
  }
  await writeRow(reading, row, planned);
};

const loadRow = (reading: Reading, given: unknown): Pause => {
  const { session, source, settings, rows: row } = reading;
  let planned: PlannedRow;
  try {
    const write = source.toWrite(given);
    const valid = settings.validates ? validateWrite(session.catalog, write) : write;
    if (valid instanceof Promise) return validRow(reading, row, valid);
    planned = planRow(session.catalog, valid);
  } catch (error) {
    return failPlanning(reading, row, error);
  }
  return writeRow(reading, row, planned);
};

// Rows that need no request must not keep timers (a lease's renewal) and sockets from their turn.
const breathe = (reading: Reading): Pause => {
  const { effects } = reading.session;
  const now = effects.now();
  if (!hasPassed(LONGEST_BREATH, reading.breathed, now)) return undefined;
  reading.breathed = now;
  return effects.sleep(0);
};

const takeRow = (reading: Reading, given: unknown): Pause => {
  const pause = loadRow(reading, given);
  if (!pause) {
    reading.rows++;
    return breathe(reading);
  }
  return pause.then(() => {
    reading.rows++;
    return breathe(reading);
  });
};

/** Takes every row of the source, unless a fault ends the load before. */
export const readRows = async (reading: Reading): Promise<void> => {
  const { source, settings, faults } = reading;
  const { rows } = source;
  if (Symbol.asyncIterator in rows) {
    for await (const given of settings.signal ? readSource(rows, settings.signal) : rows) {
      if (!mayGoOn(faults)) return;
      await takeRow(reading, given);
    }
    return;
  }
  // A promise for each row would cost as much as the row.
  for (const given of rows) {
    if (!mayGoOn(faults)) return;
    const pause = takeRow(reading, given);
    if (pause) await pause;
  }
};
