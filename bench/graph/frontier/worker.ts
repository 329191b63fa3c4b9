import { answerParent } from "../../workers/child.ts";
import { connectSide } from "../walks/sides.ts";
import type { WalkSide } from "../walks/sides.ts";
import type { Neighbourhood } from "../walks/walk.ts";

/** Megabytes above what the process held before the walk. */
export interface FrontierMemory {
  /** The most that was alive, seen after collections while the walk went on and with its answer in hand. */
  readonly live: number;
  /** The most that the process took from the system, garbage included. */
  readonly resident: number;
  readonly found: number;
  readonly seconds: number;
}

const [side, endpoint = "", table = "", edge = ""] = process.argv.slice(2);
const walker = await connectSide(side as WalkSide, { endpoint, table, edge });
const sampleEvery = 100;

const alive = (): number => {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 2 ** 20;
};

answerParent<Neighbourhood>(async (neighbourhood) => {
  // What code and sockets take is there before the walk that counts.
  await walker.walk({ ...neighbourhood, depth: 1 });
  const before = alive();
  const residentBefore = process.memoryUsage.rss() / 2 ** 20;
  let live = 0;
  const sample = (): void => {
    live = Math.max(live, alive() - before);
  };
  const timer = setInterval(sample, sampleEvery);
  const began = performance.now();
  const { ids } = await walker.walk(neighbourhood);
  clearInterval(timer);
  const seconds = (performance.now() - began) / 1000;
  sample();
  // Kilobytes: the highest of the process's life.
  const resident = process.resourceUsage().maxRSS / 1024 - residentBefore;
  return { live, resident, found: ids.length, seconds } satisfies FrontierMemory;
});
