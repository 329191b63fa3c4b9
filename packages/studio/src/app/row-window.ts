import { useLayoutEffect, useMemo, useRef, useSyncExternalStore, type RefObject } from "react";

/** Pixels of a scrolled element at most: Firefox draws nothing beyond some 17.8 million, Chromium beyond 33.5. */
const TALLEST = 15_000_000;
/** Pixels of a line, of a wheel that counts in lines. */
const LINE = 16;
/** Rows of a long list are placed from multiples of so many pixels on: a transform has single precision. */
const BLOCK = 1_000_000;

/** The rows that are drawn: the same object until others are. */
interface Range {
  readonly first: number;
  readonly last: number;
  /** The first row below the upper edge. */
  readonly top: number;
}

interface Settings {
  /** Pixels of a row. */
  readonly row: number;
  readonly overscan: number;
}

/** Where a list of rows of one height is: pixels of the whole list, and where the scroll bar stands for them. */
class RowWindow {
  readonly #settings: Settings;
  readonly #listeners = new Set<() => void>();
  #count = 0;
  #range: Range = { first: 0, last: -1, top: 0 };
  /** The element that scrolls, the one that holds the rows, and pixels of what is above them. */
  #scroller: HTMLElement | undefined;
  #holder: HTMLElement | undefined;
  #head = 0;
  /** Pixels of the view. */
  #view = 0;
  /** The place in the list, and the position of the scroll bar. */
  #place = 0;
  #top = 0;

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly range = (): Range => this.#range;

  /** Pixels of the element that stands for all rows. */
  static heightOf = (count: number, row: number): number => Math.min(count * row, TALLEST);

  /** Pixels of all rows beyond what an element can be high. */
  get #beyond(): number {
    const { row } = this.#settings;
    return this.#count * row - RowWindow.heightOf(this.#count, row);
  }

  /** Pixels of the list for each pixel of the scroll bar; 1 for a list that fits into an element. */
  get #scale(): number {
    const most = Math.max(1, RowWindow.heightOf(this.#count, this.#settings.row) + this.#head - this.#view);
    return (most + this.#beyond) / most;
  }

  attach(scroller: HTMLElement, holder: HTMLElement): () => void {
    this.#scroller = scroller;
    this.#holder = holder;
    const onScroll = (): void => {
      const top = scroller.scrollTop;
      // A position that was set is rounded, and the place is known more exactly.
      if (Math.abs(top - this.#top) >= 1) this.#place = top * this.#scale;
      this.#top = top;
      this.#moved();
    };
    const onWheel = (event: WheelEvent): void => {
      if (this.#beyond === 0 || event.ctrlKey || event.deltaY === 0) return;
      event.preventDefault();
      this.#goTo(this.#place + event.deltaY * ([1, LINE, this.#view][event.deltaMode] ?? 1));
    };
    const sized = new ResizeObserver(() => {
      this.#measure();
      this.#moved();
    });
    sized.observe(scroller);
    scroller.addEventListener("scroll", onScroll, { passive: true });
    scroller.addEventListener("wheel", onWheel, { passive: false });
    this.#measure();
    onScroll();
    return () => {
      sized.disconnect();
      scroller.removeEventListener("scroll", onScroll);
      scroller.removeEventListener("wheel", onWheel);
    };
  }

  /** Says how many rows there are. More rows make the list longer: the scroll bar moves, the rows do not. */
  setCount(count: number): void {
    this.#count = count;
    this.#measure();
    if (this.#beyond > 0) this.#goTo(this.#place);
    else this.#moved();
  }

  /** Scrolls as far as a row needs to be in view. */
  show(index: number): void {
    const { row } = this.#settings;
    const [above, below] = [index * row, (index + 1) * row + this.#head];
    if (above < this.#place) this.#goTo(above);
    else if (below > this.#place + this.#view) this.#goTo(below - this.#view);
  }

  /** Pixels of a row's upper edge within the element that holds the rows. */
  startOf(index: number): number {
    return index * this.#settings.row - this.#base;
  }

  get #base(): number {
    if (this.#beyond === 0) return 0;
    return Math.floor((this.#range.first * this.#settings.row) / BLOCK) * BLOCK;
  }

  #measure(): void {
    if (!this.#scroller) return;
    this.#view = this.#scroller.clientHeight;
    this.#head = this.#holder?.parentElement?.offsetTop ?? 0;
  }

  /** Goes to a place: more exactly than the scroll bar can say. */
  #goTo(place: number): void {
    const { row } = this.#settings;
    this.#place = Math.max(0, Math.min(this.#count * row + this.#head - this.#view, place));
    this.#top = Math.round(this.#place / this.#scale);
    if (this.#scroller) this.#scroller.scrollTop = this.#top;
    this.#moved();
  }

  /** Draws other rows if others are in view. Within the rows that are drawn, only their holder moves. */
  #moved(): void {
    const { row, overscan } = this.#settings;
    const top = Math.floor(this.#place / row);
    const first = Math.max(0, top - overscan);
    const last = Math.min(this.#count - 1, Math.ceil((this.#place + this.#view) / row) + overscan);
    if (first !== this.#range.first || last !== this.#range.last || top !== this.#range.top) {
      this.#range = { first, last, top };
      for (const listener of this.#listeners) listener();
    }
    this.hold();
  }

  /** Puts the holder of the rows where the scroll bar stands. */
  hold(): void {
    if (!this.#holder) return;
    const shift = this.#beyond === 0 ? 0 : this.#top - this.#place + this.#base;
    const transform = shift === 0 ? "" : `translateY(${shift}px)`;
    if (this.#holder.style.transform !== transform) this.#holder.style.transform = transform;
  }
}

/**
 * The rows in view, of any number: a browser limits the height of an element, so that the scroll bar of a longer list stands for
 * more pixels than it has. The wheel and the keys move by pixels of the list. Rows have one height, so that their places are sums.
 */
export const useRowWindow = ({
  count,
  row,
  scroller,
  overscan,
}: Settings & {
  readonly count: number;
  readonly scroller: RefObject<HTMLDivElement | null>;
}): {
  readonly visible: readonly { readonly index: number; readonly start: number }[];
  /** Pixels of the element that stands for all rows. */
  readonly height: number;
  /** The element within it that holds the rows. */
  readonly holder: RefObject<HTMLDivElement | null>;
  /** The first row below the upper edge. */
  readonly top: number;
  readonly show: (index: number) => void;
} => {
  const holder = useRef<HTMLDivElement>(null);
  const rows = useMemo(() => new RowWindow({ row, overscan }), [row, overscan]);
  useLayoutEffect(() => (scroller.current && holder.current ? rows.attach(scroller.current, holder.current) : undefined), [rows, scroller]);
  useLayoutEffect(() => rows.setCount(count), [rows, count]);
  const { first, last, top } = useSyncExternalStore(rows.subscribe, rows.range);
  const indexes = Array.from({ length: Math.max(0, Math.min(last, count - 1) - first + 1) }, (_, at) => first + at);
  return {
    visible: indexes.map((index) => ({ index, start: rows.startOf(index) })),
    height: RowWindow.heightOf(count, row),
    holder,
    top,
    show: (index) => rows.show(index),
  };
};
