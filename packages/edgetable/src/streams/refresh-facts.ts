import { driverOf } from "../client/driver.ts";
import { type Cost, Meter } from "../executor/call.ts";
import { passesOf, type Refreshed, refreshItems } from "../executor/facts/refresh-facts.ts";
import type { CallContext } from "../executor/session.ts";
import { encodeScan } from "../requests/encode-direct.ts";
import type { Item, Key } from "../transport/operations.ts";
import { documentKeeper } from "./maintain-facts.ts";
import { checkOptions, checkSignal, type OptionChecks } from "../util/check-options.ts";

/** How the facts of a table are refreshed. */
export interface RefreshOptions {
  /** Parts of the table that are read at the same time, 1 to 1,000. @default 4 */
  readonly segments?: number;
  /** Ends the refresh with `execute.aborted`; what was refreshed stays so. */
  readonly signal?: AbortSignal;
  /** Milliseconds for all of it, 1 to 2,147,483,647. @default none */
  readonly deadline?: number;
  /** Called after each page with what was looked at so far. */
  readonly onProgress?: (progress: RefreshProgress) => void;
}

/** How far a refresh has come. */
export interface RefreshProgress {
  /** Items of the table that were read. */
  readonly items: number;
  /** Rows at nodes where they may count, nodes, and edges or parts with copies that were refreshed. */
  readonly places: number;
  readonly nodes: number;
  readonly copies: number;
  /** Rows whose values in the index were compared with their documents. */
  readonly documents: number;
}

/** What a refresh did. */
export interface RefreshReport extends RefreshProgress {
  /** Items whose facts could not be refreshed, with the reason. */
  readonly failed: Refreshed["failed"];
  readonly cost: Cost;
}

const checks: OptionChecks<RefreshOptions> = {
  segments: [1, 1000],
  signal: checkSignal,
  deadline: [1, 2_147_483_647],
  onProgress: "function",
};

const PAGE = 500;
// A page is refreshed in a bounded time, far less than memos outlive their rows.
const PAGE_TIME = 300_000;

/**
 * Brings all facts with freshness "stream" of a table up to date, from what is stored: after a gap in the stream, for a table
 * that had none, or when in doubt. Writers and the stream's processor may go on meanwhile. After a gap, call it at least five
 * minutes after the last processor that read before the gap: only then nothing of what it began is under way.
 *
 * Reads the table by an eventually consistent Scan, once, and once more for each fact that is copied on; takes 2 read units
 * and about 4 write units for each edge or part that may count at a node.
 *
 * @param db the connection of the model
 * @throws {plan.invalidOption} when `db` is no connection, or an option is out of its range
 * @throws {execute.aborted} {execute.timeout}
 */
export const refreshFacts = async (db: object, options: RefreshOptions = {}): Promise<RefreshReport> => {
  const { session } = driverOf(db);
  const { segments = 4, signal, deadline, onProgress } = checkOptions(options, checks);
  const { catalog, effects } = session;
  const meter = new Meter(0);
  const end = deadline === undefined ? Number.POSITIVE_INFINITY : effects.now() + deadline;
  const context = (): CallContext => ({ meter, signal, deadline: Math.min(end, effects.now() + PAGE_TIME) });
  const done = { items: 0, places: 0, nodes: 0, copies: 0, documents: 0 };
  const failed: RefreshReport["failed"][number][] = [];
  const keeper = await documentKeeper(catalog);
  const followItems = async (items: readonly Item[], newContext: typeof context) => {
    if (!keeper) return undefined;
    const found = items.map((item) => [item, keeper.followedRow(catalog, { before: undefined, after: item })] as const);
    const rows = found.flatMap(([, row]) => row ?? []);
    const { failed: notFollowed } = await keeper.followDocuments(session, rows, newContext());
    const keyOf = (row: (typeof rows)[number]): Item => found.find(([, one]) => one && keeper.sameRow(one, row))?.[0] ?? {};
    return { documents: rows.length, failed: notFollowed.map(({ row, error }) => ({ key: keyOf(row), error })) };
  };
  const refreshSegment = async (segment: number): Promise<void> => {
    let start: Key | undefined;
    do {
      const input = { ...encodeScan(catalog.table, { segment, segments, start, consistent: false }), Limit: PAGE };
      const { Items = [], LastEvaluatedKey } = await session.send("Scan", input, context());
      const refreshed = await refreshItems(session, Items, context());
      done.items += Items.length;
      done.places += refreshed.places;
      done.nodes += refreshed.nodes;
      done.copies += refreshed.copies;
      failed.push(...refreshed.failed);
      const { documents = 0, failed: others = [] } = (await followItems(Items, context)) ?? {};
      done.documents += documents;
      failed.push(...others);
      onProgress?.({ ...done });
      start = LastEvaluatedKey;
    } while (start);
  };
  for (let pass = 0; pass < Math.max(passesOf(catalog), keeper ? 1 : 0); pass++)
    await Promise.all(Array.from({ length: segments }, (_, at) => refreshSegment(at)));
  return { ...done, failed, cost: meter.cost };
};
