import type { FieldValue } from "../client/field-types.ts";
import { comparePrimary, encodeKeyField } from "../keys/template.ts";
import {
  affordable,
  collect,
  type Collected,
  type Hydrated,
  hydrate,
  isEmptyIn,
  passes,
  type Reading,
  type StartValue,
  type StreamPlace,
  streamsOf,
  type Wanted,
} from "./collect-rows.ts";
import { valueText } from "./field-value.ts";
import { type GridModel, placeOf } from "./grid-model.ts";
import type { OrderColumn, Resolved } from "./grid-state.ts";
import { attributeOrder, readStream, type RowStream } from "./row-streams.ts";

/*
 * Rows that are sorted by two columns come in runs: rows with one value of the first column, and then those without one. A run
 * of up to MOST_IN_RUN rows is read as a whole and sorted here. A longer one, and the rows without a value, are read by the
 * order of the second column, from which the rows of the run are taken.
 */

/** A row's place in its run: by the second column, and by its own order. */
interface PlaceInRun {
  /** Null for a row without a value of the second column. */
  readonly second: string | null;
  readonly own: string;
  /** True if the row itself is to be read, too. */
  readonly isIncluded?: boolean;
}

/** Where reading begins: in which run, and where in it. */
export interface RunPlace {
  /** Whether the rows with a value of the first column are read, or those without one, by the order in which they come. */
  readonly stream: number;
  /** The run; none for the first one, and for the rows without a value. */
  readonly start: StartValue | undefined;
  /** The row behind which the run goes on. */
  readonly after: PlaceInRun | undefined;
  /** Of a run that is read by the second column: where in its streams. */
  readonly inner: Omit<StreamPlace, "backward"> | undefined;
  readonly backward: boolean;
}

/** Most rows of a run that are sorted in memory. */
export const MOST_IN_RUN = 1000;

/** How many candidates are read at least. */
const FEWEST_CANDIDATES = 50;

const valueIn = ({ by }: Pick<OrderColumn, "by">, { row, cells }: Hydrated): unknown =>
  by.kind === "field" ? cells.get(by.field.fieldId)?.value : row[by.name];

/** What orders a row by a column; null where it has no value. */
const textIn = (model: GridModel, order: OrderColumn, one: Hydrated): string | null => {
  const { by } = order;
  if (isEmptyIn(by, one)) return null;
  const value = valueIn(order, one);
  if (by.kind === "field") return valueText(model.driver.catalog, by.field, value as FieldValue["value"]);
  return encodeKeyField(attributeOrder(model, by.name), by.name, value);
};

const placeIn = (model: GridModel, second: OrderColumn, one: Hydrated): PlaceInRun => {
  const { order, row } = placeOf(model, one.row);
  return { second: textIn(model, second, one), own: `${order}\u0000${row}` };
};

/** Compares places in a run, in the order of a direction. */
const comparePlaces =
  ({ sort: [, second], empties }: Resolved, backward: boolean) =>
  (a: PlaceInRun, b: PlaceInRun): number => {
    const turned = backward ? -1 : 1;
    const own = comparePrimary(a.own, b.own);
    if (a.second === null && b.second === null) return turned * own;
    const atEnd = empties === "first" ? -1 : 1;
    if (a.second === null) return turned * atEnd;
    if (b.second === null) return -turned * atEnd;
    return (second?.descending ? -turned : turned) * (comparePrimary(a.second, b.second) || own);
  };

/** Whether a place is behind another one, in the order of a direction. */
const isBehind = (resolved: Resolved, backward: boolean, place: PlaceInRun, after: PlaceInRun | undefined): boolean =>
  after === undefined || comparePlaces(resolved, backward)(place, after) > (after.isIncluded ? -1 : 0);

/** A row with its place, from which a page goes on in either direction. */
interface PlacedRow {
  readonly one: Hydrated;
  readonly place: RunPlace;
}

/** One reading by two columns, and what it has found so far. */
interface Walk {
  readonly model: GridModel;
  readonly reading: Reading;
  readonly wanted: Wanted<RunPlace>;
  readonly first: OrderColumn;
  readonly second: OrderColumn;
  readonly rows: PlacedRow[];
}

