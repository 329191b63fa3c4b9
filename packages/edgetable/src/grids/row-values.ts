import type { SetOutcome } from "../client/grid-types.ts";
import { transactOf } from "../client/write-call.ts";
import type { WriteCall } from "../client/write-types.ts";
import { partWrites } from "../client/writes.ts";
import { EdgetableError } from "../errors/edgetable-error.ts";
import { addCosts, type Cost, NO_COST, type RunOptions } from "../executor/call.ts";
import { backOff, type CallContext } from "../executor/session.ts";
import { TRANSACTION_ITEMS } from "../ir/capacity.ts";
import { exactText } from "../keys/template.ts";
import { isExpired } from "../requests/decode-item.ts";
import type { Row } from "../util/row.ts";
import type { Cells, Field, FieldInput, FieldValue } from "../client/field-types.ts";
import { type FieldList, fieldIn, listItem, listOf, liveFields, readList, type StoredField } from "./field-list.ts";
import { checkValue, convert, isEmpty, sortText } from "./field-value.ts";
import { type AskedItem, columnOf, type GridModel, idOf, parentOf, placeOf, readItems, rowIn } from "./grid-model.ts";
import { isSameValue } from "./json-cells.ts";
import {
  cellsIn,
  cellsOf,
  costOfWrite,
  currentDocument,
  documentIn,
  documentItem,
  itemsOf,
  type RowDocument,
  type StoredValue,
  usesDocuments,
  valueItems,
  withdraw,
  withValues,
  writeDocument,
} from "./row-document.ts";

/** What the item of a value holds. */
export const valueRow = (model: GridModel, row: Row, field: Field, value: FieldValue["value"]): Omit<StoredValue, "follows"> => ({
  fieldId: field.fieldId,
  generation: field.generation,
  value,
  column: columnOf(model, parentOf(model, row), field),
  sort: sortText(model.driver.catalog, field, value, placeOf(model, row)),
});

/** A row with the fields of its parent, as they are at one moment. */
export interface Seen {
  readonly row: Row;
  readonly list: FieldList;
  /** Undefined where there is none, or it was not asked for. */
  readonly document: RowDocument | undefined;
}

/** Where a row is. */
export const nodeItem = ({ node }: GridModel, id: Row): AskedItem => ({ shape: node.shape, row: id });

/** Reads a row, strongly consistent, and then the fields of its parent; undefined if there is no row, or it has expired. */
const readRow = async (model: GridModel, id: Row, context: CallContext, known?: Row): Promise<Seen | undefined> => {
  const asked = nodeItem(model, id);
  const inDocument = documentItem(model, id);
  // The document before the fields: whatever it holds is then of fields that are known.
  const documents = !known && model.settings.storage === "document" ? [inDocument] : [];
  const lists = known ? [listItem(model, known)] : [];
  const find = await readItems(model, { asked: [asked, ...documents, ...lists], consistent: true }, context);
  const item = find(asked);
  const row = item && !isExpired(model.driver.catalog, item, context.livingAt) ? rowIn(model, asked, item) : undefined;
  if (!row) return undefined;
  const parent = parentOf(model, row);
  if (Object.values(parent).some((value) => value === undefined || value === null))
    return { row, list: listOf(model, parent, undefined), document: undefined };
  const inList = listItem(model, parent);
  if (known) return { row, list: listOf(model, parent, rowIn(model, inList, find(inList))), document: undefined };
  const list = await readList(model, parent, context);
  if (documents.length > 0 || !usesDocuments(list.storage))
    return { row, list, document: documentIn(rowIn(model, inDocument, find(inDocument))) };
  const findDocument = await readItems(model, { asked: [inDocument], consistent: true }, context);
  return { row, list, document: documentIn(rowIn(model, inDocument, findDocument(inDocument))) };
};

/** What is given for a row, checked against the fields as they are. */
export const checkGiven = (
  model: GridModel,
  { row, list }: Seen,
  given: Readonly<Record<string, FieldInput>>,
): ReadonlyMap<StoredField, FieldValue["value"] | undefined> => {
  const { catalog } = model.driver;
  const id = idOf(model, row);
  const checked = new Map<StoredField, FieldValue["value"] | undefined>();
  for (const [fieldId, input] of Object.entries(given)) {
    const field = fieldIn(list, fieldId);
    if (isEmpty(input)) {
      if (field.required)
        throw new EdgetableError(
          "grid.invalidValue",
          `"${field.name}" (${field.fieldId}) of the row ${exactText(id)} is required, and has no value. Give it one.`,
          { details: { row: id, field: field.fieldId, name: field.name, type: field.type, value: null } },
        );
      checked.set(field, undefined);
      continue;
    }
    const value = checkValue(catalog, field, input, id);
    // Values that are set while others are checked have to survive too.
    if (field.state === "checking" && field.other && isEmpty(convert(catalog, field, field.other, value)))
      checkValue(catalog, field.other, value, id);
    checked.set(field, value);
  }
  return checked;
};

