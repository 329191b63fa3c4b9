import { allParts } from "../client/part-reads.ts";
import { partWrites } from "../client/writes.ts";
import { EdgetableError, isEdgetableError } from "../errors/edgetable-error.ts";
import { type Cost, NO_COST, type RunOptions } from "../executor/call.ts";
import { runRead } from "../executor/run-read.ts";
import type { CallContext } from "../executor/session.ts";
import { ITEM_BYTES, itemBytes } from "../ir/capacity.ts";
import { exactText } from "../keys/template.ts";
import { encodeItem } from "../requests/encode-item.ts";
import type { Item } from "../transport/operations.ts";
import type { Row } from "../util/row.ts";
import type { FieldValue } from "../client/field-types.ts";
import type { FieldList, Storage, StoredField } from "./field-list.ts";
import { convert, isEmpty } from "./field-value.ts";
import { type AskedItem, type GridModel, rowIn } from "./grid-model.ts";

/** A value of some generation of its field. */
export interface Stored {
  readonly generation: number;
  readonly value: FieldValue["value"];
}

/** A value as its item holds it. */
export interface StoredValue extends Stored {
  readonly fieldId: string;
  readonly column: string;
  readonly sort: string;
  /** The stamp of the document that the item follows from; undefined where it is the value itself. */
  readonly follows?: string;
}

// A number that no double tells apart from its neighbours is read as a bigint.
const plain = (value: unknown): FieldValue["value"] => (typeof value === "bigint" ? Number(value) : value) as FieldValue["value"];

/** What the item of a value holds; undefined where there is none. */
export const storedIn = (row: Row | undefined): StoredValue | undefined =>
  row && ({ ...row, value: plain(row["value"]) } as unknown as StoredValue);

/** The value of a field as it is stored, as of now: of an earlier type only while its values are being converted. */
const cellOf = ({ driver: { catalog } }: GridModel, field: StoredField, stored: Stored | undefined): FieldValue | undefined => {
  if (!stored) return undefined;
  if (stored.generation === field.generation) return { type: field.type, value: stored.value } as FieldValue;
  const { other } = field;
  if (field.state !== "converting" || !other || stored.generation !== other.generation) return undefined;
  const value = convert(catalog, other, field, stored.value);
  return value === undefined || isEmpty(value) ? undefined : ({ type: field.type, value } as FieldValue);
};

/** Where the item of a value is. */
export const valueItem = ({ value }: GridModel, row: Row, fieldId: string): AskedItem => ({ shape: value.shape, row: { ...row, fieldId } });

/** The one document of a row. */
export const DOCUMENT = { document: "all" };

/** Where the document of a row is. */
export const documentItem = ({ document }: GridModel, row: Row): AskedItem => ({ shape: document.shape, row: { ...row, ...DOCUMENT } });

/** What becomes of a document whose values a migration moves to items: they are being written, or they are. */
type Leaving = "leaving" | "left";

/** All values of a row, in one item. */
export interface RowDocument {
  readonly epoch: number;
  /** Tells a document from another one that was there before, whose versions were the same. */
  readonly stamp: string;
  readonly version: number;
  readonly state?: Leaving;
  readonly values: ReadonlyMap<string, Stored>;
}

/** The document in its item. */
export const documentIn = (row: Row | undefined): RowDocument | undefined => {
  if (!row) return undefined;
  const { epoch, stamp, version, state, values } = row as unknown as RowDocument & { readonly values: Row };
  const cells = Object.entries(values as unknown as Readonly<Record<string, readonly [number, unknown]>>);
  return {
    epoch,
    stamp,
    version,
    ...(state && { state }),
    values: new Map(cells.map(([fieldId, [generation, value]]) => [fieldId, { generation, value: plain(value) }])),
  };
};

/** True while documents may hold values of a parent's rows. */
export const usesDocuments = ({ at, to }: Storage): boolean => at === "document" || to === "document";

const usesItems = ({ at, to }: Storage): boolean => at === "items" || to === "items";

/** The document of a row if it holds the row's values; undefined where its items do, or it has none. */
export const currentDocument = (storage: Storage, document: RowDocument | undefined): RowDocument | undefined =>
  document && usesDocuments(storage) && document.epoch === storage.epoch && document.state !== "left" ? document : undefined;

/** How many items tell so many values of a row. */
export const itemsFor = ({ storage }: FieldList, fields: number): number =>
  (usesDocuments(storage) && fields > 0 ? 1 : 0) + (usesItems(storage) ? fields : 0);

/** The items that tell values of a row. */
export const valueItems = (model: GridModel, { storage }: FieldList, row: Row, fields: readonly StoredField[]): readonly AskedItem[] => [
  ...(usesDocuments(storage) && fields.length > 0 ? [documentItem(model, row)] : []),
  ...(usesItems(storage) ? fields.map(({ fieldId }) => valueItem(model, row, fieldId)) : []),
];

