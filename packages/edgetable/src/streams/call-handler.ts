import { EdgetableError, isEdgetableError } from "../errors/edgetable-error.ts";
import { backOff, type Session } from "../executor/session.ts";
import { abortedSleep, onAbort } from "../util/time.ts";
import { eventsOf } from "./events.ts";
import type { Handler } from "./handlers.ts";
import type { StreamRecord } from "./record.ts";

/** Number and duration of a handler's attempts. */
export interface Tries {
  /** Time limit of one call of a handler in milliseconds. */
  readonly timeout: number;
  readonly attempts: number;
  readonly signal: AbortSignal | undefined;
}

/** The processing of one record. */
export interface Delivery {
  readonly record: StreamRecord;
  readonly replayed: boolean;
}

const PAUSES = { baseDelay: 100, maxDelay: 5000 };

const textOf = (value: unknown): string => {
  try {
    return String(value);
  } catch {
    // An object without a prototype has no text, and a getter may throw.
    return "a value that has no text";
  }
};

/** An error in the form that dead letters store. A handler may throw any value. */
export const describeError = (error: unknown): { readonly code: string; readonly message: string } => {
  if (isEdgetableError(error)) return { code: error.code, message: error.message };
  if (error instanceof Error) return { code: textOf(error.name), message: textOf(error.message) };
  return { code: typeof error, message: textOf(error) };
};

/** Settles like the work, or rejects when its time is up or the signal is aborted. Work that hangs is abandoned. */
const withinTime = async (
  { effects }: Session,
  { timeout, signal }: Tries,
  name: string,
  work: (signal: AbortSignal) => unknown,
): Promise<void> => {
  const own = new AbortController();
  const timer = new AbortController();
  let unwatch: (() => void) | undefined;
  const ended = new Promise<never>((_, reject) => {
    const end = (error: EdgetableError): void => {
      own.abort(error);
      reject(error);
    };
    if (signal?.aborted) return end(abortedSleep(signal.reason));
    if (signal) unwatch = onAbort(signal, () => end(abortedSleep(signal.reason)));
    const late = `The handler "${name}" did not end within ${timeout} ms. Let it stop at its event's signal, do less, or give it more time (timeout).`;
    effects.sleep(timeout, timer.signal).then(
      () => end(new EdgetableError("execute.timeout", late, { details: { handler: name }, retryable: true })),
      () => undefined,
    );
  });
  try {
    await Promise.race([ended, (async () => work(own.signal))()]);
  } finally {
    timer.abort();
    unwatch?.();
  }
};

/**
 * Calls a handler with each event of a record that it handles, one after the other. If one fails, it starts again with the first.
 *
 * @returns the last error if no attempt succeeded, wrapped because a handler may throw any value; undefined if one succeeded
 */
export const callHandler = async (
  session: Session,
  handler: Handler,
  { record, replayed }: Delivery,
  tries: Tries,
): Promise<{ readonly error: unknown } | undefined> => {
  const patience = { deadline: Number.POSITIVE_INFINITY, signal: tries.signal };
  for (let attempt = 1; ; attempt++) {
    try {
      for (const event of eventsOf(session.catalog, record)) {
        const handle = handler.wants(event);
        if (!handle) continue;
        // Changes that a handler makes to its record do not affect other handlers or the dead letter.
        const occurrence = { record: structuredClone(record), time: new Date(record.time), replayed };
        await withinTime(session, tries, handler.name, (signal) => handle({ ...event, ...occurrence, signal }));
      }
      return undefined;
    } catch (error) {
      if (attempt >= tries.attempts || tries.signal?.aborted) return { error };
    }
    try {
      await backOff(session.effects, PAUSES, attempt - 1, patience);
    } catch (error) {
      return { error };
    }
  }
};
