import type { Driver } from "../client/driver.ts";
import { partWrites } from "../client/writes.ts";
import { EdgetableError, isEdgetableError } from "../errors/edgetable-error.ts";
import { addCosts, type Cost } from "../executor/call.ts";
import { checkLease } from "../executor/jobs/job-store.ts";
import { keepRate, type Rate, type Run, step } from "../executor/jobs/run-job.ts";
import type { CallContext } from "../executor/session.ts";
import { exactText } from "../keys/template.ts";
import { decodeItem, shapeOf } from "../requests/decode-item.ts";
import type { MoveState } from "../executor/model-record.ts";
import { isSystemItem } from "../schema/system-kinds.ts";
import type { Item } from "../transport/operations.ts";
import type { Row } from "../util/row.ts";
import { sideBySide } from "../util/side-by-side.ts";
import { changeList, type FieldList, listOf, readList } from "./field-list.ts";
import { type GridModel, gridModel, idOf, parentOf } from "./grid-model.ts";
import { followRows, itemWrites, readRows, type RowState, writeItems } from "./keep-values.ts";
import { costOfWrite, currentDocument, DOCUMENT, itemsOf, withValues, writeDocument } from "./row-document.ts";

/** What is moved, from where on, and how fast. */
export interface MoveSettings {
  readonly node: string;
  /** How far earlier runs have come. Changed with each page, for the job to save. */
  readonly state: MoveState;
  /** Units a second that it may consume. */
  readonly rate: Rate;
  /** True to count the rows, and to move nothing. */
  readonly dryRun: boolean;
  /** Called after each page of the table. */
  readonly onPage: () => void;
}

/** A move under way. */
interface Move extends MoveSettings {
  readonly model: GridModel;
  readonly run: Run;
  /** What a page of the table has come to: added to the state when the page is done. */
  page: { found: number; moved: number; isProof: boolean };
  /** Parents whose lists are being changed, on this page. */
  readonly moving: Map<string, Promise<FieldList>>;
  /** Why a row cannot be moved. */
  refused: EdgetableError | undefined;
}

const PAGE = 200;
const CONCURRENCY = 8;

const spend = ({ run }: Move, cost: Cost): void => {
  run.cost = addCosts(run.cost, cost);
};

/** Says in a parent's list that its values are on their way: from then on writers put them where they will be. */
const setOut = async (move: Move, list: FieldList): Promise<FieldList> => {
  const { model, run, state } = move;
  const { to, pass } = state;
  const { result, cost } = await changeList(model, list.parent, { ...(run.signal && { signal: run.signal }) }, (now) => {
    const { storage } = now;
    if (storage.to !== undefined || storage.at === to) return { result: now };
    const changing = now.fields.find((field) => field.state !== undefined);
    if (changing)
      throw new EdgetableError(
        "grid.retyping",
        `The values of "${changing.name}" (${changing.fieldId}) of ${exactText(now.parent)} are being changed: finish that change with the same call, then run the migration again.`,
        { retryable: true, details: { field: changing.fieldId, parent: now.parent } },
      );
    const epoch = to === "document" ? storage.epoch + 1 : storage.epoch;
    const moving = { at: storage.at, to, pass, epoch };
    return { storage: moving, result: { ...now, storage: moving } };
  });
  spend(move, cost);
  return result;
};

/** The list of a parent, on its way if it is not yet where it is to be. */
const prepared = async (move: Move, list: FieldList): Promise<FieldList> => {
  const { storage, parent } = list;
  const { state, page, moving } = move;
  if (move.dryRun || (storage.to === undefined && storage.at === state.to)) return list;
  // What this pass read before the parent was told may have been written since, also where another run told it.
  if (storage.to === undefined || storage.pass === state.pass) page.isProof = false;
  if (storage.to !== undefined) return list;
  const text = exactText(parent);
  let change = moving.get(text);
  if (!change) {
    page.found++;
    moving.set(text, (change = setOut(move, list)));
  }
  return change;
};

