import type { CallContext } from "../executor/session.ts";
import { isExpired } from "../requests/decode-item.ts";
import { BATCH_GET_KEYS } from "../ir/capacity.ts";
import { holds } from "../ir/condition.ts";
import { exactText } from "../keys/template.ts";
import { checkCursor, openSealed, sealText, type Secrets } from "../requests/cursor.ts";
import type { Item, Key } from "../transport/operations.ts";
import type { Row } from "../util/row.ts";
import type { GridPage, GridRow } from "../client/grid-types.ts";
import type { FieldValue } from "../client/field-types.ts";
import { readList, type StoredField } from "./field-list.ts";
import { comparable } from "./field-value.ts";
import { type AskedItem, type GridModel, orderField, parentOf, readItems, rowIn } from "./grid-model.ts";
import { boundsIn, decidingFields, type GridState, mayBeEmpty, queryName, type Resolved, resolve, shownFields } from "./grid-state.ts";
import { byAttribute, byField, type Candidate, ownOrder, readStream, type RowStream } from "./row-streams.ts";
import { cellOf, storedIn, valueItem } from "./row-values.ts";

/** What a page of a grid may take. */
export interface GridBudget {
  readonly requests: number;
}

/** Which page is read. */
export interface GridPageAsk {
  readonly limit: number;
  readonly cursor: string | undefined;
  readonly budget: GridBudget;
}

/** Where a page begins: in which stream, behind which key, in which direction. */
interface Place {
  readonly stream: number;
  readonly key: Key | undefined;
  readonly backward: boolean;
}

/** The streams whose rows, one after the other, are the answer, in the order of a direction. */
export const streamsOf = (model: GridModel, resolved: Resolved, backward: boolean): readonly RowStream[] => {
  const { list, sort, empties, conditions, values } = resolved;
  const { parent } = list;
  const [first] = sort;
  const turned = (descending: boolean): boolean => descending === backward;
  if (!first || (first.by.kind === "fixed" && first.by.name === orderField(model)))
    return [ownOrder(model, parent, turned(first?.descending ?? false), "all")];
  const streams: RowStream[] = [];
  const forward = turned(first.descending);
  if (first.by.kind === "field") {
    const bounds = boundsIn(model, resolved, first.by.field);
    if (bounds) streams.push(byField(model, parent, { field: first.by.field, bounds, forward }));
  } else {
    const { name } = first.by;
    const where: Record<string, Record<string, unknown>> = {};
    for (const { column, condition } of conditions)
      if (column.name === name && PUSHED.has(condition.operator)) (where[name] ??= {})[condition.operator] = values[condition.slot];
    streams.push(byAttribute(model, parent, { column: name, where, forward }));
  }
  // Rows without a value come in their own order, whichever way the others go.
  if (empties !== "without" && mayBeEmpty(model, resolved, first.by)) {
    const empty = ownOrder(model, parent, !backward, "empty");
    if ((empties === "first") === backward) streams.push(empty);
    else streams.unshift(empty);
  }
  return streams;
};

const PUSHED: ReadonlySet<string> = new Set(["eq", "lt", "lte", "gt", "gte", "between", "beginsWith"]);

/** What of a row decides whether it is in the answer. */
interface Hydrated {
  /** The stream that it came from. */
  readonly stream: number;
  readonly candidate: Candidate;
  readonly row: Row;
  readonly cells: ReadonlyMap<string, FieldValue>;
}

/** How many values of a row are asked for by their keys; of more, each row's partition is read. */
const MOST_KEYS = 20;

const nodeItem = ({ node }: GridModel, { id }: Candidate): AskedItem => ({ shape: node.shape, row: id });

