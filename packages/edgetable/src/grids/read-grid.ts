import type { CallContext } from "../executor/session.ts";
import { exactText, readExactText } from "../keys/template.ts";
import { checkCursor, openSealed, sealText, type Secrets } from "../requests/cursor.ts";
import type { Row } from "../util/row.ts";
import type { GridPage, GridRow } from "../client/grid-types.ts";
import {
  atLeast,
  collect,
  type Collected,
  type GridBudget,
  type Hydrated,
  type Reading,
  type StreamPlace,
  streamsOf,
  type Wanted,
} from "./collect-rows.ts";
import { readList, type StoredField } from "./field-list.ts";
import type { GridModel } from "./grid-model.ts";
import { decidingFields, type GridState, queryName, type Resolved, resolve, shownFields } from "./grid-state.ts";
import { itemsFor } from "./row-document.ts";
import { MOST_KEYS, readValues } from "./row-values.ts";
import { collectByTwo, type RunPlace, turnedPlace, turnedStop } from "./second-sort.ts";

/** Which page is read. */
export interface GridPageAsk {
  readonly limit: number;
  readonly cursor: string | undefined;
  readonly budget: GridBudget;
}

/** The fields whose values are read with the rows: those that decide and, if every row is in the answer, those that are shown. */
export const readWithRows = (resolved: Resolved): readonly StoredField[] => {
  const shown = resolved.filters.length === 0 ? shownFields(resolved) : [];
  return [...new Set([...decidingFields(resolved), ...(itemsFor(resolved.list, shown.length) > MOST_KEYS ? [] : shown)])];
};

/** Adds the values of the fields that are shown and were not read before. */
const addShown = async (
  model: GridModel,
  { rows, fields: known }: { readonly rows: readonly Hydrated[]; readonly fields: readonly StoredField[] },
  { resolved, context }: Reading,
): Promise<readonly GridRow<Row>[]> => {
  const shown = shownFields(resolved);
  const fields = shown.filter((field) => !known.includes(field));
  const ids = rows.map(({ candidate }) => candidate.id);
  const added = fields.length === 0 ? [] : await readValues(model, ids, { list: resolved.list, fields, consistent: false }, context);
  const { columns } = resolved;
  const fixed = columns && [...columns.flatMap((column) => (column.kind === "fixed" ? [column.name] : [])), ...model.node.idFields];
  return rows.map(({ row, cells }, at) => ({
    row: fixed ? Object.fromEntries(Object.entries(row).filter(([name]) => fixed.includes(name))) : row,
    cells: Object.fromEntries(
      shown.flatMap(({ fieldId }) => {
        const cell = cells.get(fieldId) ?? added[at]?.get(fieldId);
        return cell ? [[fieldId, cell]] : [];
      }),
    ),
  }));
};

type Place = StreamPlace | RunPlace;

const FIRST: StreamPlace = { stream: 0, key: undefined, backward: false };
const FIRST_OF_TWO: RunPlace = { stream: 0, start: undefined, after: undefined, inner: undefined, backward: false };

/** The rows of a page, with the place of the first of them from which the other direction begins. */
const readRows = async (
  model: GridModel,
  reading: Reading,
  wanted: Wanted<Place>,
): Promise<Collected<Place> & { readonly back: Place | undefined }> => {
  const { resolved } = reading;
  const { place } = wanted;
  if ("start" in place) {
    const found = await collectByTwo(model, reading, { ...wanted, place });
    return { ...found, back: found.first && turnedPlace(model, resolved, found.first) };
  }
  const found = await collect(model, reading, { ...wanted, place });
  const [first] = found.rows;
  const last = streamsOf(model, resolved, place.backward).length - 1;
  return { ...found, back: first && { stream: last - first.stream, key: first.candidate.key, backward: !place.backward } };
};

/** The place before one at which reading stopped, in the other direction. */
const turnedEnd = (model: GridModel, resolved: Resolved, end: Place): Place => {
  if ("start" in end) return turnedStop(model, resolved, end);
  const { length } = streamsOf(model, resolved, end.backward);
  // Before the beginning of a stream is the end of the one before it.
  return { stream: length - end.stream - (end.key ? 1 : 0), key: end.key, backward: !end.backward };
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
  const isFirst = resolved.sort.length > 1 ? FIRST_OF_TWO : FIRST;
  // A value may be a date, which JSON does not tell apart from a text.
  const readPlace = (bytes: Buffer): Place => {
    const read = { ...isFirst, ...(JSON.parse(bytes.toString("utf8")) as Place) };
    if (!("start" in read) || !read.start) return read;
    return { ...read, start: { ...read.start, value: readExactText(read.start.value as string)[0] } };
  };
  const seal = (one: Place | undefined): string | undefined => {
    if (!one || !secrets) return undefined;
    const start = "start" in one && one.start;
    return sealText(JSON.stringify(start ? { ...one, start: { ...start, value: exactText([start.value]) } } : one), query, secrets);
  };
  const place = cursor === undefined ? isFirst : openSealed(cursor, { query, secrets }, readPlace);
  const reading = { resolved, context };
  const fields = readWithRows(resolved);
  const allowed = atLeast(model, reading, { budget, fields: fields.length });
  const { rows, end, stopped, back } = await readRows(model, reading, { place, limit, budget: allowed, fields });
  const items = await addShown(model, { rows, fields }, reading);
  const { backward } = place;
  // The other way begins before the row that was read first; where none was, before the place at which reading stopped, or at the
  // other end of all rows.
  const turned = back ?? (end ? turnedEnd(model, resolved, end) : { ...isFirst, backward: !backward });
  if (backward) return { items: items.toReversed(), next: seal(turned), previous: seal(end), stopped };
  return { items, next: seal(end), previous: cursor === undefined ? undefined : seal(turned), stopped };
};
