import type { SetOutcome } from "../client/grid-types.ts";
import { transactOf } from "../client/write-call.ts";
import type { WriteCall } from "../client/write-types.ts";
import { partWrites } from "../client/writes.ts";
import { EdgetableError } from "../errors/edgetable-error.ts";
import { addCosts, type Cost, NO_COST, type RunOptions } from "../executor/call.ts";
import { backOff, type CallContext } from "../executor/session.ts";
import { allParts } from "../client/part-reads.ts";
import { runRead } from "../executor/run-read.ts";
import { TRANSACTION_ITEMS } from "../ir/capacity.ts";
import { exactText } from "../keys/template.ts";
import type { Row } from "../util/row.ts";
import type { Cells, FieldInput, FieldValue } from "../client/field-types.ts";
import { type FieldList, fieldIn, listItem, listOf, liveFields, type StoredField } from "./field-list.ts";
import { checkValue, convert, isEmpty, sortText } from "./field-value.ts";
import { type AskedItem, columnOf, type GridModel, parentOf, placeOf, readItems, rowIn } from "./grid-model.ts";

/** A value as its item holds it. */
export interface StoredValue {
  readonly fieldId: string;
  readonly generation: number;
  readonly value: FieldValue["value"];
}

/** What the item of a value holds; undefined where there is none. */
export const storedIn = (row: Row | undefined): StoredValue | undefined => {
  if (!row) return undefined;
  const stored = row as unknown as StoredValue;
  // A number that no double tells apart from its neighbours is read as a bigint.
  return typeof stored.value === "bigint" ? { ...stored, value: Number(stored.value) } : stored;
};

/** The value of a field in its item, as of now: of an earlier type only while its values are being converted. */
export const cellOf = ({ driver: { catalog } }: GridModel, field: StoredField, stored: StoredValue | undefined): FieldValue | undefined => {
  if (!stored) return undefined;
  if (stored.generation === field.generation) return { type: field.type, value: stored.value } as FieldValue;
  const { other } = field;
  if (field.state !== "converting" || !other || stored.generation !== other.generation) return undefined;
  const value = convert(catalog, other, field, stored.value);
  return value === undefined || isEmpty(value) ? undefined : ({ type: field.type, value } as FieldValue);
};

/** Where the item of a value is. */
export const valueItem = ({ value }: GridModel, row: Row, fieldId: string): AskedItem => ({ shape: value.shape, row: { ...row, fieldId } });

/** What the item of a value holds. */
const valueRow = (model: GridModel, row: Row, field: StoredField, value: FieldValue["value"]): Row => ({
  fieldId: field.fieldId,
  generation: field.generation,
  value,
  column: columnOf(model, parentOf(model, row), field),
  sort: sortText(model.driver.catalog, field, value, placeOf(model, row)),
});

/** A row with the fields of its parent, as they are at one moment. */
interface Seen {
  readonly row: Row;
  readonly list: FieldList;
}

const nodeItem = ({ node }: GridModel, id: Row): AskedItem => ({ shape: node.shape, row: id });

/** Reads a row and the fields of its parent, strongly consistent; undefined if there is no row. */
const readRow = async (model: GridModel, id: Row, context: CallContext, known?: Row): Promise<Seen | undefined> => {
  const asked = nodeItem(model, id);
  const lists = known ? [listItem(model, known)] : [];
  const find = await readItems(model, { asked: [asked, ...lists], consistent: true }, context);
  const row = rowIn(model, asked, find(asked));
  if (!row) return undefined;
  const parent = parentOf(model, row);
  if (Object.values(parent).some((value) => value === undefined || value === null)) return { row, list: listOf(parent, undefined) };
  const list = listItem(model, parent);
  if (known) return { row, list: listOf(parent, rowIn(model, list, find(list))) };
  const findList = await readItems(model, { asked: [list], consistent: true }, context);
  return { row, list: listOf(parent, rowIn(model, list, findList(list))) };
};

