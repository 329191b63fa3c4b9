import fc from "fast-check";
import { expect, test } from "vitest";
import { propertyRuns } from "../../../../../conformance/engines/property-runs.ts";
import { addDecimals } from "./changed-row.ts";

test.each([
  [0.1, 0.2, 0.3],
  [1.1, -1.1, 0],
  [0.5, 0.5, 1],
  [-0.25, 0.75, 0.5],
  [1e-7, 1, 1.0000001],
  [1e20, 1, 10n ** 20n + 1n],
  [2 ** 53 - 1, 2, 2n ** 53n + 1n],
  [2n ** 53n + 1n, -2, 2 ** 53 - 1],
  [2n ** 53n + 1n, 0.5, 2 ** 53 + 2],
  [10n ** 30n, -(10n ** 30n), 0],
  [-0, 0, 0],
])("%s and %s are %s", (a, b, sum) => {
  expect(addDecimals(a, b)).toBe(sum);
  expect(addDecimals(b, a)).toBe(sum);
});

test("whole numbers add up exactly, whichever of the two types they are in", () => {
  const whole = fc.bigInt({ min: -(10n ** 37n), max: 10n ** 37n });
  fc.assert(
    fc.property(whole, whole, (a, b) => {
      expect(BigInt(addDecimals(a, b))).toBe(a + b);
    }),
    propertyRuns(200),
  );
});
