import { EdgetableError, isEdgetableError } from "../errors/edgetable-error.ts";
import { withDetails } from "../errors/with-details.ts";
import type { Catalog } from "../schema/catalog.ts";
import type { Operation, OperationInputs, OperationOutputs } from "../transport/operations.ts";
import type { TextColumn, Transport } from "../transport/transport.ts";
import type { Effects } from "./effects.ts";
import { limitConcurrency } from "./limit-concurrency.ts";
import { describeRequest, type Meter, type SentRequest } from "./meter.ts";

/** How requests are repeated. */
export interface RetryPolicy {
  /** Attempts for one request, 1 to 100. @default 10 */
  readonly attempts: number;
  /** Longest wait before the first retry, in milliseconds, 0 to 600,000; it doubles with each. @default 25 */
  readonly baseDelay: number;
  /** Longest wait before any retry, in milliseconds, 0 to 600,000. @default 5,000 */
  readonly maxDelay: number;
}

/** What one call brings along. */
export interface CallContext {
  readonly meter: Meter;
  readonly signal?: AbortSignal | undefined;
  /** Time (as `Effects.now` tells it) after which nothing is tried again. */
  readonly deadline: number;
  /** Is asked before each attempt, with the error of the one before it; false ends the request (law 8). */
  readonly admits?: (failed: unknown) => boolean;
  /**
   * Called before each attempt, and once more before its first byte goes out: throws where the caller may not send
   * any longer. A process that stood still for longer than its lease has retries and half a page in hand.
   */
  readonly guard?: (() => void) | undefined;
  /** Of a Query's items only this is needed. */
  readonly column?: TextColumn | undefined;
}

/** One open connection to a table: everything that the executor needs, and nothing of a single call. */
export interface Session {
  readonly catalog: Catalog;
  readonly effects: Effects;
  /** Requests that may be under way at the same time. */
  readonly concurrency: number;
  /**
   * Sends a request until it is answered, with jittered exponential backoff inside the deadline. An
   * error after several attempts carries `details.attempts`, and one that follows an attempt which may
   * have taken effect `details.afterAmbiguity`.
   */
  send<O extends Operation>(operation: O, input: OperationInputs[O], context: CallContext): Promise<OperationOutputs[O]>;
  /** Notes a request that was answered: by `send`, or, where the answer was a refusal that is no error, by its caller. */
  note(request: SentRequest, context: CallContext): void;
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
}

const defaultRetry: RetryPolicy = { attempts: 10, baseDelay: 25, maxDelay: 5000 };

interface Attempts {
  made: number;
  ambiguous: boolean;
}

const isAmbiguous = (error: EdgetableError): boolean => error.details["ambiguous"] === true;

// Full jitter: "Exponential Backoff And Jitter", AWS Architecture Blog.
const waitBefore = (retry: RetryPolicy, attempt: number, random: number): number =>
  random * Math.min(retry.maxDelay, retry.baseDelay * 2 ** (attempt - 1));

const finalError = (error: unknown, { made, ambiguous }: Attempts): unknown => {
  if (made === 1) return error;
  return withDetails(error, { attempts: made, ...(ambiguous ? { afterAmbiguity: true } : {}) });
};

const notAdmitted = (operation: Operation, failed: unknown): Error =>
  failed instanceof Error ? failed : new EdgetableError("execute.aborted", `${operation} was not sent: its call's budget is spent.`);

/** Opens a session over a transport. */
export const createSession = (options: SessionOptions): Session => {
  const { catalog, transport, effects, onRequest } = options;
  const retry: RetryPolicy = { ...defaultRetry, ...options.retry };
  const concurrency = options.concurrency ?? 32;
  const gate = limitConcurrency(concurrency, effects);
  const timeout = options.requestTimeout ?? 10_000;

  const mayRetry = (error: unknown, attempts: Attempts): boolean =>
    isEdgetableError(error) && error.retryable && attempts.made < retry.attempts;

  // Not async: a promise less for every request.
  const attempt = <O extends Operation>(operation: O, input: OperationInputs[O], context: CallContext): Promise<OperationOutputs[O]> => {
    if (context.signal?.aborted) throw new EdgetableError("execute.aborted", `${operation} was aborted before it was sent.`);
    context.guard?.();
    const left = Math.max(1, Math.min(timeout, context.deadline - effects.now()));
    return transport.send(operation, input, { signal: context.signal, timeout: left, column: context.column, guard: context.guard });
  };

  /** Waits for another attempt, or throws where there is to be none. */
  const waitAfter = async (error: unknown, attempts: Attempts, context: CallContext): Promise<void> => {
    const wait = waitBefore(retry, attempts.made, effects.random());
    if (!mayRetry(error, attempts) || effects.now() + wait >= context.deadline) throw finalError(error, attempts);
    attempts.ambiguous ||= isAmbiguous(error as EdgetableError);
    await effects.sleep(wait, context.signal);
  };

  const note: Session["note"] = (request, { meter }) => {
    meter.add(request);
    onRequest?.(request);
  };

  const send: Session["send"] = async (operation, input, context) => {
    const turn = gate.enter(operation, context);
    if (turn) await turn;
    const started = effects.now();
    const attempts: Attempts = { made: 1, ambiguous: false };
    let failed: unknown;
    try {
      for (; ; attempts.made++) {
        if (context.admits?.(failed) === false) throw notAdmitted(operation, failed);
        try {
          const output = await attempt(operation, input, context);
          note(describeRequest({ operation, input, attempts: attempts.made, duration: effects.now() - started }, output), context);
          return output;
        } catch (error) {
          failed = error;
          await waitAfter(error, attempts, context);
        }
      }
    } finally {
      gate.leave();
    }
  };

  return {
    catalog,
    effects,
    concurrency,
    send,
    note,
    close: async () => transport.close(),
  };
};
