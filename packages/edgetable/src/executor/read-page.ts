import type { QueryStep, ReadPlan } from "../ir/physical-plan.ts";
import { checkCursor, openCursor, sealCursor, type Position } from "../requests/cursor.ts";
import { runRead, startKeyOf, type Found, type ReadRequest, type Rows } from "./run-read.ts";
import type { CallContext, Session } from "./session.ts";

export interface PageRequest {
  readonly request: ReadRequest;
  /** What the cursors are bound to. */
  readonly query: string;
  /** Gives the secret; where it is not to be made, undefined when there is none. */
  readonly secret: (makes: boolean) => Promise<string | undefined>;
  /** Where to go on; undefined at the beginning. */
  readonly cursor: string | undefined;
}

/** A page with the cursors of those beside it. */
export interface FoundPage {
  readonly found: readonly Found[];
  readonly next: string | undefined;
  readonly previous: string | undefined;
}

/** Gives the place at which a page before or after a row of the plan starts. */
type PlaceOf = (found: Found, backward: boolean) => Position;

const placesIn =
  ({ catalog }: Session, plan: ReadPlan): PlaceOf =>
  (found, backward) => {
    const step = plan.sources[found.source] as QueryStep;
    return { source: found.source, key: startKeyOf(catalog, step, found.item), backward };
  };

interface Edges {
  readonly next: Position | undefined;
  readonly previous: Position | undefined;
}

const edgesOf = (placeOf: PlaceOf, rows: Rows, from: Position | undefined): Edges => {
  const first = rows.found[0];
  const last = rows.found.at(-1);
  const before = first && placeOf(first, true);
  if (!from?.backward) return { next: rows.next, previous: from ? before : undefined };
  return { next: last && placeOf(last, false), previous: rows.next && before };
};

/**
 * Reads a page.
 *
 * @throws {cursor.invalid} when the cursor is not one of this query
 */
export const readPage = async (session: Session, page: PageRequest, context: CallContext): Promise<FoundPage> => {
  const { request, query, cursor } = page;
  // A cursor that is none must leave nothing in the table.
  if (cursor !== undefined) checkCursor(cursor);
  const secret = await page.secret(cursor === undefined);
  const from = cursor === undefined ? undefined : openCursor(cursor, query, secret);
  const rows = await runRead(session, { ...request, from }, context);
  const seal = (position: Position | undefined): string | undefined => position && sealCursor(position, query, secret ?? "");
  const { next, previous } = edgesOf(placesIn(session, request.plan), rows, from);
  return { found: rows.found, next: seal(next), previous: seal(previous) };
};
