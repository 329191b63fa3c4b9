import { EdgetableError, withRequest } from "../errors/edgetable-error.ts";
import type { Catalog } from "../schema/catalog.ts";
import type { Operation, OperationInputs, OperationOutputs } from "../transport/operations.ts";
import type { TextColumn, Transport } from "../transport/transport.ts";
import type { Effects } from "./effects.ts";
import { limitConcurrency } from "./limit-concurrency.ts";
import { describeRequest, type Meter, type SentRequest } from "./meter.ts";
import { defaultRetry, type Attempts, isAmbiguous, retrying, type RetryPolicy } from "./retry.ts";
import type { ReadingOptions } from "./reading-options.ts";

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
  /** What hooks, reports and errors are shown in place of the input, where that holds a secret. */
  readonly shown?: unknown;
  /** Whether a request is not sent again after an attempt that may have taken effect: a second one would add to the first. */
  readonly once?: boolean | undefined;
  /** What becomes of items that others have stored. */
  readonly reading?: ReadingOptions | undefined;
  /** Of a Query's items only this is needed. */
  readonly column?: TextColumn | undefined;
  /** Seconds since 1970: items that expire earlier are as good as gone. Undefined where they are shown. */
  readonly livingAt?: number | undefined;
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
  /** What stops each job that is under way, and resolves when it gave back its lease. */
  readonly jobs: Set<() => Promise<void>>;
  /** Stops jobs, then lets go of the transport. */
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

const notAdmitted = (operation: Operation, failed: unknown): Error =>
  failed instanceof Error ? failed : new EdgetableError("execute.aborted", `${operation} was not sent: its call's budget is spent.`);

/** Opens a session over a transport. */
export const createSession = (options: SessionOptions): Session => {
  const { catalog, transport, effects, onRequest } = options;
  const jobs: Session["jobs"] = new Set();
  const waitAfter = retrying({ ...defaultRetry, ...options.retry }, effects);
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
          const shown = (context.shown ?? input) as typeof input;
          note(describeRequest({ operation, input: shown, attempts: attempts.made, duration: effects.now() - started }, output), context);
          return output;
        } catch (error) {
          failed = context.shown === undefined ? error : withRequest(error, { operation, input: context.shown });
          if (context.once === true && isAmbiguous(error)) throw failed;
          await waitAfter(failed, attempts, context);
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
    jobs,
    close: async () => {
      while (jobs.size > 0) await Promise.all(Array.from(jobs, (stop) => stop()));
      await transport.close();
    },
  };
};
