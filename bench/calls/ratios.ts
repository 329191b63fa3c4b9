import { geometricMean, median, spread } from "../measure/statistics.ts";
import { callNames } from "./calls.ts";
import type { CallName } from "./calls.ts";
import { baseline } from "./candidates.ts";
import type { CandidateName } from "./candidates.ts";
import type { Sample } from "./run.ts";

/** One candidate at one concurrency. */
export interface Standing {
  readonly candidate: CandidateName;
  readonly concurrency: number;
  /** Client CPU a call relative to the baseline: the geometric mean over the eight calls. */
  readonly cpuRatio: number;
  /** Calls a second relative to the baseline, likewise. */
  readonly rateRatio: number;
  /** Microseconds of client CPU and calls a second, medians over the rounds, call by call. */
  readonly cpu: Readonly<Record<CallName, number>>;
  readonly rate: Readonly<Record<CallName, number>>;
  readonly cpuRatios: Readonly<Record<CallName, number>>;
  /** The largest waver of a call's CPU over the rounds (half the interquartile distance over the median). */
  readonly waver: number;
}

type Figure = "cpu" | "wall";

const byCall = <T>(value: (call: CallName) => T): Record<CallName, T> =>
  Object.fromEntries(callNames.map((call) => [call, value(call)])) as Record<CallName, T>;

// A round's ratio compares blocks that ran within the same second, so a machine that slows down for
// a while moves both; the median over rounds then drops the rounds it moved unevenly.
const ratioOf = (own: readonly Sample[], base: readonly Sample[], figure: Figure): number =>
  median(own.map((sample) => sample[figure] / (base.find(({ round }) => round === sample.round)?.[figure] ?? Number.NaN)));

const standing = (samples: readonly Sample[], candidate: CandidateName, concurrency: number): Standing => {
  const of = (name: CandidateName, call: CallName): Sample[] =>
    samples.filter((sample) => sample.candidate === name && sample.call === call && sample.concurrency === concurrency);
  const ratios = (figure: Figure): Record<CallName, number> => byCall((call) => ratioOf(of(candidate, call), of(baseline, call), figure));
  const cpuRatios = ratios("cpu");
  return {
    candidate,
    concurrency,
    cpuRatio: geometricMean(Object.values(cpuRatios)),
    rateRatio: 1 / geometricMean(Object.values(ratios("wall"))),
    cpu: byCall((call) => median(of(candidate, call).map(({ cpu }) => cpu))),
    rate: byCall((call) => 1e6 / median(of(candidate, call).map(({ wall }) => wall))),
    cpuRatios,
    waver: Math.max(...callNames.map((call) => spread(of(candidate, call).map(({ cpu }) => cpu)))),
  };
};

/** Every candidate at every concurrency, in the order in which they were entered. */
export const standingsOf = (samples: readonly Sample[]): readonly Standing[] => {
  const concurrencies = [...new Set(samples.map(({ concurrency }) => concurrency))];
  const candidates = [...new Set(samples.map(({ candidate }) => candidate))];
  const ordered = candidates.includes(baseline) ? [baseline, ...candidates.filter((name) => name !== baseline)] : candidates;
  return ordered.flatMap((candidate) => concurrencies.map((concurrency) => standing(samples, candidate, concurrency)));
};
