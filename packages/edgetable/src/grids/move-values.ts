import type { Driver } from "../client/driver.ts";
import { partWrites } from "../client/writes.ts";
import { EdgetableError, isEdgetableError } from "../errors/edgetable-error.ts";
import { addCosts, type Cost } from "../executor/call.ts";
import { checkLease } from "../executor/jobs/job-store.ts";
import { type Run, step } from "../executor/jobs/run-job.ts";
import type { CallContext } from "../executor/session.ts";
import { exactText } from "../keys/template.ts";
import { decodeItem, shapeOf } from "../requests/decode-item.ts";
import type { ValueStorage } from "../schema/definition.ts";
import { isSystemItem } from "../schema/system-items.ts";
import type { Item, Key } from "../transport/operations.ts";
import type { Row } from "../util/row.ts";
import { changeList, type FieldList, readList } from "./field-list.ts";
import { type GridModel, gridModel, idOf, parentOf } from "./grid-model.ts";
import { followRows, itemWrites, readRows, type SeenRow, writeItems } from "./keep-values.ts";
import { currentDocument, DOCUMENT, itemsOf, withValues, writeDocument } from "./row-document.ts";

/** What is moved, and how fast. */
export interface MoveSettings {
  readonly node: string;
  readonly to: ValueStorage;
  /** Units a second that it may consume. */
  readonly rate: { readonly read: number; readonly write: number };
  /** True to count the rows, and to move nothing. */
  readonly dryRun: boolean;
  /** Called after each page of the table. */
  readonly onPage: (progress: { readonly pass: number; readonly seen: number; readonly found: number }) => void;
}

/** A move under way. */
interface Move extends MoveSettings {
  readonly model: GridModel;
  readonly run: Run;
  /** The lists of the parents whose values this pass found on their way. */
  readonly moving: Map<string, Promise<FieldList>>;
  pass: number;
  seen: number;
  /** Parents and rows that this pass found where they were before. */
  found: number;
  moved: number;
  /** Why a row cannot be moved. */
  refused: EdgetableError | undefined;
}

const PAGE = 200;
const CONCURRENCY = 8;
const LONGEST_CATCH_UP = 1000;

const spend = ({ run }: Move, cost: Cost): void => {
  run.cost = addCosts(run.cost, cost);
};

const refuseChanging = ({ fields, parent }: FieldList): void => {
  const field = fields.find(({ state }) => state !== undefined);
  if (!field) return;
  throw new EdgetableError(
    "grid.retyping",
    `The values of "${field.name}" (${field.fieldId}) of ${exactText(parent)} are being changed: end that change, by the same call, and run the migration again.`,
    { retryable: true, details: { field: field.fieldId, parent } },
  );
};

/** Says in a parent's list that its values are on their way: from then on writers put them where they will be. */
const setOut = async (move: Move, list: FieldList): Promise<FieldList> => {
  const { model, to, run } = move;
  const { result, cost } = await changeList(model, list.parent, { ...(run.signal && { signal: run.signal }) }, (now) => {
    const { storage } = now;
    if (storage.to !== undefined || storage.at === to) return { result: now };
    refuseChanging(now);
    const epoch = to === "document" ? storage.epoch + 1 : storage.epoch;
    const moving = { at: storage.at, to, epoch };
    return { storage: moving, result: { ...now, storage: moving } };
  });
  spend(move, cost);
  return result;
};

/** The list of a parent, on its way if it is not yet where it is to be. */
const prepared = async (move: Move, list: FieldList): Promise<FieldList> => {
  const { storage, parent } = list;
  if (move.dryRun || (storage.to === undefined && storage.at === move.to)) return list;
  const text = exactText(parent);
  let moving = move.moving.get(text);
  if (!moving) {
    if (storage.to === undefined) move.found++;
    move.moving.set(text, (moving = storage.to === undefined ? setOut(move, list) : Promise.resolve(list)));
  }
  return moving;
};

