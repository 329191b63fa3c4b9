import { createDriver, type Driver } from "../client/driver.ts";
import { transactOf } from "../client/write-call.ts";
import type { WriteCall } from "../client/write-types.ts";
import { partWrites } from "../client/writes.ts";
import { EdgetableError, isEdgetableError } from "../errors/edgetable-error.ts";
import { REQUEST_DEADLINE } from "../executor/jobs/run-job.ts";
import { backOff, type CallContext, type Session } from "../executor/session.ts";
import { TRANSACTION_ITEMS } from "../ir/capacity.ts";
import { exactText } from "../keys/template.ts";
import { decodeItem, shapeOf } from "../requests/decode-item.ts";
import type { Catalog } from "../schema/catalog.ts";
import { type FollowedRow, gridNames } from "../schema/grid-parts.ts";
import { isSystemItem } from "../schema/system-kinds.ts";
import type { AttributeValue, Item } from "../transport/operations.ts";
import type { Row } from "../util/row.ts";
import { sideBySide } from "../util/side-by-side.ts";
import { type FieldList, readList } from "./field-list.ts";
import { type AskedItem, type GridModel, gridModel, parentOf, readItems, rowIn } from "./grid-model.ts";
import { isSameValue } from "./json-cells.ts";
import {
  currentDocument,
  DOCUMENT,
  documentIn,
  documentItem,
  itemsOf,
  type RowDocument,
  type StoredValue,
  usesDocuments,
} from "./row-document.ts";
import { nodeItem, valueRow } from "./row-values.ts";

interface Part {
  readonly node: string;
  readonly holds: "document" | "value";
}

const partsByCatalog = new WeakMap<Catalog, ReadonlyMap<string, Part>>();

/** The parts that concern documents: all documents, and the value items of node types that are declared to have documents. */
const partsOf = (catalog: Catalog): ReadonlyMap<string, Part> => {
  let parts = partsByCatalog.get(catalog);
  if (parts) return parts;
  const found = new Map<string, Part>();
  for (const { name: node, definition } of Object.values(catalog.nodes)) {
    if (!definition.fields) continue;
    const names = gridNames(node);
    found.set(names.document, { node, holds: "document" });
    if (definition.fields.storage === "document") found.set(names.value, { node, holds: "value" });
  }
  partsByCatalog.set(catalog, (parts = found));
  return parts;
};

/**
 * The row whose value items may not follow its document, because of a change of one item or of an item that a scan found.
 * Value items that follow a document are passed over: the processor wrote them itself.
 */
export const followedRow = (
  catalog: Catalog,
  { before, after }: { readonly before: Item | undefined; readonly after: Item | undefined },
): FollowedRow | undefined => {
  const item = after ?? before;
  if (!item || isSystemItem(catalog, item)) return undefined;
  const shape = shapeOf(catalog, catalog.shapes, item);
  const part = shape?.kind === "part" ? partsOf(catalog).get(shape.definition) : undefined;
  const entry = part && catalog.nodes[part.node];
  if (!shape || !entry) return undefined;
  const row = decodeItem(catalog, shape, item);
  if (part.holds === "value" && (!after || row["follows"] !== undefined)) return undefined;
  return { node: part.node, id: Object.fromEntries(entry.idFields.map((field) => [field, row[field]])) };
};

/** True for two references to one row. */
export const sameRow = (a: FollowedRow, b: FollowedRow): boolean => a.node === b.node && exactText(a.id) === exactText(b.id);

/** A row as it was read: its document first, then the fields of its parent. */
export interface RowState {
  readonly id: Row;
  readonly row: Row | undefined;
  readonly document: RowDocument | undefined;
  readonly list: FieldList | undefined;
}