/** Makes a document of a row's items, and lets them follow it. */
const intoDocument = async (move: Move, { id, document }: RowState, list: FieldList, context: CallContext): Promise<void> => {
  const { model, run } = move;
  if (!currentDocument(list.storage, document)) {
    const own = (await itemsOf(model, id, { consistent: true, context })).filter(({ follows }) => follows === undefined);
    if (own.length === 0) return;
    move.page.found++;
    const values = withValues(list, new Map(own.map((one) => [one.fieldId, one])), new Map());
    const written = await writeDocument(model, id, { before: document, epoch: list.storage.epoch, values }, { signal: run.signal });
    // Earlier callers have read the same items.
    if (!written) return;
    spend(move, written.cost);
    move.page.moved++;
  }
  const { failed } = await followRows(model, [id], context);
  if (failed[0]) throw failed[0].error;
};

/** Makes items of a row's document. While it is leaving, no processor writes items that follow it. */
const intoItems = async (move: Move, seen: RowState, list: FieldList, context: CallContext): Promise<void> => {
  const { model, run } = move;
  const { id } = seen;
  const current = currentDocument(list.storage, seen.document);
  if (!current) return;
  move.page.found++;
  const { epoch } = list.storage;
  let document = current;
  const leaveToNextPass = (): void => void (move.page.isProof = false);
  if (current.state !== "leaving") {
    const leaving = { before: current, epoch, values: current.values, state: "leaving" } as const;
    const written = await writeDocument(model, id, leaving, { signal: run.signal });
    if (!written) return leaveToNextPass();
    spend(move, written.cost);
    document = { ...current, state: "leaving", version: written.version };
  }
  const now = { ...seen, list, document };
  const found = await itemsOf(model, id, { consistent: true, context });
  if (!(await writeItems(model, now, itemWrites(model, now, found, undefined), context))) return leaveToNextPass();
  const left = { before: document, epoch, values: new Map(), state: "left" } as const;
  const written = await writeDocument(model, id, left, { signal: run.signal });
  if (!written) return leaveToNextPass();
  spend(move, written.cost);
  move.page.moved++;
};

