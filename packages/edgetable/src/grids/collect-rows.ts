import { isExpired } from "../requests/decode-item.ts";
import type { CallContext } from "../executor/session.ts";
import { BATCH_GET_KEYS } from "../ir/capacity.ts";
import { holds } from "../ir/holds.ts";
import { isEdgetableError } from "../errors/edgetable-error.ts";
import { comparePrimary, encodeKeyField, exactText } from "../keys/template.ts";
import { levelName } from "../schema/grid-parts.ts";
import type { Item, Key } from "../transport/operations.ts";
import type { Row } from "../util/row.ts";
import type { FieldValue } from "../client/field-types.ts";
import type { GridPage } from "../client/grid-types.ts";
import type { StoredField } from "./field-list.ts";
import { behind, type Bounds, comparable } from "./field-value.ts";
import { type GridModel, orderField, parentOf, readItems, rowIn } from "./grid-model.ts";
import { boundsIn, type Column, mayBeEmpty, type Resolved } from "./grid-state.ts";
import {
  attributeOrder,
  byAttribute,
  byField,
  type Candidate,
  ownOrder,
  readStream,
  type RowPosition,
  type RowStream,
} from "./row-streams.ts";
import { cellsIn, itemsFor, valueItems } from "./row-document.ts";

/** What a page of a grid may take. */
export interface GridBudget {
  readonly requests: number;
}

/** A budget that lets a page or a count take a step, whatever it is: a step reads each shard, and then rows with their values. */
export const atLeast = (
  model: GridModel,
  { resolved: { list }, context }: Reading,
  { budget, fields, steps = 1 }: { readonly budget: GridBudget; readonly fields: number; readonly steps?: number },
): GridBudget => {
  const { lanes } = ownOrder(model, list.parent, { forward: true, rows: "all", where: {} });
  const step = lanes + Math.ceil((1 + itemsFor(list, fields)) / BATCH_GET_KEYS);
  return { requests: Math.max(budget.requests, context.meter.cost.requests + steps * step) };
};

/** A value of the column that is sorted by, from which on rows are read, or behind which. */
export interface StartValue {
  readonly value: unknown;
  /** Of a field: what the value's places begin with. */
  readonly text: string;
  readonly behind: boolean;
}

const boundsFrom = (bounds: Bounds, { text, behind: isBehind }: StartValue, forward: boolean): Bounds => {
  if (!forward) {
    const high = isBehind ? text : behind(text);
    return bounds.high !== undefined && comparePrimary(bounds.high, high) < 0 ? bounds : { ...bounds, high };
  }
  const low = isBehind ? behind(text) : text;
  return bounds.low !== undefined && comparePrimary(bounds.low, low) > 0 ? bounds : { ...bounds, low };
};

const PUSHED: ReadonlySet<string> = new Set(["eq", "lt", "lte", "gt", "gte", "between", "beginsWith"]);

interface Bound {
  readonly text: string;
  readonly value: unknown;
}

/**
 * What of the conditions on an attribute narrows its index, and the value from which on it is read. Each row is checked as
 * well, so that an operand that no key holds narrows nothing.
 */