/** What is given for a row, checked against the fields as they are. */
const checkGiven = (
  model: GridModel,
  { row, list }: Seen,
  given: Readonly<Record<string, FieldInput>>,
): ReadonlyMap<StoredField, FieldValue["value"] | undefined> => {
  const { catalog } = model.driver;
  const id = Object.fromEntries(model.node.idFields.map((field) => [field, row[field]]));
  const checked = new Map<StoredField, FieldValue["value"] | undefined>();
  for (const [fieldId, input] of Object.entries(given)) {
    const field = fieldIn(list, fieldId);
    if (isEmpty(input)) {
      if (field.required) throw emptied(field, id);
      checked.set(field, undefined);
      continue;
    }
    const value = checkValue(catalog, field, input, id);
    // Values that are set while others are checked have to survive too.
    if (field.state === "checking" && field.other && convert(catalog, field, field.other, value) === undefined)
      checkValue(catalog, field.other, value, id);
    checked.set(field, value);
  }
  return checked;
};

const emptied = (field: StoredField, row: Row): EdgetableError =>
  new EdgetableError(
    "grid.invalidValue",
    `"${field.name}" (${field.fieldId}) of the row ${exactText(row)} is required, and has no value. Give it one.`,
    {
      details: { row, field: field.fieldId, name: field.name, type: field.type, value: null },
    },
  );

/** What is given for a whole row: each field that is not given has its default, and the required ones must have a value. */
const completed = ({ list }: Seen, given: Readonly<Record<string, FieldInput>>): Readonly<Record<string, FieldInput>> => {
  const whole: Record<string, FieldInput> = {};
  for (const field of liveFields(list)) whole[field.fieldId] = given[field.fieldId] ?? field.default ?? null;
  return { ...given, ...whole };
};

const writesOf = (
  model: GridModel,
  row: Row,
  values: ReadonlyMap<StoredField, FieldValue["value"] | undefined>,
): readonly WriteCall<unknown>[] => {
  const { driver, value: entry, node } = model;
  const id = Object.fromEntries(node.idFields.map((field) => [field, row[field]]));
  const writes = partWrites(driver, entry);
  return [...values].map(([field, value]) =>
    value === undefined ? writes.delete(id, { fieldId: field.fieldId }) : writes.put(id, valueRow(model, row, field, value)),
  );
};

/** Sends writes, 100 together. A deletion of what is not there has nothing to do, and the others are sent without it. */
const send = async (model: GridModel, calls: readonly WriteCall<unknown>[], run: RunOptions): Promise<Cost> => {
  const transact = transactOf(model.driver);
  const [only] = calls;
  if (!only) return NO_COST;
  if (calls.length === 1) return (await only.run(run)).cost;
  let cost = NO_COST;
  for (let at = 0; at < calls.length; at += TRANSACTION_ITEMS) {
    let part = calls.slice(at, at + TRANSACTION_ITEMS);
    for (;;) {
      const { ok, outcomes, cost: one } = await transact(part).run(run);
      cost = addCosts(cost, one);
      if (ok) break;
      const left = part.filter((_, place) => outcomes[place]?.reason !== "notFound");
      if (left.length === 0) break;
      if (left.length === part.length)
        throw new EdgetableError("execute.notWritten", "The values were not written together, for no reason that is known: try again.", {
          details: { outcomes },
        });
      part = left;
    }
  }
  return cost;
};

const sameField = (a: StoredField, b: StoredField | undefined): boolean =>
  a.generation === b?.generation && a.state === b.state && exactText(a.other) === exactText(b.other);

const PAUSES = { baseDelay: 10, maxDelay: 500 };

/**
 * Sets values of a row. Reads the row and its parent's fields, writes, and reads both again: a value is only acknowledged
 * if its field was the same field before and after, so that whatever changes fields at the same time has seen it.
 */
