import { expect, test } from "vitest";
import { geometricMean, median, spread } from "./statistics.ts";

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
