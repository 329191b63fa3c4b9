import { expect, test } from "vitest";
import { geometricMean, median, percentilesOf, spread } from "./statistics.ts";

test("the median of an even count is the mean of the two in the middle", () => {
  expect(median([4, 1, 3, 2])).toBe(2.5);
  expect(median([9, 1, 5])).toBe(5);
  expect(median([])).toBeNaN();
});

test("twice as slow once and twice as fast once come to 1", () => {
  expect(geometricMean([2, 0.5])).toBeCloseTo(1);
});

test("equal figures do not waver, and one outlier hardly counts", () => {
  expect(spread([3, 3, 3])).toBe(0);
  expect(spread([10, 10, 10, 10, 100])).toBe(0);
});

test("percentiles are values that were measured", () => {
  const hundred = Array.from({ length: 100 }, (_, index) => 100 - index);
  expect(percentilesOf(hundred)).toEqual({ p25: 25, p50: 50, p75: 75, p95: 95, p99: 99, max: 100 });
  expect(percentilesOf([7])).toEqual({ p25: 7, p50: 7, p75: 7, p95: 7, p99: 7, max: 7 });
});
