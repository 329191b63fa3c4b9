import { sleep } from "../util/time.ts";
import type { Effects } from "./effects.ts";

/** The real clock, randomness and sleep. */
export const systemEffects: Effects = { now: () => Date.now(), random: () => Math.random(), sleep };
