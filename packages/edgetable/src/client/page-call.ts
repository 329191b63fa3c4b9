import { EdgetableError } from "../errors/edgetable-error.ts";
import { createCall, reportOf } from "../executor/call.ts";
import type { Found } from "../executor/read-rows.ts";
import { runRead, type ReadRequest } from "../executor/run-read.ts";
import type { Position, Secrets } from "../requests/cursor.ts";
import { loadOnce } from "../util/load-once.ts";
import type { OptionChecks } from "../util/check-options.ts";
import type { Driver } from "./driver.ts";
import { explainRequest } from "./read-call.ts";
import type { Page, Read } from "./read-types.ts";
import type { SearchPageOptions } from "./search-types.ts";

/** The most rows of a page. */
export const MOST_ROWS = 10_000;
const PAGE_ROWS = 20;
const MOST_BUDGET = 1_000_000_000;
const ITERATED = 1000;

const paging = loadOnce(async () => import("../executor/read-page.ts"));

interface PageAsk {
  readonly request: ReadRequest;
  /** What cursors are bound to: the table, the query's form and its values. */
  readonly query: string;
  readonly options: SearchPageOptions;
}

/** What the options of every page may be. */
export const pageKinds: OptionChecks<SearchPageOptions> = {
  limit: [1, MOST_ROWS],
  cursor: undefined,
  budget: { requests: [1, MOST_BUDGET], units: [1, MOST_BUDGET] },
};

/** @throws {plan.unsupported} after limit(): a cursor would not keep to it */
export const refuseLimit = (limit: number | undefined): void => {
  if (limit === undefined) return;
  throw new EdgetableError(
    "plan.unsupported",
    `A page has a limit of its own: give page({ limit: ${limit} }), and leave limit(${limit}) out.`,
    { details: { limit } },
  );
};

/**
 * A call that reads a page, and what to make of its rows.
 *
 * @throws {plan.unsupported} after limit()
 */
export const pageCall = <T>(driver: Driver, ask: PageAsk, give: (found: readonly Found[]) => readonly T[]): Read<Page<T>> => {
  const { query, options } = ask;
  refuseLimit(ask.request.limit);
  const budget = { requests: options.budget?.requests, readUnits: options.budget?.units };
  const request = { ...ask.request, limit: options.limit ?? PAGE_ROWS, budget };
  return createCall(
    () => explainRequest(driver, request),
    async (run) => {
      const context = driver.context(run);
      const { readPage } = await paging();
      const secret = (makes: boolean): Promise<Secrets | undefined> => driver.cursorSecret(context, makes);
      const { found, next, previous, stopped } = await readPage(
        driver.session,
        { request, query, cursor: options.cursor, secret },
        context,
      );
      return reportOf({ items: give(found), next, previous, stopped }, context.meter);
    },
  );
};

/** Reads on until there is no more, or the request's limit is reached; each part is a call with a deadline of its own. */
export async function* readInParts(driver: Driver, request: ReadRequest): AsyncGenerator<readonly Found[]> {
  let from: Position | undefined;
  let left = request.limit ?? Number.POSITIVE_INFINITY;
  do {
    const part = { ...request, limit: Math.min(left, ITERATED), from, budget: {} };
    const { found, next } = await runRead(driver.session, part, driver.context({}));
    yield found;
    left -= found.length;
    from = next;
  } while (from !== undefined && left > 0);
}