const rangeOf = (
  model: GridModel,
  { conditions, values }: Resolved,
  { name, start, forward = true }: { readonly name: string; readonly start?: StartValue | undefined; readonly forward?: boolean },
): Row => {
  const { orderBy, sortable = [] } = model.settings;
  const isText = [orderBy ?? "", ...sortable].includes(name);
  const template = attributeOrder(model, name);
  const bound = (value: unknown): Bound | undefined => {
    // No key holds an empty text.
    if (value === "") return undefined;
    try {
      return { value, text: encodeKeyField(template, name, value) };
    } catch (error) {
      if (isEdgetableError(error)) return undefined;
      throw error;
    }
  };
  let [low, high, beginning] = [undefined as Bound | undefined, undefined as Bound | undefined, undefined as string | undefined];
  const above = (value: unknown): void => {
    const one = bound(value);
    if (one && !(low && comparePrimary(low.text, one.text) > 0)) low = one;
  };
  const below = (value: unknown): void => {
    const one = bound(value);
    if (one && !(high && comparePrimary(high.text, one.text) < 0)) high = one;
  };
  for (const { column, condition } of conditions) {
    if (column.name !== name || !PUSHED.has(condition.operator)) continue;
    const operand = values[condition.slot];
    const [first, last] = condition.operator === "between" ? (operand as readonly [unknown, unknown]) : [operand, operand];
    if (condition.operator === "eq" && bound(operand)) return { eq: operand };
    if (["gt", "gte", "between"].includes(condition.operator)) above(first);
    if (["lt", "lte", "between"].includes(condition.operator)) below(last);
    if (condition.operator === "beginsWith" && isText && typeof operand === "string" && bound(operand)) beginning = operand;
  }
  if (beginning !== undefined && !low && !high && !start) return { beginsWith: beginning };
  const isLow = start && forward && !(low && comparePrimary(low.text, start.text) > 0);
  const isHigh = start && !forward && !(high && comparePrimary(high.text, start.text) < 0);
  return {
    ...(isLow ? { [start.behind ? "gt" : "gte"]: start.value } : low ? { gte: low.value } : {}),
    ...(isHigh ? { [start.behind ? "lt" : "lte"]: start.value } : high ? { lte: high.value } : {}),
  };
};

/**
 * The streams whose rows, one after the other, are the answer by the first column that is sorted by, in the order of a direction.
 *
 * @param start reads the first of them from this value on
 */
export const streamsOf = (model: GridModel, resolved: Resolved, backward: boolean, start?: StartValue): readonly RowStream[] => {
  const { list, sort, empties } = resolved;
  const { parent } = list;
  const [first] = sort;
  const forward = (first?.descending ?? false) === backward;
  const order = orderField(model);
  if (!first || (first.by.kind === "fixed" && first.by.name === order)) {
    const range = order === undefined ? {} : rangeOf(model, resolved, { name: order, start, forward });
    const where = order === undefined || Object.keys(range).length === 0 ? {} : { [order]: range };
    return [ownOrder(model, parent, { forward, rows: "all", where })];
  }
  const streams: RowStream[] = [];
  if (first.by.kind === "field") {
    const all = boundsIn(model, resolved, first.by.field);
    const bounds = all && start ? boundsFrom(all, start, forward) : all;
    const isNowhere = bounds?.low !== undefined && bounds.high !== undefined && comparePrimary(bounds.low, bounds.high) >= 0;
    if (bounds && !isNowhere) streams.push(byField(model, parent, { field: first.by.field, bounds, forward }));
  } else {
    const { name } = first.by;
    const range = rangeOf(model, resolved, { name, start, forward });
    streams.push(byAttribute(model, parent, { column: name, where: Object.keys(range).length > 0 ? { [name]: range } : {}, forward }));
  }
  // Rows without a value come in their own order, whichever way the others go.
  if (empties !== "without" && mayBeEmpty(model, resolved, first.by)) {
    const empty = ownOrder(model, parent, { forward: !backward, rows: "empty", where: {} });
    if ((empties === "first") === backward) streams.push(empty);
    else streams.unshift(empty);
  }
  return streams;
};

/** What of a row decides whether it is in the answer. */
export interface Hydrated {
  /** The stream that it came from. */
  readonly stream: number;
  readonly candidate: Candidate;
  readonly row: Row;
  readonly cells: ReadonlyMap<string, FieldValue>;
}

