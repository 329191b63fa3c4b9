import { setTimeout as delay } from "node:timers/promises";
import { EdgetableError } from "../errors/edgetable-error.ts";
import type { Effects } from "./effects.ts";

/** The real clock, randomness and sleep. */
export const systemEffects: Effects = {
  now: () => Date.now(),
  random: () => Math.random(),
  sleep: async (milliseconds, signal) => {
    try {
      await delay(milliseconds, undefined, signal ? { signal } : {});
    } catch (cause) {
      throw new EdgetableError("execute.aborted", "The call was aborted while it waited to retry.", { cause });
    }
  },
};
