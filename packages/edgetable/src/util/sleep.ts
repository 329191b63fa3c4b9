import { EdgetableError } from "../errors/edgetable-error.ts";
import { onAbort } from "./on-abort.ts";

/** How a sleep ends that its signal cuts short. */
export const abortedSleep = (cause: unknown): EdgetableError =>
  new EdgetableError("execute.aborted", "The call was aborted while it waited.", { cause });

/** Waits on the machine's own timers. @throws {execute.aborted} when the signal is aborted */
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
