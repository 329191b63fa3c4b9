import { EdgetableError, isEdgetableError, withDetails } from "../../errors/edgetable-error.ts";
import { linkAbort } from "../../util/time.ts";
import { addCosts, Meter, NO_COST, type Cost, type SentRequest } from "../call.ts";
import type { CallContext, Session } from "../session.ts";
import { bookkeeping, checkLease, endJob, type JobFacts, type Lease, releaseLease, renewLease } from "./job-store.ts";

/** Time limit of one request of a job, including retries, in milliseconds. */
export const REQUEST_DEADLINE = 60_000;

const LONGEST_BEAT = 1000;

/** The work of a job, and the facts that it saves. */
export interface JobWork<Result> {
  /** Returns the progress of the work. It is saved with each renewal of the lease, so that the next run can resume from there. */
  facts(): JobFacts;
  run(): Promise<Result>;
  /** True if `run` deletes the job's item itself, in the transaction that completes the work. */
  readonly endsItself?: boolean;
  /** Time limit of the request that ends the job, in milliseconds. @default 60,000 */
  readonly deadline?: number;
  /** Maximum time between two renewals in milliseconds; never more than a quarter of the lease. @default 1,000 */
  readonly beat?: number;
}

/**
 * Runs a job under its lease. While the work runs, it renews the lease and saves the job's facts four times per duration of the
 * lease and, by default, at least once a second. Deletes the job's item when the work is done. Releases the lease if the work
 * fails, so that the next run need not wait.
 */
export const runJob = async <Result>(session: Session, lease: Lease, work: JobWork<Result>): Promise<Result> => {
  const stopping = new AbortController();
  const beat = async (): Promise<void> => {
    while (!stopping.signal.aborted && lease.until > 0) {
      await session.effects.sleep(Math.min(work.beat ?? LONGEST_BEAT, lease.duration / 4), stopping.signal).catch(() => undefined);
      if (stopping.signal.aborted) return;
      const context = { ...bookkeeping(session, lease.duration), signal: stopping.signal };
      // A failed renewal is tried again at the next beat. The lease shows whether there is still time.
      await renewLease(session, lease, work.facts(), context).catch(() => undefined);
    }
  };
  // If an attempt got no response, taking the lease may have lasted as long as the lease itself.
  if (lease.until < session.effects.now() + lease.duration / 2)
    await renewLease(session, lease, work.facts(), bookkeeping(session, lease.duration)).catch(() => undefined);
  const beating = beat();
  try {
    const result = await work.run();
    stopping.abort();
    await beating;
    if (work.endsItself !== true) await endJob(session, lease, bookkeeping(session, work.deadline ?? REQUEST_DEADLINE));
    return result;
  } catch (error) {
    stopping.abort();
    await beating;
    await releaseLease(session, lease, work.facts());
    throw error;
  }
};

/** The ways in which work ends early. */
export interface Stopping {
  readonly signal: AbortSignal;
  /** Registers the work: `close` aborts the signal, then waits until the work has ended. */
  readonly track: <T>(work: Promise<T>) => Promise<T>;
}

// The reason for aborting the signal of work that no caller aborted.
const CLOSED = "the connection was closed";

/** The text of errors about aborted work. */
export interface Aborted {
  /** Names the work, such as `The deletion of "student"`. */
  readonly what: string;
  /** Says what is kept and how to resume, in one or more sentences. */
  readonly advice: string;
}

/** The error of work that its caller's signal or `close` aborted. */
export const abortedWork = ({ what, advice }: Aborted, { reason }: AbortSignal): EdgetableError =>
  new EdgetableError("execute.aborted", `${what} was aborted${reason === CLOSED ? " by close()" : ""}. ${advice}`, { cause: reason });

/**
 * Makes work abortable by its own signal, if it has one, and by `close`. The error names the work instead of the request that was
 * in flight.
 */