/** Reads rows with the values of some fields; those that are gone, or are no longer where an index found them, are left out. */
const hydrate = async (
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
    node: nodeItem(model, candidate),
    values: fields.map((field) => [field, valueItem(model, candidate.id, field.fieldId)] as const),
  }));
  const find = await readItems(
    model,
    { asked: asked.flatMap(({ node, values }) => [node, ...values.map(([, item]) => item)]), consistent: false },
    context,
  );
  const parent = exactText(Object.values(resolved.list.parent));
  return asked.flatMap(({ candidate, node, values }): readonly Hydrated[] => {
    const item: Item | undefined = find(node);
    const row = item && !isExpired(catalog, item, context.livingAt) ? rowIn(model, node, item) : undefined;
    if (!item || !row || exactText(Object.values(parentOf(model, row))) !== parent) return [];
    const cells = new Map<string, FieldValue>();
    for (const [field, one] of values) {
      const cell = cellOf(model, field, storedIn(rowIn(model, one, find(one))));
      if (cell) cells.set(field.fieldId, cell);
    }
    return candidate.isCurrent(row, item, (field) => cells.get(field.fieldId)?.value) ? [{ stream, candidate, row, cells }] : [];
  });
};

/** One reading of a grid. */
interface Reading {
  readonly resolved: Resolved;
  readonly context: CallContext;
}

const passes = ({ conditions, values }: Resolved, { row, cells }: Hydrated): boolean =>
  conditions.every(({ column, condition }) => {
    if (column.kind === "fixed") return holds(condition, row, values);
    const cell = cells.get(column.field.fieldId);
    return holds(condition, cell ? { [column.name]: comparable(column.field, cell.value) } : {}, values);
  });

const isEmptyIn = ({ sort: [first] }: Resolved, { row, cells }: Hydrated): boolean => {
  if (!first) return false;
  return first.by.kind === "field" ? !cells.has(first.by.field.fieldId) : (row[first.by.name] ?? undefined) === undefined;
};

const isInStream = ({ rows }: RowStream, resolved: Resolved, one: Hydrated): boolean => rows !== "empty" || isEmptyIn(resolved, one);

/** How many candidates are read at first where some may not be in the answer, and how the number grows. */
const FIRST_CANDIDATES = 50;
const MOST_CANDIDATES = 1000;

/** Reads until a page is full, the rows end, or the budget does. */
const collect = async (
  model: GridModel,
  reading: Reading,
  {
    place,
    limit,
    budget,
    fields,
  }: { readonly place: Place; readonly limit: number; readonly budget: GridBudget; readonly fields: readonly StoredField[] },
): Promise<{
  readonly rows: readonly Hydrated[];
  readonly end: Place | undefined;
  readonly streams: number;
  readonly stopped: GridPage<Row>["stopped"];
}> => {
  const { resolved, context } = reading;
  const { effects } = model.driver.session;
  const all = streamsOf(model, resolved, place.backward);
  const streams = all.length;
  const rows: Hydrated[] = [];
  let [examined, at, key] = [0, place.stream, place.key];
  for (;;) {
    const stream = all[at];
    if (!stream) return { rows, end: undefined, streams, stopped: undefined };
    const isSifted = resolved.conditions.length > 0 || stream.rows === "empty";
    const wanted = limit - rows.length;
    const size = isSifted ? Math.min(Math.max(wanted, FIRST_CANDIDATES, examined), MOST_CANDIDATES) : wanted;
    const room = budget.requests - context.meter.cost.requests - stream.lanes;
    const affordable = Math.min(size, Math.floor((room * BATCH_GET_KEYS) / (1 + fields.length)));
    const here: Place = { stream: at, key, backward: place.backward };
    if (affordable < 1) return { rows, end: here, streams, stopped: "requests" };
    if (effects.now() >= context.deadline) return { rows, end: here, streams, stopped: "time" };
    const { candidates, next } = await readStream(model, stream, { limit: affordable, after: key }, context);
    const found = await hydrate(model, { candidates, fields, stream: at }, reading);
    examined += candidates.length;
    for (const one of found) {
      if (!isInStream(stream, resolved, one) || !passes(resolved, one)) continue;
      rows.push(one);
      if (rows.length < limit) continue;
      const isLast = one.candidate === candidates.at(-1) && next === undefined;
      const { backward } = place;
      const end = isLast ? all[at + 1] && { stream: at + 1, key: undefined, backward } : { stream: at, key: one.candidate.key, backward };
      return { rows, end, streams, stopped: undefined };
    }
    key = next;
    if (next === undefined) at++;
  }
};

