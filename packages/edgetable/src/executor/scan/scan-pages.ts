import { encodeScan } from "../../requests/encode-scan.ts";
import type { Item, Key } from "../../transport/operations.ts";
import type { CallContext, Session } from "../session.ts";
import type { PageMark, Places } from "./places.ts";

export interface ScannedPage {
  readonly items: readonly Item[];
  readonly mark: PageMark;
}

export interface PageSettings {
  readonly segments: number;
  readonly consistent: boolean;
  /** Segments that are read at the same time. */
  readonly concurrency: number;
  /** What a request brings along; its cost is counted by the caller. */
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
  const flights = new Map<number, Promise<Answer>>();
  const start = (from: ReturnType<Places["begin"]>): void => {
    if (!from) return;
    const flight = readPage(session, settings, from);
    // It is looked at later; until then its failure is nobody's.
    flight.catch(() => undefined);
    flights.set(from.segment, flight);
  };
  for (let at = 0; at < settings.concurrency; at++) start(places.begin());
  while (flights.size > 0) {
    const { segment, items, ...page } = await Promise.race(flights.values());
    flights.delete(segment);
    const mark = places.read(segment, page);
    start(page.next === undefined ? places.begin() : { segment, start: page.next });
    yield { items, mark };
  }
}