/** Reads rows with the values of some fields; those that are gone, or are no longer where an index found them, are left out. */
export const hydrate = async (
  model: GridModel,
  {
    candidates,
    fields,
    stream,
  }: Pick<Hydrated, "stream"> & { readonly candidates: readonly Candidate[]; readonly fields: readonly StoredField[] },
  { resolved, context }: Reading,
): Promise<readonly Hydrated[]> => {
  const { catalog } = model.driver;
  const asked = candidates.map((candidate) => ({
    candidate,
    node: { shape: model.node.shape, row: candidate.id },
    values: valueItems(model, resolved.list, candidate.id, fields),
  }));
  const find = await readItems(model, { asked: asked.flatMap(({ node, values }) => [node, ...values]), consistent: false }, context);
  const parent = exactText(Object.values(resolved.list.parent));
  return asked.flatMap(({ candidate, node }): readonly Hydrated[] => {
    const item: Item | undefined = find(node);
    const row = item && !isExpired(catalog, item, context.livingAt) ? rowIn(model, node, item) : undefined;
    if (!item || !row || exactText(Object.values(parentOf(model, row))) !== parent) return [];
    const cells = cellsIn(model, resolved.list, { row: candidate.id, fields }, find);
    return candidate.isCurrent(row, item, (field) => cells.get(field.fieldId)?.value) ? [{ stream, candidate, row, cells }] : [];
  });
};

/** One reading of a grid. */
export interface Reading {
  readonly resolved: Resolved;
  readonly context: CallContext;
}

/** True if all that the filters ask holds of a row. */
export const passes = ({ filters, values, conditions, alternatives }: Resolved, { row, cells }: Hydrated): boolean => {
  if (filters.length === 0) return true;
  const compared: Record<string, unknown> = { ...row };
  for (const column of [...conditions.map((one) => one.column), ...alternatives]) {
    if (column.kind === "fixed") continue;
    const cell = cells.get(column.field.fieldId);
    if (cell) compared[column.name] = comparable(column.field, cell.value);
  }
  return filters.every((condition) => holds(condition, compared, values));
};

/** True if a row has no value of a column. */
export const isEmptyIn = (column: Column, { row, cells }: Hydrated): boolean =>
  column.kind === "field" ? !cells.has(column.field.fieldId) : (row[column.name] ?? undefined) === undefined;

/** Where reading begins: in which stream, behind which key, in which direction. */
export interface StreamPlace {
  readonly stream: number;
  readonly key: Key | undefined;
  readonly backward: boolean;
}

/** What is read: how many rows, from where, within which budget, and with the values of which fields. */
export interface Wanted<Place> {
  readonly place: Place;
  readonly limit: number;
  readonly budget: GridBudget;
  readonly fields: readonly StoredField[];
}

/** Rows in order, and where reading goes on. */
export interface Collected<Place> {
  readonly rows: readonly Hydrated[];
  readonly end: Place | undefined;
  readonly stopped: GridPage<Row>["stopped"];
}

/** How many candidates are read at first where some may not be in the answer, and at most in one step. */
const FIRST_CANDIDATES = 50;
const MOST_CANDIDATES = 1000;
/** A step too few costs a Query more; some rows too many cost units alone. */
const SPARE = 1.25;

/** Places that a Query reads for each row that is looked at: a place is small, and another Query takes another round trip. */
const PLACES_AHEAD = 4;

/** How many candidates give so many rows, from the share that was in the answer so far. Fills each BatchGetItem. */
const candidatesFor = (left: number, taken: number, examined: number, items: number): number => {
  const likely = examined === 0 ? Math.max(left, FIRST_CANDIDATES) : Math.ceil((left * examined * SPARE) / Math.max(taken, 1));
  const grown = Math.min(likely, examined === 0 ? likely : 2 * Math.max(examined, FIRST_CANDIDATES));
  const filled = Math.floor((Math.ceil((grown * items) / BATCH_GET_KEYS) * BATCH_GET_KEYS) / items);
  return Math.min(Math.max(filled, 1), MOST_CANDIDATES);
};

/** How many of so many candidates can be read before the budget ends. */
export const affordable = (
  size: number,
  { lanes }: RowStream,
  { budget, fields }: Wanted<unknown>,
  { resolved, context }: Reading,
): number => {
  const room = budget.requests - context.meter.cost.requests - lanes;
  return Math.min(size, Math.floor((room * BATCH_GET_KEYS) / (1 + itemsFor(resolved.list, fields.length))));
};

