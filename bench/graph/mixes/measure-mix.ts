import { percentilesOf } from "../../measure/statistics.ts";
import type { Percentiles } from "../../measure/statistics.ts";
import { drawFrom } from "./mix.ts";
import type { MixCall } from "./mix.ts";

/** One kind of call as it was measured, in milliseconds. */
export interface CallTimes extends Percentiles {
  readonly name: string;
  readonly count: number;
  readonly mean: number;
}

export interface MixTimes {
  readonly calls: readonly CallTimes[];
  /** Calls a second, all kinds together. */
  readonly rate: number;
  /** Microseconds of client CPU a call, the calls' own making included. */
  readonly cpu: number;
}

export interface MixRun {
  readonly count: number;
  /** Calls under way at a time. */
  readonly requesters: number;
}

/** Makes `count` calls drawn by their shares; a call that throws ends the run. */
export const measureMix = async (calls: readonly MixCall[], random: () => number, { count, requesters }: MixRun): Promise<MixTimes> => {
  const draw = drawFrom(calls, random);
  const times = new Map(calls.map(({ name }) => [name, [] as number[]] as const));
  let left = count;
  const requester = async (): Promise<void> => {
    while (left-- > 0) {
      const call = draw();
      const before = performance.now();
      await call.run();
      times.get(call.name)?.push(performance.now() - before);
    }
  };
  const cpuBefore = process.cpuUsage();
  const before = performance.now();
  await Promise.all(Array.from({ length: requesters }, requester));
  const seconds = (performance.now() - before) / 1000;
  const { user, system } = process.cpuUsage(cpuBefore);
  const measured = [...times].map(([name, millis]) => ({
    name,
    count: millis.length,
    mean: millis.reduce((sum, value) => sum + value, 0) / millis.length,
    ...percentilesOf(millis),
  }));
  return { calls: measured, rate: count / seconds, cpu: (user + system) / count };
};
