import type { FieldValue } from "../client/field-types.ts";
import type { GridCount, GridGroup, GridGroups } from "../client/grid-types.ts";
import type { CallContext } from "../executor/session.ts";
import { BATCH_GET_KEYS } from "../ir/capacity.ts";
import { comparePrimary, exactText } from "../keys/template.ts";
import { mayExpire } from "../requests/decode-item.ts";
import type { Row } from "../util/row.ts";
import { atLeast, collect, type GridBudget, type Hydrated, type Reading, type StreamPlace, streamsOf } from "./collect-rows.ts";
import { readList, type StoredField } from "./field-list.ts";
import { behind, valueText } from "./field-value.ts";
import type { GridModel } from "./grid-model.ts";
import { type Column, decidingFields, type GridState, type Resolved, resolve } from "./grid-state.ts";
import { byField, type Candidate, ownOrder, readStream, type RowStream } from "./row-streams.ts";
import { readValues } from "./row-values.ts";

/** What is counted: the rows of a grid, one by one or by their values of a column. */
export interface CountAsk {
  readonly parent: Row;
  readonly state: GridState;
  readonly budget: GridBudget;
}

type Stopped = GridCount["stopped"];

/** Index entries that are read in one step: about as many as a request returns. */
const ENTRIES = 5000;
/** Rows that are read and checked in one step. */
const ROWS = 1000;
/** Rows of a group that are kept to read its value from. */
const WITNESSES = 3;

/** What the index tells: each entry of a stream. */
const readEntries = async (
  model: GridModel,
  { stream, budget }: { readonly stream: RowStream; readonly budget: GridBudget },
  context: CallContext,
  each: (candidate: Candidate) => void,
): Promise<Stopped> => {
  const { effects } = model.driver.session;
  let after: StreamPlace["key"];
  do {
    if (context.meter.cost.requests + stream.lanes > budget.requests) return "requests";
    if (effects.now() >= context.deadline) return "time";
    const { candidates, next } = await readStream(model, stream, { limit: ENTRIES, after }, context);
    for (const candidate of candidates) each(candidate);
    after = next;
  } while (after !== undefined);
  return undefined;
};

/** A column by which the rows that may pass are found with the fewest entries: one that a condition narrows. */
const narrowest = ({ conditions }: Resolved): Resolved["sort"] => {
  const narrow = conditions.find(({ column, condition }) => column.kind === "field" && !["ne", "contains"].includes(condition.operator));
  return narrow ? [{ column: narrow.column.name, descending: false, by: narrow.column }] : [];
};

/** Reads and checks each row. */
const readRows = async (
  model: GridModel,
  { resolved, context }: Reading,
  budget: GridBudget,
  each: (one: Hydrated) => void,
): Promise<Stopped> => {
  const fields = decidingFields(resolved);
  const reading: Reading = { resolved: { ...resolved, sort: narrowest(resolved) }, context };
  let place: StreamPlace | undefined = { stream: 0, key: undefined, backward: false };
  while (place) {
    const { rows, end, stopped }: Awaited<ReturnType<typeof collect>> = await collect(model, reading, {
      place,
      limit: ROWS,
      budget,
      fields,
    });
    for (const one of rows) each(one);
    if (stopped) return stopped;
    place = end;
  }
  return undefined;
};

const allRows = (model: GridModel, parent: Row): RowStream => ownOrder(model, parent, { forward: true, rows: "all", where: {} });

/** The same rows in no order: those that lack a value to sort by are left out where the order leaves them out. */
export const unsorted = (state: GridState): GridState => ({
  ...state,
  sort: [],
  empties: "last",
  where: state.empties === "without" ? [...state.where, ...state.sort.map(({ column }) => ({ [column]: { exists: true } }))] : state.where,
});

/** True if the index alone tells what is counted. Its entries do not tell which rows have expired. */
export const isCountedInIndex = (
  { driver: { catalog }, node }: GridModel,
  { group, filters }: Resolved,
  livingAt: number | undefined,
): boolean => filters.length === 0 && group?.kind !== "fixed" && (livingAt === undefined || !mayExpire(catalog, node.shape));

/** The field by whose values the index is counted. */
const indexedField = (model: GridModel, resolved: Resolved, livingAt: number | undefined): StoredField | undefined =>
  resolved.group?.kind === "field" && isCountedInIndex(model, resolved, livingAt) ? resolved.group.field : undefined;

const valuesOf = (model: GridModel, resolved: Resolved, field: StoredField): readonly RowStream[] => {
  const sort = [
    { column: `field:${field.fieldId}`, descending: false, by: { kind: "field", name: `field:${field.fieldId}`, field } as const },
  ];
  return streamsOf(model, { ...resolved, sort, empties: "without" }, false);
};

/** The streams that are read to count rows, or groups. */
export const streamsToCount = (model: GridModel, resolved: Resolved, livingAt: number | undefined): readonly RowStream[] => {
  const field = indexedField(model, resolved, livingAt);
  const all = allRows(model, resolved.list.parent);
  if (field) return [...valuesOf(model, resolved, field), all];
  return isCountedInIndex(model, resolved, livingAt) ? [all] : streamsOf(model, { ...resolved, sort: narrowest(resolved) }, false);
};

/** Counts the rows of a grid: in the index if nothing is filtered by and no row expires, else one by one. */
export const countRows = async (model: GridModel, { parent, state, budget: asked }: CountAsk, context: CallContext): Promise<GridCount> => {
  const resolved = resolve(model, await readList(model, parent, context), unsorted(state));
  const budget = atLeast(model, { resolved, context }, { budget: asked, fields: decidingFields(resolved).length });
  let rows = 0;
  const add = (): void => void rows++;
  const stopped = isCountedInIndex(model, resolved, context.livingAt)
    ? await readEntries(model, { stream: allRows(model, parent), budget }, context, add)
    : await readRows(model, { resolved, context }, budget, add);
  return { rows, stopped };
};

