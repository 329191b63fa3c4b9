import type { QueryStep, ReadPlan } from "../ir/physical-plan.ts";
import { checkCursor, openCursor, sealCursor, type Position, type Secrets } from "../requests/cursor.ts";
import type { Found, Rows } from "./read-rows.ts";
import { startKeyOf } from "./read-partition.ts";
import type { ReadStop } from "./read-budget.ts";
import { runRead, type ReadRequest } from "./run-read.ts";
import type { CallContext, Session } from "./session.ts";

export interface PageRequest {
  readonly request: ReadRequest;
  /** What the cursors are bound to. */
  readonly query: string;
  /** Gives the secret; where it is not to be made, undefined when there is none. */
  readonly secret: (makes: boolean) => Promise<Secrets | undefined>;
  /** Where to go on; undefined at the beginning. */
  readonly cursor: string | undefined;
}

/** A page with the cursors of those beside it. */
export interface FoundPage {
  readonly found: readonly Found[];
  readonly next: string | undefined;
  readonly previous: string | undefined;
  readonly stopped: ReadStop | undefined;
}

interface Edges {
  readonly next: Position | undefined;
  readonly previous: Position | undefined;
}

// Beyond the end there is nothing to stand at: the way back begins at the end itself.
const turnedAt = ({ sources }: ReadPlan, { backward }: Position): Position => ({
  source: backward ? 0 : sources.length - 1,
  key: undefined,
  backward: !backward,
});

const isBeginning = ({ key, source, backward }: Position): boolean => key === undefined && source === 0 && !backward;

const edgesOf = (
  { catalog }: Session,
  plan: ReadPlan,
  { rows, from }: { readonly rows: Rows; readonly from: Position | undefined },
): Edges => {
  const backward = from?.backward ?? false;
  // The row that was read first: the other way goes on from there.
  const first = backward ? rows.found.at(-1) : rows.found[0];
  const step = first && (plan.sources[first.source] as QueryStep);
  const turned =
    first && step
      ? { source: first.source, key: startKeyOf(catalog, step, first.item), backward: !backward, ties: rows.begun }
      : rows.stopped && rows.next?.key
        ? { ...rows.next, backward: !backward }
        : from && turnedAt(plan, from);
  if (backward) return { next: turned, previous: rows.next };
  return { next: rows.next, previous: from && !isBeginning(from) ? turned : undefined };
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
  if (request.empty) return { found: [], next: undefined, previous: undefined, stopped: undefined };
  const secrets = await page.secret(cursor === undefined);
  const from = cursor === undefined ? undefined : openCursor(cursor, query, secrets);
  const rows = await runRead(session, { ...request, from }, context);
  const seal = (position: Position | undefined): string | undefined => position && secrets && sealCursor(position, query, secrets);
  const { next, previous } = edgesOf(session, request.plan, { rows, from });
  return { found: rows.found, next: seal(next), previous: seal(previous), stopped: rows.stopped };
};
