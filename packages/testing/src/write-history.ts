import type { Item } from "edgetable";

/** Locks all of the keys. Resolves, once they are free, to the function that unlocks them. */
export type LockKeys = (keys: readonly string[]) => Promise<() => void>;

/**
 * One writer at a time for each key, in order of arrival. All keys of a writer are queued in one step, so writers wait only
 * for earlier ones and cannot deadlock.
 */
const createKeyLocks = (): LockKeys => {
  const last = new Map<string, Promise<void>>();
  return async (keys) => {
    const earlier = keys.map((key) => last.get(key) ?? Promise.resolve());
    let unlock = (): void => undefined;
    const done = new Promise<void>((resolve) => {
      unlock = resolve;
    });
    for (const key of keys) last.set(key, done);
    await Promise.all(earlier);
    return () => {
      for (const key of keys) if (last.get(key) === done) last.delete(key);
      unlock();
    };
  };
};

/** Items of one table by their key's text; undefined if there was no item. */
export type Images = ReadonlyMap<string, Item | undefined>;

/** One write request to one table, with its items as they were before. */
export interface Write {
  readonly before: Images;
  /** Ordinal among the table's writes; infinite until its outcome is known. */
  readonly ordinal: number;
  /** When its outcome was known; infinite until then. */
  readonly at: number;
}

/** Tells which writes are still invisible, item by item. */
export type Unseen = (write: Write, key: string, newest: number) => boolean;

/** The items that replace present ones to show the past. Later writes update it until it is closed. */
export interface PastView {
  readonly images: Images;
  close(): void;
}

/** How much of the past is kept. */
export interface Retention {
  readonly writes: number;
  readonly milliseconds: number;
}

/**
 * The recent writes, by table: enough to undo them for a reader.
 *
 * A write is recorded with its items as they are, before it is sent and while its keys are locked. Undoing a write that did
 * not take effect therefore changes nothing.
 */
export interface WriteHistory {
  readonly lock: LockKeys;
  /** Records a write before it is sent. Returns the function to call with its outcome. */
  begin(table: string, before: Images): (outcome: "done" | "refused", now: number) => void;
  view(table: string, unseen: Unseen): PastView;
  /** Keeps at least so much from now on. */
  retain(more: Retention): void;
  /** Makes every finished write visible. */
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
  // Oldest first: an item's first unseen write has its state before all of them.
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
 * A history for fault transports whose clients write the same tables: each sees the others' writes with lag too.
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