/** Reads rows, 50 a request, strongly consistent: documents first. */
export const readRows = async (model: GridModel, ids: readonly Row[], context: CallContext): Promise<readonly RowState[]> => {
  const asked = ids.flatMap((id) => [nodeItem(model, id), documentItem(model, id)]);
  const find = await readItems(model, { asked, consistent: true }, context);
  const read = (one: AskedItem): Row | undefined => rowIn(model, one, find(one));
  const lists = new Map<string, FieldList>();
  const seen: RowState[] = [];
  for (const id of ids) {
    const row = read(nodeItem(model, id));
    const parent = row && parentOf(model, row);
    const text = exactText(parent);
    // Read after the document: whatever that holds is of fields that are known.
    let list = lists.get(text);
    if (!list && parent && Object.values(parent).every((value) => value !== undefined && value !== null))
      lists.set(text, (list = await readList(model, parent, context)));
    seen.push({ id, row, document: documentIn(read(documentItem(model, id))), list });
  }
  return seen;
};

/** The value items of a row that its document asks for: items that follow it or, without its stamp, values of their own. */
const wantedItems = (model: GridModel, { row, document, list }: RowState, stamp: string | undefined): ReadonlyMap<string, StoredValue> => {
  const wanted = new Map<string, StoredValue>();
  if (!row || !document || !list) return wanted;
  for (const { other, ...field } of list.fields) {
    const stored = document.values.get(field.fieldId);
    // What orders a value is its own generation of the field, which never changes.
    const of = [field, other].find((one) => one?.generation === stored?.generation);
    if (stored && of && field.state !== "deleting")
      wanted.set(field.fieldId, { ...valueRow(model, row, of, stored.value), ...(stamp === undefined ? {} : { follows: stamp }) });
  }
  return wanted;
};

const sameItem = (a: StoredValue, b: StoredValue): boolean =>
  a.generation === b.generation && a.sort === b.sort && a.column === b.column && a.follows === b.follows && isSameValue(a.value, b.value);

/** The writes that make a row's value items what its document asks for. */
export const itemWrites = (
  model: GridModel,
  seen: RowState,
  found: readonly StoredValue[],
  stamp: string | undefined,
): readonly WriteCall<unknown>[] => {
  const writes = partWrites(model.driver, model.value);
  const there = new Map(found.map((one) => [one.fieldId, one]));
  const wanted = wantedItems(model, seen, stamp);
  const puts = [...wanted.values()].filter((one) => {
    const old = there.get(one.fieldId);
    return !old || !sameItem(old, one);
  });
  const gone = found.filter(({ fieldId, follows }) => !wanted.has(fieldId) && (seen.document !== undefined || follows !== undefined));
  return [...puts.map((one) => writes.put(seen.id, { ...one })), ...gone.map(({ fieldId }) => writes.delete(seen.id, { fieldId }))];
};

/** True where the row's value items follow its document, or what is left of one. */
const follows = ({ row, document, list }: RowState): boolean =>
  !row || !list
    ? document === undefined
    : usesDocuments(list.storage) && document?.state === undefined && (!document || currentDocument(list.storage, document) !== undefined);

const PAUSES = { baseDelay: 10, maxDelay: 1000 };
const TRIES = 30;

/**
 * Writes what is missing, if the document is still the one that was read when that takes effect: each transaction checks it.
 * Gives false where it was changed, and the row has to be read again.
 */
export const writeItems = async (
  model: GridModel,
  seen: RowState,
  calls: readonly WriteCall<unknown>[],
  context: CallContext,
): Promise<boolean> => {
  const documents = partWrites(model.driver, model.document);
  const { document, id } = seen;
  const transact = transactOf(model.driver);
  const run = {
    ...(context.signal && { signal: context.signal }),
    deadline: Math.max(1, Math.floor(Math.min(REQUEST_DEADLINE, context.deadline - model.driver.session.effects.now()))),
  };
  for (let at = 0; at < calls.length; at += TRANSACTION_ITEMS - 1) {
    const check = document
      ? documents.check(id, DOCUMENT, { ifVersion: document.version, if: { stamp: document.stamp } })
      : documents.check(id, DOCUMENT, { exists: false });
    const { ok } = await transact([check, ...calls.slice(at, at + TRANSACTION_ITEMS - 1)]).run(run);
    if (!ok) return false;
  }
  return true;
};