/** Where to go on after some rows were read, or where a page ends. */
type Step =
  | { readonly kind: "on"; readonly at: RunPlace }
  | { readonly kind: "end"; readonly at: RunPlace | undefined; readonly stopped?: Collected<unknown>["stopped"] };

const beginning = ({ backward }: RunPlace, stream: number, start?: StartValue): RunPlace => ({
  stream,
  start,
  after: undefined,
  inner: undefined,
  backward,
});

const isFull = ({ rows, wanted }: Walk): boolean => rows.length >= wanted.limit;

/** Reads a run, or what is left of it, by the second column. */
const readInner = async (walk: Walk, at: RunPlace): Promise<Step> => {
  const { model, reading, wanted, first, second, rows } = walk;
  const { resolved, context } = reading;
  const { start, inner, after, backward } = at;
  const isWanted = (one: Hydrated): boolean =>
    textIn(model, first, one) === (start?.text ?? null) && isBehind(resolved, backward, placeIn(model, second, one), after);
  const place = { stream: inner?.stream ?? 0, key: inner?.key, backward };
  const bySecond = { resolved: { ...resolved, sort: [second] }, context };
  const found = await collect(model, bySecond, { ...wanted, place, limit: wanted.limit - rows.length }, isWanted);
  for (const one of found.rows)
    rows.push({ one, place: { ...at, after: placeIn(model, second, one), inner: { stream: one.stream, key: one.candidate.key } } });
  if (found.end) return { kind: "end", at: { ...at, inner: { stream: found.end.stream, key: found.end.key } }, stopped: found.stopped };
  const next = start ? beginning(at, at.stream, { ...start, behind: true }) : beginning(at, at.stream + 1);
  return { kind: isFull(walk) ? "end" : "on", at: next };
};

/** Rows with one value of the first column, as far as they were read. */
interface Run {
  /** Where it begins, behind a row of it if an earlier page ended there. */
  readonly at: RunPlace;
  /** The rows that pass. */
  readonly rows: Hydrated[];
  /** All rows that were read, those included that do not pass. */
  size: number;
}

/** Takes the rows of a run that was read as a whole. */
const takeRun = (walk: Walk, { at, rows: found }: Run): void => {
  const { model, reading, second, rows } = walk;
  const compare = comparePlaces(reading.resolved, at.backward);
  const placed = found.map((one) => ({ one, after: placeIn(model, second, one) }));
  for (const { one, after } of placed.toSorted((a, b) => compare(a.after, b.after)))
    if (!isFull(walk) && isBehind(reading.resolved, at.backward, after, at.after)) rows.push({ one, place: { ...at, after } });
};

/** Takes the runs that end among rows that were read, and gives the one that may go on. */
const takeRuns = (walk: Walk, at: RunPlace, found: readonly Hydrated[], begun: Run | undefined): Run | undefined => {
  const { model, reading, first, second } = walk;
  const { resolved } = reading;
  let run = begun;
  for (const one of found) {
    const text = textIn(model, first, one) ?? "";
    if (run?.at.start?.text !== text) {
      if (run) takeRun(walk, run);
      if (isFull(walk)) return undefined;
      const start: StartValue = { value: valueIn(first, one), text, behind: false };
      run = { at: { ...beginning(at, at.stream, start), after: at.start?.text === text ? at.after : undefined }, rows: [], size: 0 };
    }
    run.size++;
    if (passes(resolved, one) && !(resolved.empties === "without" && isEmptyIn(second.by, one))) run.rows.push(one);
  }
  return run;
};

const bySecondColumn = ({ at }: Run): RunPlace => ({ ...at, inner: { stream: 0, key: undefined } });