/** The values of fields, by where each is stored. */
export const cellsOf = (
  model: GridModel,
  fields: readonly StoredField[],
  stored: (field: StoredField) => Stored | undefined,
): ReadonlyMap<string, FieldValue> => {
  const cells = new Map<string, FieldValue>();
  for (const field of fields) {
    const cell = cellOf(model, field, stored(field));
    if (cell) cells.set(field.fieldId, cell);
  }
  return cells;
};

/** The values of a row, of the items that tell them. */
export const cellsIn = (
  model: GridModel,
  { storage }: FieldList,
  asked: { readonly row: Row; readonly fields: readonly StoredField[] },
  find: (one: AskedItem) => Item | undefined,
): ReadonlyMap<string, FieldValue> => {
  const { row, fields } = asked;
  const read = (one: AskedItem): Row | undefined => rowIn(model, one, find(one));
  const isAsked = usesDocuments(storage) && fields.length > 0;
  const document = currentDocument(storage, isAsked ? documentIn(read(documentItem(model, row))) : undefined);
  const inItem = (fieldId: string): Stored | undefined => {
    const stored = usesItems(storage) ? storedIn(read(valueItem(model, row, fieldId))) : undefined;
    return stored?.follows === undefined ? stored : undefined;
  };
  return cellsOf(model, fields, ({ fieldId }) => (document ? document.values.get(fieldId) : inItem(fieldId)));
};

/** All value items of a row. One Query. */
export const itemsOf = async (
  { driver, value }: GridModel,
  id: Row,
  { consistent, context }: { readonly consistent: boolean; readonly context: CallContext },
): Promise<readonly StoredValue[]> => {
  const { found } = await runRead(driver.session, allParts(driver, value.name, id, consistent), context);
  return found.flatMap(({ row }) => storedIn(row) ?? []);
};

/** What is to be in a document. */
type Contents = Pick<RowDocument, "epoch" | "values"> & { readonly state?: Leaving | undefined };

/**
 * Writes a document if it is still as it was read: one conditional UpdateItem. Gives undefined where others changed it, or
 * an answer was lost: what it holds has to be read again.
 *
 * @throws {request.itemTooLarge} for more than 400 KB
 */
export const writeDocument = async (
  model: GridModel,
  id: Row,
  { before, epoch, values, state }: Contents & { readonly before: RowDocument | undefined },
  run: RunOptions,
): Promise<{ readonly cost: Cost; readonly version: number; readonly stamp: string } | undefined> => {
  const { driver } = model;
  const writes = partWrites(driver, model.document);
  const { effects } = driver.session;
  const stamp = before?.stamp ?? Math.floor(effects.random() * 2 ** 48).toString(36);
  const cells = Object.fromEntries([...values].map(([fieldId, one]) => [fieldId, [one.generation, one.value]]));
  const contents = { epoch, stamp, values: cells, ...(state && { state }) };
  const whole = { ...id, ...DOCUMENT, version: Number.MAX_SAFE_INTEGER, ...contents };
  const bytes = itemBytes(encodeItem(driver.catalog, model.document.shape, whole));
  if (bytes > ITEM_BYTES)
    throw new EdgetableError(
      "request.itemTooLarge",
      `The values of the row ${exactText(id)} would be ${bytes} bytes together, and are stored in one item: DynamoDB allows ${ITEM_BYTES}. Keep long texts elsewhere, or store values as items.`,
      { details: { row: id, bytes, limit: ITEM_BYTES } },
    );
  const change = { set: contents, remove: before?.state !== undefined && !state ? ["state"] : [] };
  const call = before
    ? writes.update(id, DOCUMENT, change, { ifVersion: before.version })
    : writes.create(id, { ...DOCUMENT, ...contents });
  try {
    const { ok, cost } = await call.run(run);
    return ok ? { cost, stamp, version: (before?.version ?? 0) + 1 } : undefined;
  } catch (error) {
    if (isEdgetableError(error, "execute.ambiguous")) return undefined;
    throw error;
  }
};

/** The cost of a write. The caller reads the row again in any case, so its outcome does not matter. */
export const costOfWrite = async (write: Promise<{ readonly cost: Cost }>): Promise<Cost> => {
  try {
    return (await write).cost;
  } catch (error) {
    if (isEdgetableError(error, "execute.ambiguous")) return NO_COST;
    throw error;
  }
};

/** The values of a document with others set or taken away, without those of fields that are gone. */
export const withValues = (
  { fields }: FieldList,
  values: ReadonlyMap<string, Stored>,
  given: ReadonlyMap<StoredField, FieldValue["value"] | undefined>,
): ReadonlyMap<string, Stored> => {
  const generations = new Map(fields.map((field) => [field.fieldId, [field.generation, field.other?.generation]]));
  const all = new Map([...values].filter(([fieldId, { generation }]) => generations.get(fieldId)?.includes(generation)));
  for (const [{ fieldId, generation }, value] of given)
    if (value === undefined) all.delete(fieldId);
    else all.set(fieldId, { generation, value });
  return all;
};

/** Removes what was written for a row that has been deleted since. */
export const withdraw = async (model: GridModel, id: Row, version: number, run: RunOptions): Promise<Cost> =>
  costOfWrite(partWrites(model.driver, model.document).delete(id, DOCUMENT, { ifVersion: version }).run(run));
