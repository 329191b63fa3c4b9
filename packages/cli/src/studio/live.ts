import type { HealthAnswer, LiveAnswer, MigrationAnswer, VerifyAnswer, WireChange } from "@edgetable/studio";
import type { AnyGraph, ConnectOptions } from "edgetable";
import { type ConsumerGroup, listConsumers, listDeadLetters, type StreamRecord, tailStream } from "edgetable/streams";
import { verify } from "edgetable/verify";
import type { UntypedDb } from "../connection.ts";
import { failureOf } from "../failure.ts";
import { isRow, toExactJson } from "../output/json.ts";
import { describeStored } from "./stored-items.ts";

/** Changes that are kept for a page that asks late. */
const KEPT = 500;
/** Milliseconds for which a question waits for a change. */
const PATIENCE = 15_000;
/** Milliseconds without a question after which nothing is watched any more. */
const UNWATCHED = 60_000;
const POLL = 300;

/** Watches a table's stream while a page asks for its changes. */
export interface Watch {
  /** The changes after a number, as soon as there are some, and at the latest after 15 seconds. */
  changes(after: number, signal: AbortSignal): Promise<LiveAnswer>;
  close(): void;
}

const changeOf = (graph: AnyGraph, { kind, before, after, time, expired }: StreamRecord, number: number): WireChange => {
  const item = describeStored(graph.catalog, after ?? before ?? {});
  const names = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})]);
  const changed = before && after ? [...names].filter((name) => toExactJson([before[name]]) !== toExactJson([after[name]])) : [];
  const was = Object.fromEntries(changed.flatMap((name) => (before?.[name] === undefined ? [] : [[name, before[name]]])));
  return { number, time, kind: expired ? "expired" : kind, item, changed, was };
};

/** @param stream where the table's stream is */
export const watchChanges = (graph: AnyGraph, db: UntypedDb, stream: ConnectOptions): Watch => {
  let changes: readonly WireChange[] = [];
  let last = 0;
  let problem: LiveAnswer["problem"];
  let running: AbortController | undefined;
  let timer: NodeJS.Timeout | undefined;
  const waiting = new Set<() => void>();
  const tell = (): void => {
    for (const answer of waiting) answer();
  };
  const run = async (own: AbortController): Promise<void> => {
    try {
      for await (const record of tailStream(db, { signal: own.signal, pollInterval: POLL, stream })) {
        changes = [...changes, changeOf(graph, record, ++last)].slice(-KEPT);
        tell();
      }
    } catch (error) {
      const { code, message } = failureOf(error);
      problem = { code, message };
    }
    if (running === own) running = undefined;
    tell();
  };
  const start = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => running?.abort(), UNWATCHED);
    timer.unref();
    if (running) return;
    problem = undefined;
    running = new AbortController();
    void run(running);
  };
  return {
    changes: (after, signal) => {
      start();
      return new Promise((resolve) => {
        const answer = (): void => {
          // A page that watched before the studio was started again has other numbers.
          const newer = changes.filter(({ number }) => number > (after > last ? 0 : after));
          if (newer.length === 0 && !problem && !signal.aborted && !isLate) return;
          waiting.delete(answer);
          clearTimeout(late);
          signal.removeEventListener("abort", answer);
          resolve({ changes: newer, last, ...(problem && { problem }) });
        };
        let isLate = false;
        const late = setTimeout(() => {
          isLate = true;
          answer();
        }, PATIENCE);
        waiting.add(answer);
        signal.addEventListener("abort", answer);
        answer();
      });
    },
    close: () => {
      clearTimeout(timer);
      running?.abort();
    },
  };
};

/** The consumers of the stream; none if the table has no stream that can be read. */
const consumersOf = async (db: UntypedDb, stream: ConnectOptions, signal: AbortSignal): Promise<readonly ConsumerGroup[]> => {
  try {
    return await listConsumers(db, { stream, signal });
  } catch (error) {
    if (signal.aborted) throw error;
    return [];
  }
};

/** Where a migration stands that has begun and not ended; undefined if there is none. */
const migrationUnderway = async (db: UntypedDb, signal: AbortSignal): Promise<HealthAnswer["migration"]> => {
  const { state, says, begunAt, job, plan, indexes } = await db.migrations.status({ signal });
  if (state !== "migrating" && state !== "otherModel" && !job) return undefined;
  const { facts = {} } = job ?? {};
  const number = (name: string): number => Number(facts[name] ?? 0);
  return {
    says,
    ...(begunAt === undefined ? {} : { begunAt }),
    running: job?.running ?? false,
    steps: plan.steps.map((step) => step.says),
    pass: number("pass"),
    seen: number("seen"),
    stale: number("stale"),
    changed: number("changed"),
    unfit: number("unfit"),
    indexes: indexes.filter((one) => one.state !== "complete"),
  };
};

/**
 * What works on the table, and what was put aside: two Queries of Edgetable's own items, four requests for the migration, and some
 * to the stream for each shard that consumers read.
 */
export const healthAnswer = async (db: UntypedDb, stream: ConnectOptions, signal: AbortSignal): Promise<HealthAnswer> => {
  const jobs = await db.jobs.list();
  const consumers = jobs.some(({ kind }) => kind === "stream") ? await consumersOf(db, stream, signal) : [];
  const migration = await migrationUnderway(db, signal);
  const letters = await listDeadLetters(db, { limit: 20, signal });
  return {
    consumers: consumers.map(({ lag, ...one }) => (lag === undefined ? one : { ...one, lag })),
    ...(migration && { migration }),
    // Consumers and their shards are told as groups.
    jobs: jobs
      .filter(({ kind }) => kind !== "stream" && kind !== "migrate")
      .map(({ id, kind, running, leasedUntil, runs, facts }) => ({
        id,
        kind,
        running,
        leasedUntil,
        runs,
        facts: Object.fromEntries(Object.entries(facts).filter(([, value]) => !isRow(value))),
      })),
    deadLetters: letters.map(({ id, handler, error, attempts, failedAt }) => ({
      id,
      handler,
      error,
      attempts,
      failedAt: failedAt.getTime(),
    })),
  };
};

/** What a migration to the model would do: three requests, none of them a write. */
export const migrationAnswer = async (db: UntypedDb, signal: AbortSignal): Promise<MigrationAnswer> => {
  const { steps, refusals, notes, cost, underway } = await db.migrations.plan({ signal });
  return { steps: steps.map(({ says }) => says), refusals, notes, cost, underway: underway !== undefined };
};

/** Compares the whole table with its model, and changes nothing. */
export const verifyAnswer = async (db: UntypedDb, signal: AbortSignal): Promise<VerifyAnswer> => {
  const { clean, items, kinds, unsettled, cost } = await verify(db, { signal, examples: 3 });
  return {
    clean,
    items,
    unsettled,
    kinds: kinds.map(({ kind, count, what, isHarmless }) => ({ kind, count, what, isHarmless })),
    cost: { requests: cost.requests, readUnits: cost.readUnits },
  };
};