const followOne = async (model: GridModel, first: RowState, context: CallContext): Promise<number> => {
  let [seen, changed] = [first as RowState | undefined, 0];
  for (let attempt = 0; seen; attempt++) {
    if (!follows(seen)) return changed;
    const found = await itemsOf(model, seen.id, { consistent: true, context });
    const calls = itemWrites(model, seen, found, seen.document?.stamp);
    if (calls.length === 0) return changed;
    changed += calls.length;
    try {
      if (await writeItems(model, seen, calls, context)) return changed;
    } catch (error) {
      if (!isEdgetableError(error, "execute.ambiguous")) throw error;
    }
    if (attempt + 1 >= TRIES || !(await backOff(model.driver.session.effects, PAUSES, attempt, context)))
      throw new EdgetableError("execute.conflict", `Others kept changing the values of ${exactText(first.id)}. Try again.`, {
        retryable: true,
        details: { row: first.id, tries: attempt + 1 },
      });
    [seen] = await readRows(model, [first.id], context);
  }
  return changed;
};

const ROWS = 50;
const CONCURRENCY = 8;

// What a processor writes was checked when the document was written.
const driverFor = (session: Session): Driver =>
  createDriver({ session, rulesOff: [], validates: false, deadline: undefined, cursorSecret: () => Promise.resolve(undefined) });

/**
 * Compares the value items of a row with its document: those that are wrong, by their fields, each as `missing`, `different`
 * or `unknown` to the document; and the document's version, which tells whether two comparisons are of the same.
 */
export const compareRow = async (session: Session, { node, id }: FollowedRow, context: CallContext): Promise<Item> => {
  const model = gridModel(driverFor(session), node);
  const [seen] = await readRows(model, [id], context);
  if (!seen || !follows(seen)) return {};
  const found = await itemsOf(model, id, { consistent: true, context });
  const there = new Map(found.map((one) => [one.fieldId, one]));
  const wanted = wantedItems(model, seen, seen.document?.stamp);
  const wrong: Record<string, AttributeValue> = {};
  for (const [fieldId, one] of wanted) {
    const old = there.get(fieldId);
    if (!old || !sameItem(old, one)) wrong[fieldId] = { S: old ? "different" : "missing" };
  }
  for (const { fieldId } of found) if (!wanted.has(fieldId)) wrong[fieldId] = { S: "unknown" };
  return { wrong: { M: wrong }, version: { N: String(seen.document?.version ?? 0) } };
};

/** A row whose value items could not be brought up to date, and why. */
export interface FailedRow {
  readonly row: FollowedRow;
  readonly error: Error;
}

/** Makes the value items of some rows of a node type follow their documents. */
export const followRows = async (
  model: GridModel,
  ids: readonly Row[],
  context: CallContext,
): Promise<{ readonly changed: number; readonly failed: readonly FailedRow[] }> => {
  const failed: FailedRow[] = [];
  let changed = 0;
  for (let at = 0; at < ids.length; at += ROWS) {
    await sideBySide(await readRows(model, ids.slice(at, at + ROWS), context), CONCURRENCY, async (one) => {
      try {
        changed += await followOne(model, one, context);
      } catch (error) {
        failed.push({ row: { node: model.node.name, id: one.id }, error: error as Error });
      }
    });
  }
  return { changed, failed };
};

/**
 * Makes the value items of rows follow their documents, from what is stored now: exact however often, late or in whatever
 * order it is asked for. An item is written only while the document is the one that it was computed from.
 *
 * For 50 rows a BatchGetItem and a GetItem for each parent; for each row a Query of its values, and for each 99 values that
 * changed a transaction, of 2 write units for each kilobyte of each item and 2 for the document.
 */
export const followDocuments = async (
  session: Session,
  rows: readonly FollowedRow[],
  context: CallContext,
): Promise<{ readonly changed: number; readonly failed: readonly FailedRow[] }> => {
  const driver = driverFor(session);
  const byNode = new Map<string, Map<string, Row>>();
  for (const { node, id } of rows) byNode.set(node, (byNode.get(node) ?? new Map<string, Row>()).set(exactText(id), id));
  const failed: FailedRow[] = [];
  let changed = 0;
  for (const [node, ids] of byNode) {
    const followed = await followRows(gridModel(driver, node), [...ids.values()], context);
    failed.push(...followed.failed);
    changed += followed.changed;
  }
  return { changed, failed };
};