/** Makes a document of a row's items, and lets them follow it. */
const intoDocument = async (move: Move, { id, document }: SeenRow, list: FieldList, context: CallContext): Promise<void> => {
  const { model, run } = move;
  if (!currentDocument(list.storage, document)) {
    const own = (await itemsOf(model, id, { consistent: true, context })).filter(({ follows }) => follows === undefined);
    if (own.length === 0) return;
    move.found++;
    const values = withValues(list, new Map(own.map((one) => [one.fieldId, one])), new Map());
    const written = await writeDocument(model, id, { before: document, epoch: list.storage.epoch, values }, { signal: run.signal });
    // Whoever came before has read the same items.
    if (!written) return;
    spend(move, written.cost);
    move.moved++;
  }
  const { failed } = await followRows(model, [id], context);
  if (failed[0]) throw failed[0].error;
};

/** Makes items of a row's document. While it is leaving, no processor writes items that follow it. */
const intoItems = async (move: Move, seen: SeenRow, list: FieldList, context: CallContext): Promise<void> => {
  const { model, run } = move;
  const { id } = seen;
  const current = currentDocument(list.storage, seen.document);
  if (!current) return;
  move.found++;
  const { epoch } = list.storage;
  let document = current;
  if (current.state !== "leaving") {
    const leaving = { before: current, epoch, values: current.values, state: "leaving" } as const;
    const written = await writeDocument(model, id, leaving, { signal: run.signal });
    if (!written) return;
    spend(move, written.cost);
    document = { ...current, state: "leaving", version: written.version };
  }
  const now = { ...seen, list, document };
  const found = await itemsOf(model, id, { consistent: true, context });
  if (!(await writeItems(model, now, itemWrites(model, now, found, undefined), context))) return;
  const left = { before: document, epoch, values: new Map(), state: "left" } as const;
  const written = await writeDocument(model, id, left, { signal: run.signal });
  if (!written) return;
  spend(move, written.cost);
  move.moved++;
};

/** Moves a row, or notes why it cannot be: the others are moved all the same. */
const moveRow = async (move: Move, seen: SeenRow, context: CallContext): Promise<void> => {
  if (!seen.row || !seen.list) return;
  const list = await prepared(move, seen.list);
  const { at, to } = list.storage;
  if (move.dryRun) {
    if (to !== undefined || at !== move.to) move.found++;
    return;
  }
  try {
    if (to === "document") await intoDocument(move, seen, list, context);
    else if (to === "items") await intoItems(move, seen, list, context);
  } catch (error) {
    if (!isEdgetableError(error, "request.itemTooLarge")) throw error;
    move.refused ??= error;
  }
};

