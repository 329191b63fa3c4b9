import { observeElementOffset, useVirtualizer, type Virtualizer } from "@tanstack/react-virtual";
import { useEffect, useLayoutEffect, useMemo, useRef, type RefObject } from "react";

/** Pixels of a scrolled element at most: Firefox draws nothing beyond some 17.8 million, Chromium beyond 33.5. */
const TALLEST = 15_000_000;
/** Pixels of a line, of a wheel that counts in lines. */
const LINE = 16;

type Rows = Virtualizer<HTMLDivElement, Element>;

/** Where a list is: pixels of the whole list, and where the scroll bar stands for them. */
class Scale {
  /** Pixels of all rows, and of the element that stands for them. */
  total = 0;
  height = 0;
  place = 0;
  top = 0;
  tell: ((place: number, isScrolling: boolean) => void) | undefined;

  /** Pixels of the list for each pixel of the scroll bar; 1 for a list that fits into an element. */
  scaleIn({ scrollHeight, clientHeight }: HTMLElement): number {
    const most = Math.max(1, scrollHeight - clientHeight);
    return (most + this.total - this.height) / most;
  }

  /** The place for a position of the scroll bar, which a person may have moved. */
  placeAt(element: HTMLElement, top: number): number {
    if (Math.abs(top - this.top) >= 1) this.place = top * this.scaleIn(element);
    this.top = top;
    return this.place;
  }

  /** Goes to a place: more exactly than the scroll bar can say. */
  goTo(element: HTMLElement, place: number): void {
    const most = element.scrollHeight - element.clientHeight + this.total - this.height;
    this.place = Math.max(0, Math.min(most, place));
    this.top = Math.round(this.place / this.scaleIn(element));
    element.scrollTop = this.top;
    this.tell?.(this.place, false);
  }
}

/**
 * The rows in view, of any number: a browser limits the height of an element, so that the scroll bar of a longer list stands for
 * more pixels than it has. The wheel and the keys move by pixels of the list.
 */
export const useRowWindow = ({
  count,
  row,
  scroller,
  overscan,
}: {
  readonly count: number;
  /** Pixels of a row. */
  readonly row: number;
  readonly scroller: RefObject<HTMLDivElement | null>;
  readonly overscan: number;
}): {
  readonly visible: readonly { readonly index: number; readonly start: number }[];
  /** Pixels of the element that holds the rows. */
  readonly height: number;
  /** The first row below the upper edge. */
  readonly top: number;
  readonly show: (index: number) => void;
} => {
  const scale = useMemo(() => new Scale(), []);
  const total = count * row;
  scale.total = total;
  scale.height = Math.min(total, TALLEST);
  const isScaled = total > TALLEST;
  const options = useRef({
    observeElementOffset: (rows: Rows, tell: (offset: number, isScrolling: boolean) => void) => {
      scale.tell = tell;
      return observeElementOffset(rows, (top, isScrolling) => {
        const element = rows.scrollElement;
        tell(element ? scale.placeAt(element, top) : top, isScrolling);
      });
    },
    scrollToFn: (offset: number, { adjustments = 0 }: { readonly adjustments?: number | undefined }, rows: Rows) => {
      if (rows.scrollElement) scale.goTo(rows.scrollElement, offset + adjustments);
    },
  });
  const virtual = useVirtualizer<HTMLDivElement, Element>({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => row,
    overscan,
    ...options.current,
  });
  // More rows make the list longer: the scroll bar moves, the rows do not.
  useLayoutEffect(() => {
    if (isScaled && scroller.current) scale.goTo(scroller.current, scale.place);
  }, [isScaled, total, scale, scroller]);
  useEffect(() => {
    const element = scroller.current;
    if (!element || !isScaled) return undefined;
    const onWheel = (event: WheelEvent): void => {
      if (event.ctrlKey || event.deltaY === 0) return;
      event.preventDefault();
      scale.goTo(element, scale.place + event.deltaY * ([1, LINE, element.clientHeight][event.deltaMode] ?? 1));
    };
    element.addEventListener("wheel", onWheel, { passive: false });
    return () => element.removeEventListener("wheel", onWheel);
  }, [isScaled, scale, scroller]);
  const shift = isScaled ? scale.top - scale.place : 0;
  return {
    visible: virtual.getVirtualItems().map(({ index, start }) => ({ index, start: start + shift })),
    height: scale.height,
    top: Math.floor((virtual.scrollOffset ?? 0) / row),
    show: (index) => {
      const element = scroller.current;
      if (!element) return;
      const [above, below] = [index * row, (index + 1) * row];
      const head = element.scrollHeight - scale.height;
      if (above < scale.place) scale.goTo(element, above);
      else if (below + head > scale.place + element.clientHeight) scale.goTo(element, below + head - element.clientHeight);
    },
  };
};