interface Group {
  rows: number;
  readonly witnesses: Row[];
}

/** Looks for a row of a group whose value is the group's: an index that lags may show many first that have others by now. */
const valueOfGroup = async (
  model: GridModel,
  { resolved: { list }, context }: Reading,
  { field, text, budget }: { readonly field: StoredField; readonly text: string; readonly budget: GridBudget },
): Promise<{ readonly value?: FieldValue["value"]; readonly stopped?: Stopped }> => {
  const stream = byField(model, list.parent, { field, bounds: { low: text, high: behind(text) }, forward: true });
  let after: StreamPlace["key"];
  do {
    if (context.meter.cost.requests + stream.lanes + 1 > budget.requests) return { stopped: "requests" };
    const { candidates, next } = await readStream(model, stream, { limit: BATCH_GET_KEYS, after }, context);
    const ids = candidates.map(({ id }) => id);
    for (const cells of await readValues(model, ids, { list, fields: [field], consistent: false }, context)) {
      const value = cells.get(field.fieldId)?.value;
      if (value !== undefined && valueText(model.driver.catalog, field, value) === text) return { value };
    }
    after = next;
  } while (after !== undefined);
  return {};
};

/** Counts the values of a field in the index, which holds what each value is ordered by, and reads one value of each group. */
const groupEntries = async (
  model: GridModel,
  { resolved, context }: Reading,
  { parent, budget, field }: { readonly parent: Row; readonly budget: GridBudget; readonly field: StoredField },
): Promise<GridGroups> => {
  const groups = new Map<string, Group>();
  let valued = 0;
  const [stream] = valuesOf(model, resolved, field);
  const add = ({ id, value = "" }: Candidate): void => {
    const group = groups.get(value) ?? { rows: 0, witnesses: [] };
    groups.set(value, group);
    group.rows++;
    valued++;
    if (group.witnesses.length < WITNESSES) group.witnesses.push(id);
  };
  const stopped = stream && (await readEntries(model, { stream, budget }, context, add));
  const readable = Math.max(budget.requests - context.meter.cost.requests, 0) * BATCH_GET_KEYS;
  const told = [...groups].slice(0, Math.floor(readable / WITNESSES));
  const cells = await readValues(
    model,
    told.flatMap(([, { witnesses }]) => witnesses),
    { list: resolved.list, fields: [field], consistent: false },
    context,
  );
  const found: GridGroup[] = [];
  let [at, isTold] = [0, told.length === groups.size];
  for (const [text, { rows, witnesses }] of told) {
    const values = witnesses.map(() => cells[at++]?.get(field.fieldId)?.value);
    let value = values.find((one) => one !== undefined && valueText(model.driver.catalog, field, one) === text);
    if (value === undefined && rows > witnesses.length) {
      const group = await valueOfGroup(model, { resolved, context }, { field, text, budget });
      value = group.value;
      isTold &&= group.stopped === undefined;
    }
    // Every row of it has another value by now.
    if (value !== undefined) found.push({ value, rows });
  }
  if (stopped || !isTold) return { groups: found, stopped: stopped ?? "requests" };
  let all = 0;
  const unread = await readEntries(model, { stream: allRows(model, parent), budget }, context, () => void all++);
  if (!unread && all > valued) found.push({ value: undefined, rows: all - valued });
  return { groups: found, stopped: unread };
};

const compareTexts = (a: string | undefined, b: string | undefined): number => {
  if (a === undefined || b === undefined) return a === b ? 0 : a === undefined ? 1 : -1;
  return comparePrimary(a, b);
};

const compareValues = (a: unknown, b: unknown): number => {
  const isNumber = (value: unknown): value is number | bigint => typeof value === "number" || typeof value === "bigint";
  if (isNumber(a) && isNumber(b)) return a < b ? -1 : a > b ? 1 : 0;
  if (a instanceof Date && b instanceof Date) return a.getTime() - b.getTime();
  const text = (value: unknown): string | undefined =>
    value === undefined ? undefined : typeof value === "string" ? value : exactText(value);
  return compareTexts(text(a), text(b));
};

/** Counts the rows of a grid by their values of a column. */
export const groupRows = async (
  model: GridModel,
  { parent, state, budget: asked }: CountAsk,
  context: CallContext,
): Promise<GridGroups> => {
  const resolved = resolve(model, await readList(model, parent, context), unsorted(state));
  // A field is counted in two steps, beside the reads of a value of each group.
  const budget = atLeast(model, { resolved, context }, { budget: asked, fields: decidingFields(resolved).length, steps: 2 });
  const column = resolved.group as Column;
  const field = indexedField(model, resolved, context.livingAt);
  if (field) return groupEntries(model, { resolved, context }, { parent, budget, field });
  const groups = new Map<string, { readonly value: unknown; readonly order: string | undefined; rows: number }>();
  const stopped = await readRows(model, { resolved, context }, budget, ({ row, cells }) => {
    const cell = column.kind === "field" ? cells.get(column.field.fieldId) : undefined;
    const value = column.kind === "field" ? cell?.value : (row[column.name] ?? undefined);
    const order = column.kind === "field" && cell ? valueText(model.driver.catalog, column.field, cell.value) : undefined;
    const key = order ?? exactText([value]);
    const group = groups.get(key) ?? { value, order, rows: 0 };
    groups.set(key, group);
    group.rows++;
  });
  const sorted = [...groups.values()].toSorted((a, b) =>
    column.kind === "field" ? compareTexts(a.order, b.order) : compareValues(a.value, b.value),
  );
  return { groups: sorted.map(({ value, rows }) => ({ value, rows })), stopped };
};
