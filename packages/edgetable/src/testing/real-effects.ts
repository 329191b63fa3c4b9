import { setTimeout as delay } from "node:timers/promises";
import { EdgetableError } from "../errors/edgetable-error.ts";
import type { FaultEffects } from "./faults/options.ts";

/** How a sleep ends that its signal cuts short. */
export const abortedSleep = (cause: unknown): EdgetableError =>
  new EdgetableError("execute.aborted", "The call was aborted while it waited.", { cause });

/** The machine's own clock and timers. */
export const realEffects: FaultEffects = {
  now: () => Date.now(),
  sleep: async (milliseconds, signal) => {
    try {
      await delay(milliseconds, undefined, signal ? { signal } : {});
    } catch (cause) {
      throw abortedSleep(cause);
    }
  },
};
