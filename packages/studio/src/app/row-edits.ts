import type { RowChange, WireCell, WireRow, WriteAnswer } from "../wire.ts";
import { messageOf, post } from "./api.ts";
import { isRow, showPlain } from "./pattern-answer.tsx";

/** Changes of one row that are not written yet. */
interface PendingRow {
  readonly id: WireRow;
  /** The row as it was read; of each cell that waits, what it held when its change began. */
  was: WireRow;
  readonly cells: Map<string, WireCell>;
  problem: string | undefined;
}

/**
 * A row as it is now, with the values of users' fields from before, unless the answer tells them.
 *
 * @param sent the cells that were sent: an answer to such a field tells all values of the row, and may have none
 */
export const withFields = (before: WireRow | undefined, now: WireRow, sent: Iterable<string>): WireRow => {
  const isField = (name: string): boolean => name.startsWith("field:");
  if (!before || [...sent, ...Object.keys(now)].some(isField)) return now;
  return { ...now, ...Object.fromEntries(Object.entries(before).filter(([name]) => isField(name))) };
};

/** Changes of rows that wait until they are saved, and what became of those that were refused. */
export class RowEdits {
  readonly #type: string;
  readonly #rows = new Map<string, PendingRow>();
  #undo: { readonly key: string; readonly name: string; readonly run: () => void }[] = [];
  readonly #listeners = new Set<() => void>();
  #version = 0;
  isSaving = false;

