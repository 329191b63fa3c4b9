import type { Item } from "edgetable";
import { createKeyLocks, type LockKeys } from "./key-locks.ts";

/** Items of one table by the text of their key; `undefined` where there was no item. */
export type Images = ReadonlyMap<string, Item | undefined>;

/** One write request, as one table saw it: what its items were before. */
export interface Write {
  readonly before: Images;
  /** Ordinal among the table's writes; infinite until its outcome is known. */
  readonly ordinal: number;
  /** When its outcome was known; infinite until then. */
  readonly at: number;
}

/** Which writes are still invisible, item by item. */
export type Unseen = (write: Write, key: string, newest: number) => boolean;

/** What to put in place of present items to see the past; it follows the writes until it is closed. */
export interface PastView {
  readonly images: Images;
  close(): void;
}

/** How much of the past must stay known. */
export interface Retention {
  readonly writes: number;
  readonly milliseconds: number;
}

/**
 * The writes of the recent past, by table: enough to undo them in a reader's eyes.
 *
 * Law: a write is recorded, with its items as they are, before it is sent and while its keys are
 * locked; so undoing a write that did not take effect changes nothing.
 */
export interface WriteHistory {
  readonly lock: LockKeys;
  /** Records a write about to be sent; gives what to call once its outcome is known. */
  begin(table: string, before: Images): (outcome: "done" | "refused", now: number) => void;
  view(table: string, unseen: Unseen): PastView;
  /** Keeps at least so much, whatever was asked before. */
  retain(more: Retention): void;
  /** Makes every write that is done visible to all. */
  settle(): void;
  forget(table: string): void;
}

interface OpenView {
  readonly images: Map<string, Item | undefined>;
}
interface TableHistory {
  newest: number;
  done: Write[];
  readonly pending: Set<Write>;
  readonly views: Set<OpenView>;
}

const addFirst = (images: Map<string, Item | undefined>, before: Images, chosen: (key: string) => boolean): void => {
  for (const [key, item] of before) if (!images.has(key) && chosen(key)) images.set(key, item);
};

const openView = (table: TableHistory, unseen: Unseen): PastView => {
  const view: OpenView = { images: new Map() };
  // From the oldest on: the first unseen write of an item knows what it was before all of them.
  for (const write of [...table.done, ...table.pending]) addFirst(view.images, write.before, (key) => unseen(write, key, table.newest));
  table.views.add(view);
  return { images: view.images, close: () => void table.views.delete(view) };
};

const prune = (table: TableHistory, keep: Retention, now: number): void => {
  const needed = ({ ordinal, at }: Write): boolean => ordinal > table.newest - keep.writes || at >= now - keep.milliseconds;
  const first = table.done.findIndex(needed);
  table.done = first < 0 ? [] : table.done.slice(first);
};

const beginWrite = (table: TableHistory, before: Images, keep: () => Retention): ReturnType<WriteHistory["begin"]> => {
  const pending: Write = { before, ordinal: Infinity, at: Infinity };
  table.pending.add(pending);
  for (const view of table.views) addFirst(view.images, before, () => true);
  return (outcome, now) => {
    table.pending.delete(pending);
    if (outcome === "refused") return;
    table.newest++;
    table.done.push({ before, ordinal: table.newest, at: now });
    prune(table, keep(), now);
  };
};

/**
 * A history to share between fault transports whose clients write the same tables, so that each sees
 * the others' writes with lag, too.
 *
 * @example
 * const history = createWriteHistory();
 * const clients = [1, 2, 3].map((seed) => createFaultTransport(inner, { seed, history, lag: { writes: 5 } }));
 */
export const createWriteHistory = (): WriteHistory => {
  const tables = new Map<string, TableHistory>();
  let keep: Retention = { writes: 0, milliseconds: 0 };
  const tableOf = (name: string): TableHistory => {
    const table = tables.get(name) ?? { newest: 0, done: [], pending: new Set(), views: new Set() };
    tables.set(name, table);
    return table;
  };
  return {
    lock: createKeyLocks(),
    begin: (table, before) => beginWrite(tableOf(table), before, () => keep),
    view: (table, unseen) => openView(tableOf(table), unseen),
    retain: (more) => {
      keep = { writes: Math.max(keep.writes, more.writes), milliseconds: Math.max(keep.milliseconds, more.milliseconds) };
    },
    settle: () => {
      for (const table of tables.values()) table.done = [];
    },
    forget: (table) => void tables.delete(table),
  };
};