/** Moves a row, or notes why it cannot be: the others are moved all the same. */
const moveRow = async (move: Move, seen: RowState, context: CallContext): Promise<void> => {
  if (!seen.row || !seen.list) return;
  const list = await prepared(move, seen.list);
  const { at, to } = list.storage;
  if (move.dryRun) {
    if (to !== undefined || at !== move.state.to) move.page.found++;
    return;
  }
  try {
    if (to === "document") await intoDocument(move, seen, list, context);
    else if (to === "items") await intoItems(move, seen, list, context);
  } catch (error) {
    if (!isEdgetableError(error, "request.itemTooLarge")) throw error;
    move.refused ??= error;
    move.page.isProof = false;
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
  await sideBySide(await readRows(model, [...rows.values()], context), CONCURRENCY, async (one) => moveRow(move, one, context));
};

/** Reads the table from where the pass stands to its end, strongly consistent, and does what `take` does with each page. */
const runPass = async (move: Move, take: typeof takePage): Promise<void> => {
  const { run, rate, state } = move;
  const { session } = run;
  const { catalog } = session;
  for (;;) {
    const before = run.cost;
    const from = state.start ? { ExclusiveStartKey: state.start } : {};
    move.page = { found: 0, moved: 0, isProof: true };
    move.moving.clear();
    const { items, next } = await step(run, async (context) => {
      const input = { TableName: catalog.table, Limit: PAGE, ConsistentRead: true, ...from, ReturnConsumedCapacity: "TOTAL" } as const;
      const { Items = [], LastEvaluatedKey } = await session.send("Scan", input, context);
      await take(move, Items, context);
      return { items: Items.length, next: LastEvaluatedKey };
    });
    const { found, moved, isProof } = move.page;
    // All at once, without a turn of the event loop in between: the job saves them together.
    Object.assign(state, {
      start: next,
      seen: state.seen + items,
      found: state.found + found,
      moved: state.moved + moved,
      isProof: state.isProof && isProof,
    });
    move.onPage();
    if (!next) return;
    await keepRate(run, before, rate);
  }
};

/** Says in the lists on a page that their values have arrived, and deletes documents that hold nothing any more. */
const arrive: typeof takePage = async (move, items, context) => {
  const { model, run, state, page } = move;
  const { catalog } = model.driver;
  const documents: Row[] = [];
  const told = { ...(run.signal && { signal: run.signal }) };
  const settle = async (parent: Row): Promise<void> => {
    const { result, cost } = await changeList(model, parent, told, ({ storage }) => {
      const { at, to, epoch } = storage;
      return to === undefined ? { result: at } : { storage: { at: to, epoch }, result: to };
    });
    spend(move, cost);
    // A program of the model before has defined a parent's first field, or the values were on their way elsewhere.
    if (result !== state.to) page.isProof = false;
  };
  for (const item of items) {
    const shape = isSystemItem(catalog, item) ? undefined : shapeOf(catalog, catalog.shapes, item);
    if (shape?.kind !== "part") continue;
    if (shape.definition === model.names.document) documents.push(idOf(model, decodeItem(catalog, shape, item)));
    if (shape.definition !== model.names.list) continue;
    const row = decodeItem(catalog, shape, item);
    const { parent, storage } = listOf(model, parentOf(model, row), row);
    // Saved views are an item of the same kind.
    if (row["fields"] !== undefined && (storage.to !== undefined || storage.at !== state.to)) await settle(parent);
  }
  if (state.to !== "items") return;
  const writes = partWrites(model.driver, model.document);
  for (const { id, document, list } of await readRows(model, documents, context)) {
    if (list?.storage.to !== undefined) await settle(list.parent);
    if (document && list && (list.storage.to ?? list.storage.at) === "items")
      spend(move, await costOfWrite(writes.delete(id, DOCUMENT, { ifVersion: document.version }).run({ signal: run.signal })));
  }
};

/**
 * Moves the values of all rows of a node type to another storage, beside readers and writers. Each parent's list first says
 * that its values are on their way, so that whatever is acknowledged afterwards is where they will be or is found by a pass;
 * passes over the table move rows until one has begun after all parents were told and has left no row behind; a last pass
 * says in the lists where the values are. May be cut off and called again at any time: `state` says where it resumes.
 *
 * @throws {grid.retyping} while a field of a parent is being retyped or deleted
 * @throws {request.itemTooLarge} when the values of a row are more than one item holds: the others are moved all the same
 */
export const moveValues = async (driver: Driver, run: Run, settings: MoveSettings): Promise<void> => {
  // Every write of the move asks for the lease, as the requests of its steps do.
  const guard = (): void => {
    if (run.lease) checkLease(run.session, run.lease);
  };
  const guarded: Driver = { ...driver, context: (options) => ({ ...driver.context(options), guard }) };
  const model = gridModel(guarded, settings.node);
  const move: Move = { ...settings, model, run, page: { found: 0, moved: 0, isProof: true }, moving: new Map(), refused: undefined };
  const { state } = settings;
  while (state.phase !== "done") {
    await runPass(move, state.phase === "rows" ? takePage : arrive);
    const { refused } = move;
    if (settings.dryRun) {
      Object.assign(state, { moved: state.found, phase: "done" });
      return;
    }
    const ended = state.phase === "rows" ? "arrival" : "done";
    const phase = state.isProof ? ended : "rows";
    Object.assign(state, { phase, pass: state.pass + 1, start: undefined, seen: 0, found: 0, isProof: true });
    move.refused = undefined;
    if (refused) throw refused;
  }
};
