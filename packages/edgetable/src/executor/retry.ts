import { EdgetableError, isEdgetableError, joinDetails, withDetails } from "../errors/edgetable-error.ts";
import type { Effects } from "./effects.ts";
import type { Patience } from "./limit-concurrency.ts";

/** How requests are repeated. */
export interface RetryPolicy {
  /** Attempts for one request, 1 to 100. @default 10 */
  readonly attempts: number;
  /** Longest wait before the first retry, in milliseconds, 0 to 600,000; it doubles with each. @default 25 */
  readonly baseDelay: number;
  /** Longest wait before any retry, in milliseconds, 0 to 600,000. @default 5,000 */
  readonly maxDelay: number;
}

/** Where a connection does not say otherwise. */
export const defaultRetry: RetryPolicy = { attempts: 10, baseDelay: 25, maxDelay: 5000 };

/** What became of one request so far. */
export interface Attempts {
  made: number;
  /** Whether one of them may have taken effect. */
  ambiguous: boolean;
}

/** Whether a request that failed so may have taken effect. */
export const isAmbiguous = (error: unknown): error is EdgetableError => isEdgetableError(error) && error.details["ambiguous"] === true;

// Full jitter: "Exponential Backoff And Jitter", AWS Architecture Blog.
const waitBefore = (retry: RetryPolicy, attempt: number, random: number): number =>
  random * Math.min(retry.maxDelay, retry.baseDelay * 2 ** (attempt - 1));

// Whoever gave the call its time is told that it was too short, and not only what the last attempt met.
const atDeadline = (error: EdgetableError): EdgetableError =>
  new EdgetableError(
    error.code,
    `${error.message} The call's deadline left no time for another attempt: give the call more time (deadline).`,
    {
      details: joinDetails(error.details, { deadline: true }),
      cause: error.cause ?? error,
      retryable: error.retryable,
      ...(error.request ? { request: error.request } : {}),
    },
  );

const finalError = (error: unknown, { made, ambiguous }: Attempts): unknown => {
  if (made === 1) return error;
  return withDetails(error, { attempts: made, ...(ambiguous ? { afterAmbiguity: true } : {}) });
};

/** What waits for another attempt after one that failed, and throws where there is to be none. */
export const retrying =
  (retry: RetryPolicy, effects: Effects) =>
  async (error: unknown, attempts: Attempts, { deadline, signal }: Patience): Promise<void> => {
    const wait = waitBefore(retry, attempts.made, effects.random());
    const mayRetry = isEdgetableError(error) && error.retryable && attempts.made < retry.attempts;
    if (!mayRetry) throw finalError(error, attempts);
    if (effects.now() + wait >= deadline) throw finalError(atDeadline(error), attempts);
    attempts.ambiguous ||= isAmbiguous(error);
    await effects.sleep(wait, signal);
  };
