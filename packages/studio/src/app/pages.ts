import { useEffect, useRef, useState, useSyncExternalStore } from "react";
import { ApiError } from "./api.ts";
import { counted } from "./item-parts.tsx";
import type { WireCost } from "../wire.ts";

/** What a request for one page gives. */
export interface PageAnswer<Row, Mark> {
  readonly rows: readonly Row[];
  readonly next?: string | undefined;
  /** Items that were read, those that a filter left out included. */
  readonly scanned: number;
  readonly cost: WireCost;
  /** What the next page has to know of this one. */
  readonly mark: Mark;
}

/** Reads the page at a cursor; `before` is the mark of the page before it. */
export type ReadPage<Row, Mark> = (
  cursor: string | undefined,
  before: Mark | undefined,
  signal: AbortSignal,
) => Promise<PageAnswer<Row, Mark>>;

interface Page<Row, Mark> {
  readonly cursor: string | undefined;
  readonly next: string | undefined;
  count: number;
  readonly mark: Mark;
  /** Undefined once the page was dropped; it is read again when it is shown. */
  rows: readonly Row[] | undefined;
  used: number;
}

/** Items to read in one request. */
export const PAGE = 200;
/** Pages that stay in memory, the last used ones: some 8,000 rows, whatever the table holds. */
const KEPT = 40;
/** Items that are read without a match before a person is asked whether to go on: reading costs money. */
const UNMATCHED = 10_000;

/** Pages of rows, read forward as they are scrolled. Keeps the cursor of every page, but the rows of a few only. */
export class Pages<Row, Mark = undefined> {
  readonly #read: ReadPage<Row, Mark>;
  readonly #pages: Page<Row, Mark>[] = [];
  /** The first row of each page, and of the next one: a million rows are some thousand pages. */
  readonly #firsts: number[] = [0];
  readonly #ended = new AbortController();
  readonly #loading = new Set<number>();
  readonly #listeners = new Set<() => void>();
  #version = 0;
  #clock = 0;
  #unmatched = 0;
  error: ApiError | undefined;
  scanned = 0;
  readUnits = 0;
  requests = 0;

  constructor(read: ReadPage<Row, Mark>) {
    this.#read = read;
  }

  /** Rows of all pages that were read. */
  get count(): number {
    return this.#firsts.at(-1) ?? 0;
  }

  /** True when the last page was read. */
  get isComplete(): boolean {
    const last = this.#pages.at(-1);
    return last !== undefined && last.next === undefined;
  }