export const abortedByClose = ({ jobs }: Session, signal: AbortSignal | undefined, named: Aborted): Stopping => {
  const ending = new AbortController();
  const unlink = linkAbort(ending, signal);
  const track: Stopping["track"] = async (work) => {
    const stop = async (): Promise<void> => {
      ending.abort(CLOSED);
      await work.catch(() => undefined);
      jobs.delete(stop);
    };
    jobs.add(stop);
    try {
      return await work;
    } catch (error) {
      if (!ending.signal.aborted || !isEdgetableError(error, "execute.aborted")) throw error;
      throw withDetails(abortedWork(named, ending.signal), error.details);
    } finally {
      jobs.delete(stop);
      unlink();
    }
  };
  return { signal: ending.signal, track };
};

/** One run of work in steps: its limits, and its cost so far. */
export interface Run extends Stopping, Aborted {
  readonly session: Session;
  /** Time (as `Effects.now` returns it) after which no step begins. */
  readonly deadline: number;
  /** The job's, once there is one. */
  lease: Lease | undefined;
  cost: Cost;
  /** The first requests. */
  readonly requests: SentRequest[];
  /** When the rate allows the next item. */
  due: number;
}

/** Begins a run, which `close` and the given signal abort. */
export const newRun = (
  session: Session,
  { what, advice, deadline, signal }: Pick<Run, "what" | "advice" | "deadline"> & { readonly signal: AbortSignal | undefined },
): Run => ({
  session,
  what,
  advice,
  deadline,
  ...abortedByClose(session, signal, { what, advice }),
  lease: undefined,
  cost: NO_COST,
  requests: [],
  due: session.effects.now(),
});

// The report of short work lists its requests. Those of a long job would fill the memory.
const NAMED_REQUESTS = 1000;

/** Waits between two steps of a run. @throws {execute.aborted} if the run is aborted in the meantime */
export const waitIn = async (run: Run, milliseconds: number): Promise<void> => {
  await run.session.effects.sleep(milliseconds, run.signal).catch((error: unknown) => {
    throw run.signal.aborted ? abortedWork(run, run.signal) : error;
  });
};

/**
 * Takes one step of a run and adds what it consumed. Under a lease, every attempt of a request first checks that the lease is still
 * valid, unless `guarded` is false.
 *
 * @throws {execute.aborted} {execute.timeout} {job.busy} if no further step may be taken
 */
export const step = async <T>(run: Run, work: (context: CallContext) => Promise<T>, guarded = true): Promise<T> => {
  const { session, what, advice, signal, deadline } = run;
  const lease = guarded ? run.lease : undefined;
  if (lease) checkLease(session, lease);
  if (signal.aborted) throw abortedWork(run, signal);
  if (session.effects.now() >= deadline)
    throw new EdgetableError("execute.timeout", `${what} did not end before its deadline. ${advice}`, { retryable: true });
  const meter = new Meter();
  try {
    return await work({
      meter,
      signal,
      deadline: Math.min(deadline, session.effects.now() + REQUEST_DEADLINE),
      guard: lease && (() => checkLease(session, lease)),
    });
  } finally {
    run.cost = addCosts(run.cost, meter.cost);
    run.requests.push(...meter.requests.slice(0, NAMED_REQUESTS - run.requests.length));
  }
};

const LONGEST_CATCH_UP = 1000;

/**
 * Waits until a rate, in items per second, allows more items than were just written. After slow steps it catches up by at most one
 * second's worth of items.
 */
export const pace = async (run: Run, items: number, rate: number): Promise<void> => {
  const { effects } = run.session;
  const now = effects.now();
  run.due = Math.min(Math.max(run.due, now - LONGEST_CATCH_UP), now) + (items / rate) * 1000;
  if (run.due > now) await waitIn(run, run.due - now);
};

/** Units a second that a run may consume. */
export interface Rate {
  readonly read: number;
  readonly write: number;
}

/** Waits until the rate allows what a run has consumed since its cost was `before`. */
export const keepRate = async (run: Run, before: Cost, rate: Rate): Promise<void> =>
  pace(run, Math.max((run.cost.readUnits - before.readUnits) / rate.read, (run.cost.writeUnits - before.writeUnits) / rate.write), 1);