  constructor(type: string) {
    this.#type = type;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly version = (): number => this.#version;

  get rows(): number {
    return this.#rows.size;
  }

  /** Cells that wait. */
  get count(): number {
    return [...this.#rows.values()].reduce((sum, { cells }) => sum + cells.size, 0);
  }

  /** What waits for a cell; undefined if nothing does. */
  cell(key: string, name: string): WireCell | undefined {
    return this.#rows.get(key)?.cells.get(name);
  }

  /** Why a row was not written. */
  problem(key: string): string | undefined {
    return this.#rows.get(key)?.problem;
  }

  /** The first problem, for the bar. */
  get firstProblem(): string | undefined {
    return [...this.#rows.values()].find(({ problem }) => problem !== undefined)?.problem;
  }

  /** Lets a change wait; undefined takes it back. */
  change(key: string, row: { readonly id: WireRow; readonly was: WireRow }, name: string, cell: WireCell | undefined): void {
    const before = this.cell(key, name);
    this.#undo.push({ key, name, run: () => this.#put(key, row, name, before) });
    this.#put(key, row, name, cell);
    this.#changed();
  }

  undo(): void {
    this.#undo.pop()?.run();
    this.#changed();
  }

  discard(): void {
    this.#rows.clear();
    this.#undo = [];
    this.#changed();
  }

  /** Discards what waits for a row that is gone. */
  forget(key: string): void {
    this.#rows.delete(key);
    this.#keepUndo();
    this.#changed();
  }

  /** Writes what waits now, row after row; what is refused keeps waiting, with the reason. */
  async save(onRow: (key: string, row: WireRow | undefined, sent: Iterable<string>) => void): Promise<void> {
    if (this.isSaving) return;
    this.isSaving = true;
    this.#changed();
    try {
      const begun = [...this.#rows].map(([key, { cells }]) => [key, new Map(cells)] as const);
      for (const [key, cells] of begun) {
        const pending = this.#rows.get(key);
        // What was taken back or changed since then is not written.
        const sent = new Map([...cells].filter(([name, cell]) => pending?.cells.get(name) === cell));
        if (!pending || sent.size === 0) continue;
        const { id, was } = pending;
        const seen = Object.fromEntries([...sent.keys()].filter((name) => was[name] !== undefined).map((name) => [name, was[name]]));
        const body: RowChange = { type: this.#type, id, set: Object.fromEntries(sent), was: seen };
        try {
          const { ok, problem, row } = await post<WriteAnswer>("rows/change", body);
          onRow(key, row, sent.keys());
          this.#settle(key, sent, { row, problem, isWritten: ok });
        } catch (error) {
          const still = this.#rows.get(key);
          if (still) still.problem = messageOf(error);
        }
        this.#changed();
      }
      this.#keepUndo();
    } finally {
      this.isSaving = false;
      this.#changed();
    }
  }

  /** What still waits can be taken back, also after it was refused. */
  #keepUndo(): void {
    this.#undo = this.#undo.filter(({ key }) => this.#rows.has(key));
  }

  /** Leaves out what was written: what was changed while the row was written still waits. */
  #settle(
    key: string,
    sent: ReadonlyMap<string, WireCell>,
    { row, problem, isWritten }: { readonly row: WireRow | undefined; readonly problem: string | undefined; readonly isWritten: boolean },
  ): void {
    const pending = this.#rows.get(key);
    const { cells = new Map<string, WireCell>(), was = {} } = pending ?? {};
    if (isWritten) {
      for (const [name, cell] of sent) if (cells.get(name) === cell) cells.delete(name);
      this.#undo = this.#undo.filter((one) => one.key !== key || !sent.has(one.name) || cells.has(one.name));
    }
    if (!pending) return;
    // Of a cell that was not sent, nobody has seen what is stored now.
    const unseen = [...cells.keys()].filter((name) => !sent.has(name)).map((name) => [name, was[name]] as const);
    if (row) pending.was = { ...withFields(was, row, sent.keys()), ...Object.fromEntries(unseen) };
    pending.problem = problem;
    if (cells.size === 0) this.#rows.delete(key);
  }

  #put(key: string, { id, was }: { readonly id: WireRow; readonly was: WireRow }, name: string, cell: WireCell | undefined): void {
    const pending = this.#rows.get(key) ?? { id, was, cells: new Map<string, WireCell>(), problem: undefined };
    // The row may have been read anew since another of its cells was changed.
    if (!pending.cells.has(name)) pending.was = { ...pending.was, [name]: was[name] };
    if (cell === undefined) pending.cells.delete(name);
    else pending.cells.set(name, cell);
    pending.problem = undefined;
    if (pending.cells.size > 0) this.#rows.set(key, pending);
    else this.#rows.delete(key);
  }

  #changed(): void {
    this.#version++;
    for (const listener of this.#listeners) listener();
  }
}

/** What waits to be written, by type: another view of the page does not lose it. */
const kept = new Map<string, RowEdits>();

/** What waits to be written to rows of a type. The browser asks before it leaves a page with such changes. */
export const editsOf = (type: string): RowEdits => {
  const known = kept.get(type);
  if (known) return known;
  const edits = new RowEdits(type);
  kept.set(type, edits);
  addEventListener("beforeunload", (event) => {
    if (edits.count > 0) event.preventDefault();
  });
  return edits;
};

/** A text that was edited, with the line breaks of the stored one: a text area makes `\n` of each. */
export const withBreaksOf = (stored: string, text: string): string => {
  const plain = stored.replaceAll(/\r\n?/g, "\n");
  if (text === plain) return stored;
  return plain.length < stored.length && !/(?<!\r)\n/.test(stored) ? text.replaceAll(/\r?\n/g, "\r\n") : text;
};

const membersOf = (value: unknown): readonly unknown[] | undefined => {
  const { $set: members } = (typeof value === "object" && value !== null ? value : {}) as { readonly $set?: readonly unknown[] };
  return Array.isArray(members) ? members : undefined;
};

/** The text by which a value is edited: the server reads it back as a value of the same type. */
export const editText = (value: unknown): string => {
  const members = membersOf(value)?.map(showPlain);
  // As it came: the server would read what it holds as one of the forms that JSON lacks.
  if (isRow(value) && "$object" in value) return JSON.stringify(value);
  if (!members) return showPlain(value);
  // Without a JSON list, a comma would divide a member, and space around it would be lost.
  return members.some((one) => /,|^\[|^\s|\s$|^$/.test(one)) ? JSON.stringify(members) : members.join(", ");
};

const csvCell = (text: string): string => (/[",\r\n]/.test(text) || text.trim() !== text ? `"${text.replaceAll('"', '""')}"` : text);

/** Rows as CSV: each cell as it is edited, so that an import reads it back. */
export const csvOf = (columns: readonly string[], rows: readonly WireRow[]): string =>
  [columns.map(csvCell), ...rows.map((row) => columns.map((name) => csvCell(editText(row[name]))))]
    .map((cells) => `${cells.join(",")}\r\n`)
    .join("");