/** The parents and rows that a page of the table tells of: by lists, documents, and items that follow none. */
const takePage = async (move: Move, items: readonly Item[], context: CallContext): Promise<void> => {
  const { model } = move;
  const { catalog } = model.driver;
  const parents: Row[] = [];
  const rows = new Map<string, Row>();
  for (const item of items) {
    const shape = isSystemItem(catalog, item) ? undefined : shapeOf(catalog, catalog.shapes, item);
    if (shape?.kind !== "part") continue;
    const { definition } = shape;
    if (definition === model.names.list) parents.push(parentOf(model, decodeItem(catalog, shape, item)));
    if (definition !== model.names.document && definition !== model.names.value) continue;
    const row = decodeItem(catalog, shape, item);
    const id = idOf(model, row);
    if (row["follows"] === undefined) rows.set(exactText(id), id);
  }
  for (const parent of parents) await prepared(move, await readList(model, parent, context));
  const seen = (await readRows(model, [...rows.values()], context)).values();
  const worker = async (): Promise<void> => {
    for (const one of seen) await moveRow(move, one, context);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
};

/** Reads the table once, strongly consistent, and does what `take` does with each page. */
const runPass = async (move: Move, take: typeof takePage): Promise<void> => {
  const { run, rate } = move;
  const { session } = run;
  const { effects, catalog } = session;
  for (let start: Key | undefined; ;) {
    const before = run.cost;
    const from = start ? { ExclusiveStartKey: start } : {};
    start = await step(run, async (context) => {
      const input = { TableName: catalog.table, Limit: PAGE, ConsistentRead: true, ...from, ReturnConsumedCapacity: "TOTAL" } as const;
      const { Items = [], LastEvaluatedKey } = await session.send("Scan", input, context);
      await take(move, Items, context);
      move.seen += Items.length;
      return LastEvaluatedKey;
    });
    move.onPage(move);
    if (!start) return;
    const spent = Math.max((run.cost.readUnits - before.readUnits) / rate.read, (run.cost.writeUnits - before.writeUnits) / rate.write);
    const now = effects.now();
    run.due = Math.max(run.due, now - LONGEST_CATCH_UP) + spent * 1000;
    if (run.due > now) await effects.sleep(run.due - now, run.signal);
  }
};

/** Says in the lists of parents that their values have arrived. Gives false if some were on their way elsewhere. */
const arrive = async (move: Move): Promise<boolean> => {
  const { model, run } = move;
  let areThere = true;
  for (const list of move.moving.values()) {
    const { parent } = await list;
    const { result, cost } = await changeList(model, parent, { ...(run.signal && { signal: run.signal }) }, ({ storage }) => {
      const { at, to = at, epoch } = storage;
      return { storage: { at: to, epoch }, result: to };
    });
    spend(move, cost);
    if (result !== move.to) areThere = false;
  }
  return areThere;
};

/** Deletes documents that hold nothing any more. */
const removeDocuments: typeof takePage = async (move, items, context) => {
  const { model, run } = move;
  const { catalog } = model.driver;
  const ids = items.flatMap((item) => {
    const shape = isSystemItem(catalog, item) ? undefined : shapeOf(catalog, catalog.shapes, item);
    return shape?.kind === "part" && shape.definition === model.names.document ? [idOf(model, decodeItem(catalog, shape, item))] : [];
  });
  const writes = partWrites(model.driver, model.document);
  for (const { id, document, list } of await readRows(model, ids, context))
    if (document && list?.storage.at === "items" && list.storage.to === undefined)
      spend(move, (await writes.delete(id, DOCUMENT, { ifVersion: document.version }).run({ signal: run.signal })).cost);
};

/**
 * Moves the values of all rows of a node type to another storage, beside readers and writers. Each parent's list first says
 * that its values are on their way, so that whatever is acknowledged afterwards is where they will be or is found by a pass;
 * passes over the table then move what is left, until one finds nothing; then the lists say where the values are. May be cut
 * off and called again at any time: it begins with a new pass.
 *
 * @throws {grid.retyping} while a field of a parent is being retyped or deleted
 * @throws {request.itemTooLarge} when the values of a row are more than one item holds: the others are moved all the same
 */
export const moveValues = async (driver: Driver, run: Run, settings: MoveSettings): Promise<{ readonly moved: number }> => {
  // Every write of the move asks for the lease, as the requests of its steps do.
  const guard = (): void => {
    if (run.lease) checkLease(run.session, run.lease);
  };
  const guarded: Driver = { ...driver, context: (options) => ({ ...driver.context(options), guard }) };
  const model = gridModel(guarded, settings.node);
  const move: Move = { ...settings, model, run, moving: new Map(), pass: 0, seen: 0, found: 0, moved: 0, refused: undefined };
  for (;;) {
    move.moving.clear();
    Object.assign(move, { pass: move.pass + 1, seen: 0, found: 0 });
    await runPass(move, takePage);
    if (move.refused) throw move.refused;
    if (settings.dryRun) return { moved: move.found };
    if (move.found === 0 && (await arrive(move))) break;
  }
  if (settings.to === "items") await runPass(move, removeDocuments);
  return { moved: move.moved };
};
