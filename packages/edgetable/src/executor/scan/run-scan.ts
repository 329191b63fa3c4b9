import { EdgetableError, withDetails } from "../../errors/edgetable-error.ts";
import type { RowOptions } from "../../requests/decode-item.ts";
import { keyOfItem } from "../../requests/encode-item.ts";
import type { AttributeValue, Item } from "../../transport/operations.ts";
import { hasPassed } from "../../util/time.ts";
import { type Cost, type Drift, Meter, type StrayItem } from "../call.ts";
import type { CallContext, Session } from "../session.ts";
import { type Copy, driftOf, joinCopies, readItem, settleCopies } from "./read-item.ts";
import { type PageMark, type Places, positionText, readPosition, scanPages, trackPlaces } from "./scan-pages.ts";
import type { Row } from "../../util/row.ts";

/** The progress of a scan. */
export interface ScanReport {
  /** Number of items read by the Scan, including Edgetable's own. */
  readonly items: number;
  /** Number of rows returned. */
  readonly rows: number;
  /** Unique markers, degree guards, jobs and the cursors' secret, which were left out. */
  readonly system: number;
  /** Number of items that are not rows. */
  readonly stray: number;
  /** Number of edges with a missing copy, or whose two copies one row cannot represent. */
  readonly uneven: number;
  /** Items with a stored copy that disagrees with their key. Rows contain the key's value. */
  readonly drifted: Drift;
  readonly cost: Cost;
  /** The position to pass as `from` to continue; rows after it may be returned again. Undefined if all rows were returned. */
  readonly position: string | undefined;
}

export interface ScanSettings {
  readonly segments: number;
  readonly concurrency: number;
  readonly consistent: boolean;
  /** Copies that are held until their other one comes. */
  readonly held: number;
  readonly from: string | undefined;
  /** Names of definitions; undefined: all. */
  readonly only: ReadonlySet<string> | undefined;
  /** Whether attributes that the model does not know are part of a row. */
  readonly rowOptions: RowOptions;
  readonly onStray: "skip" | "throw" | ((stray: StrayItem) => void) | undefined;
  readonly onProgress: ((report: ScanReport) => void) | undefined;
  readonly progressEvery: number;
  readonly context: () => CallContext;
}

/** A copy of an edge whose other copy the scan has not met yet. */
interface WaitingCopy {
  readonly copy: Copy;
  readonly mark: PageMark;
}

interface State {
  readonly session: Session;
  readonly settings: ScanSettings;
  readonly places: Places;
  readonly meter: Meter;
  /** By the leading copy's key, the oldest first. */
  readonly waiting: Map<string, WaitingCopy>;
  readonly counts: { items: number; rows: number; system: number; stray: number; uneven: number };
  reported: number;
}

/** A scan under way. */
export interface Scanning {
  readonly rows: AsyncGenerator<Row>;
  report(): ScanReport;
}

const reportStray = (state: State, item: Item, reason: string): void => {
  state.counts.stray++;
  const { onStray } = state.settings;
  if (onStray === "skip") return;
  const key = keyOfItem(state.session.catalog, item);
  if (typeof onStray === "function") return onStray({ key, item, reason });
  const values = Object.values<AttributeValue | undefined>(key).map((value) =>
    value === undefined ? "no key" : "S" in value ? value.S : "N" in value ? value.N : JSON.stringify(value),
  );
  throw new EdgetableError(
    "scan.strayItem",
    `The item (${values.join(", ")}) gives no row: ${reason}. Correct the model or the item, or pass \`onStray\` to receive such items and continue.`,
    { details: { key, item, reason } },
  );
};

function* giveRow(state: State, marks: readonly PageMark[], row: Row): Generator<Row> {
  state.counts.rows++;
  yield row;
  for (const mark of marks) mark.pending--;
}

// "BatchGetItem: 100 items", ServiceQuotas.
const AT_ONCE = 100;

