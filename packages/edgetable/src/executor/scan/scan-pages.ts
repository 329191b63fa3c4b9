import { EdgetableError } from "../../errors/edgetable-error.ts";
import { encodeScan } from "../../requests/encode-direct.ts";
import type { Item, Key } from "../../transport/operations.ts";
import type { CallContext, Session } from "../session.ts";

/** The position from which a scan continues. Everything before it was returned. */
export interface ScanPosition {
  readonly segments: number;
  /** The first segment that was not begun; all before it that are not open are done. */
  readonly begun: number;
  /** The key after which each open segment continues; null for its beginning. */
  readonly open: Readonly<Record<string, Key | null>>;
}

/** A position as text. It holds keys of the table in the clear. */
export const positionText = (table: string, { segments, begun, open }: ScanPosition): string =>
  Buffer.from(JSON.stringify([table, segments, begun, open])).toString("base64url");

const isKey = (value: unknown): boolean => value === null || (typeof value === "object" && !Array.isArray(value));

const parse = (text: string, table: string): ScanPosition | undefined => {
  try {
    const given: unknown = JSON.parse(Buffer.from(text, "base64url").toString());
    const [of, segments, begun, open] = given as readonly [string, number, number, ScanPosition["open"]];
    if (of !== table) return undefined;
    if (!Number.isInteger(segments) || !Number.isInteger(begun) || typeof open !== "object" || open === null) return undefined;
    return Object.values(open).every(isKey) ? { segments, begun, open } : undefined;
  } catch {
    return undefined;
  }
};

/**
 * Reads a position.
 *
 * @throws {cursor.invalid} if it is not a position in this table
 */
export const readPosition = (text: string, table: string): ScanPosition => {
  const position = parse(text, table);
  if (position) return position;
  throw new EdgetableError(
    "cursor.invalid",
    `The position does not belong to a scan of "${table}". Give the \`position\` of an earlier scan's report, or leave \`from\` out to start again.`,
    { details: { from: text } },
  );
};

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
  /** The next segment to read and the key after which it starts; undefined if no segment is left. */
  begin(): { readonly segment: number; readonly start: Key | undefined } | undefined;
  read(segment: number, page: { readonly start: Key | undefined; readonly next: Key | undefined }): PageMark;
  /** The position before which everything was returned; undefined if that is the whole table. */
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

export interface ScannedPage {
  readonly items: readonly Item[];
  /** The pages of a segment come in their order. */
  readonly segment: number;
  /** True for the last page of its segment. */
  readonly isLast: boolean;
  readonly mark: PageMark;
}

export interface PageSettings {
  readonly segments: number;
  readonly consistent: boolean;
  /** Segments that are read at the same time. */
  readonly concurrency: number;
  /** The context of a request; the caller counts its cost. */
  readonly context: () => CallContext;
}

interface Answer {
  readonly segment: number;
  readonly start: Key | undefined;
  readonly next: Key | undefined;
  readonly items: readonly Item[];
}

const readPage = async (
  session: Session,
  settings: PageSettings,
  { segment, start }: { readonly segment: number; readonly start: Key | undefined },
): Promise<Answer> => {
  const { segments, consistent } = settings;
  const input = encodeScan(session.catalog.table, { segment, segments, start, consistent });
  const output = await session.send("Scan", input, settings.context());
  return { segment, start, next: output.LastEvaluatedKey, items: output.Items ?? [] };
};

/**
 * The pages of a table, as they come. Of each segment one page is on its way while the one before is
 * looked at, so memory holds no more than two pages for each.
 */
export async function* scanPages(session: Session, places: Places, settings: PageSettings): AsyncGenerator<ScannedPage> {
  const inFlight = new Map<number, Promise<Answer>>();
  const start = (from: ReturnType<Places["begin"]>): void => {
    if (!from) return;
    const answer = readPage(session, settings, from);
    // The answer is awaited later; until then a failure must not count as unhandled.
    answer.catch(() => undefined);
    inFlight.set(from.segment, answer);
  };
  for (let at = 0; at < settings.concurrency; at++) start(places.begin());
  while (inFlight.size > 0) {
    const { segment, items, ...page } = await Promise.race(inFlight.values());
    inFlight.delete(segment);
    const mark = places.read(segment, page);
    start(page.next === undefined ? places.begin() : { segment, start: page.next });
    yield { items, segment, isLast: page.next === undefined, mark };
  }
}
