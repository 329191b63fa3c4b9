import { EdgetableError } from "../errors/edgetable-error.ts";

/** True if the time has passed since a moment. A clock that was set back counts as passed: waiting for it could take years. */
export const hasPassed = (milliseconds: number, since: number, now: number): boolean => now - since >= milliseconds || now < since;

const callbacksOf = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls back when a signal is aborted. Returns a function that removes the callback.
 *
 * All callbacks share one listener: Node warns of a leak above ten, and a walk has 32 requests in flight.
 *
 * @param callback must not throw; must be a new function for each call
 */
export const onAbort = (signal: AbortSignal, callback: () => void): (() => void) => {
  const registered = callbacksOf.get(signal);
  const callbacks = registered ?? new Set();
  callbacks.add(callback);
  if (!registered) {
    callbacksOf.set(signal, callbacks);
    signal.addEventListener("abort", () => {
      for (const one of callbacks) one();
    });
  }
  return () => void callbacks.delete(callback);
};

/**
 * Aborts a controller when a signal is aborted. Returns a function that unlinks them.
 *
 * In place of `AbortSignal.any`: in Node 20 a signal that it made loses a source of `AbortSignal.timeout` at the next garbage
 * collection (https://github.com/nodejs/node/issues/57736), and a source that lives long remembers all that were made of it
 * (https://github.com/nodejs/node/issues/62363).
 */
export const linkAbort = (controller: AbortController, signal: AbortSignal | undefined): (() => void) => {
  const abort = (): void => controller.abort(signal?.reason);
  if (signal?.aborted) abort();
  return signal ? onAbort(signal, abort) : () => undefined;
};

/** The error of a sleep that its signal ended. */
export const abortedSleep = (cause: unknown): EdgetableError =>
  new EdgetableError("execute.aborted", "The call was aborted while it waited.", { cause });

/** Waits on the machine's timers. @throws {execute.aborted} when the signal is aborted */
export const sleep = (milliseconds: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(abortedSleep(signal.reason));
    const unwatch =
      signal &&
      onAbort(signal, () => {
        clearTimeout(timer);
        reject(abortedSleep(signal.reason));
      });
    const timer = setTimeout(() => {
      unwatch?.();
      resolve();
    }, milliseconds);
  });

/** A value that follows from another row: undefined in place of a Date that another program wrote in a form that cannot be read. */
export const readableValue = (value: unknown): unknown => (value instanceof Date && Number.isNaN(value.getTime()) ? undefined : value);