/** Adds the values of the fields that are shown and were not needed before. */
const addShown = async (model: GridModel, rows: readonly Hydrated[], { resolved, context }: Reading): Promise<readonly GridRow<Row>[]> => {
  const fields = shownFields(resolved);
  const missing = fields.filter((field) => !decidingFields(resolved).includes(field));
  const asked = rows.map(({ candidate }) => missing.map((field) => valueItem(model, candidate.id, field.fieldId)));
  const find = await readItems(model, { asked: asked.flat(), consistent: false }, context);
  return rows.map(({ row, cells }, place) => {
    const shown: Record<string, FieldValue> = {};
    for (const field of fields) {
      const one = asked[place]?.[missing.indexOf(field)];
      const cell = one ? cellOf(model, field, storedIn(rowIn(model, one, find(one)))) : cells.get(field.fieldId);
      if (cell) shown[field.fieldId] = cell;
    }
    const { columns } = resolved;
    const fixed = columns?.flatMap((column) => (column.kind === "fixed" ? [column.name] : []));
    return {
      row: fixed
        ? Object.fromEntries(Object.entries(row).filter(([name]) => fixed.includes(name) || model.node.idFields.includes(name)))
        : row,
      cells: shown,
    };
  });
};

const readPlace = (bytes: Buffer): Place => {
  const [stream, backward, key] = JSON.parse(bytes.toString("utf8")) as readonly [number, number, Key | null];
  return { stream, backward: backward === 1, key: key ?? undefined };
};

/**
 * Reads a page of a grid.
 *
 * @throws {cursor.invalid} when the cursor is not of this query, or a field's type changed since
 * @throws what `resolve` throws
 */
export const readGridPage = async (
  model: GridModel,
  { parent, state, page }: { readonly parent: Row; readonly state: GridState; readonly page: GridPageAsk },
  context: CallContext,
): Promise<GridPage<Row>> => {
  const { limit, cursor, budget } = page;
  const { driver } = model;
  if (cursor !== undefined) checkCursor(cursor);
  const resolved = resolve(model, await readList(model, parent, context), state);
  const secrets: Secrets | undefined = await driver.cursorSecret(context, cursor === undefined);
  const query = queryName(model, resolved);
  const place = cursor === undefined ? { stream: 0, key: undefined, backward: false } : openSealed(cursor, { query, secrets }, readPlace);
  const reading = { resolved, context };
  const deciding = decidingFields(resolved);
  // Without conditions every row is shown, and its values are read with it.
  const shown = resolved.conditions.length === 0 ? shownFields(resolved) : [];
  const fields = [...new Set([...deciding, ...shown.slice(0, MOST_KEYS)])];
  const { rows, end, streams, stopped } = await collect(model, reading, { place, limit, budget, fields });
  const items = await addShown(model, rows, reading);
  const seal = (one: Place | undefined): string | undefined =>
    one && secrets && sealText(JSON.stringify([one.stream, one.backward ? 1 : 0, one.key ?? null]), query, secrets);
  const [first] = rows;
  const { backward } = place;
  // The other way begins before the row that was read first; where none was, at the other end of all rows.
  const back: Place = { stream: first ? streams - 1 - first.stream : 0, key: first?.candidate.key, backward: !backward };
  if (backward) return { items: items.toReversed(), next: seal(back), previous: seal(end), stopped };
  return { items, next: seal(end), previous: cursor === undefined ? undefined : seal(back), stopped };
};