/** Reads runs until one is too long to be sorted, the rows with a value end, or a page does. */
const readRuns = async (walk: Walk, at: RunPlace, stream: RowStream): Promise<Step> => {
  const { model, reading, wanted, rows } = walk;
  const { session } = model.driver;
  let run: Run | undefined;
  let key: StreamPlace["key"];
  for (let examined = 0; ;) {
    const size = affordable(Math.max(wanted.limit - rows.length, FEWEST_CANDIDATES, examined), stream, wanted, reading);
    const stopped = size < 1 ? "requests" : session.effects.now() >= reading.context.deadline ? "time" : undefined;
    // A run that is longer than the budget is read by the second column, where each request leads on.
    if (stopped) return { kind: "end", at: run ? (rows.length === 0 ? bySecondColumn(run) : run.at) : at, stopped };
    const { candidates, next } = await readStream(model, stream, { limit: Math.min(size, MOST_IN_RUN), after: key }, reading.context);
    examined += candidates.length;
    run = takeRuns(walk, at, await hydrate(model, { candidates, fields: wanted.fields, stream: at.stream }, reading), run);
    if (run && next === undefined) takeRun(walk, run);
    if (isFull(walk)) return { kind: "end", at: rows.at(-1)?.place };
    if (next === undefined) return { kind: "on", at: beginning(at, at.stream + 1) };
    if (run && run.size > MOST_IN_RUN) return { kind: "on", at: bySecondColumn(run) };
    key = next;
  }
};

/** The place behind which a row's neighbours are, in the other direction. */
export const turnedPlace = (model: GridModel, resolved: Resolved, place: RunPlace): RunPlace => {
  const outer = streamsOf(model, { ...resolved, sort: resolved.sort.slice(0, 1) }, false).length;
  const inner = place.inner && streamsOf(model, { ...resolved, sort: resolved.sort.slice(1) }, false).length;
  return {
    ...place,
    stream: outer - 1 - place.stream,
    inner: place.inner && inner !== undefined ? { ...place.inner, stream: inner - 1 - place.inner.stream } : undefined,
    backward: !place.backward,
  };
};

/** The place before one at which reading stopped without a row, in the other direction. */
export const turnedStop = (model: GridModel, resolved: Resolved, place: RunPlace): RunPlace => {
  const { start, after, inner, backward } = place;
  const turned = turnedPlace(model, resolved, place);
  const none = { ...turned, after: undefined, inner: undefined };
  // Whatever lies between the row behind which reading began and where it stopped does not pass.
  if (inner?.key) return { ...turned, after: after && { ...after, isIncluded: true } };
  if (after) return { ...none, after: { ...after, isIncluded: true } };
  // Before the beginning of a stream is the end of the one before it.
  if (inner && inner.stream > 0 && turned.inner) return { ...none, inner: { stream: turned.inner.stream + 1, key: undefined } };
  if (start) return { ...none, start: { ...start, behind: !start.behind } };
  return beginning({ ...place, backward: !backward }, turned.stream + 1);
};

/** Reads rows in the order of two columns until there are as many as wanted, the rows end, or the budget does. */
export const collectByTwo = async (
  model: GridModel,
  reading: Reading,
  wanted: Wanted<RunPlace>,
): Promise<Collected<RunPlace> & { readonly first: RunPlace | undefined }> => {
  const { resolved } = reading;
  const [first, second] = resolved.sort as readonly [OrderColumn, OrderColumn];
  const byFirst: Resolved = { ...resolved, sort: [first] };
  const { backward } = wanted.place;
  const kinds = streamsOf(model, byFirst, backward).map(({ rows }) => rows);
  const walk: Walk = { model, reading, wanted, first, second, rows: [] };
  const { rows } = walk;
  let step: Step = { kind: "on", at: wanted.place };
  while (step.kind === "on") {
    const { at }: { readonly at: RunPlace } = step;
    const kind = kinds[at.stream];
    const stream = streamsOf(model, byFirst, backward, at.start).find((one) => one.rows === kind);
    if (kind === undefined) step = { kind: "end", at: undefined };
    else if (at.inner || kind === "empty") step = await readInner(walk, at);
    else if (stream) step = await readRuns(walk, at, stream);
    else step = { kind: "on", at: beginning(at, at.stream + 1) };
  }
  return { rows: rows.map(({ one }) => one), first: rows[0]?.place, end: step.at, stopped: step.stopped };
};