/** What is given for a whole row: each field that is not given has its default, and the required ones must have a value. */
export const completed = ({ list }: Seen, given: Readonly<Record<string, FieldInput>>): Readonly<Record<string, FieldInput>> => {
  const whole: Record<string, FieldInput> = {};
  for (const { fieldId, default: otherwise = null } of liveFields(list)) {
    const input = Object.hasOwn(given, fieldId) ? given[fieldId] : undefined;
    // Null is given, and takes the value away.
    whole[fieldId] = input === undefined ? otherwise : input;
  }
  return { ...given, ...whole };
};

/** Sends writes, 100 together. A deletion of what is not there has nothing to do, and the others are sent without it. */
const send = async (model: GridModel, calls: readonly WriteCall<unknown>[], run: RunOptions): Promise<Cost> => {
  const transact = transactOf(model.driver);
  let cost = NO_COST;
  for (let at = 0; at < calls.length; at += TRANSACTION_ITEMS) {
    let part = calls.slice(at, at + TRANSACTION_ITEMS);
    for (;;) {
      const [only] = part;
      if (only && part.length === 1) {
        // A value whose removal was repeated after a lost answer is gone, as it was asked.
        cost = addCosts(cost, await costOfWrite(only.run(run)));
        break;
      }
      const { ok, outcomes, cost: one } = await transact(part).run(run);
      cost = addCosts(cost, one);
      if (ok) break;
      const left = part.filter((_, place) => outcomes[place]?.reason !== "notFound");
      if (left.length === 0) break;
      if (left.length === part.length)
        throw new EdgetableError("execute.notWritten", "The values were not written, and the reason is unknown. Try again.", {
          details: { outcomes },
        });
      part = left;
    }
  }
  return cost;
};

const PAUSES = { baseDelay: 10, maxDelay: 500 };

/** Whether a row is still there, and the storage and the fields that were written are what they were before. */
export const isStill = (before: FieldList, values: Values, after: Seen | undefined): boolean => {
  if (!after || !isSameValue(after.list.storage, before.storage)) return false;
  const { fields } = after.list;
  return [...values.keys()].every(({ fieldId, generation, state, other }) => {
    const now = fields.find((field) => field.fieldId === fieldId);
    return generation === now?.generation && state === now.state && isSameValue(other, now.other);
  });
};

/** What was written for a row, and how to undo it if the row or its fields have been deleted since. */
export interface WrittenValues {
  readonly atomic: SetOutcome["atomic"];
  readonly cost: Cost;
  readonly withdraw: (after: Seen | undefined) => Promise<Cost>;
}

/** Values to write; undefined removes one. */
export type Values = ReadonlyMap<StoredField, FieldValue["value"] | undefined>;

/** Writes values as an item each. */
const writeItems = async (model: GridModel, { row }: Seen, values: Values, run: RunOptions): Promise<WrittenValues> => {
  const id = idOf(model, row);
  const writes = partWrites(model.driver, model.value);
  const calls = [...values].map(([field, value]) =>
    value === undefined ? writes.delete(id, { fieldId: field.fieldId }) : writes.put(id, valueRow(model, row, field, value)),
  );
  const cost = await send(model, calls, run);
  const withdraw = async (after: Seen | undefined): Promise<Cost> => {
    let spent = NO_COST;
    for (const [field, value] of values) {
      const isThere = after?.list.fields.some(({ fieldId, state }) => fieldId === field.fieldId && state !== "deleting");
      if (isThere || value === undefined) continue;
      // Unless it was written anew since.
      const call = writes.delete(id, { fieldId: field.fieldId }, { if: { generation: field.generation } });
      spent = addCosts(spent, await costOfWrite(call.run(run)));
    }
    return spent;
  };
  return { atomic: calls.length <= 1 ? "item" : calls.length <= TRANSACTION_ITEMS ? "transaction" : "parts", cost, withdraw };
};

/** Writes values into the row's document, all or none; undefined if others changed it since it was read. */
const writeInDocument = async (
  model: GridModel,
  { row, list, document }: Seen,
  { values, run, context }: { readonly values: Values; readonly run: RunOptions; readonly context: CallContext },
): Promise<WrittenValues | undefined> => {
  const { storage } = list;
  const current = currentDocument(storage, document);
  const id = idOf(model, row);
  // Where there is none yet, the row's items hold its values, if there are any.
  const former = !current && storage.to === "document" ? await itemsOf(model, id, { consistent: true, context }) : [];
  const before = current?.values ?? new Map(former.filter(({ follows }) => follows === undefined).map((one) => [one.fieldId, one]));
  const contents = { before: document, epoch: storage.epoch, values: withValues(list, before, values), state: current?.state };
  const written = await writeDocument(model, id, contents, run);
  if (!written) return undefined;
  const { cost, version } = written;
  return { atomic: "item", cost, withdraw: async (after) => (after ? NO_COST : withdraw(model, id, version, run)) };
};

