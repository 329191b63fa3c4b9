import { addSentence, EdgetableError, isEdgetableError, joinDetails, withDetails, withRequest } from "../errors/edgetable-error.ts";
import type { Catalog } from "../schema/catalog.ts";
import type { Operation, OperationInputs, OperationOutputs } from "../transport/operations.ts";
import type { TextColumn, Transport } from "../transport/transport.ts";
import { abortedSleep, onAbort, sleep } from "../util/time.ts";
import { describeRequest, type FailedRequest, type Meter, type ReadingOptions, type SentRequest } from "./call.ts";
import { isRefusal } from "./failed-term.ts";
import type { Row } from "../util/row.ts";

/** What the executor needs from the outside world, injected so that a seed replays a run (law 9). */
export interface Effects {
  /** Milliseconds since 1970. */
  now(): number;
  /** A number from 0 up to but not including 1. */
  random(): number;
  /** Resolves after the given milliseconds; rejects with `execute.aborted` when the signal is aborted first. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

/** The real clock, randomness and sleep. */
export const systemEffects: Effects = { now: () => Date.now(), random: () => Math.random(), sleep };

/** Timers fire up to this many milliseconds apart from the clock that set them. */
export const CLOCK_TOLERANCE = 5;

/** The limits of a request's waiting, for its turn or for another attempt. */
export interface Patience {
  readonly signal?: AbortSignal | undefined;
  /** Time (as `Effects.now` returns it) after which no attempt is repeated. */
  readonly deadline: number;
}

/** Edges between nodes of a tenant and of others, which a program without a tenant has linked. A tenant's deletion finds them. */
export interface Crossing {
  /** The number of skipped edges. */
  met: number;
  /**
   * Undefined if they are skipped. Otherwise the partitions that requests may name: those of the edges' items, of the nodes at
   * their other ends, and of these nodes' counters.
   */
  readonly reach: ReadonlySet<string> | undefined;
}

/** The context of one call. */
export interface CallContext extends Patience {
  readonly meter: Meter;
  /** Called before each attempt, with the error of the previous one; false ends the request (law 8). */
  readonly admits?: (failed: unknown) => boolean;
  /**
   * Called before each attempt, and again before its first byte goes out; throws if the caller may no longer send.
   * A process that was suspended for longer than its lease still has retries and half a page to send.
   */
  readonly guard?: (() => void) | undefined;
  /** Shown by hooks, reports and errors in place of an input that holds a secret. */
  readonly shown?: unknown;
  /** True for a request that does not wait for others in flight. */
  readonly urgent?: boolean | undefined;
  /** True if a request must not be repeated after an attempt that may have taken effect, because it would add a second time. */
  readonly once?: boolean | undefined;
  /** The token of the call's transaction. @default a random one for each sending of a plan */
  readonly token?: string | undefined;
  /** How items of other programs are read. */
  readonly reading?: ReadingOptions | undefined;
  /** The only needed attribute of a Query's items. */
  readonly column?: TextColumn | undefined;
  /** Seconds since 1970: items that expire earlier are hidden. Undefined if they are shown. */
  readonly livingAt?: number | undefined;
  /** For a tenant's deletion. */
  readonly crossing?: Crossing | undefined;
}

/** How requests are retried. */
export interface RetryPolicy {
  /** Maximum number of attempts for one request, 1 to 100. @default 10 */
  readonly attempts: number;
  /** Longest wait before the first retry, in milliseconds, 0 to 600,000; it doubles with each. @default 25 */
  readonly baseDelay: number;
  /** Longest wait before any retry, in milliseconds, 0 to 600,000. @default 5,000 */
  readonly maxDelay: number;
}

const DEFAULT_RETRY: RetryPolicy = { attempts: 10, baseDelay: 25, maxDelay: 5000 };

/**
 * Waits a random time before another attempt: at most `baseDelay`, doubled `doublings` times, and never more than `maxDelay`.
 * Returns false immediately if the deadline leaves no time for it. Full jitter: "Exponential Backoff And Jitter", AWS Architecture
 * Blog.
 */
export const backOff = async (
  effects: Effects,
  { baseDelay, maxDelay }: Pick<RetryPolicy, "baseDelay" | "maxDelay">,
  doublings: number,
  { deadline, signal }: Patience,
): Promise<boolean> => {
  const wait = effects.random() * Math.min(maxDelay, baseDelay * 2 ** doublings);
  if (effects.now() + wait >= deadline) return false;
  await effects.sleep(wait, signal);
  return true;
};

/** True if a request that failed with this error may have taken effect. */
export const isAmbiguous = (error: unknown): error is EdgetableError => isEdgetableError(error) && error.details["ambiguous"] === true;

/** One request's attempts so far. */
interface Attempts {
  made: number;
  /** True if one of them may have taken effect. */
  ambiguous: boolean;
}

const finalError = (error: unknown, { made, ambiguous }: Attempts): unknown =>
  made === 1 ? error : withDetails(error, { attempts: made, ...(ambiguous ? { afterAmbiguity: true } : {}) });

// "A client request token is valid for 10 minutes after the first request that uses it is completed" (API_TransactWriteItems): of a
// transaction that may have taken effect, a later attempt would be another one. A minute is left for the attempt itself.
const TOKEN_LIFE = 540_000;

/** The time after which a request that may have taken effect must not be sent again. */
const repeatableUntil = (input: unknown, since: number): number =>
  (input as { readonly ClientRequestToken?: string }).ClientRequestToken === undefined ? Number.POSITIVE_INFINITY : since + TOKEN_LIFE;

/**
 * Waits for another attempt. Throws the request's error if there is no further attempt.
 *
 * @param until the time after which a request that may have taken effect is not sent again
 */
const waitToRetry = async (
  { effects, retry }: { readonly effects: Effects; readonly retry: RetryPolicy },
  error: unknown,
  attempts: Attempts,
  { deadline, signal, until }: Patience & { readonly until: number },
): Promise<void> => {
  // The guard of a lost lease throws job.busy: the caller may retry the job, but this request can never be sent.
  const mayRetry = isEdgetableError(error) && error.retryable && error.code !== "job.busy";
  if (!mayRetry || attempts.made >= retry.attempts) throw finalError(error, attempts);
  const isLost = attempts.ambiguous || isAmbiguous(error);
  const end = isLost ? Math.min(deadline, until) : deadline;
  const inTime = await backOff(effects, retry, attempts.made - 1, { deadline: end, signal }).catch((aborted: unknown) => {
    throw finalError(withDetails(aborted, { ambiguous: isLost }), attempts);
  });
  if (inTime) {
    attempts.ambiguous = isLost;
    return;
  }
  if (end < deadline) throw finalError(error, attempts);
  const { code, message, cause, details, request } = error;
  const late = new EdgetableError(
    code,
    addSentence(message, "The call's deadline left no time for another attempt: give the call more time (deadline)."),
    { details: joinDetails(details, { deadline: true }), cause: cause ?? error, retryable: true, ...(request ? { request } : {}) },
  );
  throw finalError(late, attempts);
};

/** Admits a limited number of requests at a time, in the order in which they asked. */
export interface Gate {
  /**
   * Returns a promise if the request has to wait. It rejects with `execute.timeout` at the deadline and with `execute.aborted` at
   * the signal; requests behind it move up.
   */
  enter(operation: Operation, patience: Patience): Promise<void> | undefined;
  leave(): void;
}

interface Waiting {
  readonly operation: Operation;
  readonly deadline: number;
  readonly admit: () => void;
  readonly reject: (error: Error) => void;
  unwatch: (() => void) | undefined;
  gone: boolean;
}

// The longest time that a timer of Node can wait, in milliseconds.
const LONGEST_SLEEP = 2 ** 31 - 1;

// Not an Error: nothing awaits the sleep, so a stack trace would be wasted.
const CANCELLED = "not awaited";

/** A gate for at most `limit` requests at a time. */
export const limitConcurrency = (limit: number, effects: Effects): Gate => {
  const queue: Waiting[] = [];
  let running = 0;
  let waiting = 0;
  // One timer for all waiting requests, set to the earliest deadline. A timer for each would take half of a call's time.
  let alarm: { readonly due: number; readonly off: AbortController } | undefined;

  const removeFromQueue = (one: Waiting): void => {
    one.gone = true;
    one.unwatch?.();
    if (--waiting > 0) return;
    alarm?.off.abort(CANCELLED);
    alarm = undefined;
  };
  const reject = (one: Waiting, error: Error): void => {
    if (one.gone) return;
    removeFromQueue(one);
    one.reject(error);
  };
  const setAlarm = (due: number): void => {
    const set = { due, off: new AbortController() };
    alarm?.off.abort(CANCELLED);
    alarm = set;
    const wait = Math.min(LONGEST_SLEEP, Math.max(0, due - effects.now()));
    effects.sleep(wait, set.off.signal).then(
      () => rejectLate(set),
      () => undefined,
    );
  };
  const rejectLate = (rung: NonNullable<typeof alarm>): void => {
    if (alarm !== rung) return;
    alarm = undefined;
    const now = effects.now() + CLOCK_TOLERANCE;
    let next = Number.POSITIVE_INFINITY;
    for (const one of queue) {
      if (one.gone) continue;
      if (one.deadline > now) next = Math.min(next, one.deadline);
      else
        reject(
          one,
          new EdgetableError(
            "execute.timeout",
            `${one.operation} was not sent: the call's time was over while ${limit} other requests were in progress. Give it more time (deadline), or connect with a higher concurrency.`,
            { details: { ambiguous: false }, retryable: true },
          ),
        );
    }
    // Only a test's sleep ends early, and it would end early again.
    if (waiting > 0 && now >= rung.due) setAlarm(next);
  };

  return {
    enter: (operation, { signal, deadline }) => {
      if (running < limit) {
        running++;
        return undefined;
      }
      if (signal?.aborted) throw abortedSleep(signal.reason);
      return new Promise((admit, rejectPromise) => {
        const one: Waiting = { operation, deadline, admit, reject: rejectPromise, unwatch: undefined, gone: false };
        if (signal) one.unwatch = onAbort(signal, () => reject(one, abortedSleep(signal.reason)));
        queue.push(one);
        waiting++;
        if (!alarm || deadline < alarm.due) setAlarm(deadline);
      });
    },
    leave: () => {
      let next = queue.shift();
      while (next?.gone) next = queue.shift();
      if (!next) {
        running--;
        return;
      }
      removeFromQueue(next);
      next.admit();
    },
  };
};

/** One open connection to a table: everything that the executor needs, without the context of a single call. */
export interface Session {
  readonly catalog: Catalog;
  /** For a tenant's connection: the id fields and their values, which all nodes that it reads have. */
  readonly tenant?: Row | undefined;
  readonly effects: Effects;
  /** The maximum number of requests in flight. */
  readonly concurrency: number;
  /**
   * Sends a request until it is answered, with jittered exponential backoff within the deadline. An error after several attempts
   * carries `details.attempts`, and one that follows an attempt which may have taken effect `details.afterAmbiguity`. A failed
   * condition is an answer, too: its request is recorded as answered.
   *
   * @param notesRefusals whether the caller records such a request, because it knows what DynamoDB charges for it
   */
  send<O extends Operation>(
    operation: O,
    input: OperationInputs[O],
    context: CallContext,
    notesRefusals?: boolean,
  ): Promise<OperationOutputs[O]>;
  /** Records an answered request; called by `send`, or by its caller if a condition failed and the caller notes refusals. */
  note(request: SentRequest, context: CallContext): void;
  /** Stops each running job; each resolves once the job has released its lease. */
  readonly jobs: Set<() => Promise<void>>;
  /** Stops jobs, then closes the transport. */
  close(): Promise<void>;
}

export interface SessionOptions {
  readonly catalog: Catalog;
  readonly transport: Transport;
  readonly effects: Effects;
  readonly retry?: Partial<RetryPolicy> | undefined;
  /** Requests under way at the same time, 1 to 1,000. @default 32 */
  readonly concurrency?: number | undefined;
  /** Milliseconds for one attempt. @default 10,000 */
  readonly requestTimeout?: number | undefined;
  readonly onRequest?: ((request: SentRequest) => void) | undefined;
  readonly observer?:
    | {
        readonly request?: ((request: SentRequest) => void) | undefined;
        readonly failure?: ((request: FailedRequest) => void) | undefined;
      }
    | undefined;
}

/** Opens a session over a transport. */
export const createSession = (options: SessionOptions): Session => {
  const { catalog, transport, effects, onRequest, observer } = options;
  const jobs: Session["jobs"] = new Set();
  const retrying = { effects, retry: { ...DEFAULT_RETRY, ...options.retry } };
  const concurrency = options.concurrency ?? 32;
  const gate = limitConcurrency(concurrency, effects);
  const timeout = options.requestTimeout ?? 10_000;

  // Not async: a promise less for every request.
  const attempt = <O extends Operation>(operation: O, input: OperationInputs[O], context: CallContext): Promise<OperationOutputs[O]> => {
    if (context.signal?.aborted)
      throw new EdgetableError("execute.aborted", `${operation} was aborted before it was sent.`, { details: { ambiguous: false } });
    context.guard?.();
    const left = Math.max(1, Math.min(timeout, context.deadline - effects.now()));
    return transport.send(operation, input, { signal: context.signal, timeout: left, column: context.column, guard: context.guard });
  };

  const note: Session["note"] = (request, { meter }) => {
    meter.add(request);
    onRequest?.(request);
    observer?.request?.(request);
  };

  const send: Session["send"] = async (operation, input, context, notesRefusals) => {
    const turn = context.urgent ? undefined : gate.enter(operation, context);
    if (turn) await turn;
    const started = effects.now();
    const attempts: Attempts = { made: 1, ambiguous: false };
    const shown = (context.shown ?? input) as typeof input;
    let failed: unknown;
    try {
      for (; ; attempts.made++) {
        if (context.admits?.(failed) === false)
          throw failed instanceof Error
            ? failed
            : new EdgetableError("execute.aborted", `${operation} was not sent: its call's budget is spent.`);
        try {
          const output = await attempt(operation, input, context);
          note(describeRequest({ operation, input: shown, attempts: attempts.made, duration: effects.now() - started }, output), context);
          return output;
        } catch (error) {
          failed = context.shown === undefined ? error : withRequest(error, { operation, input: shown });
          if (context.once === true && isAmbiguous(error)) throw failed;
          const { deadline, signal } = context;
          await waitToRetry(retrying, failed, attempts, { deadline, signal, until: repeatableUntil(input, started) });
        }
      }
    } catch (error) {
      const sent = { operation, input: shown, attempts: attempts.made, duration: effects.now() - started };
      if (!isRefusal(error)) observer?.failure?.({ ...sent, error });
      else if (!notesRefusals) note(describeRequest(sent, {}), context);
      throw error;
    } finally {
      if (!context.urgent) gate.leave();
    }
  };

  return {
    catalog,
    effects,
    concurrency,
    send,
    note,
    jobs,
    close: async () => {
      while (jobs.size > 0) await Promise.all(Array.from(jobs, (stop) => stop()));
      await transport.close();
    },
  };
};
