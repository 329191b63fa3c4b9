import { setMaxListeners } from "node:events";
import { EdgetableError } from "edgetable";

/** The error of a sleep that its signal cut short. */
export const abortedSleep = (cause: unknown): EdgetableError =>
  new EdgetableError("execute.aborted", "The call was aborted while it waited.", { cause });

/** Calls back when a signal is aborted, until the returned function is called. */
export const onAbort = (signal: AbortSignal, callback: () => void): (() => void) => {
  // Node warns from eleven listeners on; a walk has 32 requests in flight under one signal.
  setMaxListeners(0, signal);
  signal.addEventListener("abort", callback, { once: true });
  return () => signal.removeEventListener("abort", callback);
};

/** Waits on the system's timers. @throws {execute.aborted} when the signal is aborted */
export const sleep = (milliseconds: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(abortedSleep(signal.reason));
    const timer = setTimeout(() => {
      unwatch?.();
      resolve();
    }, milliseconds);
    const unwatch =
      signal &&
      onAbort(signal, () => {
        clearTimeout(timer);
        reject(abortedSleep(signal.reason));
      });
  });