  /** How many rows were read, in words: `200+ items`. */
  size(noun: string): string {
    if (this.isComplete) return counted(this.count, noun);
    if (this.#pages.length > 0) return `${this.count.toLocaleString("en-US")}+ ${noun}s`;
    return this.error ? "not read" : "reading…";
  }

  /** True if many items were read since the last match; `retry` goes on. */
  get isPaused(): boolean {
    return this.#unmatched >= UNMATCHED;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly version = (): number => this.#version;

  close(): void {
    this.#ended.abort();
  }

  /** The row at a place; undefined while its page is read. */
  row(at: number): Row | undefined {
    let [low, high] = [0, this.#pages.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (at < (this.#firsts[middle + 1] ?? 0)) high = middle;
      else low = middle + 1;
    }
    const page = this.#pages[low];
    if (!page || at < 0 || at >= this.count) return undefined;
    page.used = ++this.#clock;
    if (!page.rows) void this.#load(low);
    return page.rows?.[at - (this.#firsts[low] ?? 0)];
  }

  /** The first row in memory that a test takes; reads nothing. */
  held(test: (row: Row) => boolean): Row | undefined {
    for (const { rows } of this.#pages) {
      const found = rows?.find(test);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** Puts another row in the place of one that is in memory, or takes it out. */
  replace(test: (row: Row) => boolean, other: Row | undefined): void {
    for (const page of this.#pages) {
      const at = page.rows?.findIndex(test) ?? -1;
      if (at < 0 || !page.rows) continue;
      page.rows = page.rows.toSpliced(at, 1, ...(other === undefined ? [] : [other]));
      page.count = page.rows.length;
    }
    this.#place(0);
    this.#changed();
  }

  /** Reads the page after the last one. */
  async more(): Promise<void> {
    if (!this.isComplete && !this.isPaused) await this.#load(this.#pages.length);
  }

  /** Reads pages until there are so many rows, or nothing more can be read. */
  async reach(count: number): Promise<void> {
    do await this.more();
    while (this.count < count && !this.isComplete && !this.isPaused && !this.error && !this.#ended.signal.aborted);
  }

  /** Reads on until there is another row, or a person has to be asked again. */
  async findMore(): Promise<void> {
    this.error = undefined;
    this.#unmatched = 0;
    await this.reach(this.count + 1);
  }

  retry(): void {
    this.error = undefined;
    this.#unmatched = 0;
    this.#changed();
    void this.more();
  }

  /** Says anew where pages begin, from one of them on. */
  #place(from: number): void {
    for (let at = from; at < this.#pages.length; at++) this.#firsts[at + 1] = (this.#firsts[at] ?? 0) + (this.#pages[at]?.count ?? 0);
  }

  #changed(): void {
    this.#version++;
    for (const listener of this.#listeners) listener();
  }

  async #load(number: number): Promise<void> {
    if (this.#loading.has(number) || this.error) return;
    this.#loading.add(number);
    const known = this.#pages[number];
    const previous = this.#pages[number - 1];
    const cursor = known ? known.cursor : previous?.next;
    try {
      const { rows, next, scanned, cost, mark } = await this.#read(cursor, previous?.mark, this.#ended.signal);
      this.#pages[number] = { cursor, next, count: rows.length, mark, rows, used: ++this.#clock };
      if (!known || known.count !== rows.length) this.#place(number);
      if (!known) {
        this.scanned += scanned;
        this.#unmatched = rows.length > 0 ? 0 : this.#unmatched + scanned;
      }
      this.readUnits += cost.readUnits;
      this.requests += cost.requests;
      this.#drop();
    } catch (error) {
      if (this.#ended.signal.aborted) return;
      this.error = error instanceof ApiError ? error : new ApiError("studio.gone", String(error));
    } finally {
      this.#loading.delete(number);
    }
    this.#changed();
  }

  #drop(): void {
    const held = this.#pages.slice(0, -1).filter(({ rows }) => rows);
    if (held.length < KEPT) return;
    const [oldest] = held.sort((a, b) => a.used - b.used);
    if (oldest) oldest.rows = undefined;
  }
}

/** A list that is read anew is read as far as before only up to so many rows: reading costs money. */
const AGAIN = 4000;

/**
 * The pages that `open` begins, opened anew when `key` changes, with a function that opens them again. What was opened again is
 * shown once it reaches as far as before, so that a reader keeps the place.
 *
 * @param key says what `open` opens
 */
export const usePages = <Row, Mark>(key: string, open: () => Pages<Row, Mark>): readonly [Pages<Row, Mark>, () => void] => {
  const [again, setAgain] = useState({ count: 0 });
  const [pages, setPages] = useState(open);
  const last = useRef(again);
  // The first pages are open already, and may have begun to read.
  const first = useRef<Pages<Row, Mark> | undefined>(pages);
  useEffect(() => {
    const fresh = first.current ?? open();
    first.current = undefined;
    const count = last.current === again || again.count > AGAIN ? 0 : again.count;
    last.current = again;
    let isEnded = false;
    if (count === 0) setPages(fresh);
    void fresh.reach(count).then(() => isEnded || setPages(fresh));
    return () => {
      isEnded = true;
      fresh.close();
    };
  }, [key, again]);
  useSyncExternalStore(pages.subscribe, pages.version);
  return [pages, () => setAgain({ count: pages.count })];
};