/** Most rows that are read by a filter and sorted in memory. */
export const MOST_RARE = 1000;

/**
 * A column of which rows that pass must have a value, and whose own index may find them: a field, or an attribute that an
 * index orders and a condition narrows.
 */
export const filterColumn = (model: GridModel, resolved: Resolved): Column | undefined => {
  const { conditions, sort } = resolved;
  const sortable = new Set((model.settings.sortable ?? []).map(levelName));
  const rank = ({ condition: { operator } }: Resolved["conditions"][number]): number =>
    operator === "eq" ? 0 : operator === "exists" ? 2 : 1;
  for (const { column, condition } of conditions.toSorted((a, b) => rank(a) - rank(b))) {
    if (sort.some(({ by }) => by.name === column.name)) continue;
    const isFound =
      column.kind === "fixed"
        ? sortable.has(column.name) &&
          PUSHED.has(condition.operator) &&
          Object.keys(rangeOf(model, resolved, { name: column.name })).length > 0
        : !mayBeEmpty(model, resolved, column);
    if (isFound) return column;
  }
  return undefined;
};

/** The rows that pass the conditions on a column, from its own index; none where no value is within all bounds. */
const filterStream = (model: GridModel, resolved: Resolved, column: Column): RowStream | undefined => {
  const { parent } = resolved.list;
  if (column.kind === "fixed") {
    const { name } = column;
    return byAttribute(model, parent, { column: name, where: { [name]: rangeOf(model, resolved, { name }) }, forward: true });
  }
  const bounds = boundsIn(model, resolved, column.field);
  return bounds && byField(model, parent, { field: column.field, bounds, forward: true });
};

interface Placed extends RowPosition {
  readonly one: Hydrated;
}

/** The rows of a stream in its order, behind the key where it begins. */
const orderedRows = (
  { forward, placeOf, textOf }: RowStream,
  rows: readonly Hydrated[],
  { sort: [first] }: Resolved,
  after: RowPosition["key"] | undefined,
): readonly Placed[] => {
  const placed = rows.map((one): Placed => {
    const value = first?.by.kind === "field" ? one.cells.get(first.by.field.fieldId)?.value : undefined;
    return { one, ...placeOf(one.row, value) };
  });
  const compare = (a: string, b: string): number => (forward ? comparePrimary(a, b) : comparePrimary(b, a));
  const sorted = placed.toSorted((a, b) => compare(a.text, b.text));
  return after ? sorted.filter(({ text }) => compare(text, textOf(after)) > 0) : sorted;
};

/**
 * Reads all rows that a filter's own index finds, and sorts those that pass, if that takes fewer requests than to go on in
 * the order: where few rows pass.
 *
 * @param most how many rows going on would read
 * @returns undefined where the filter finds more rows than that, or no filter has an index
 */
const collectRare = async (
  model: GridModel,
  reading: Reading,
  { place, limit, budget, fields }: Wanted<StreamPlace>,
  { streams, most }: { readonly streams: readonly RowStream[]; readonly most: number },
): Promise<Collected<StreamPlace> | undefined> => {
  const { resolved, context } = reading;
  const column = filterColumn(model, resolved);
  if (!column) return undefined;
  const stream = filterStream(model, resolved, column);
  if (!stream) return { rows: [], end: undefined, stopped: undefined };
  const affordable =
    (budget.requests - context.meter.cost.requests - stream.lanes) * (BATCH_GET_KEYS / (1 + itemsFor(resolved.list, fields.length)));
  const size = Math.floor(Math.min(MOST_RARE, most, affordable));
  if (size < 1) return undefined;
  const { candidates, next } = await readStream(model, stream, { limit: size, after: undefined }, context);
  if (next !== undefined) return undefined;
  const found = (await hydrate(model, { candidates, fields, stream: 0 }, reading)).filter((one) => passes(resolved, one));
  const [first] = resolved.sort;
  const isEmpty = (one: Hydrated): boolean => first !== undefined && isEmptyIn(first.by, one);
  const rows: Hydrated[] = [];
  const { backward } = place;
  for (let at = place.stream; at < streams.length; at++) {
    const order = streams[at] as RowStream;
    const own = found.filter((one) => order.rows === "all" || isEmpty(one) === (order.rows === "empty"));
    for (const { one, key } of orderedRows(order, own, resolved, at === place.stream ? place.key : undefined)) {
      const last = rows.at(-1);
      if (last && rows.length === limit)
        return { rows, end: { stream: last.stream, key: last.candidate.key, backward }, stopped: undefined };
      rows.push({ ...one, stream: at, candidate: { ...one.candidate, key } });
    }
  }
  return { rows, end: undefined, stopped: undefined };
};

