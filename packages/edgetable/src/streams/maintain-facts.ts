import type { CallContext, Session } from "../executor/session.ts";
import { Meter } from "../executor/call.ts";
import type { FollowedRow } from "../schema/grid-parts.ts";
import { lagsBehind } from "../executor/facts/refresh-copies.ts";
import { type Caused, hasStreamFacts, refreshTriggered } from "../executor/facts/refresh-facts.ts";
import { type ItemChangeRecord, triggeredBy } from "../executor/facts/triggers.ts";
import type { Catalog } from "../schema/catalog.ts";
import { loadOnce } from "../util/load-once.ts";
import { type StaleFact, staleFacts } from "./stale-facts.ts";

// Few models have fields of users: the others do without the code.
type Keeper = typeof import("../grids/keep-values.ts");
const grids: () => Keeper | Promise<Keeper> = loadOnce(async () => import("../grids/keep-values.ts"));

/** True if a model has rows whose values may be in documents, which value items follow. */
const hasFields = ({ nodes }: Catalog): boolean => Object.values(nodes).some(({ definition }) => definition.fields !== undefined);

/** What keeps the values of documents in the index; undefined for a model without fields of users. */
export const documentKeeper = async (catalog: Catalog): Promise<Keeper | undefined> => (hasFields(catalog) ? grids() : undefined);

/** A change with its time, in milliseconds since 1970. */
export interface TimedRecord extends ItemChangeRecord {
  readonly time: number;
}

/** A record whose facts could not be refreshed. It is handed in again, or put aside: a later change of the row makes up for it. */
export interface FailedRecord<Record> {
  readonly record: Record;
  readonly error: Error;
}

/** What a batch of records was to the facts. */
export interface RefreshedBatch {
  /** Its records that concerned facts, and those of them that failed. */
  readonly records: number;
  readonly failed: number;
  /** Contributions of rows to nodes that were refreshed. */
  readonly places: number;
  /** Milliseconds from the oldest of these changes to the moment when its facts were right: how stale facts were. */
  readonly staleness: number;
}

/** How facts are kept. */
export interface MaintainOptions {
  /**
   * Milliseconds after which an index is assumed to show everything that was written before: copies on edges that only an
   * index finds are refreshed once more after so long. @default 10,000
   */
  readonly indexLag?: number;
  /** Called after each batch that concerned facts. */
  readonly onRefreshed?: ((refreshed: RefreshedBatch) => void) | undefined;
  /** Called with each fact that followed a change of a batch later than the model's `within` says. */
  readonly onStale?: ((stale: StaleFact) => void) | undefined;
  /** Milliseconds for the refreshes of one batch, at most an hour. @default 300,000 */
  readonly deadline?: number;
}

interface MaintainRun<R> {
  readonly signal?: AbortSignal | undefined;
  /**
   * Takes the second refresh of copies that only an index finds, which follows after the index's lag: it resolves to the
   * records that failed then, and never rejects. Without it the batch waits.
   */
  readonly defer?: ((late: Promise<readonly FailedRecord<R>[]>) => void) | undefined;
}

// A record's time has whole seconds.
const SECOND = 1000;

/**
 * Keeps the facts of a model that have freshness "stream", and the index items of values that are in documents: given a batch of records, it brings everything up to date that
 * may follow from them. Records are triggers alone, so they may repeat, overtake each other, or be replayed late. Changes of
 * one node's rows in one batch share a transaction.
 *
 * The function that it gives rejects when a read fails: then nothing is known of the batch, which is handed in again.
 *
 * @returns undefined if the model has no such facts
 */
export const maintainFacts = (
  session: Session,
  { indexLag = 10_000, deadline = 300_000, onRefreshed, onStale }: MaintainOptions = {},
): (<R extends TimedRecord>(records: readonly R[], options?: MaintainRun<R>) => Promise<readonly FailedRecord<R>[]>) | undefined => {
  if (!hasStreamFacts(session) && !hasFields(session.catalog)) return undefined;
  const { catalog, effects } = session;
  const tell = <R extends TimedRecord>(
    caused: readonly Caused<R>[],
    failed: ReadonlyMap<R, Error>,
    followed: ReadonlyMap<R, unknown>,
  ): void => {
    const concerned = caused.filter(
      ({ cause, places, holders, copies, fanOuts }) =>
        places.length + holders.length + copies.length + fanOuts.length > 0 || followed.has(cause),
    );
    if (concerned.length === 0) return;
    const now = effects.now();
    onRefreshed?.({
      records: concerned.length,
      failed: failed.size,
      places: concerned.reduce((sum, { places }) => sum + places.length, 0),
      staleness: Math.max(0, now - concerned.reduce((oldest, { cause }) => Math.min(oldest, cause.time), Infinity)),
    });
    const right = concerned.filter(({ cause }) => !failed.has(cause));
    if (onStale) for (const stale of staleFacts(catalog, right, now)) onStale(stale);
  };
  return async <R extends TimedRecord>(
    records: readonly R[],
    { signal, defer }: MaintainRun<R> = {},
  ): Promise<readonly FailedRecord<R>[]> => {
    const failed = new Map<R, Error>();
    const caused: Caused<R>[] = [];
    const keeper = await documentKeeper(catalog);
    const followed = new Map<R, FollowedRow>();
    for (const record of records) {
      try {
        const triggered = triggeredBy(catalog, record);
        const fanOuts = triggered.fanOuts.map((fanOut) => (lagsBehind(catalog, fanOut) ? { ...fanOut, done: new Set<string>() } : fanOut));
        caused.push({ cause: record, ...triggered, fanOuts });
        const row = keeper?.followedRow(catalog, record);
        if (row) followed.set(record, row);
      } catch (error) {
        failed.set(record, error as Error);
      }
    }
    const context = (): CallContext => ({ meter: new Meter(0), signal, deadline: effects.now() + deadline });
    for (const { cause, error } of await refreshTriggered(session, caused, context())) failed.set(cause, error);
    if (keeper && followed.size > 0)
      for (const { row, error } of (await keeper.followDocuments(session, [...followed.values()], context())).failed)
        for (const [record, one] of followed) if (keeper.sameRow(one, row) && !failed.has(record)) failed.set(record, error);
    tell(caused, failed, followed);
    const late = caused.filter(({ cause, fanOuts }) => !failed.has(cause) && fanOuts.some((fanOut) => lagsBehind(catalog, fanOut)));
    const failures = (found: ReadonlyMap<R, Error>): readonly FailedRecord<R>[] =>
      Array.from(found, ([record, error]) => ({ record, error }));
    if (late.length === 0 || indexLag === 0) return failures(failed);
    const repeat = async (): Promise<ReadonlyMap<R, Error>> => {
      const failedAgain = new Map<R, Error>();
      const due = late.reduce((latest, { cause }) => Math.max(latest, cause.time), 0) + SECOND + indexLag;
      await effects.sleep(Math.max(0, due - effects.now()), signal);
      for (const { cause, fanOuts } of late) {
        const again = fanOuts.filter((fanOut) => lagsBehind(catalog, fanOut));
        const triggered = { places: [], holders: [], copies: [], fanOuts: again };
        for (const { error } of await refreshTriggered(session, [{ cause, ...triggered }], context())) failedAgain.set(cause, error);
      }
      return failedAgain;
    };
    if (!defer) for (const [record, error] of await repeat()) failed.set(record, error);
    else defer(repeat().then(failures, (error: Error) => late.map(({ cause }) => ({ record: cause, error }))));
    return failures(failed);
  };
};