export const setValues = async (
  model: GridModel,
  id: Row,
  given: Readonly<Record<string, FieldInput>>,
  { run, complete }: { readonly run: RunOptions; readonly complete: boolean },
): Promise<SetOutcome> => {
  const { driver } = model;
  const context = driver.context(run);
  let spent = context.meter.cost;
  const costOf = (): Cost => addCosts(context.meter.cost, spent);
  let before = await readRow(model, id, context);
  for (let attempt = 0; ; attempt++) {
    if (!before) return { ok: false, reason: "notFound", atomic: undefined, cost: costOf() };
    const values = checkGiven(model, before, complete ? completed(before, given) : given);
    const calls = writesOf(model, before.row, values);
    spent = addCosts(spent, await send(model, calls, run));
    const after = await readRow(model, id, context, before.list.parent);
    const isStill = [...values.keys()].every((field) =>
      sameField(
        field,
        after?.list.fields.find(({ fieldId }) => fieldId === field.fieldId),
      ),
    );
    if (after && isStill) {
      const atomic = calls.length <= 1 ? "item" : calls.length <= TRANSACTION_ITEMS ? "transaction" : "parts";
      return { ok: true, atomic, cost: costOf() };
    }
    // The row went, or a field: what was written for it goes as well, unless it was written anew since.
    const gone = [...values].filter(
      ([field]) => !after?.list.fields.some(({ fieldId, state }) => fieldId === field.fieldId && state !== "deleting"),
    );
    const writes = partWrites(driver, model.value);
    for (const [field, value] of gone)
      if (value !== undefined)
        spent = addCosts(
          spent,
          (await writes.delete(id, { fieldId: field.fieldId }, { if: { generation: field.generation } }).run(run)).cost,
        );
    before = after;
    if (!(await backOff(driver.session.effects, PAUSES, attempt, context)))
      throw new EdgetableError(
        "execute.conflict",
        `Others kept changing the fields of ${exactText(before?.list.parent)} until the deadline. Try again.`,
        {
          retryable: true,
          details: { row: id },
        },
      );
  }
};

/** How many values of a row are asked for by their keys. Of more, a Query of the row's values takes fewer read units. */
export const MOST_KEYS = 20;

/** What reads values of rows: of `fields`, strongly consistent or not. */
interface AskedValues {
  readonly fields: readonly StoredField[];
  readonly consistent: boolean;
}

const queryValues = async (
  model: GridModel,
  id: Row,
  consistent: boolean,
  context: CallContext,
): Promise<ReadonlyMap<string, StoredValue>> => {
  const { driver, value } = model;
  const { found } = await runRead(driver.session, allParts(driver, value.name, id, consistent), context);
  const stored = found.flatMap(({ row }) => storedIn(row) ?? []);
  return new Map(stored.map((one) => [one.fieldId, one]));
};

/** Reads the values of rows: by their keys, 100 a request, or by a Query of each row where that takes less. */
export const readValues = async (
  model: GridModel,
  ids: readonly Row[],
  { fields, consistent }: AskedValues,
  context: CallContext,
): Promise<readonly ReadonlyMap<string, FieldValue>[]> => {
  const cellsOf = (stored: (field: StoredField) => StoredValue | undefined): ReadonlyMap<string, FieldValue> => {
    const cells = new Map<string, FieldValue>();
    for (const field of fields) {
      const cell = cellOf(model, field, stored(field));
      if (cell) cells.set(field.fieldId, cell);
    }
    return cells;
  };
  if (fields.length > MOST_KEYS)
    return Promise.all(
      ids.map(async (id) => {
        const found = await queryValues(model, id, consistent, context);
        return cellsOf(({ fieldId }) => found.get(fieldId));
      }),
    );
  const asked = ids.map((id) => new Map(fields.map((field) => [field, valueItem(model, id, field.fieldId)])));
  const find = await readItems(model, { asked: asked.flatMap((one) => [...one.values()]), consistent }, context);
  return asked.map((items) =>
    cellsOf((field) => {
      const item = items.get(field);
      return item && storedIn(rowIn(model, item, find(item)));
    }),
  );
};

/** Reads the values of a row: the row, its parent's fields, and the values. */
export const getValues = async (model: GridModel, id: Row, context: CallContext): Promise<Cells | undefined> => {
  const seen = await readRow(model, id, context);
  if (!seen) return undefined;
  const [cells] = await readValues(model, [id], { fields: liveFields(seen.list), consistent: true }, context);
  return Object.fromEntries(cells ?? []);
};