/**
 * Reads until there are as many rows as wanted, the rows end, or the budget does.
 *
 * @param keep which of the rows that pass are taken
 */
export const collect = async (
  model: GridModel,
  reading: Reading,
  wanted: Wanted<StreamPlace>,
  keep?: (one: Hydrated) => boolean,
): Promise<Collected<StreamPlace>> => {
  const { resolved, context } = reading;
  const { place, limit, fields } = wanted;
  const { backward } = place;
  const { effects } = model.driver.session;
  const all = streamsOf(model, resolved, backward);
  const [first] = resolved.sort;
  const rows: Hydrated[] = [];
  let [examined, at, key] = [0, place.stream, place.key];
  let isRare: boolean | undefined;
  let places: Awaited<ReturnType<typeof readStream>> | undefined;
  for (;;) {
    const stream = all[at];
    if (!stream) return { rows, end: undefined, stopped: undefined };
    const isSifted = resolved.filters.length > 0 || stream.rows === "empty" || keep !== undefined;
    const left = limit - rows.length;
    const size = affordable(
      isSifted ? candidatesFor(left, rows.length, examined, 1 + itemsFor(resolved.list, fields.length)) : left,
      stream,
      wanted,
      reading,
    );
    const here: StreamPlace = { stream: at, key, backward };
    if (size < 1) return { rows, end: here, stopped: "requests" };
    if (effects.now() >= context.deadline) return { rows, end: here, stopped: "time" };
    const ahead = isSifted ? Math.min(PLACES_AHEAD * size, MOST_CANDIDATES) : size;
    places ??= await readStream(model, stream, { limit: ahead, after: key }, context);
    const candidates = places.candidates.slice(0, size);
    const waiting = places.candidates.slice(size);
    const next = waiting.length > 0 ? candidates.at(-1)?.key : places.next;
    places = waiting.length > 0 ? { ...places, candidates: waiting } : undefined;
    const found = await hydrate(model, { candidates, fields, stream: at }, reading);
    examined += candidates.length;
    for (const one of found) {
      const isInStream = stream.rows !== "empty" || first === undefined || isEmptyIn(first.by, one);
      if (!isInStream || !passes(resolved, one) || keep?.(one) === false) continue;
      rows.push(one);
      if (rows.length < limit) continue;
      const isLast = one.candidate === candidates.at(-1) && next === undefined;
      const end = isLast ? all[at + 1] && { stream: at + 1, key: undefined, backward } : { stream: at, key: one.candidate.key, backward };
      return { rows, end, stopped: undefined };
    }
    key = next;
    if (next === undefined) at++;
    if (isRare === undefined && examined >= FIRST_CANDIDATES && at < all.length) {
      // How many more are examined until there are as many rows as wanted.
      const most = ((limit - rows.length) * examined) / Math.max(rows.length, 1);
      isRare = resolved.conditions.length > 0 && keep === undefined && most > examined;
      const after: StreamPlace = { stream: at, key, backward };
      const found =
        isRare && (await collectRare(model, reading, { ...wanted, place: after, limit: limit - rows.length }, { streams: all, most }));
      if (found) return { ...found, rows: [...rows, ...found.rows] };
    }
  }
};
