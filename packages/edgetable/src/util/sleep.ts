import { setTimeout as delay } from "node:timers/promises";
import { EdgetableError } from "../errors/edgetable-error.ts";

/** How a sleep ends that its signal cuts short. */
export const abortedSleep = (cause: unknown): EdgetableError =>
  new EdgetableError("execute.aborted", "The call was aborted while it waited.", { cause });

/** Waits on the machine's own timers. @throws {execute.aborted} when the signal is aborted */
export const sleep = async (milliseconds: number, signal?: AbortSignal): Promise<void> => {
  try {
    await delay(milliseconds, undefined, signal ? { signal } : {});
  } catch (cause) {
    throw abortedSleep(cause);
  }
};
