import type { QueryStep } from "../ir/physical-plan.ts";
import { checkCursor, openCursor, sealCursor, type Position, type Secrets } from "../requests/cursor.ts";
import { type Found, startKeyOf } from "./read-rows.ts";
import type { ReadStop } from "./read-budget.ts";
import { runRead, type ReadRequest } from "./run-read.ts";
import type { CallContext, Session } from "./session.ts";

export interface PageRequest {
  readonly request: ReadRequest;
  /** The query to which the cursors are bound. */
  readonly query: string;
  /** The secret. It is created if there is none and `makes` is true. */
  readonly secret: (makes: boolean) => Promise<Secrets | undefined>;
  /** Where to continue; undefined at the beginning. */
  readonly cursor: string | undefined;
}

/**
 * Where the page in the other direction starts if this page has no rows and stopped at a position; undefined if there is nothing on
 * that side.
 */
const turned = (position: Position, sources: number): Position | undefined => {
  const { ties } = position;
  const backward = !position.backward;
  if (position.key) return { ...position, backward, ties: ties && { ...ties, left: !ties.left } };
  // Before the first request of a source, the position is at the end of the previous source.
  const source = position.source + (backward ? -1 : 1);
  return source >= 0 && source < sources ? { source, key: undefined, backward } : undefined;
};

/** A page with the cursors of the pages before and after it. */
export interface FoundPage {
  readonly found: readonly Found[];
  readonly next: string | undefined;
  readonly previous: string | undefined;
  readonly stopped: ReadStop | undefined;
}

/**
 * Reads a page.
 *
 * @throws {cursor.invalid} if the cursor belongs to another query
 */
export const readPage = async (session: Session, page: PageRequest, context: CallContext): Promise<FoundPage> => {
  const { request, query, cursor } = page;
  const { sources } = request.plan;
  // A malformed cursor must not create the secret in the table.
  if (cursor !== undefined) checkCursor(cursor);
  if (request.empty) return { found: [], next: undefined, previous: undefined, stopped: undefined };
  const secrets = await page.secret(cursor === undefined);
  const from = cursor === undefined ? undefined : openCursor(cursor, query, secrets);
  const { found, next, stopped, begun } = await runRead(session, { ...request, from }, context);
  const backward = from?.backward ?? false;
  // The page in the other direction starts before the row that was read first.
  const first = backward ? found.at(-1) : found[0];
  let opposite: Position | undefined;
  if (first) {
    const key = startKeyOf(session.catalog, sources[first.source] as QueryStep, first.item);
    opposite = { source: first.source, key, backward: !backward, ties: begun };
  } else if (stopped && next) opposite = turned(next, sources.length);
  // Nothing was found after the cursor, so the previous page ends at the last row.
  else if (from) opposite = { source: backward ? 0 : sources.length - 1, key: undefined, backward: !backward };
  const isFirstPage = !from || (from.key === undefined && from.source === 0 && !backward);
  const seal = (position: Position | undefined): string | undefined => position && secrets && sealCursor(position, query, secrets);
  if (backward) return { found, next: seal(opposite), previous: seal(next), stopped };
  return { found, next: seal(next), previous: isFirstPage ? undefined : seal(opposite), stopped };
};
