import { sleep } from "../util/time.ts";

/** What the executor needs from the outside world, injected so that a seed replays a run (law 9). */
export interface Effects {
  /** Milliseconds since 1970. */
  now(): number;
  /** A number from 0 up to but not including 1. */
  random(): number;
  /** Resolves after the given milliseconds; rejects with `execute.aborted` when the signal is aborted first. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

/** The real clock, randomness and sleep. */
export const systemEffects: Effects = { now: () => Date.now(), random: () => Math.random(), sleep };

/** Timers fire up to this many milliseconds apart from the clock that set them. */
export const CLOCK_TOLERANCE = 5;