/** Writes values where the storage of their parent has them; undefined if others changed what was read. */
export const writeValues = async (
  model: GridModel,
  seen: Seen,
  asked: { readonly values: Values; readonly run: RunOptions; readonly context: CallContext },
): Promise<WrittenValues | undefined> => {
  const { document, list } = seen;
  const { storage } = list;
  if (!usesDocuments(storage)) return writeItems(model, seen, asked.values, asked.run);
  const isLeft = document?.epoch === storage.epoch && document.state === "left";
  // A process that moved the row's values has read newer fields than these.
  if (isLeft && storage.to !== "items") return undefined;
  if (storage.to !== "items" || currentDocument(storage, document)) return writeInDocument(model, seen, asked);
  // No document may come to hold the row's values any more.
  const left = { before: document, epoch: storage.epoch, values: new Map(), state: "left" } as const;
  if (!isLeft && !(await writeDocument(model, idOf(model, seen.row), left, asked.run))) return undefined;
  return writeItems(model, seen, asked.values, asked.run);
};

/** What was accepted for a field is converted with its other values, where the field got another type since. */
const convertGiven = (
  { driver: { catalog } }: GridModel,
  { list }: Seen,
  { accepted, given }: { readonly accepted: Values; readonly given: Readonly<Record<string, FieldInput>> },
): Readonly<Record<string, FieldInput>> => {
  const converted = [...accepted].flatMap(([before, value]) => {
    const now = list.fields.find(({ fieldId }) => fieldId === before.fieldId);
    if (!now || now.generation === before.generation || value === undefined) return [];
    return [[now.fieldId, convert(catalog, before, now, value) ?? null] as const];
  });
  return { ...given, ...Object.fromEntries(converted) };
};

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
  let asked = given;
  for (let attempt = 0; ; attempt++) {
    if (!before) return { ok: false, reason: "notFound", atomic: undefined, cost: costOf() };
    const values = checkGiven(model, before, complete ? completed(before, asked) : asked);
    const written = await writeValues(model, before, { values, run, context });
    if (written) {
      spent = addCosts(spent, written.cost);
      const after = await readRow(model, id, context, before.list.parent);
      if (isStill(before.list, values, after)) return { ok: true, atomic: written.atomic, cost: costOf() };
      spent = addCosts(spent, await written.withdraw(after));
    }
    before = await readRow(model, id, context);
    if (before) asked = convertGiven(model, before, { accepted: values, given: asked });
    if (!(await backOff(driver.session.effects, PAUSES, attempt, context)))
      throw new EdgetableError(
        "execute.conflict",
        `Others kept changing the values or the fields of ${exactText(before?.list.parent)} until the deadline. Try again.`,
        {
          retryable: true,
          details: { row: id },
        },
      );
  }
};

/** How many values of a row are asked for by their keys. Of more, a Query of the row's values takes fewer read units. */
export const MOST_KEYS = 20;

/** What reads values of rows: of `fields` of a list, strongly consistent or not. */
interface AskedValues {
  readonly list: FieldList;
  readonly fields: readonly StoredField[];
  readonly consistent: boolean;
}

/** Reads the values of rows: by their keys, 100 a request, or by a Query of each row where that takes less. */
export const readValues = async (
  model: GridModel,
  ids: readonly Row[],
  { list, fields, consistent }: AskedValues,
  context: CallContext,
): Promise<readonly ReadonlyMap<string, FieldValue>[]> => {
  if (fields.length > MOST_KEYS && !usesDocuments(list.storage))
    return Promise.all(
      ids.map(async (id) => {
        const found = new Map((await itemsOf(model, id, { consistent, context })).map((one) => [one.fieldId, one]));
        return cellsOf(model, fields, ({ fieldId }) => found.get(fieldId));
      }),
    );
  const asked = ids.flatMap((id) => valueItems(model, list, id, fields));
  const find = await readItems(model, { asked, consistent }, context);
  return ids.map((row) => cellsIn(model, list, { row, fields }, find));
};

/** Reads the values of a row: the row, its parent's fields, and the values. */
export const getValues = async (model: GridModel, id: Row, context: CallContext): Promise<Cells | undefined> => {
  const seen = await readRow(model, id, context);
  if (!seen) return undefined;
  const { list } = seen;
  const [cells] = await readValues(model, [id], { list, fields: liveFields(list), consistent: true }, context);
  return Object.fromEntries(cells ?? []);
};
