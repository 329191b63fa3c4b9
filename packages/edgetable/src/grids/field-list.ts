import { partWrites } from "../client/writes.ts";
import { EdgetableError } from "../errors/edgetable-error.ts";
import { addCosts, type Cost, type RunOptions } from "../executor/call.ts";
import { backOff, type CallContext } from "../executor/session.ts";
import { didYouMean } from "../util/did-you-mean.ts";
import { jsonText } from "../util/json-text.ts";
import type { ValueStorage } from "../schema/definition.ts";
import type { Row } from "../util/row.ts";
import type { Field } from "../client/field-types.ts";
import { type AskedItem, type GridModel, readItems, rowIn } from "./grid-model.ts";

/** A field as it is kept. */
export type StoredField = Field & {
  /** While the type changes: the field as it was, or is to be. */
  readonly other?: Field;
};

/** Where the values of a parent's rows are stored. */
export interface Storage {
  readonly at: ValueStorage;
  /** While a migration moves them: where they will be. A row's document then holds its values as soon as there is one. */
  readonly to?: ValueStorage;
  /** The pass of the migration that said so: until another pass has ended, rows may be where they were. */
  readonly pass?: number;
  /** Counts the moves to documents: a document of another epoch holds nothing. */
  readonly epoch: number;
}

/** All fields of a parent, in one item: in the order of their columns. */
export interface FieldList {
  readonly parent: Row;
  readonly fields: readonly StoredField[];
  /** The number of the next id that is made. */
  readonly next: number;
  /** Counts the changes of the list; 0 while there is none. */
  readonly version: number;
  readonly storage: Storage;
}

/** The one list of a parent. */
const LIST = { list: "all" };

/** Where the list of a parent is. */
export const listItem = (model: GridModel, parent: Row): AskedItem => ({ shape: model.list.shape, row: { ...parent, ...LIST } });

const ITEMS: Storage = { at: "items", epoch: 0 };
const DOCUMENTS: Storage = { at: "document", epoch: 0 };

/** A whole number beyond 2^53 is read as a bigint, and a value of a field is a number. */
const withNumber = (field: StoredField): StoredField => {
  const given: unknown = field.default;
  return field.type === "number" && typeof given === "bigint" ? { ...field, default: Number(given) } : field;
};

/** The list in its item. A parent without fields has no values yet, and gets the storage that the model declares. */
export const listOf = ({ settings }: GridModel, parent: Row, row: Row | undefined): FieldList => ({
  storage: (row ? (row["storage"] as Storage | undefined) : settings.storage === "document" ? DOCUMENTS : undefined) ?? ITEMS,
  parent,
  fields: ((row?.["fields"] as readonly StoredField[] | undefined) ?? []).map(withNumber),
  next: (row?.["next"] as number | undefined) ?? 1,
  version: (row?.["version"] as number | undefined) ?? 0,
});

/** Reads the fields of a parent, strongly consistent unless told otherwise. One request. */
export const readList = async (model: GridModel, parent: Row, context: CallContext, consistent = true): Promise<FieldList> => {
  const asked = listItem(model, parent);
  const find = await readItems(model, { asked: [asked], consistent }, context);
  return listOf(model, parent, rowIn(model, asked, find(asked)));
};

/** The fields that may be used: all but those that are being deleted. */
export const liveFields = ({ fields }: FieldList): readonly StoredField[] => fields.filter(({ state }) => state !== "deleting");

/**
 * A field by its id.
 *
 * @throws {grid.unknownField} when the parent has no such field, or it is being deleted
 */
export const fieldIn = (list: FieldList, fieldId: string): StoredField => {
  const live = liveFields(list);
  const found = live.find((field) => field.fieldId === fieldId);
  if (found) return found;
  const named = live.find(({ name }) => name === fieldId);
  const mend = named
    ? ` The field of that name is ${jsonText(named.fieldId)}.`
    : didYouMean(
        fieldId,
        live.map((field) => field.fieldId),
      );
  throw new EdgetableError(
    "grid.unknownField",
    `There is no field ${jsonText(fieldId)} in ${jsonText(list.parent)}.${mend} It may have been deleted: list() returns those that exist.`,
    {
      details: { field: fieldId, parent: list.parent },
    },
  );
};

/** What a change of the list comes to. */
export interface Changed<Result> {
  readonly result: Result;
  readonly cost: Cost;
}

const PAUSES = { baseDelay: 10, maxDelay: 500 };

/** How one item of a parent is changed: read, then written if it is unchanged, else read again. */
interface ItemChange<State extends { readonly version: number }, Result> {
  readonly run: RunOptions;
  /** The item's own key. */
  readonly key: Row;
  /** What it holds, for messages. */
  readonly what: string;
  readonly read: (context: CallContext) => Promise<State>;
  /** Gives the new row, or none where nothing is to be written, and may throw. */
  readonly change: (state: State) => { readonly row: Row | undefined; readonly result: Result };
}

/**
 * Changes what a parent's grid keeps in one item.
 *
 * @throws {execute.conflict} when others changed it until the deadline
 */
export const changeItem = async <State extends { readonly version: number }, Result>(
  model: GridModel,
  parent: Row,
  { run, key, what, read, change }: ItemChange<State, Result>,
): Promise<Changed<Result>> => {
  const { driver, list } = model;
  const context = driver.context(run);
  const writes = partWrites(driver, list);
  let cost = context.meter.cost;
  for (let attempt = 0; ; attempt++) {
    const before = await read(context);
    const { row, result } = change(before);
    if (!row) return { result, cost: addCosts(context.meter.cost, cost) };
    // With a token, an answer that is lost is no question.
    const call =
      before.version === 0
        ? writes.create(parent, { ...key, ...row }, { idempotent: true })
        : writes.update(parent, key, row, { ifVersion: before.version, idempotent: true });
    const outcome = await call.run(run);
    cost = addCosts(cost, outcome.cost);
    if (outcome.ok) return { result, cost: addCosts(context.meter.cost, cost) };
    if (outcome.reason === "endMissing")
      throw new EdgetableError(
        "execute.notWritten",
        `There is no "${model.parent.name}" ${jsonText(parent)} to have ${what}. Create it first.`,
        {
          details: { ...outcome },
        },
      );
    if (!(await backOff(driver.session.effects, PAUSES, attempt, context)))
      throw new EdgetableError(
        "execute.conflict",
        `Others kept changing the ${what} of ${jsonText(parent)} until the deadline. Try again.`,
        {
          retryable: true,
          details: { parent },
        },
      );
  }
};

/**
 * Changes the fields of a parent, or where their values are stored.
 *
 * @param change gives what is new, and may throw; without fields and storage, nothing is written
 * @throws {execute.conflict} when others changed them until the deadline
 */
export const changeList = <Result>(
  model: GridModel,
  parent: Row,
  run: RunOptions,
  change: (list: FieldList) => {
    readonly fields?: readonly StoredField[];
    readonly next?: number;
    readonly storage?: Storage;
    readonly result: Result;
  },
): Promise<Changed<Result>> =>
  changeItem(model, parent, {
    run,
    key: LIST,
    what: "fields",
    read: (context) => readList(model, parent, context),
    change: (before) => {
      const changed = change(before);
      const { fields = before.fields, next = before.next, storage = before.storage, result } = changed;
      if (!changed.fields && !changed.storage) return { row: undefined, result };
      return { row: { fields, next, ...(storage === ITEMS ? {} : { storage }) }, result };
    },
  });
