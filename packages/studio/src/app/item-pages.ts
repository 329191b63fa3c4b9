import { ApiError, get } from "./api.ts";
import type { ItemsAnswer, WireItem } from "../wire.ts";

/** Which items a table shows. */
export interface ItemsQuery {
  readonly index: string | undefined;
  readonly partition: string | undefined;
  readonly types: string | undefined;
}

/** One row of the table: an item and its place among the items of its partition. */
export interface TableRow {
  readonly item: WireItem;
  /** The partition key's text. */
  readonly partition: string;
  readonly first: boolean;
  /** Partitions are banded: every second one is shaded. */
  readonly shaded: boolean;
  readonly group: Group;
}

/** The items of one partition, as far as they are in one page. */
export interface Group {
  readonly items: number;
  readonly bytes: number;
  /** False if the partition may begin before the page or go on after it. */
  readonly isWhole: boolean;
}

interface Band {
  readonly partition: string | undefined;
  readonly shaded: boolean;
}

interface Page {
  readonly cursor: string | undefined;
  readonly next: string | undefined;
  readonly count: number;
  /** The partition and the band of the item before the page, and of its last one. */
  readonly before: Band;
  readonly after: Band;
  /** Undefined once the page was dropped; it is read again when it is shown. */
  rows: readonly TableRow[] | undefined;
  used: number;
}

const PAGE = 200;
/** Pages that stay in memory, the last used ones: some 8,000 items, whatever the table holds. */
const KEPT = 40;
/** Items that are read without a match before a person is asked whether to go on: reading costs money. */
const UNMATCHED = 10_000;

/** Pages of items, read forward as the table is scrolled. Keeps the cursor of every page, but the items of a few only. */
export class ItemPages {
  readonly #query: ItemsQuery;
  readonly #keyAttribute: string;
  readonly #pages: Page[] = [];
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

  constructor(query: ItemsQuery, keyAttribute: string) {
    this.#query = query;
    this.#keyAttribute = keyAttribute;
  }

  /** Items of all pages that were read. */
  get count(): number {
    return this.#pages.reduce((sum, { count }) => sum + count, 0);
  }

  /** True when the last page was read. */
  get isComplete(): boolean {
    const last = this.#pages.at(-1);
    return last !== undefined && last.next === undefined;
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
  row(at: number): TableRow | undefined {
    let first = 0;
    for (const [number, page] of this.#pages.entries()) {
      if (at < first + page.count) {
        page.used = ++this.#clock;
        if (!page.rows) void this.#load(number);
        return page.rows?.[at - first];
      }
      first += page.count;
    }
    return undefined;
  }

  /** The first item in memory that a test takes; reads nothing. */
  held(test: (item: WireItem) => boolean): WireItem | undefined {
    for (const { rows } of this.#pages) {
      const found = rows?.find(({ item }) => test(item));
      if (found) return found.item;
    }
    return undefined;
  }

  /** Reads the page after the last one. */
  async more(): Promise<void> {
    if (!this.isComplete && !this.isPaused) await this.#load(this.#pages.length);
  }

  retry(): void {
    this.error = undefined;
    this.#unmatched = 0;
    this.#changed();
    void this.more();
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
      const { index, partition, types } = this.#query;
      const query = { index, partition, types, cursor, limit: String(PAGE) };
      const answer = await get<ItemsAnswer>("items", query, this.#ended.signal);
      const before = previous?.after ?? { partition: undefined, shaded: true };
      const rows = this.#rowsOf(answer, before);
      const last = rows.at(-1);
      const after = last ? { partition: last.partition, shaded: last.shaded } : before;
      this.#pages[number] = { cursor, next: answer.next, count: rows.length, before, after, rows, used: ++this.#clock };
      if (!known) {
        this.scanned += answer.scanned;
        this.#unmatched = rows.length > 0 ? 0 : this.#unmatched + answer.scanned;
      }
      this.readUnits += answer.cost.readUnits;
      this.requests += answer.cost.requests;
      this.#drop();
    } catch (error) {
      if (this.#ended.signal.aborted) return;
      this.error = error instanceof ApiError ? error : new ApiError("studio.gone", String(error));
    } finally {
      this.#loading.delete(number);
    }
    this.#changed();
  }

  #rowsOf({ items, next }: ItemsAnswer, before: Band): readonly TableRow[] {
    let { partition, shaded } = before;
    let group = { items: 0, bytes: 0, isWhole: false };
    const rows = items.map((item): TableRow => {
      const own = (item.keys[this.#keyAttribute] ?? []).map(({ text }) => text).join("");
      const first = own !== partition;
      if (first) {
        shaded = !shaded;
        group = { items: 0, bytes: 0, isWhole: true };
      }
      partition = own;
      group.items++;
      group.bytes += item.bytes;
      return { item, partition: own, first, shaded, group };
    });
    if (next !== undefined) group.isWhole = false;
    return rows;
  }

  #drop(): void {
    const held = this.#pages.slice(0, -1).filter(({ rows }) => rows);
    if (held.length < KEPT) return;
    const [oldest] = held.sort((a, b) => a.used - b.used);
    if (oldest) oldest.rows = undefined;
  }
}
