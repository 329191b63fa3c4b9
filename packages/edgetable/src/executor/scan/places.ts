import type { Key } from "../../transport/operations.ts";
import type { ScanPosition } from "./position.ts";

/** A page that was read, and how much of it was not given yet. */
export interface PageMark {
  readonly start: Key | undefined;
  /** Rows and held copies of it that the caller has not got, and one for the page itself until it is through. */
  pending: number;
}

interface Segment {
  readonly marks: PageMark[];
  next: Key | undefined;
  ended: boolean;
}

/** Which pages are read and given, segment by segment. */
export interface Places {
  /** The next segment to begin, with the key after which; undefined when there is none. */
  begin(): { readonly segment: number; readonly start: Key | undefined } | undefined;
  read(segment: number, page: { readonly start: Key | undefined; readonly next: Key | undefined }): PageMark;
  /** Everything before it was given; undefined when that is the whole table. */
  position(): ScanPosition | undefined;
}

/** Keeps track of a scan from a position on. */
export const trackPlaces = (from: ScanPosition): Places => {
  const open = new Map<number, Segment>(
    Object.entries(from.open).map(([segment, key]) => [Number(segment), { marks: [], next: key ?? undefined, ended: false }]),
  );
  const resumed = [...open].map(([segment, { next }]) => ({ segment, start: next }));
  let { begun } = from;

  const isDone = ({ marks, ended }: Segment): boolean => {
    while (marks[0]?.pending === 0) marks.shift();
    return ended && marks.length === 0;
  };
  return {
    begin: () => {
      const old = resumed.shift();
      if (old || begun >= from.segments) return old;
      const segment = begun++;
      open.set(segment, { marks: [], next: undefined, ended: false });
      return { segment, start: undefined };
    },
    read: (segment, { start, next }) => {
      const mark = { start, pending: 1 };
      const place = open.get(segment);
      place?.marks.push(mark);
      if (place) Object.assign(place, { next, ended: next === undefined });
      return mark;
    },
    position: () => {
      for (const [segment, place] of open) if (isDone(place)) open.delete(segment);
      if (open.size === 0 && begun >= from.segments) return undefined;
      const keys = [...open].map(([segment, { marks, next }]) => [segment, (marks[0] ? marks[0].start : next) ?? null]);
      return { segments: from.segments, begun, open: Object.fromEntries(keys) as ScanPosition["open"] };
    },
  };
};
