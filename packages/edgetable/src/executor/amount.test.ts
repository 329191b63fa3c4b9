import { expect, test } from "vitest";
import { add, times } from "./amount.ts";

test("fractions add up and multiply as decimals, in any order", () => {
  expect([0.1, 0.2, 0.3].reduce(add as never, 0)).toBe(0.6);
  expect([0.3, 0.1, -0.2].reduce(add as never, 0)).toBe(0.2);
  expect([add(0.1, 0.2), add(0.7, 0.1), add(1e-7, 2e-7), add(-0.1, 0.1), add(1.5, 2n)]).toEqual([0.3, 0.8, 3e-7, 0, 3.5]);
  expect([times(3, 0.1), times(0.1, 0.2), times(2n, 1.1), times(1e21, 0.5), times(0, 0.1)]).toEqual([0.3, 0.02, 2.2, 5e20, 0]);
});

test("whole numbers are exact, beyond 2^53 as bigint", () => {
  const most = Number.MAX_SAFE_INTEGER;
  expect([add(1, 2), add(most, 1), add(2n ** 60n, -(2n ** 60n)), add(2 ** 60, 1)]).toEqual([3, 2n ** 53n, 0n, 2n ** 60n + 1n]);
  expect([times(2, 3), times(most, 2), times(0, 2n ** 60n)]).toEqual([6, 2n ** 54n - 2n, 0n]);
});
