const sorted = (values: readonly number[]): number[] => [...values].sort((left, right) => left - right);

/** The middle value; of an even count, the mean of the two in the middle. NaN for none. */
export const median = (values: readonly number[]): number => {
  const ordered = sorted(values);
  const middle = ordered.length >> 1;
  const upper = ordered[middle] ?? Number.NaN;
  return ordered.length % 2 === 1 ? upper : ((ordered[middle - 1] ?? Number.NaN) + upper) / 2;
};

/** The mean for ratios: twice as slow on one call and twice as fast on another come to 1. */
export const geometricMean = (values: readonly number[]): number =>
  Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);

/** Half the distance from the first to the third quartile, as a share of the median: how much a figure wavers. */
export const spread = (values: readonly number[]): number => {
  const ordered = sorted(values);
  const at = (share: number): number => ordered[Math.round(share * (ordered.length - 1))] ?? Number.NaN;
  return (at(0.75) - at(0.25)) / 2 / median(values);
};

/** The percentiles that LinkBench prints. */
export interface Percentiles {
  readonly p25: number;
  readonly p50: number;
  readonly p75: number;
  readonly p95: number;
  readonly p99: number;
  readonly max: number;
}

/** Percentiles of at least one value: the smallest that so many percent do not exceed. */
export const percentilesOf = (values: readonly number[]): Percentiles => {
  const ordered = sorted(values);
  const at = (percent: number): number => ordered[Math.max(0, Math.ceil((percent / 100) * ordered.length) - 1)] ?? Number.NaN;
  return { p25: at(25), p50: at(50), p75: at(75), p95: at(95), p99: at(99), max: at(100) };
};