async function* settleOldest(state: State): AsyncGenerator<Row> {
  const oldest: WaitingCopy[] = [];
  for (const [id, waiting] of state.waiting) {
    if (oldest.length === AT_ONCE) break;
    oldest.push(waiting);
    state.waiting.delete(id);
  }
  const { session, settings } = state;
  const copies = oldest.map(({ copy }) => copy);
  const { consistent, rowOptions } = settings;
  const reading = { session, consistent, rowOptions, context: () => contextOf(state) };
  const all = await settleCopies(reading, copies);
  for (const [at, settled] of all.entries()) {
    const { copy, mark } = oldest[at]!;
    if (settled.kind === "row") {
      if (settled.uneven) state.counts.uneven++;
      yield* giveRow(state, [mark], settled.row);
      continue;
    }
    if (settled.kind === "stray") reportStray(state, copy.item, settled.reason);
    mark.pending--;
  }
}

function* takeCopy(state: State, copy: Copy, mark: PageMark): Generator<Row> {
  mark.pending++;
  const met = state.waiting.get(copy.id);
  if (!met || met.copy.leads === copy.leads) {
    // If the table changes during the scan, the same copy may come twice: the later one counts.
    if (met) met.mark.pending--;
    state.waiting.set(copy.id, { copy, mark });
    return;
  }
  state.waiting.delete(copy.id);
  const { row, uneven } = joinCopies(met.copy, copy);
  if (uneven) state.counts.uneven++;
  yield* giveRow(state, [met.mark, mark], row);
}

function* takeItem(state: State, item: Item, mark: PageMark): Generator<Row> {
  state.counts.items++;
  const seen = readItem(state.session.catalog, item, state.settings.rowOptions);
  if (seen.kind === "system") {
    state.counts.system++;
    return;
  }
  if (seen.kind === "stray") return reportStray(state, item, seen.reason);
  if (state.settings.only && !state.settings.only.has(seen.name)) return;
  const { catalog } = state.session;
  for (const one of driftOf(catalog, item)) state.meter.drifts({ key: keyOfItem(catalog, item), ...one });
  if (seen.kind === "copy") return yield* takeCopy(state, seen.copy, mark);
  mark.pending++;
  yield* giveRow(state, [mark], seen.row);
}

const contextOf = ({ settings, meter }: State): CallContext => ({ ...settings.context(), meter });

const reportOf = (state: State): ScanReport => {
  const position = state.places.position();
  return {
    ...state.counts,
    drifted: state.meter.drifted,
    cost: state.meter.cost,
    position: position && positionText(state.session.catalog.table, position),
  };
};

async function* scanAll(state: State): AsyncGenerator<Row> {
  const { session, settings, places, waiting } = state;
  try {
    const pages = scanPages(session, places, { ...settings, context: () => contextOf(state) });
    for await (const { items, mark } of pages) {
      for (const item of items) yield* takeItem(state, item, mark);
      while (waiting.size > settings.held) yield* settleOldest(state);
      mark.pending--;
      const now = session.effects.now();
      if (!settings.onProgress || !hasPassed(settings.progressEvery, state.reported, now)) continue;
      state.reported = now;
      settings.onProgress(reportOf(state));
    }
    while (waiting.size > 0) yield* settleOldest(state);
    settings.onProgress?.(reportOf(state));
  } catch (error) {
    throw withDetails(error, { report: reportOf(state) });
  }
}

/**
 * Begins to scan.
 *
 * @throws {cursor.invalid} if `from` is not a position in this table
 */
export const runScan = (session: Session, settings: ScanSettings): Scanning => {
  const from =
    settings.from === undefined ? { segments: settings.segments, begun: 0, open: {} } : readPosition(settings.from, session.catalog.table);
  const state: State = {
    session,
    settings: { ...settings, segments: from.segments },
    places: trackPlaces(from),
    meter: new Meter(0),
    waiting: new Map(),
    counts: { items: 0, rows: 0, system: 0, stray: 0, uneven: 0 },
    reported: session.effects.now(),
  };
  return { rows: scanAll(state), report: () => reportOf(state) };
};
