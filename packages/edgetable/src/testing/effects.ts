import { setTimeout as pause } from "node:timers/promises";

/** What the outside world gives to code that must be replayable (law 9). */
export interface Effects {
  /** Milliseconds since 1970. */
  now(): number;
  /** From 0 (included) to 1 (excluded). */
  random(): number;
  /** Waits; rejects with the signal's reason when it is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The machine's own clock, randomness and timers. */
export const systemEffects: Effects = {
  now: () => Date.now(),
  random: () => Math.random(),
  sleep: async (ms, signal) => {
    await pause(ms, undefined, signal ? { signal } : {}).catch((error: unknown) => {
      throw signal?.reason ?? error;
    });
  },
};
