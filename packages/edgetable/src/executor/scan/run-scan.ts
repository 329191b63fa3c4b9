import { EdgetableError, withDetails } from "../../errors/edgetable-error.ts";
import type { RowOptions } from "../../requests/decode-item.ts";
import { keyOfItem } from "../../requests/encode-item.ts";
import type { AttributeValue, Item } from "../../transport/operations.ts";
import { hasPassed } from "../../util/time.ts";
import { type Cost, type Drift, Meter, type StrayItem } from "../call.ts";
import type { CallContext, Session } from "../session.ts";
import { type Copy, driftOf, joinCopies, readItem, settleCopies, type Settled } from "./read-item.ts";
import { type PageMark, type Places, positionText, readPosition, scanPages, trackPlaces } from "./scan-pages.ts";
import type { Row } from "../../util/row.ts";

/** How far a scan has come. */
export interface ScanReport {
  /** Items read by the Scan, Edgetable's own included. */
  readonly items: number;
  /** Rows given. */
  readonly rows: number;
  /** Unique markers, degree guards, jobs and the cursors' secret, which were left out. */
  readonly system: number;
  /** Items that gave no row. */
  readonly stray: number;
  /** Edges of which a copy is missing, or which a row cannot tell with both their copies. */
  readonly uneven: number;
  /** Items of which a stored copy disagrees with their key; rows hold what the key says. */
  readonly drifted: Drift;
  readonly cost: Cost;
  /** Goes on from here, given as `from`; rows behind it may come again. Undefined when all was given. */
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

interface HeldCopy {
  readonly copy: Copy;
  readonly mark: PageMark;
}

interface State {
  readonly session: Session;
  readonly settings: ScanSettings;
  readonly places: Places;
  readonly meter: Meter;
  /** By the leading copy's key, the oldest first. */
  readonly held: Map<string, HeldCopy>;
  readonly counts: { items: number; rows: number; system: number; stray: number; uneven: number };
  reported: number;
}

/** A scan under way. */
export interface Scanning {
  readonly rows: AsyncGenerator<Row>;
  report(): ScanReport;
}

const throwStray = ({ key, item, reason }: StrayItem): never => {
  const values = Object.values<AttributeValue | undefined>(key).map((value) =>
    value === undefined ? "no key" : "S" in value ? value.S : "N" in value ? value.N : JSON.stringify(value),
  );
  throw new EdgetableError(
    "scan.strayItem",
    `The item (${values.join(", ")}) gives no row: ${reason}. Correct the model or the item, or pass \`onStray\` to receive such items and continue.`,
    { details: { key, item, reason } },
  );
};

const stray = (state: State, item: Item, reason: string): void => {
  state.counts.stray++;
  const { onStray } = state.settings;
  if (onStray === "skip") return;
  const found: StrayItem = { key: keyOfItem(state.session.catalog, item), item, reason };
  if (typeof onStray === "function") onStray(found);
  else throwStray(found);
};

function* give(state: State, marks: readonly PageMark[], row: Row): Generator<Row> {
  state.counts.rows++;
  yield row;
  for (const mark of marks) mark.pending--;
}

function* giveSettled(state: State, held: HeldCopy, settled: Settled): Generator<Row> {
  if (settled.kind === "row") {
    if (settled.uneven) state.counts.uneven++;
    yield* give(state, [held.mark], settled.row);
    return;
  }
  if (settled.kind === "stray") stray(state, held.copy.item, settled.reason);
  held.mark.pending--;
}

// "BatchGetItem: 100 items", ServiceQuotas.
const AT_ONCE = 100;

async function* settleOldest(state: State): AsyncGenerator<Row> {
  const oldest: HeldCopy[] = [];
  for (const [id, held] of state.held) {
    if (oldest.length === AT_ONCE) break;
    oldest.push(held);
    state.held.delete(id);
  }
  const { session, settings } = state;
  const copies = oldest.map(({ copy }) => copy);
  const { consistent, rowOptions } = settings;
  const reading = { session, consistent, rowOptions, context: () => contextOf(state) };
  const all = await settleCopies(reading, copies);
  for (const [at, settled] of all.entries()) yield* giveSettled(state, oldest[at]!, settled);
}

function* takeCopy(state: State, copy: Copy, mark: PageMark): Generator<Row> {
  mark.pending++;
  const met = state.held.get(copy.id);
  if (!met || met.copy.leads === copy.leads) {
    // The same copy can be met twice where the table changes meanwhile: the later reading stands.
    if (met) met.mark.pending--;
    state.held.set(copy.id, { copy, mark });
    return;
  }
  state.held.delete(copy.id);
  const { row, uneven } = joinCopies(met.copy, copy);
  if (uneven) state.counts.uneven++;
  yield* give(state, [met.mark, mark], row);
}

function* takeItem(state: State, item: Item, mark: PageMark): Generator<Row> {
  state.counts.items++;
  const seen = readItem(state.session.catalog, item, state.settings.rowOptions);
  if (seen.kind === "system") {
    state.counts.system++;
    return;
  }
  if (seen.kind === "stray") return stray(state, item, seen.reason);
  if (state.settings.only && !state.settings.only.has(seen.name)) return;
  const { catalog } = state.session;
  for (const one of driftOf(catalog, item)) state.meter.drifts({ key: keyOfItem(catalog, item), ...one });
  if (seen.kind === "copy") return yield* takeCopy(state, seen.copy, mark);
  mark.pending++;
  yield* give(state, [mark], seen.row);
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

const tell = (state: State): void => {
  const { onProgress, progressEvery } = state.settings;
  const now = state.session.effects.now();
  if (!onProgress || !hasPassed(progressEvery, state.reported, now)) return;
  state.reported = now;
  onProgress(reportOf(state));
};

async function* scanAll(state: State): AsyncGenerator<Row> {
  const { session, settings, places, held } = state;
  const pages = scanPages(session, places, { ...settings, context: () => contextOf(state) });
  for await (const { items, mark } of pages) {
    for (const item of items) yield* takeItem(state, item, mark);
    while (held.size > settings.held) yield* settleOldest(state);
    mark.pending--;
    tell(state);
  }
  while (held.size > 0) yield* settleOldest(state);
  settings.onProgress?.(reportOf(state));
}

async function* scanOrTell(state: State): AsyncGenerator<Row> {
  try {
    yield* scanAll(state);
  } catch (error) {
    throw withDetails(error, { report: reportOf(state) });
  }
}

/**
 * Begins to scan.
 *
 * @throws {cursor.invalid} when `from` is no position of this table
 */
export const runScan = (session: Session, settings: ScanSettings): Scanning => {
  const from =
    settings.from === undefined ? { segments: settings.segments, begun: 0, open: {} } : readPosition(settings.from, session.catalog.table);
  const state: State = {
    session,
    settings: { ...settings, segments: from.segments },
    places: trackPlaces(from),
    meter: new Meter(0),
    held: new Map(),
    counts: { items: 0, rows: 0, system: 0, stray: 0, uneven: 0 },
    reported: session.effects.now(),
  };
  return { rows: scanOrTell(state), report: () => reportOf(state) };
};
